// The marks of a chart as SVG.
const Marks = (() => {
  const WIDTH = 1.7, // of a line, as in page.css
    FEW_LINES = 3, // beyond which all are of one width
    MOST_CELLS = 2000, // of a map, beyond which it is an image
    MOST_VALUES = 60; // bars beyond which their values are not written

  // Colours between the stops of a scale: the stops are CSS variables, so that a change of theme needs no drawing.
  function blend(share, diverging) {
    const letter = diverging ? "d" : "s",
      count = diverging ? 7 : 6;
    const place = Math.min(Math.max(share, 0), 1) * (count - 1),
      first = Math.min(Math.floor(place), count - 2);
    const part = Math.round(100 * (place - first));
    return `color-mix(in srgb, var(--${letter}${first + 1}) ${part}%, var(--${letter}${first}))`;
  }

  function draw(area, chart, panel, x, y) {
    const rows = panel.marks.filter((mark) => mark.type === "bars" || mark.type === "boxes"),
      plain = (mark) => mark.type === "line" && typeof mark.colour === "number";
    const lines = panel.marks.filter(plain).length;
    let after = lines <= FEW_LINES ? lines : 0;
    for (const mark of panel.marks) {
      if (plain(mark)) after = Math.max(after - 1, 0);
      if (mark.type === "line") line(area, mark, x, y, plain(mark) ? after : 0);
      else if (mark.type === "points") points(area, mark, x, y);
      else if (mark.type === "cells") cells(area, mark, x, y);
      else if (mark.type === "bars") bars(area, mark, rows.indexOf(mark), rows.length, x, y, panel);
      else boxes(area, mark, rows.indexOf(mark), rows.length, x, y);
    }
  }

  const round = (v) => Math.round(10 * v) / 10;

  // The path of a line in pieces without gaps; a step holds its value until the next point.
  function pieces(mark, x, y) {
    const out = [];
    let piece = null;
    const last = mark.x.length - 1;
    for (let i = 0; i <= last; i++) {
      if (mark.y[i] === null || mark.x[i] === null) {
        piece = null;
        continue;
      }
      if (!piece) out.push((piece = []));
      const px = round(x(mark.x[i])),
        py = round(y(mark.y[i]));
      piece.push([px, py, i]);
      if (mark.step) {
        const next = i < last ? mark.x[i + 1] : last > 0 ? 2 * mark.x[last] - mark.x[last - 1] : mark.x[i];
        piece.push([Math.min(round(x(next)), Math.max(x.from, x.to)), py, i]);
      }
    }
    return out;
  }

  // The more lines come after it the wider it is, so that it is seen where they lie upon it.
  function line(area, mark, x, y, after) {
    const found = pieces(mark, x, y),
      colour = Chart.colour(mark.colour);
    if (mark.fill) {
      const solid = mark.base && !mark.dashed; // a dashed line has a pale band below it
      const floor = (i) => round(y(mark.base ? mark.base[i] : Math.max(y.low, 0)));
      const d = found
        .map(
          (piece) =>
            `M${piece.map(([px, py]) => `${px},${py}`).join("L")}L${[...piece]
              .reverse()
              .map(([px, , i]) => `${px},${floor(i)}`)
              .join("L")}Z`,
        )
        .join("");
      area.append(Chart.make("path", { d, style: `fill:${colour};fill-opacity:${solid ? 0.85 : 0.15}` }));
      if (solid) return;
    }
    const d = found.map((piece) => `M${piece.map(([px, py]) => `${px},${py}`).join("L")}`).join("");
    const style = `stroke:${colour}${after ? `;stroke-width:${WIDTH + 0.9 * after}px` : ""}`;
    area.append(Chart.make("path", { d, class: mark.dashed ? "line dashed" : "line", style }));
  }

  function points(area, mark, x, y) {
    const size = mark.x.length > 300 ? 1.6 : 3.5;
    const d = mark.x
      .map(
        (v, i) =>
          `M${round(x(v) - size)},${round(y(mark.y[i]))}a${size},${size} 0 1,0 ${2 * size},0a${size},${size} 0 1,0 ${-2 * size},0`,
      )
      .join("");
    area.append(
      Chart.make("path", { d, style: `fill:${Chart.colour(mark.colour)};fill-opacity:${size < 3 ? 0.4 : 0.8}` }),
    );
  }

  // Whether the values of bars are written at their ends, and where such an end is.
  const values = (panel) =>
    panel.y.categories.length * panel.marks.filter((m) => m.type === "bars").length <= MOST_VALUES;
  const endOf = (mark, row) => {
    const value = mark.values[row] ?? 0;
    return value < 0 ? Math.min(value, mark.low?.[row] ?? value) : Math.max(value, mark.high?.[row] ?? value);
  };

  // Whether a change is more than noise, as far as the chart tells: its interval leaves out zero.
  const isSure = (mark, row) => !mark.low || (mark.low[row] !== null && (mark.low[row] > 0 || mark.high[row] < 0));

  // A range of values with room for what is written at the ends of its bars; the wider, the wider a text on it.
  function widen(panel, [low, high], width) {
    const bars = panel.marks.filter((mark) => mark.type === "bars");
    if (!bars.length || !values(panel)) return [low, high];
    for (let i = 0; i < 8; i++) {
      const each = (high - low) / width;
      for (const mark of bars)
        mark.values.forEach((value, row) => {
          const end = endOf(mark, row),
            room = (Chart.textWidth(Ticks.tell(panel.x, value)) + 14) * each;
          if (end < 0) low = Math.min(low, end - room);
          else high = Math.max(high, end + room);
        });
    }
    return [low, high];
  }

  function bars(area, mark, number, of, x, y, panel) {
    const thick = (0.74 * Math.abs(y(1) - y(0))) / of,
      zero = x(Math.max(x.low, Math.min(0, x.high)));
    mark.values.forEach((value, row) => {
      const middle = y(row) + (number - (of - 1) / 2) * thick;
      if (value !== null) {
        const end = x(value),
          fill = mark.colour === "change" ? (value < 0 ? "var(--d1)" : "var(--d5)") : Chart.colour(mark.colour);
        area.append(
          Chart.make("rect", {
            x: Math.min(zero, end),
            y: middle - thick * 0.46,
            width: Math.max(Math.abs(end - zero), 0.5),
            height: thick * 0.92,
            style: `fill:${fill}`,
            ...(mark.colour !== "change" || isSure(mark, row) ? {} : { "fill-opacity": 0.45 }),
          }),
        );
      }
      if (values(panel)) {
        const end = x(endOf(mark, row)),
          left = endOf(mark, row) < 0;
        area.append(
          Chart.make(
            "text",
            { x: left ? end - 5 : end + 5, y: middle + 4, "text-anchor": left ? "end" : "start" },
            Ticks.tell(panel.x, value),
          ),
        );
      }
      if (mark.low && mark.low[row] !== null && mark.high[row] !== null) {
        const [a, b] = [x(mark.low[row]), x(mark.high[row])];
        area.append(
          Chart.make("path", {
            d: `M${a},${middle}H${b}M${a},${middle - 4}v8M${b},${middle - 4}v8`,
            class: "interval",
          }),
        );
      }
    });
    if (mark.colour === "change")
      area.append(
        Chart.make("line", { x1: zero, x2: zero, y1: y(-0.5), y2: y(mark.values.length - 0.5), class: "baseline" }),
      );
  }

  function boxes(area, mark, number, of, x, y) {
    const thick = (0.74 * Math.abs(y(1) - y(0))) / of,
      colour = Chart.colour(mark.colour);
    mark.figures.forEach(([low, first, median, third, high], row) => {
      if (median === null) return;
      const middle = y(row) + (number - (of - 1) / 2) * thick,
        half = thick * 0.4;
      const group = Chart.make("g", { style: `stroke:${colour};fill:${colour}` });
      group.append(Chart.make("line", { x1: x(low), x2: x(high), y1: middle, y2: middle }));
      group.append(
        Chart.make("rect", {
          x: x(first),
          y: middle - half,
          width: Math.max(x(third) - x(first), 0.5),
          height: 2 * half,
          "fill-opacity": 0.3,
        }),
      );
      group.append(
        Chart.make("line", { x1: x(median), x2: x(median), y1: middle - half, y2: middle + half, "stroke-width": 2.5 }),
      );
      group.append(Chart.make("circle", { cx: x(mark.means[row]), cy: middle, r: 2.8, stroke: "none" }));
      area.append(group);
    });
  }

  // The smallest and largest value of a map.
  function limits(mark) {
    let low = Infinity,
      high = -Infinity;
    for (const row of mark.values)
      for (const v of row)
        if (v !== null && (!mark.scale.log || v > 0)) {
          low = Math.min(low, v);
          high = Math.max(high, v);
        }
    if (low > high) [low, high] = [0, 1];
    if (mark.scale.kind === "count" && !mark.scale.log) low = 0;
    low = mark.scale.low ?? low;
    high = mark.scale.high ?? high;
    return high > low ? [low, high] : [mark.scale.log ? low / 2 : 0, 2 * low || 1]; // one value: in the middle
  }

  function share(mark, value) {
    const [low, high] = mark.limits ?? (mark.limits = limits(mark));
    return mark.scale.log ? Math.log(Math.max(value, low) / low) / Math.log(high / low) : (value - low) / (high - low);
  }

  // A map of few cells is made of rectangles, one of many (evenly spaced ones) is an image.
  function cells(area, mark, x, y) {
    if (mark.values.length * mark.values[0].length > MOST_CELLS) return area.append(picture(mark, x, y));
    mark.values.forEach((row, i) => {
      const [a, b] = [y(mark.y[i]), y(mark.y[i + 1])];
      row.forEach((value, j) => {
        if (value === null) return;
        const [c, d] = [x(mark.x[j]), x(mark.x[j + 1])];
        area.append(
          Chart.make("rect", {
            x: round(c),
            y: round(Math.min(a, b)),
            width: round(d - c + 0.3),
            height: round(Math.abs(b - a) + 0.3),
            style: `fill:${blend(share(mark, value), mark.diverging)}`,
          }),
        );
      });
    });
  }

  // A pixel for each cell: tens of thousands of rectangles would take seconds. Another theme needs another image.
  function picture(mark, x, y) {
    const rows = mark.values.length,
      columns = mark.values[0].length,
      canvas = document.createElement("canvas"),
      pen = canvas.getContext("2d");
    canvas.width = columns;
    canvas.height = rows;
    const image = pen.createImageData(columns, rows),
      pixels = new Uint32Array(image.data.buffer),
      colours = Array.from({ length: 65 }, (_, i) => packed(Colouring.shade(i / 64, mark.diverging)));
    mark.values.forEach((row, i) => {
      const line = (rows - 1 - i) * columns; // the first row is the lowest
      row.forEach((value, j) => {
        if (value !== null) pixels[line + j] = colours[Math.round(64 * Math.min(Math.max(share(mark, value), 0), 1))];
      });
    });
    pen.putImageData(image, 0, 0);
    const [left, right, top, bottom] = [x(mark.x[0]), x(mark.x[columns]), y(mark.y[rows]), y(mark.y[0])];
    return Chart.make("image", {
      x: round(left),
      y: round(top),
      width: round(right - left),
      height: round(bottom - top),
      preserveAspectRatio: "none",
      "image-rendering": "pixelated",
      href: canvas.toDataURL(),
    });
  }

  function drawScale(svg, mark, left, top, length) {
    const [low, high] = mark.limits ?? limits(mark),
      steps = 32,
      group = Chart.make("g", { class: "axes" });
    for (let i = 0; i < steps; i++)
      group.append(
        Chart.make("rect", {
          x: left,
          y: top + length - ((i + 1) * length) / steps,
          width: 10,
          height: length / steps + 0.5,
          style: `fill:${blend((i + 0.5) / steps, mark.diverging)}`,
        }),
      );
    const place = Chart.scale(mark.scale, low, high, top + length, top);
    let before = Infinity;
    for (const [value, text] of Ticks.find(mark.scale, low, high, 5)) {
      const at = Math.min(Math.max(place(value), top + 5), top + length - 4);
      if (before - at < 14) continue;
      before = at;
      group.append(Chart.make("text", { x: left + 14, y: at + 4, class: "tick" }, Chart.fit(text, 52)));
    }
    const x = left + 78,
      y = top + length / 2;
    group.append(
      Chart.make(
        "text",
        { x, y, class: "axis-label", "text-anchor": "middle", transform: `rotate(-90 ${x} ${y})` },
        Chart.fit(mark.scale.label, Math.max(length, 90)),
      ),
    );
    svg.append(group);
  }

  return { draw, drawScale, blend, widen };
})();
