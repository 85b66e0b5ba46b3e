/* A field with [data-several] takes several names: pasted lines are separated by commas, which a field of one line would join. */
(function () {
  "use strict";
  document.addEventListener("paste", function (event) {
    const field = event.target;
    if (!(field instanceof HTMLInputElement) || !field.hasAttribute("data-several") || !event.clipboardData) return;
    const lines = event.clipboardData.getData("text").split(/[\r\n]+/).map((line) => line.trim()).filter(Boolean);
    if (lines.length < 2) return;
    event.preventDefault();
    const before = field.value.slice(0, field.selectionStart), after = field.value.slice(field.selectionEnd);
    const begin = !before.trim() || /[,;:]\s*$/.test(before) ? "" : ", ";
    const end = !after.trim() || /^\s*[,;]/.test(after) ? "" : ", ";
    field.setRangeText(begin + lines.join(", ") + end, field.selectionStart, field.selectionEnd, "end");
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
})();
