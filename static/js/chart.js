/* Draws each [data-chart] by what is filed under its name in window.charts, from the JSON that stands in it. It takes the
   place of a [data-chart-static], the drawing for browsers without scripts, and shows a hidden [data-chart-card] around it.
   Colours are those of tokens.css, read again when the theme changes and for print. The page's tables have the figures. */
window.charts = (function () {
  "use strict";
  const kinds = {}; // name of a chart -> function (data, look, width) that returns {height, option, [width], [click]}
  const drawn = new Set();
  let printing = false;

  const TOKENS = {
    ink: "--ink", ink2: "--ink-2", ink3: "--ink-3", line: "--line", lineStrong: "--line-strong", surface: "--surface", fold: "--fold",
    accent: "--accent", accentSoft: "--accent-soft", onAccent: "--on-accent", deny: "--deny", denyInk: "--deny-ink", onDeny: "--on-deny",
    reach: "--reach", reachSoft: "--reach-soft",
  };

  // A token is light-dark(…) as text: only a computed colour says which of the two holds.
  function look(frame) {
    const probe = frame.appendChild(document.createElement("span"));
    if (printing) probe.style.colorScheme = "light";
    const found = {};
    for (const [name, token] of Object.entries(TOKENS)) {
      probe.style.color = `var(${token})`;
      found[name] = getComputedStyle(probe).color;
    }
    probe.style.fontFamily = "var(--font)";
    found.font = getComputedStyle(probe).fontFamily;
    probe.style.fontFamily = "var(--mono)";
    found.mono = getComputedStyle(probe).fontFamily;
    probe.remove();
    found.mixed = (one, other, share) => mixed(found[one], found[other], share);
    found.tooltip = {
      renderMode: "richText", confine: true, backgroundColor: found.surface, borderColor: found.lineStrong, borderWidth: 1,
      padding: [8, 12], textStyle: { color: found.ink, fontFamily: found.font, fontSize: 13, lineHeight: 18 },
    };
    return found;
  }

  function mixed(one, other, share) {
    const numbers = (color) => color.match(/[\d.]+/g).map(Number);
    const [from, to] = [numbers(one), numbers(other)];
    return `rgb(${[0, 1, 2].map((place) => Math.round(from[place] * share + to[place] * (1 - share))).join(",")})`;
  }

  function show(frame) {
    const card = frame.closest("[data-chart-card]");
    const wasHidden = card && card.hidden;
    if (card) card.hidden = false;
    let place = frame.querySelector(":scope > .chart-drawn");
    if (!place) {
      place = frame.appendChild(document.createElement("div"));
      place.className = "chart-drawn";
    }
    try {
      draw(frame, place);
    } catch (error) {
      place.remove();
      drawn.delete(frame);
      if (card) card.hidden = wasHidden;
      throw error;
    }
    for (const other of frame.querySelectorAll(":scope > [data-chart-static]")) other.hidden = true;
  }

  function draw(frame, place) {
    const colors = look(frame);
    const data = JSON.parse(frame.querySelector(':scope > script[type="application/json"]').textContent);
    frame.chartWidth = frame.clientWidth;
    const found = kinds[frame.dataset.chart](data, colors, frame.clientWidth);
    place.style.height = `${found.height}px`;
    place.style.width = found.width ? `${found.width}px` : "";
    if (!frame.chart) frame.chart = echarts.init(place, null, { renderer: "svg" });
    else frame.chart.resize();
    frame.chart.setOption({
      animation: false,
      useUTC: true,
      textStyle: { fontFamily: colors.font },
      aria: { enabled: true, label: { description: frame.dataset.label } },
      ...found.option,
    }, true);
    frame.chart.off("click");
    if (found.click) frame.chart.on("click", found.click);
    drawn.add(frame);
  }

  function showAll() {
    for (const frame of drawn) {
      if (frame.isConnected) continue;
      frame.chart.dispose();
      drawn.delete(frame);
    }
    for (const frame of document.querySelectorAll("[data-chart]")) if (kinds[frame.dataset.chart]) show(frame);
  }

  function print(now) {
    if (printing === now) return;
    printing = now;
    showAll();
  }

  document.addEventListener("DOMContentLoaded", showAll);
  document.addEventListener("htmx:afterSettle", showAll);
  document.addEventListener("theme", showAll);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showAll);
  window.matchMedia("print").addEventListener("change", (event) => print(event.matches));
  window.addEventListener("beforeprint", () => print(true));
  window.addEventListener("afterprint", () => print(false));
  let waiting = 0;
  window.addEventListener("resize", function () {
    clearTimeout(waiting);
    waiting = setTimeout(function () {
      for (const frame of drawn) if (frame.chartWidth !== frame.clientWidth) show(frame);
    }, 100);
  });

  return {
    kinds,
    // A name may look like the markup of drawn texts, {style|text}.
    plain: (text) => text.replaceAll("{", "{\u2060"),
    number: (count) => count.toLocaleString("en"),
    short(count) {
      for (const [size, letter] of [[1e6, "M"], [1e3, "k"]]) {
        if (count >= 10 * size) return `${Math.floor(count / size)}${letter}`;
        if (count >= size) return `${(count / size).toFixed(1)}${letter}`;
      }
      return String(count);
    },
    day(text) {
      const date = new Date(`${text}T00:00:00Z`);
      return `${date.getUTCDate()} ${date.toLocaleDateString("en", { month: "short", timeZone: "UTC" })}`;
    },
    zoom: (colors) => ({
      type: "slider", bottom: 6, height: 22, brushSelect: false, borderColor: colors.lineStrong, backgroundColor: colors.surface,
      fillerColor: colors.accentSoft, handleStyle: { color: colors.surface, borderColor: colors.ink3 },
      moveHandleStyle: { color: colors.lineStrong }, emphasis: { handleStyle: { borderColor: colors.accent }, moveHandleStyle: { color: colors.ink3 } },
      dataBackground: { lineStyle: { color: colors.lineStrong }, areaStyle: { color: colors.fold } },
      selectedDataBackground: { lineStyle: { color: colors.accent }, areaStyle: { color: colors.accentSoft } },
      textStyle: { color: colors.ink2, fontSize: 11 },
    }),
  };
})();
