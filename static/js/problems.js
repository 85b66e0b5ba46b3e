/* When htmx has sent a form, bring what came of it into view: the first message of what is wrong, with its field focused;
   else the answer ([data-answer]), where it is not in view already. Without scripts the form's address ends in #problems. */
(function () {
  "use strict";

  function showAnswer(part, button) {
    const answer = part.querySelector("[data-answer]");
    // Whoever takes a line out of a draft, opens a row or turns its pages, goes on with the next one.
    if (!answer || (button && ["drop", "open", "flips", "by"].includes(button.name))) {
      // A button that could not be pressed meanwhile has lost its focus; one that is gone names another.
      const again = button && (document.getElementById(button.id) || document.getElementById(button.dataset.else));
      if (again) again.focus({ preventScroll: true });
      return;
    }
    const top = answer.getBoundingClientRect().top;
    if (top >= 0 && top < window.innerHeight / 2) return;
    answer.focus({ preventScroll: true });
    answer.scrollIntoView({ block: "start" });
  }

  document.addEventListener("htmx:afterSettle", function (event) {
    const config = event.detail.requestConfig;
    if (!config || config.verb !== "post") return;
    const part = document.getElementById(event.detail.target.id) || event.detail.target;
    const first = part.querySelector("[data-problem], .field-error");
    if (!first) {
      showAnswer(part, config.triggeringEvent && config.triggeringEvent.submitter);
      return;
    }
    for (let fold = first.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    const field = first.closest(".field");
    const control = field && field.querySelector("input:not([type=hidden]), select, textarea");
    (control || first).focus({ preventScroll: true });
    first.scrollIntoView({ block: "center" });
  });
})();
