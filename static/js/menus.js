/* <details class="menu"> closes on Escape, on a click elsewhere, and when another opens. */
(function () {
  "use strict";

  function close(menu, andFocus) {
    menu.open = false;
    if (andFocus) menu.querySelector("summary").focus();
  }

  document.addEventListener("click", function (event) {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) close(menu, false);
    }
  });
  document.addEventListener("keydown", function (event) {
    if (event.key !== "Escape") return;
    for (const menu of document.querySelectorAll("details.menu[open]")) close(menu, true);
  });
})();
