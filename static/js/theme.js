/* The theme a person chose, put on <html> before the first paint; without a choice the system decides.
   A click on [data-theme-toggle] turns it over. */
(function () {
  "use strict";
  const root = document.documentElement;

  function stored() {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null; // storage may be switched off
    }
  }

  const chosen = stored();
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;

  function isDark() {
    return root.dataset.theme
      ? root.dataset.theme === "dark"
      : window.matchMedia("(prefers-color-scheme: dark)").matches;
  }

  document.addEventListener("click", function (event) {
    if (!event.target.closest("[data-theme-toggle]")) return;
    const next = isDark() ? "light" : "dark";
    root.dataset.theme = next;
    try {
      localStorage.setItem("theme", next);
    } catch {
      // then it holds for this page only
    }
    root.dispatchEvent(new CustomEvent("theme", { bubbles: true, detail: { theme: next } }));
  });
})();
