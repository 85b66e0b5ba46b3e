/* A text pasted into an empty field with [data-paste-sends] is the whole of what its form asks for, so it is sent at once. */
(function () {
  "use strict";
  document.addEventListener("paste", function (event) {
    const field = event.target.closest("[data-paste-sends]");
    if (!field || field.value) return;
    // The field has the text only after this event.
    setTimeout(function () {
      if (field.value.trim()) field.form.requestSubmit();
    });
  });
})();
