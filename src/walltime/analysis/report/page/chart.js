// A chart drawn as SVG, to the width of its place: scales, axes, legend. The marks are in marks.js.
const Chart = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const measure = document.createElement("canvas").getContext("2d");
  measure.font = "12px system-ui, sans-serif";

  function make(name, attributes = {}, text = null) {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== null) node.textContent = text;
    return node;
  }

  const textWidth = (text) => measure.measureText(text).width;

  // The longest beginning of a text that fits.
  function fit(text, width) {
    if (textWidth(text) <= width) return text;
    let length = text.length;
    while (length > 1 && textWidth(text.slice(0, length) + "…") > width) length--;
    return text.slice(0, length) + "…";
  }

  function colour(which) {
    if (typeof which === "number") return `var(--c${which % 16})`;
    return (
      { used: "var(--c0)", waiting: "var(--c1)", available: "var(--ink)", ink: "var(--ink)" }[which] ?? "var(--muted)"
    );
  }

  function scale(axis, low, high, from, to) {
    if (axis.log) {
      low = Math.max(low, 1e-9);
      if (high / low < 1.01) {
        low /= 2;
        high *= 2;
      }
    } else if (high <= low) high = low + 1;
    const a = axis.log ? Math.log(low) : low,
      b = axis.log ? Math.log(high) : high;
    const place = (v) => from + (((axis.log ? Math.log(Math.max(v, 1e-9)) : v) - a) / (b - a)) * (to - from);
    const back = (p) => {
      const v = a + ((p - from) / (to - from)) * (b - a);
      return axis.log ? Math.exp(v) : v;
    };
    return Object.assign(place, { low, high, from, to, back, axis });
  }

  // The range that the marks of a panel need in one direction.
  function range(panel, side) {
    const axis = panel[side];
    if (axis.kind === "category") return [-0.5, axis.categories.length - 0.5];
    let low = Infinity,
      high = -Infinity;
    const take = (values) => {
      for (const v of values)
        if (v !== null && (!axis.log || v > 0)) {
          if (v < low) low = v;
          if (v > high) high = v;
        }
    };
    for (const mark of panel.marks) {
      if (mark.type === "bars") {
        if (side === "x") {
          take(mark.values);
          take(mark.high ?? []);
          take(mark.low ?? []);
          take([0]);
        }
      } else if (mark.type === "boxes") {
        if (side === "x") {
          mark.figures.forEach(take);
          take(mark.means);
        }
      } else take(mark[side]);
    }
    if (low > high) [low, high] = [axis.log ? 1 : 0, axis.log ? 10 : 1];
    if (axis.log && panel.marks.some((mark) => mark.type === "points")) {
      const spread = Math.max(1.15, (high / low) ** 0.03);
      [low, high] = [low / spread, high * spread];
    }
    const room = axis.log || (side === "x" && axis.kind === "time") ? 0 : 0.04 * (high - low);
    const plain = panel.marks.some((mark) => mark.type === "cells");
    const bottom = axis.low ?? (plain || low === 0 ? low : low - room),
      top = axis.high ?? (plain ? high : high + room);
    const whole = axis.low !== null && axis.high === null && ["count", "duration"].includes(axis.kind);
    return [bottom, !axis.log && (top <= bottom || whole) ? Math.max(top, bottom + 1) : top]; // no job waits: not 0 to 0
  }

  // Ticks whose texts do not touch: fewer are asked for until they fit.
  function ticks(scale, clock, horizontal) {
    const axis = scale.axis,
      length = Math.abs(scale.to - scale.from);
    if (axis.kind === "category") return categoryTicks(scale, horizontal);
    for (let count = Math.max(2, Math.floor(length / (horizontal ? 70 : 40))); ; count--) {
      const found = Ticks.find(axis, scale.low, scale.high, count, clock);
      const apart = found.every(
        ([value, text], i) => i === 0 || gap(scale, found[i - 1], [value, text], horizontal) > 8,
      );
      if (apart || count <= 2) return apart ? found : found.slice(0, 1);
    }
  }

  const gap = (scale, [one, first], [other, second], horizontal) =>
    Math.abs(scale(other) - scale(one)) - (horizontal ? (textWidth(first) + textWidth(second)) / 2 : 14);

  function categoryTicks(scale, horizontal) {
    const names = scale.axis.categories,
      step = Math.abs(scale(1) - scale(0));
    const need = horizontal ? Math.max(...names.map(textWidth)) + 8 : 13;
    const every = Math.max(1, Math.ceil(need / step));
    return names.map((name, i) => [i, name]).filter(([i]) => i % every === 0);
  }

  const rowsOf = (panel) => panel.marks.filter((mark) => mark.type === "bars" || mark.type === "boxes").length;

  function height(panel) {
    const rows = rowsOf(panel);
    const each = panel.marks.some((mark) => mark.type === "bars") ? 20 : 15; // values are written beside bars
    if (rows) return 26 + panel.y.categories.length * Math.max(22, each * rows);
    return panel.y.kind === "category" ? 24 * panel.y.categories.length : 230;
  }

  // The room that the texts of the vertical axis need.
  function leftRoom(chart, panel, width) {
    const names =
      panel.y.kind === "category"
        ? panel.y.categories
        : Ticks.find(panel.y, ...range(panel, "y"), 6, chart.clock).map((tick) => tick[1]);
    const widest = Math.max(0, ...names.map(textWidth));
    return Math.min(widest + (panel.y.label && !rowsOf(panel) ? 30 : 14), Math.max(60, width * 0.36));
  }

  // One panel as an SVG element; what the pointer and the keys need is kept on it.
  function drawPanel(chart, panel, width, left) {
    const cells = panel.marks.find((mark) => mark.type === "cells");
    const top = panel.title ? 24 : 8,
      bottom = 40,
      inner = height(panel),
      right = cells ? 98 : 14;
    const [low, high] = range(panel, "y");
    const downward = panel.y.kind === "category";
    const svg = make("svg", {
      width,
      height: top + inner + bottom,
      viewBox: `0 0 ${width} ${top + inner + bottom}`,
      class: "panel",
      tabindex: 0,
      role: "img",
    });
    svg.setAttribute(
      "aria-label",
      `${chart.title}${panel.title ? ", " + panel.title : ""}. Arrow keys read the values.`,
    );
    const across = Marks.widen(panel, range(panel, "x"), width - right - left),
      x = scale(panel.x, ...across, left, width - right);
    const y = downward ? scale(panel.y, low, high, top, top + inner) : scale(panel.y, low, high, top + inner, top);
    if (panel.title)
      svg.append(make("text", { x: left, y: 15, class: "panel-title" }, fit(panel.title, width - left - right)));
    drawAxes(svg, chart, panel, x, y, { left, top, inner, width, right });
    const area = make("g", { class: "marks" });
    svg.append(area);
    Marks.draw(area, chart, panel, x, y);
    if (cells) Marks.drawScale(svg, cells, width - right + 14, top, Math.min(inner, 180));
    Object.assign(svg, { chart, panel, scales: { x, y }, frame: { left, top, inner, right: width - right } });
    return svg;
  }

  function drawAxes(svg, chart, panel, x, y, frame) {
    const floor = frame.top + frame.inner,
      group = make("g", { class: "axes" });
    for (const [value, text] of ticks(x, chart.clock, true)) {
      const at = x(value);
      if (panel.x.kind !== "category")
        group.append(make("line", { x1: at, x2: at, y1: frame.top, y2: floor, class: "gridline" }));
      group.append(
        make(
          "text",
          { x: clampText(at, text, frame.width), y: floor + 16, class: "tick", "text-anchor": "middle" },
          text,
        ),
      );
    }
    for (const [value, text] of ticks(y, chart.clock, false)) {
      const at = y(value);
      if (panel.y.kind !== "category")
        group.append(
          make("line", { x1: frame.left, x2: frame.width - frame.right, y1: at, y2: at, class: "gridline" }),
        );
      const shown = fit(text, frame.left - 10);
      const label = make("text", { x: frame.left - 6, y: at + 4, class: "tick", "text-anchor": "end" }, shown);
      if (shown !== text) label.append(make("title", {}, text));
      group.append(label);
    }
    group.append(
      make("line", { x1: frame.left, x2: frame.width - frame.right, y1: floor, y2: floor, class: "baseline" }),
    );
    const across = fit(panel.x.label, frame.width - 20),
      centre = clampText((frame.left + frame.width - frame.right) / 2, across, frame.width);
    group.append(make("text", { x: centre, y: floor + 34, class: "axis-label", "text-anchor": "middle" }, across));
    if (panel.y.label && !rowsOf(panel)) {
      const middle = frame.top + frame.inner / 2;
      group.append(
        make(
          "text",
          { x: 12, y: middle, class: "axis-label", "text-anchor": "middle", transform: `rotate(-90 12 ${middle})` },
          fit(panel.y.label, frame.inner + 10),
        ),
      );
    }
    svg.append(group);
  }

  const clampText = (at, text, width) =>
    Math.min(Math.max(at, textWidth(text) / 2 + 2), width - textWidth(text) / 2 - 2);

  function legend(chart) {
    const seen = new Map();
    for (const panel of chart.panels)
      for (const mark of panel.marks)
        if (mark.label && mark.colour !== "change" && chart.kind !== "compare") {
          const solid = mark.type === "bars" || mark.type === "boxes" || (mark.base && !mark.dashed);
          seen.set(`${mark.label} ${mark.dashed}`, [
            mark,
            solid ? "solid" : mark.type === "points" ? "dot" : mark.dashed ? "dash" : "line",
          ]);
        }
    if (seen.size < 2) return null;
    const list = document.createElement("ul");
    list.className = "legend";
    for (const [mark, style] of seen.values()) {
      const item = document.createElement("li"),
        sample = document.createElement("span"),
        name = document.createElement("bdi");
      sample.className = `sample ${style}`;
      sample.style.setProperty("--sample", colour(mark.colour));
      name.textContent = mark.label;
      item.append(sample, name);
      list.append(item);
    }
    return list;
  }

  function columns(chart, width) {
    if (chart.panels.length < 2 || chart.panels.some((panel) => panel.x.kind === "time")) return 1;
    let count = Math.max(1, Math.min(4, chart.panels.length, Math.floor(width / 280)));
    while (count > 2 && chart.panels.length % count) count--;
    return count;
  }

  // The whole chart into its place; called again when the width changes.
  function draw(place, chart) {
    const width = Math.max(260, Math.floor(place.clientWidth)),
      count = columns(chart, width);
    place.replaceChildren();
    const words = legend(chart);
    if (words) place.append(words);
    const box = document.createElement("div");
    box.className = "panels";
    const each = Math.floor(width / count) - (count > 1 ? 6 : 0),
      left = Math.max(...chart.panels.map((panel) => leftRoom(chart, panel, each)));
    for (const panel of chart.panels) {
      const svg = drawPanel(chart, panel, each, left);
      Hover.attach(svg);
      box.append(svg);
    }
    place.append(box);
  }

  return { draw, make, colour, scale, fit, textWidth };
})();
