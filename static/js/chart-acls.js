/* [data-chart="acls"]: how many ACLs a cluster had, as steps; a ring marks a change of ours, a diamond what was made elsewhere. */
(function () {
  "use strict";
  const { kinds, number, zoom } = window.charts;
  const signed = ({ added, removed }) => [added ? `+${number(added)}` : "", removed ? `−${number(removed)}` : ""].filter(Boolean).join(" ");

  const WORDS = { year: "{MMM} {yyyy}", month: "{d} {MMM}", day: "{d} {MMM}", hour: "{HH}:{mm}", minute: "{HH}:{mm}", second: "{HH}:{mm}:{ss}" };

  kinds.acls = function (data, look, width) {
    const points = data.revisions;
    const labelled = points.length <= Math.max(4, width / 80);
    const long = points.length > 40;
    const marks = {
      first: { symbol: "circle", symbolSize: 6, itemStyle: { color: look.accent } },
      ours: { symbol: "circle", symbolSize: 9, itemStyle: { color: look.surface, borderColor: look.accent, borderWidth: 2 } },
      elsewhere: { symbol: "diamond", symbolSize: 12, itemStyle: { color: look.surface, borderColor: look.reach, borderWidth: 2 } },
    };
    const shown = points.map((each, place) => ({
      value: [each.read_at, each.acls],
      ...marks[each.made],
      label: {
        show: labelled && place > 0, position: each.added < each.removed ? "bottom" : "top", distance: 8, textBorderColor: look.surface, textBorderWidth: 3, formatter: [each.change, signed(each)].filter(Boolean).join("\n"),
        color: each.made === "elsewhere" ? look.reach : look.ink2, fontSize: 11, lineHeight: 14,
      },
    }));
    // The last number holds until the cluster was read last.
    shown.push({ value: [data.until, points[points.length - 1].acls], symbol: "none", tooltip: { show: false } });
    const words = { first: "the first sync", ours: "made with aclweb", elsewhere: "made elsewhere" };
    return {
      height: long ? 276 : 236,
      option: {
        grid: { left: 8, right: 20, top: labelled ? 24 : 14, bottom: long ? 50 : 12, containLabel: true },
        xAxis: { type: "time", axisLine: { lineStyle: { color: look.lineStrong } }, axisTick: { show: false }, axisLabel: { color: look.ink3, fontSize: 11, hideOverlap: true, formatter: WORDS }, splitNumber: Math.max(2, Math.round(width / 140)) },
        // It does not begin at 0: an area below it would tell shares that are none.
        yAxis: { type: "value", scale: true, minInterval: 1, boundaryGap: labelled ? ["12%", "22%"] : ["5%", "5%"], splitNumber: 4, axisLabel: { color: look.ink3, fontSize: 11, formatter: number }, splitLine: { lineStyle: { color: look.line } } },
        series: [{ type: "line", name: "ACLs", step: "end", data: shown, showAllSymbol: true, lineStyle: { color: look.accent, width: 2 }, emphasis: { disabled: true } }],
        tooltip: {
          ...look.tooltip, trigger: "item",
          formatter({ dataIndex }) {
            const each = points[dataIndex];
            return [`Revision ${number(each.revision)}, ${each.read_at.slice(0, 16).replace("T", " ")}`, `${number(each.acls)} ACLs ${signed(each)}`, [each.change, words[each.made]].filter(Boolean).join(", ")].join("\n");
          },
        },
        dataZoom: long ? [{ ...zoom(look), left: 48, right: 20 }] : [],
      },
    };
  };
})();
