/* Fields with data-complete show the known names that fit while a person types: a combobox with a list box.
   data-complete: the kind of names ("principal", "host", a resource type), or "resource" where the field `type` or
   `resource_type` of the same form says the type. data-typed: whether what is typed is offered too, where it is none of
   the known names. <body data-completions> is the address, with KIND in it.
   Down and Up move, Enter takes the marked name, Escape closes; without a mark all keys do what they did. */
(function () {
  "use strict";
  const PAUSE = 90;
  const FILTER = /^(?:.*\s)?(principal|topic|group|txn|host):(.*)$/i;
  const KINDS = { principal: "principal", topic: "TOPIC", group: "GROUP", txn: "TRANSACTIONAL_ID", host: "host" };
  let list = null;      // the list box, made once
  let said = null;      // what a screen reader is told of it
  let field = null;     // the field whose list is open
  let offeredFor = "";  // what was typed when the list was asked for
  let timer = 0, asked = null;

  function options() {
    return [...list.querySelectorAll("[role=option]")];
  }
  function marked() {
    return list && list.querySelector("[aria-selected=true]");
  }
  function mark(option) {
    for (const each of options()) each.setAttribute("aria-selected", String(each === option));
    if (option) {
      field.setAttribute("aria-activedescendant", option.id);
      option.scrollIntoView({ block: "nearest" });
    } else {
      field.removeAttribute("aria-activedescendant");
    }
  }
  function close() {
    window.clearTimeout(timer);
    if (asked) asked.abort();
    asked = null;
    if (!field) return;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
    field.removeAttribute("aria-controls");
    list.hidden = true;
    said.textContent = "";
    field = null;
  }
  function place(input) {
    const box = input.getBoundingClientRect();
    const least = "typed" in input.dataset ? 440 : input.dataset.complete === "any" ? 340 : 260;
    const width = Math.min(Math.max(box.width, least), window.innerWidth - 16);
    list.style.width = `${width}px`;
    list.style.left = `${Math.max(8, Math.min(box.left, window.innerWidth - width - 8)) + window.scrollX}px`;
    list.style.top = `${box.bottom + window.scrollY + 4}px`;
  }
  function open(input, html) {
    if (!list) {
      list = document.createElement("ul");
      list.className = "completions";
      list.id = "completions";
      list.setAttribute("role", "listbox");
      list.setAttribute("aria-label", "Known names that fit");
      // Before the field loses the focus.
      list.addEventListener("mousedown", (event) => event.preventDefault());
      list.addEventListener("click", (event) => {
        const option = event.target.closest("[role=option]");
        if (option) take(option);
      });
      said = document.createElement("div");
      said.className = "visually-hidden";
      said.setAttribute("role", "status");
      document.body.append(said);
    }
    list.innerHTML = html;
    const found = options(), known = found.filter((option) => !("typed" in option.dataset));
    const says = found.length === 1 && known.length && !found[0].dataset.href && found[0].dataset.value === input.value;
    if (!found.length || says) return close();
    document.body.append(list);
    field = input;
    offeredFor = input.value;
    list.hidden = false;
    place(input);
    const fits = known.length === 1 ? "1 name fits" : `${known.length || "No known"} ${known.length ? "names fit" : "name fits"}`;
    said.textContent = `${fits}; Down chooses.`;
    input.setAttribute("aria-controls", list.id);
    input.setAttribute("aria-expanded", "true");
    input.removeAttribute("aria-activedescendant");
  }
  function take(option) {
    const input = field;
    if (input.value !== offeredFor) return close();
    if (option.dataset.href) {
      close();
      window.location.assign(option.dataset.href);
      return;
    }
    input.value = before(input) + option.dataset.value;
    close();
    input.dispatchEvent(new CustomEvent("input", { bubbles: true, detail: "completed" }));
    input.dispatchEvent(new Event("change", { bubbles: true }));
    input.focus();
  }
  // A field of filters completes the name behind the last word such as `topic:`, one of several names the last of them.
  function before(input) {
    if (input.hasAttribute("data-several")) {
      // The name of a certificate holds commas too.
      const others = input.value.match(input.value.includes("=") ? /^.*[,;]\s*(?=[a-z][a-z0-9_.-]*:)/i : /^.*[,;]\s*/);
      return others ? others[0] : "";
    }
    const filter = input.dataset.complete === "filter" && input.value.match(FILTER);
    return filter ? input.value.slice(0, -filter[2].length || undefined) : "";
  }
  function kindOf(input) {
    if (input.dataset.complete === "filter") {
      const filter = input.value.match(FILTER);
      return filter ? KINDS[filter[1].toLowerCase()] : "";
    }
    if (input.dataset.complete !== "resource") return input.dataset.complete;
    const type = input.form && (input.form.elements.type || input.form.elements.resource_type);
    return type && !type.value.startsWith("ANY") ? type.value : "";
  }
  function ask(input) {
    const kind = kindOf(input), address = document.body.dataset.completions;
    if (!kind || !address || input.readOnly) return close();
    if (asked) asked.abort();
    asked = new AbortController();
    const typed = input.value;
    const query = new URLSearchParams({ q: input.value.slice(before(input).length) });
    const who = kind === "host" && input.form && input.form.elements.principal;
    if (who && who.value) query.set("principal", who.value);
    if ("typed" in input.dataset) query.set("typed", "1");
    fetch(`${address.replace("KIND", encodeURIComponent(kind))}?${query}`, {
      signal: asked.signal, headers: { "HX-Request": "true" }, redirect: "error",
    })
      .then((response) => (response.ok ? response.text() : ""))
      .then((html) => { if (document.activeElement === input && input.value === typed) open(input, html); })
      // No list: the field takes any text without one.
      .catch((error) => { if (error.name !== "AbortError") close(); });
  }

  function prepare(root) {
    for (const input of root.querySelectorAll("input[data-complete]")) {
      if (input.getAttribute("role") === "combobox") continue;
      for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"], ["aria-expanded", "false"],
        ["aria-haspopup", "listbox"]]) input.setAttribute(name, value);
    }
  }
  document.addEventListener("DOMContentLoaded", () => prepare(document));
  document.addEventListener("htmx:load", (event) => prepare(event.target));

  document.addEventListener("input", function (event) {
    const input = event.target;
    if (!input.matches("input[data-complete]") || event.detail === "completed") return;
    window.clearTimeout(timer);
    if (!kindOf(input)) return close();
    timer = window.setTimeout(() => ask(input), PAUSE);
  });
  document.addEventListener("keydown", function (event) {
    const input = event.target;
    if (!input.matches || !input.matches("input[data-complete]") || event.isComposing) return;
    const isOpen = field === input;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!isOpen) return ask(input);
      const all = options(), at = all.indexOf(marked());
      const next = event.key === "ArrowDown" ? at + 1 : at < 0 ? all.length - 1 : at - 1;
      mark(all[next] || null);
    } else if (isOpen && event.key === "Enter" && marked()) {
      event.preventDefault();
      take(marked());
    } else if (isOpen && event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      close();
    } else if (isOpen && (event.key === "Enter" || event.key === "Tab")) {
      close();
    }
  }, true);
  document.addEventListener("focusout", function (event) { if (event.target === field) close(); });
  document.addEventListener("htmx:beforeSwap", function (event) {
    if (field && event.detail.target.contains(field)) close();
  });
  window.addEventListener("resize", close);
})();
