/* What an operation means, shown over each one: a page says it where it first shows that operation, or in the words
   below a table, which come once the pointer is in it. */
(function () {
  "use strict";
  const plain = (element) => element.textContent.replaceAll(" ", "").toLowerCase();
  document.addEventListener("pointerover", function (event) {
    const word = event.target.closest(":is(.operation, .acl-rows) b:not([title])");
    if (!word) return;
    const same = (found) => plain(found) === plain(word);
    const told = [...document.querySelectorAll(".operation b[title]")].find(same);
    const term = told ? null : [...document.querySelectorAll(".meanings dt")].find(same);
    if (told || term) word.title = told ? told.title : term.nextElementSibling.textContent;
  });
})();
