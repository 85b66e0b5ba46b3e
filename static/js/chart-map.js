/* [data-chart="map"]: principals by prefixes of topics. A cell is stronger where more was used, outlined where there is an
   ACL and no request, and red with a bar where all was denied; a corner marks that some was denied, an asterisk ACLs on all
   topics, whose use is that of the other columns. A click leads to the ACLs. */
(function () {
  "use strict";
  const { kinds, number, plain, short } = window.charts;
  const SHARES = [0, 0.16, 0.32, 0.5, 0.84, 1];
  const HIGH = 30, LEAST = 42, LETTER = 7.3;

  const others = (found) => `${number(found.count)} other${found.count === 1 ? "" : "s"}`;
  const word = (found) => (found.name ? found.label : others(found));

  kinds.map = function (data, look, width) {
    const left = Math.round(Math.min(240, width * 0.36));
    const wide = Math.max(width, left + data.prefixes.length * LEAST + 40);
    // A map of few prefixes is no wall of colour.
    const right = Math.max(40, wide - left - data.prefixes.length * 92);

    const cell = (wide - left - right) / data.prefixes.length;
    const longest = Math.max(...data.prefixes.map((each) => word(each).length)) * LETTER;
    const aslant = longest > cell - 6;
    const head = aslant ? 20 + Math.min(110, longest) * 0.65 : 28;

    const isAll = (column) => data.prefixes[column].name === "*";

    function style([column, , used, denied, , level]) {
      if (isAll(column)) return { color: look.reachSoft, borderColor: look.reach, borderWidth: 1 };
      if (used) return { color: look.mixed("accent", "surface", SHARES[level]), borderColor: look.surface, borderWidth: 2 };
      if (denied) return { color: look.deny, borderColor: look.surface, borderWidth: 2 };
      return { color: look.surface, borderColor: look.ink3, borderWidth: 1, borderType: used === null ? "dashed" : "solid" };
    }
    function label([column, , used, denied, , level]) {
      if (isAll(column)) return { formatter: "*", color: look.reach, fontSize: 15, fontWeight: 700 };
      if (used) return { formatter: short(used), color: level > 3 ? look.onAccent : look.ink };
      return denied ? { formatter: `− ${short(denied)}`, color: look.onDeny } : { show: false };
    }
    function told({ dataIndex }) {
      const [column, row, used, denied, configured] = data.cells[dataIndex];
      return [
        plain(word(data.principals[row])),
        isAll(column) ? "ACLs on all topics" : plain(word(data.prefixes[column])),
        ...(isAll(column) ? [] : requests(used, denied)),
        `${number(configured)} ALLOW ACL${configured === 1 ? "" : "s"} that name${configured === 1 ? "s" : ""} it`,
      ].join("\n");
    }
    function requests(used, denied) {
      return [
        used === null ? "cannot tell what was used" : `${number(used)} permitted`,
        ...(denied === null ? [] : [`${number(denied)} denied`]),
      ];
    }
    function opened({ dataIndex }) {
      const [column, row, , , configured] = data.cells[dataIndex];
      const [who, where] = [data.principals[row].name, data.prefixes[column].name];
      if (!who) return;
      const listed = new URLSearchParams({ principal: who, resource_type: "TOPIC" });
      if (where && where !== "*") {
        listed.set("name", where);
        listed.set("match", "starts");
      }
      // What was asked without an ACL of its own is told on the principal's page, with those for any user.
      window.location.assign(configured ? `${data.acls}?${listed}` : `${data.principal}?${new URLSearchParams({ name: who })}`);
    }

    const axis = {
      type: "category", axisTick: { show: false }, axisLine: { show: false },
      splitLine: { show: true, interval: 0, lineStyle: { color: look.surface, width: 2 } },
    };
    const words = { color: look.ink2, fontFamily: look.mono, fontSize: 12, interval: 0, overflow: "truncate" };
    return {
      height: head + data.principals.length * HIGH + 8,
      width: wide > width ? wide : 0,
      click: opened,
      option: {
        grid: { left, right, top: head, height: data.principals.length * HIGH },
        xAxis: { ...axis, position: "top", data: data.prefixes.map(word), axisLabel: { ...words, rotate: aslant ? -40 : 0, width: aslant ? 110 : cell - 4 } },
        yAxis: { ...axis, inverse: true, splitArea: { show: true, areaStyle: { color: [look.fold] } }, data: data.principals.map(word), axisLabel: { ...words, width: left - 12 } },
        tooltip: { ...look.tooltip, trigger: "item", formatter: told },
        series: [
          {
            type: "heatmap", name: "used, denied and configured", emphasis: { itemStyle: { borderColor: look.ink, borderWidth: 2 } },
            label: { show: true, fontSize: 11 },
            data: data.cells.map((cell) => ({ value: cell.slice(0, 2).concat(cell[2] || cell[3] || 0), itemStyle: { borderRadius: 4, ...style(cell) }, label: label(cell) })),
          },
          {
            type: "heatmap", name: "some denied", silent: true, tooltip: { show: false }, itemStyle: { color: "transparent" },
            label: { show: true, position: "insideTopRight", distance: 1, formatter: "◥", color: look.deny, fontSize: 13, textBorderColor: look.surface, textBorderWidth: 2 },
            data: data.cells.filter(([, , used, denied]) => used && denied).map(([column, row, , denied]) => [column, row, denied]),
          },
        ],
      },
    };
  };
})();
