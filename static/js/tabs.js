/* On a narrow window the tabs of a page scroll sideways: the one that is shown comes into sight. */
(function () {
  "use strict";

  function show() {
    for (const tab of document.querySelectorAll(".tabs [aria-current]")) {
      const tabs = tab.closest(".tabs");
      const beyond = tab.offsetLeft + tab.offsetWidth - tabs.offsetLeft - tabs.clientWidth;
      if (beyond > tabs.scrollLeft) tabs.scrollLeft = beyond;
    }
  }
  document.addEventListener("DOMContentLoaded", show);
})();
