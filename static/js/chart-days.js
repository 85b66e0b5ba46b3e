/* [data-chart="days"]: bars by day, each row of bars on a scale of its own; what was denied is striped. Over 31 days there is
   a slider to zoom with. */
(function () {
  "use strict";
  const { kinds, day, number, short, zoom } = window.charts;
  const TOP = 30, TALL = 120, GAP = 40, LEFT = 52;

  kinds.days = function (data, look) {
    const long = data.days.length > 31;
    const foot = long ? 62 : 28;
    const last = data.rows.length - 1;
    const tone = (row) => (row.tone === "deny" ? look.deny : look.accent);
    return {
      height: TOP + data.rows.length * (TALL + GAP) - GAP + foot,
      option: {
        grid: data.rows.map((_, place) => ({ left: LEFT, right: 8, top: TOP + place * (TALL + GAP), height: TALL })),
        xAxis: data.rows.map((_, place) => ({
          type: "category", gridIndex: place, data: data.days, axisTick: { show: false }, axisLine: { lineStyle: { color: look.lineStrong } },
          axisLabel: { show: place === last, color: look.ink3, fontSize: 11, formatter: day, hideOverlap: true },
        })),
        yAxis: data.rows.map((row, place) => ({
          type: "value", gridIndex: place, minInterval: 1, splitNumber: 2, name: row.label, nameGap: 14,
          nameTextStyle: { color: look.ink2, fontSize: 12, align: "left", padding: [0, 0, 0, -LEFT + 8] },
          axisLabel: { color: look.ink3, fontSize: 11, formatter: short }, splitLine: { lineStyle: { color: look.line } },
        })),
        series: data.rows.map((row, place) => ({
          type: "bar", name: row.label, xAxisIndex: place, yAxisIndex: place, 
          // A bar of least height stands for one request; where there is none, there is no bar.
          data: row.counts.map((count) => count || null), barMaxWidth: 26, barMinHeight: 2, barCategoryGap: "28%",
          itemStyle: {
            color: tone(row), borderColor: tone(row), borderWidth: row.tone === "deny" ? 1 : 0,
            decal: row.tone === "deny" ? { symbol: "rect", color: look.surface, dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: Math.PI / 4 } : null,
          },
          emphasis: { disabled: true },
        })),
        axisPointer: { link: [{ xAxisIndex: "all" }] },
        tooltip: {
          ...look.tooltip, trigger: "axis", axisPointer: { type: "shadow", label: { show: false } },
          formatter(_points) {
            const place = _points[0].dataIndex;
            return [data.days[place], ...data.rows.map((row) => `${number(row.counts[place])} ${row.label}`)].join("\n");
          },
        },
        dataZoom: long ? [
          { ...zoom(look), left: LEFT, right: 8, xAxisIndex: data.rows.map((_, place) => place), labelFormatter: (_, text) => day(text) },
          { type: "inside", xAxisIndex: data.rows.map((_, place) => place), zoomOnMouseWheel: "shift", moveOnMouseMove: true, moveOnMouseWheel: false },
        ] : [],
      },
    };
  };
})();
