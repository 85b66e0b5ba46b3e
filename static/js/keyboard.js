/* Keys: `/` search, `g` then a letter to go ([data-go="t"]), `?` what the keys are; in lists with [data-rows]:
   `j` and `k` move, `x` selects, Enter opens, `e` explains. Never while a person types. */
(function () {
  "use strict";
  let waiting = 0;

  function typing(target) {
    return target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]");
  }
  function visible(selector) {
    return [...document.querySelectorAll(selector)].find((found) => found.getClientRects().length);
  }
  function rows() {
    return [...document.querySelectorAll("[data-rows] :is([data-row], tbody > tr)")];
  }
  function current() {
    return document.querySelector("[data-rows] [data-focus]");
  }
  function move(step) {
    const all = rows();
    if (!all.length) return;
    const at = all.indexOf(current());
    const next = all[Math.max(0, Math.min(all.length - 1, at + step))];
    for (const row of all) delete row.dataset.focus;
    next.dataset.focus = "";
    next.scrollIntoView({ block: "nearest" });
  }
  function press(selector) {
    const row = current();
    const target = row && row.querySelector(selector);
    if (target) target.click();
    return Boolean(target);
  }

  // What the keys do is on the page of words, from where the dialog takes it when it is first opened.
  async function showKeys() {
    const sheet = document.querySelector("#keys");
    if (!sheet) return;
    const list = sheet.querySelector("div");
    if (!list.children.length) {
      await htmx.ajax("GET", sheet.dataset.from, { target: list, select: "#key-list", swap: "innerHTML" });
    }
    if (list.children.length && !sheet.open) sheet.showModal();
  }

  document.addEventListener("keydown", function (event) {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      const search = visible("[data-search]");
      if (search) {
        event.preventDefault();
        search.focus();
      }
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;

    if (Date.now() < waiting) {
      waiting = 0;
      const link = document.querySelector(`[data-go="${CSS.escape(event.key)}"]`);
      if (link) {
        event.preventDefault();
        link.click();
      }
      return;
    }
    const acts = {
      "/": () => visible("[data-search]")?.focus(),
      "?": showKeys,
      g: () => { waiting = Date.now() + 1200; },
      j: () => move(1),
      k: () => move(-1),
      x: () => press("input[type=checkbox]"),
      e: () => press("[data-explain], td:last-child > a"),
      // On a link, a button or a box, Enter is the browser's.
      Enter: () => event.target.closest("a, button, summary, input") || press("a[data-enter], .resource > a") || press("a[href]"),
    };
    if (acts[event.key]) {
      if (event.key === "/") event.preventDefault();
      acts[event.key]();
    }
  });

  document.addEventListener("click", function (event) {
    if (event.target.closest("[data-show-keys]")) showKeys();
    if (event.target.matches("dialog.sheet")) event.target.close();
  });
})();
