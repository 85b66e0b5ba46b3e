/* Places a popover beside the button that opened it. Opening, Escape and giving the focus back are the browser's
   (popover, popovertarget); here only the place is worked out, since style attributes in the page are not allowed. */
(function () {
  "use strict";
  let opener = null;

  document.addEventListener("click", function (event) {
    const button = event.target.closest("[popovertarget]");
    if (button) opener = button;
  }, true);

  // A link with data-opens leads to a page; a plain click fetches that page's part by htmx instead, and once it is
  // there the panel opens beside the link. A table says it once for what more there is of its rows.
  let link = null;
  function panelOf(from) {
    return from.closest("[data-opens]").dataset.opens;
  }
  document.addEventListener("click", function (event) {
    const from = event.target.closest("a[data-opens], [data-opens] td:last-child > a");
    if (!from || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    link = from;
    htmx.ajax("GET", from.href, { source: from, target: panelOf(from), swap: "innerHTML" });
  });
  document.addEventListener("htmx:afterSwap", function (event) {
    const panel = event.target;
    if (!link || !panel.matches("[popover]") || panelOf(link) !== `#${panel.id}`) return;
    opener = link;
    if (panel.matches(":popover-open")) panel.hidePopover();
    panel.showPopover();
  });

  document.addEventListener("toggle", function (event) {
    const panel = event.target;
    if (!panel.matches || !panel.matches("[popover]")) return;
    const from = opener;
    if (from) from.toggleAttribute("data-open", event.newState === "open");
    if (event.newState !== "open") {
      if (from && (document.activeElement === document.body || panel.contains(document.activeElement))) from.focus();
      return;
    }
    if (from && window.innerWidth > 720) {
      const box = from.getBoundingClientRect();
      const left = Math.max(12, Math.min(box.left, window.innerWidth - panel.offsetWidth - 12));
      const below = box.bottom + 8;
      const fits = below + panel.offsetHeight < window.innerHeight - 8;
      panel.style.left = `${left}px`;
      panel.style.top = `${fits ? below : Math.max(8, box.top - panel.offsetHeight - 8)}px`;
    }
    const first = panel.querySelector("[autofocus], a, button");
    if (first) first.focus({ preventScroll: true });
  }, true);

  // A panel that stands still while the page moves would point at the wrong cell.
  window.addEventListener("scroll", function () {
    if (window.innerWidth <= 720) return;
    for (const panel of document.querySelectorAll("[popover]:popover-open")) panel.hidePopover();
  }, { passive: true });
})();
