// What the pointer or the arrow keys are on: a small box that tells the values, also to a reader who cannot see it.
const Hover = (() => {
  const tip = document.getElementById("tip"),
    live = document.getElementById("live");

  // Lines of text in the box; a line is [label, value] or a single text. Never HTML.
  function show(lines, left, top) {
    tip.replaceChildren();
    for (const entry of lines) {
      const row = document.createElement("div"),
        parts = Array.isArray(entry) ? entry : [entry];
      for (const part of parts) {
        const text = document.createElement("bdi");
        text.textContent = part;
        row.append(text);
      }
      tip.append(row);
    }
    tip.hidden = false;
    const box = tip.getBoundingClientRect(),
      width = document.documentElement.clientWidth;
    const x = left + 14 + box.width > width ? Math.max(4, left - 14 - box.width) : left + 14;
    const y = Math.min(Math.max(4, top - box.height / 2), window.innerHeight - box.height - 4);
    tip.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
  }

  function hide() {
    tip.hidden = true;
  }

  function say(lines) {
    live.textContent = lines.map((entry) => (Array.isArray(entry) ? entry.join(" ") : entry)).join("; ");
  }

  // The stops of a panel that one can step through, each with its place and its lines of text.
  function stops(svg) {
    if (svg.stops) return svg.stops;
    const {
        panel,
        chart,
        scales: { x, y },
      } = svg,
      out = [];
    const tell = (axis, value) => Ticks.tell(axis, value, chart.clock);
    const lines = panel.marks.filter((mark) => mark.type === "line" && mark.x.length > 1);
    const map = panel.marks.find((mark) => mark.type === "cells");
    const dots = panel.marks.filter((mark) => mark.type === "points");
    const rows = panel.marks.filter((mark) => mark.type === "bars" || mark.type === "boxes");
    if (rows.length)
      panel.y.categories.forEach((name, row) =>
        out.push({ x: null, y: y(row), lines: [name, ...rows.flatMap((mark) => rowLines(mark, row, panel, tell))] }),
      );
    else if (map) mapStops(map, panel, tell, x, y, out);
    else if (dots.length)
      for (const mark of dots)
        mark.x.forEach((value, i) =>
          out.push({
            x: x(value),
            y: y(mark.y[i]),
            lines: [
              mark.names[i] ?? mark.label,
              [panel.x.label, tell(panel.x, value)],
              [panel.y.label, tell(panel.y, mark.y[i])],
            ].filter((entry) => entry),
          }),
        );
    else if (lines.length) {
      const xs = [...new Set(lines.flatMap((mark) => mark.x))].sort((a, b) => a - b);
      for (const value of xs)
        out.push({
          x: x(value),
          y: null,
          at: value,
          lines: () => [
            tell(panel.x, value),
            ...lines.map((mark) => [mark.label, tell(panel.y, valueAt(mark, value))]),
          ],
        });
    }
    return (svg.stops = out);
  }

  function rowLines(mark, row, panel, tell) {
    if (mark.type === "bars") {
      const between =
        mark.low && mark.low[row] !== null
          ? [["95 % interval", `${tell(panel.x, mark.low[row])} to ${tell(panel.x, mark.high[row])}`]]
          : [];
      return [[mark.label, tell(panel.x, mark.values[row])], ...between];
    }
    const [low, first, median, third, high] = mark.figures[row].map((value) => tell(panel.x, value));
    return [
      [mark.label, `${Ticks.grouped(mark.counts[row])} jobs`],
      ["median", median],
      ["mean", tell(panel.x, mark.means[row])],
      ["middle half", `${first} to ${third}`],
      ["5 % to 95 %", `${low} to ${high}`],
    ];
  }

  function mapStops(map, panel, tell, x, y, out) {
    const side = (axis, edges, i) =>
      axis.kind === "category"
        ? axis.categories[i]
        : axis.kind === "time"
          ? tell(axis, edges[i])
          : `${tell(axis, Math.round(edges[i] * 100) / 100)} to ${tell(axis, Math.round(edges[i + 1] * 100) / 100)}`;
    map.values.forEach((row, i) =>
      row.forEach((value, j) => {
        if (value !== null)
          out.push({
            x: (x(map.x[j]) + x(map.x[j + 1])) / 2,
            y: (y(map.y[i]) + y(map.y[i + 1])) / 2,
            lines: () => [
              [panel.x.label, side(panel.x, map.x, j)],
              [panel.y.label || "", side(panel.y, map.y, i)],
              [map.scale.label, tell(map.scale, value)],
            ],
          });
      }),
    );
  }

  // The value of a line at a place: that of the last point not beyond it.
  function valueAt(mark, value) {
    let low = 0,
      high = mark.x.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (mark.x[middle] <= value) low = middle + 1;
      else high = middle;
    }
    const x = mark.x,
      i = low - 1;
    if (i < 0 || (i === x.length - 1 && x.length > 1 && value > 2 * x[i] - x[i - 1])) return null;
    if (!mark.step && i < x.length - 1 && x[i + 1] > x[i] && mark.y[i] !== null && mark.y[i + 1] !== null)
      return mark.y[i] + ((mark.y[i + 1] - mark.y[i]) * (value - x[i])) / (x[i + 1] - x[i]);
    return mark.base && !mark.dashed ? mark.y[i] - mark.base[i] : mark.y[i];
  }

  function nearest(svg, px, py) {
    let best = -1,
      least = Infinity;
    stops(svg).forEach((stop, i) => {
      const far = (stop.x === null ? 0 : (stop.x - px) ** 2) + (stop.y === null ? 0 : (stop.y - py) ** 2);
      if (far < least) [best, least] = [i, far];
    });
    return best;
  }

  function mark(svg, number) {
    svg.querySelector(".cursor")?.remove();
    const stop = stops(svg)[number];
    if (!stop) return hide();
    svg.place = number;
    const { top, inner, left, right } = svg.frame;
    const cursor =
      stop.x === null
        ? { x1: left, x2: right, y1: stop.y, y2: stop.y }
        : { x1: stop.x, x2: stop.x, y1: top, y2: top + inner };
    if (stop.x !== null && stop.y !== null)
      svg.append(Chart.make("circle", { cx: stop.x, cy: stop.y, r: 7, class: "cursor" }));
    else svg.append(Chart.make("line", { ...cursor, class: "cursor" }));
    const lines = typeof stop.lines === "function" ? stop.lines() : stop.lines,
      box = svg.getBoundingClientRect();
    show(lines, box.left + (stop.x ?? (left + right) / 2), box.top + (stop.y ?? top + inner / 2));
    return lines;
  }

  function attach(svg) {
    const leave = () => {
      hide();
      svg.querySelector(".cursor")?.remove();
    };
    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect();
      mark(svg, nearest(svg, event.clientX - box.left, event.clientY - box.top));
    });
    svg.addEventListener("pointerleave", leave);
    svg.addEventListener("blur", leave);
    svg.addEventListener("keydown", (event) => {
      const step = {
        ArrowRight: 1,
        ArrowDown: 1,
        ArrowLeft: -1,
        ArrowUp: -1,
        PageDown: 20,
        PageUp: -20,
        Home: -1e9,
        End: 1e9,
      }[event.key];
      if (event.key === "Escape") return leave();
      if (step === undefined || !stops(svg).length) return;
      event.preventDefault();
      const next = svg.place === undefined ? (step > 0 ? 0 : stops(svg).length - 1) : svg.place + step;
      const lines = mark(svg, Math.min(Math.max(next, 0), stops(svg).length - 1));
      if (lines) say(lines);
    });
  }

  return { attach, show, hide, say };
})();
