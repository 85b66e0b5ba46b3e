/* What an operation means, shown over it: the words below the table, which come once the pointer is in it. */
(function () {
  "use strict";
  const plain = (text) => text.replaceAll(" ", "").toLowerCase();
  document.addEventListener("pointerover", function (event) {
    const word = event.target.closest(".acl-rows b:not([title])");
    if (!word) return;
    const terms = [...document.querySelectorAll(".meanings dt")];
    const term = terms.find((found) => plain(found.textContent) === plain(word.textContent));
    if (term) word.title = term.nextElementSibling.textContent;
  });
})();
