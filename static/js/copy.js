/* [data-copy="text"] copies its text, [data-copy-from="#id"] the text of another element, [data-copy-url="/address"] the
   text of that address, [data-copy-link] the address of the page. The button says so for a moment. */
(function () {
  "use strict";

  async function fetched(address) {
    const answer = await fetch(address, { credentials: "same-origin" });
    // A redirect leads to a page that says what is wrong, which is not the text that was asked for.
    if (!answer.ok || answer.redirected) throw new Error(address);
    return answer.text();
  }

  async function textOf(button) {
    if (button.dataset.copyUrl !== undefined) return fetched(button.dataset.copyUrl);
    if (button.dataset.copyLink !== undefined) {
      return new URL(button.dataset.copyLink || location.href, location.href).href;
    }
    if (button.dataset.copyFrom) {
      const source = document.querySelector(button.dataset.copyFrom);
      return source ? (source.value ?? source.textContent) : "";
    }
    return button.dataset.copy;
  }

  document.addEventListener("click", async function (event) {
    const button = event.target.closest("[data-copy], [data-copy-from], [data-copy-url], [data-copy-link]");
    if (!button) return;
    event.preventDefault();
    const word = button.querySelector("[data-copy-word]") || button;
    const before = word.textContent;
    try {
      await navigator.clipboard.writeText(await textOf(button));
      word.textContent = "Copied";
    } catch {
      word.textContent = button.dataset.copyUrl === undefined ? "Select and copy by hand" : "Not copied; export it";
    }
    setTimeout(function () {
      word.textContent = before;
    }, 1600);
  });

  // Without scripts these buttons could do nothing, so the page leaves them hidden.
  function show() {
    for (const button of document.querySelectorAll("[data-needs-script][hidden]")) button.hidden = false;
  }
  document.addEventListener("DOMContentLoaded", show);
  document.addEventListener("htmx:load", show);
})();
