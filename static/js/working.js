/* Work that takes longer than a moment says that it goes on, and what is being done ([data-working] at the form, link
   or button), dims what it will replace, and takes no second press. For htmx and for whole pages alike. */
(function () {
  "use strict";
  const PATIENCE = 300; // ms without a sign; shorter work would only flicker
  const running = new Map(); // what was asked -> { timer, target, buttons, text }

  function show() {
    const bar = document.querySelector("#working");
    if (!bar) return;
    const shown = [...running.values()].filter(function (work) { return work.isShown; }).pop();
    bar.hidden = !shown;
    if (shown) bar.querySelector("[data-text]").textContent = shown.text;
  }
  function begin(key, source, target, buttons) {
    end(key);
    const named = source.closest("[data-working]");
    const work = { target, buttons, isShown: false, text: named ? named.dataset.working : "Working…" };
    for (const button of buttons) button.disabled = true;
    work.timer = setTimeout(function () {
      work.isShown = true;
      if (target) target.setAttribute("aria-busy", "true");
      show();
    }, PATIENCE);
    running.set(key, work);
  }
  function end(key) {
    const work = running.get(key);
    if (!work) return;
    clearTimeout(work.timer);
    running.delete(key);
    for (const button of work.buttons) button.disabled = false;
    if (work.target) work.target.removeAttribute("aria-busy");
    show();
  }

  function isQuiet(source) {
    // What a page asks by itself, again and again or while somebody types.
    return source.closest("[data-quiet]") || /\bevery\b/.test(source.getAttribute("hx-trigger") || "");
  }
  document.addEventListener("htmx:beforeSend", function (event) {
    const source = event.detail.elt;
    if (isQuiet(source)) return;
    const form = source.closest("form");
    const sent = event.detail.requestConfig.verb === "post" && form;
    const buttons = sent ? [...form.querySelectorAll("button:not([type=button]):not(:disabled)")] : [];
    begin(event.detail.xhr, source, event.detail.target, buttons);
  });
  for (const name of ["htmx:afterRequest", "htmx:sendAbort", "htmx:timeout"]) {
    document.addEventListener(name, function (event) { end(event.detail.xhr); });
  }

  // Whole pages: a second press of the same form is stopped, the first goes on.
  document.addEventListener("submit", function (event) {
    const form = event.target;
    if (event.defaultPrevented || form.target) return;
    if (running.has(form)) {
      event.preventDefault();
      return;
    }
    begin(form, event.submitter || form, document.querySelector("main"), []);
  });
  document.addEventListener("click", function (event) {
    const link = event.target.closest("a[data-working]");
    if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (link.hasAttribute("hx-get") || link.hasAttribute("download")) return;
    begin(link, link, document.querySelector("main"), []);
  });
  // A page that Back brings out of the browser's memory waits for nothing.
  window.addEventListener("pageshow", function () {
    for (const key of [...running.keys()]) end(key);
  });
})();
