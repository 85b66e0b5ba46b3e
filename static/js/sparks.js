/* td[data-days] of a table[data-days-drawn]: a bar a day before what the cell says. data-days is a digit for each day up to
   the last one of the log, from the first with requests; data-days-drawn how many days are drawn. */
(function () {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg", TALL = 9;

  function draw(cell) {
    const drawn = Number(cell.closest("table").dataset.daysDrawn);
    const digits = cell.dataset.days.padStart(drawn, "0");
    const used = [...digits].filter((digit) => digit !== "0").length;
    const spark = document.createElementNS(SVG, "svg"), path = document.createElementNS(SVG, "path");
    const title = document.createElementNS(SVG, "title");
    title.textContent = `Requests on ${used} of the last ${drawn} days of the log`;
    path.setAttribute("d", [...digits].map((digit, place) => `M${place} ${TALL}V${TALL - (Number(digit) || 0.3)}`).join(""));
    path.setAttribute("stroke-width", "0.7");
    for (const [name, value] of [["class", "spark"], ["viewBox", `-0.5 0 ${drawn} ${TALL}`], ["preserveAspectRatio", "none"],
      ["role", "img"]]) spark.setAttribute(name, value);
    spark.append(title, path);
    cell.prepend(spark);
  }
  function all(root) {
    for (const cell of root.querySelectorAll("td[data-days]")) if (!cell.querySelector(".spark")) draw(cell);
  }
  document.addEventListener("DOMContentLoaded", () => all(document));
  document.addEventListener("htmx:load", (event) => all(event.target));
})();
