/* When a part of a page cannot be fetched, say so at the top instead of doing nothing. */
(function () {
  "use strict";

  function say(text) {
    const place = document.querySelector("#page-problem");
    if (!place) return;
    place.querySelector("[data-text]").textContent = text;
    place.hidden = false;
    place.scrollIntoView({ block: "nearest" });
  }

  document.addEventListener("htmx:responseError", function (event) {
    const status = event.detail.xhr.status;
    if (status === 401 || status === 403) say("You are signed out, or may not do this. Load the page again to see which.");
    else say(`The site answered with error ${status}. Nothing was changed; load the page again, and tell whoever runs the site if it stays.`);
  });
  document.addEventListener("htmx:sendError", function () {
    say("The site did not answer. Nothing was changed; try again when it is back.");
  });
})();
