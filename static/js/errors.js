/* When a part of a page cannot be fetched, say so at the top instead of doing nothing. What was typed stays. */
(function () {
  "use strict";
  const KEPT = "Nothing was changed, and what you typed is still here.";

  function say(text) {
    const place = document.querySelector("#page-problem");
    if (!place) return;
    place.querySelector("[data-text]").textContent = text;
    place.hidden = false;
    place.scrollIntoView({ block: "nearest" });
  }
  function sentenceOf(answer) {
    // The reason as the page of the error gives it.
    const page = new DOMParser().parseFromString(answer.responseText, "text/html");
    const said = page.querySelector("[data-sentence]");
    return said ? said.textContent.trim() : `The site answered with error ${answer.status}.`;
  }

  document.addEventListener("htmx:responseError", function (event) {
    const answer = event.detail.xhr;
    if (answer.status === 401 || answer.status === 403) say("You are signed out, or may not do this. Load the page again to see which.");
    else say(`${sentenceOf(answer)} ${KEPT}${answer.status >= 500 ? " If it stays, tell whoever runs the site." : ""}`);
  });
  document.addEventListener("htmx:sendError", function () {
    say(`The site did not answer. ${KEPT} Try again when it is back.`);
  });
  document.addEventListener("htmx:beforeRequest", function () {
    const place = document.querySelector("#page-problem");
    if (place) place.hidden = true;
  });
})();
