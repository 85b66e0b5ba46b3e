/* When htmx has sent a form and the answer holds a message of what is wrong, bring the first into view: focus its
   field, or the message itself. Without scripts the form's address ends in #problems. */
(function () {
  "use strict";

  document.addEventListener("htmx:afterSettle", function (event) {
    const config = event.detail.requestConfig;
    if (!config || config.verb !== "post") return;
    const part = document.getElementById(event.detail.target.id) || event.detail.target;
    const first = part.querySelector("[data-problem], .field-error");
    if (!first) return;
    for (let fold = first.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    const field = first.closest(".field");
    const control = field && field.querySelector("input:not([type=hidden]), select, textarea");
    (control || first).focus({ preventScroll: true });
    first.scrollIntoView({ block: "center" });
  });
})();
