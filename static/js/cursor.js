/* A field with [data-cursor-end] holds a text to go on from: the cursor stands behind it. */
(function () {
  "use strict";
  document.addEventListener("DOMContentLoaded", function () {
    const field = document.querySelector("input[data-cursor-end]");
    if (!field) return;
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  });
})();
