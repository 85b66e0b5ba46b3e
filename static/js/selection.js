/* Rows picked in a list: [data-select-all] picks all, [data-selection] appears with its count while any is picked,
   and each [data-selection-number] in it says how many. A box is called by what its row says first. */
(function () {
  "use strict";

  function refresh(list) {
    const boxes = [...list.querySelectorAll("tbody input[type=checkbox]")];
    const picked = boxes.filter((box) => box.checked);
    for (const box of boxes) {
      if (!box.ariaLabel) box.ariaLabel = `Select: ${[...box.closest("tr").cells].slice(0, 3).map((cell) => cell.innerText.trim()).join(", ")}`;
    }
    const all = list.querySelector("[data-select-all]");
    if (all) {
      all.checked = boxes.length > 0 && picked.length === boxes.length;
      all.indeterminate = picked.length > 0 && picked.length < boxes.length;
    }
    const bar = document.querySelector("[data-selection]");
    if (!bar) return;
    bar.hidden = picked.length === 0;
    const people = new Set(picked.map((box) => box.closest("tr").querySelector(".principal")?.textContent));
    const count = bar.querySelector("[data-selection-count]");
    if (count) count.textContent = picked.length === 1 ? "1 ACL selected" : `${picked.length} ACLs selected`;
    for (const number of bar.querySelectorAll("[data-selection-number]")) number.textContent = picked.length;
    const note = bar.querySelector("[data-selection-note]");
    if (note) note.textContent = people.has(undefined) ? "" : people.size === 1 ? "for 1 principal" : `for ${people.size} principals`;
  }

  document.addEventListener("change", function (event) {
    const list = event.target.closest("[data-rows]");
    if (!list) return;
    if (event.target.matches("[data-select-all]")) {
      for (const box of list.querySelectorAll("tbody input[type=checkbox]")) box.checked = event.target.checked;
    }
    refresh(list);
  });
  function all() {
    for (const list of document.querySelectorAll("[data-rows]")) refresh(list);
  }
  document.addEventListener("DOMContentLoaded", all);
  document.addEventListener("htmx:load", all);
})();
