// Pictures saved as files, made here in the page.
const Export = (() => {
  const KEPT = [
    "fill",
    "fill-opacity",
    "stroke",
    "stroke-width",
    "stroke-dasharray",
    "font-size",
    "font-weight",
    "font-family",
    "opacity",
  ];

  function save(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  const fileName = (text, suffix) =>
    `${
      text
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, "-")
        .replace(/^-+|-+$/g, "")
        .slice(0, 60) || "picture"
    }.${suffix}`;

  // An empty sheet on the ground of the theme.
  function sheet(width, height) {
    const svg = Chart.make("svg", {
      xmlns: "http://www.w3.org/2000/svg",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
    });
    svg.append(Chart.make("rect", { width, height, fill: Colouring.variable("--ground") }));
    return svg;
  }

  // A copy of the panels in one SVG with every colour written out, so that any program can show it.
  function standalone(figure) {
    const panels = [...figure.querySelectorAll("svg.panel")],
      box = figure.querySelector(".panels").getBoundingClientRect();
    const title = figure.querySelector("h3").textContent,
      items = [...figure.querySelectorAll(".legend li")].map((item) => [item.textContent, sampleOf(item)]);
    const width = Math.ceil(box.width),
      words = legend(items, width, 28),
      top = words.bottom + 4,
      height = Math.ceil(box.height) + top,
      whole = sheet(width, height);
    whole.append(
      Chart.make(
        "text",
        {
          x: 8,
          y: 20,
          "font-size": 15,
          "font-weight": "bold",
          "font-family": "sans-serif",
          fill: Colouring.variable("--ink"),
        },
        Chart.fit(title, (width - 16) * 0.8),
      ),
      ...words.nodes,
    );
    for (const panel of panels) {
      const place = panel.getBoundingClientRect(),
        group = Chart.make("g", { transform: `translate(${place.left - box.left} ${place.top - box.top + top})` });
      for (const child of panel.children) if (!child.classList.contains("cursor")) group.append(written(child));
      whole.append(group);
    }
    return new XMLSerializer().serializeToString(whole);
  }

  // The colour of an entry of a legend.
  function sampleOf(item) {
    const colour = getComputedStyle(item.querySelector(".sample")).getPropertyValue("--sample").trim(),
      name = /^var\((.*)\)$/.exec(colour);
    return name ? Colouring.variable(name[1]) : colour;
  }

  // Entries [text, fill] in rows no wider than the picture; `bottom` is where the last row ends.
  function legend(entries, width, top) {
    const nodes = [],
      fill = Colouring.variable("--ink");
    let [x, y] = [8, top];
    for (const [words, colour] of entries) {
      const text = Chart.fit(words, Math.min(260, width - 40)),
        need = 34 + Chart.textWidth(text);
      if (x > 8 && x + need - 12 > width) [x, y] = [8, y + 18];
      nodes.push(Chart.make("rect", { x, y: y + 4, width: 12, height: 9, fill: colour }));
      nodes.push(
        Chart.make("text", { x: x + 17, y: y + 13, "font-size": 12, "font-family": "sans-serif", fill }, text),
      );
      x += need;
    }
    return { nodes, bottom: entries.length ? y + 18 : top };
  }

  // A copy with the colours that are seen.
  function written(node) {
    const copy = node.cloneNode(false),
      seen = node instanceof SVGElement && node.tagName !== "title" ? getComputedStyle(node) : null;
    copy.removeAttribute("style");
    copy.removeAttribute("class");
    if (seen)
      for (const key of KEPT) {
        const value = seen.getPropertyValue(key);
        if (value) copy.setAttribute(key, opaque(value));
      }
    for (const child of node.childNodes)
      copy.append(child.nodeType === Node.TEXT_NODE ? child.cloneNode() : written(child));
    return copy;
  }

  // "color(srgb r g b)", which a mixed colour computes to, as #rrggbb.
  function opaque(value) {
    const parts = /^color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)\)$/.exec(value);
    return parts
      ? `#${parts
          .slice(1)
          .map((part) =>
            Math.round(255 * part)
              .toString(16)
              .padStart(2, "0"),
          )
          .join("")}`
      : value;
  }

  function chart(figure, format) {
    const text = standalone(figure),
      title = figure.querySelector("h3").textContent;
    const blob = new Blob([text], { type: "image/svg+xml" });
    if (format === "svg") return save(blob, fileName(title, "svg"));
    paint(text).then((canvas) => canvas.toBlob((png) => save(png, fileName(title, "png"))));
  }

  // An SVG on a canvas of twice its size, below what is drawn there before: `above` is a canvas of that size.
  async function paint(text, above = null) {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    await image.decode();
    const canvas = document.createElement("canvas"),
      top = above?.height ?? 0;
    canvas.width = 2 * image.width;
    canvas.height = 2 * image.height + top;
    const pen = canvas.getContext("2d");
    if (above) pen.drawImage(above, 0, 0);
    pen.drawImage(image, 0, top, canvas.width, 2 * image.height);
    return canvas;
  }

  // What the colours and the hatching of a schedule mean.
  function meanings(gantt) {
    const { names, colours, codes } = gantt.colouring,
      present = new Set(Array.from(codes, (code) => gantt.classOf(code))),
      classes = [...names.keys()].filter((code) => present.has(code));
    return [
      ...classes.map((code) => [names[code], colours[code]]),
      ...Outages.present(gantt.plan).map((kind) => [kind, `url(#${kind})`]),
    ];
  }

  // The schedule as it is seen, with its legend below.
  async function canvas({ gantt }) {
    gantt.draw(2);
    const words = legend(meanings(gantt), gantt.canvas.clientWidth, 4),
      below = sheet(gantt.canvas.clientWidth, words.bottom + 6);
    below.append(...patterns(gantt), ...words.nodes);
    const whole = await paint(new XMLSerializer().serializeToString(below), gantt.canvas);
    gantt.redraw();
    whole.toBlob((png) => save(png, fileName(`schedule ${gantt.plan.label}`, "png")));
  }

  // The part of the schedule that is seen, as SVG.
  function schedule({ gantt }) {
    const tall = gantt.canvas.clientHeight,
      words = legend(meanings(gantt), gantt.canvas.clientWidth, tall + 4),
      svg = sheet(gantt.canvas.clientWidth, words.bottom + 6),
      { of } = gantt.plan.blocks,
      byColour = gantt.colouring.colours.map(() => []);
    svg.append(...patterns(gantt), ...words.nodes);
    if (gantt.plan.outages) hatch(gantt, svg);
    gantt.eachVisible(of.keys(), (i, x, y, w, h) => {
      const hair = w > 4 && h > 4 ? 1 : 0; // between neighbours of one colour, as on the screen
      byColour[gantt.colouring.codes[of[i]]].push(outline(gantt, x, y, w - hair, h - hair));
    });
    byColour.forEach((parts, code) => {
      if (!parts.length) return;
      const path = Chart.make("path", { d: parts.join(""), fill: gantt.colouring.colours[code] });
      path.append(Chart.make("title", {}, gantt.colouring.names[gantt.classOf(code)]));
      svg.append(path);
    });
    if (gantt.marked) svg.append(edges(gantt));
    writeAxes(gantt, svg);
    save(
      new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" }),
      fileName(`schedule ${gantt.plan.label}`, "svg"),
    );
  }

  // A rectangle as a path, cut at the edges of the picture.
  function outline(gantt, x, y, w, h) {
    const short = (value) => Math.round(100 * value) / 100,
      top = Math.max(y, gantt.margin.top),
      tall = Math.min(y + h, gantt.margin.top + gantt.height) - top,
      wide = Math.max(w, 0.3);
    return `M${short(x)},${short(top)}h${short(wide)}v${short(tall)}h${-short(wide)}z`;
  }

  // Where a backfilled job starts and where an interrupted one stops, as on the screen.
  function edges(gantt) {
    const { of, start, cut } = gantt.plan.blocks,
      { backfilled } = gantt.plan.jobs,
      parts = [];
    gantt.eachVisible(of.keys(), (i, x, y, w, h) => {
      if (w <= 8 || h <= 1) return;
      if (backfilled[of[i]] && start[i] >= gantt.view.left) parts.push(outline(gantt, x, y, 1.5, h));
      if (cut?.[i] && x + w < gantt.margin.left + gantt.width) parts.push(outline(gantt, x + w - 1.5, y, 1.5, h));
    });
    return Chart.make("path", { d: parts.join(""), fill: Colouring.variable("--ink") });
  }

  // The hatchings of what was down or reserved.
  function patterns(gantt) {
    const lines = { failure: "M0,0L7,7M7,0L0,7", maintenance: "M0,7L7,0", reservation: "M3,3h1M6,6h1" };
    return Outages.present(gantt.plan).map((kind) => {
      const pattern = Chart.make("pattern", { id: kind, width: 7, height: 7, patternUnits: "userSpaceOnUse" });
      pattern.append(Chart.make("rect", { width: 7, height: 7, fill: Colouring.variable("--muted"), opacity: 0.28 }));
      pattern.append(Chart.make("path", { d: lines[kind], stroke: Colouring.variable("--soft"), fill: "none" }));
      return pattern;
    });
  }

  function hatch(gantt, svg) {
    const { outages } = gantt.plan;
    for (const kind of Outages.present(gantt.plan)) {
      const mine = [...outages.blocks.of.keys()].filter((i) => Outages.kindOf(outages, outages.blocks.of[i]) === kind),
        parts = [];
      gantt.eachVisible(mine, (i, ...box) => parts.push(outline(gantt, ...box)), outages.blocks);
      const path = Chart.make("path", { d: parts.join(""), fill: `url(#${kind})` });
      path.append(Chart.make("title", {}, kind));
      svg.append(path);
    }
  }

  function writeAxes(gantt, svg) {
    const floor = gantt.margin.top + gantt.height;
    const style = { "font-size": 12, "font-family": "sans-serif", fill: Colouring.variable("--soft") };
    const middle = gantt.canvas.clientWidth / 2,
      ink = Colouring.variable("--ink");
    svg.append(Chart.make("text", { ...style, x: middle, y: floor + 33, "text-anchor": "middle" }, gantt.span()));
    svg.append(Chart.make("text", { ...style, x: 4, y: 12 }, gantt.rowWords()));
    for (const [value, text] of Ticks.find(
      { kind: "time" },
      gantt.view.left,
      gantt.view.right,
      Math.max(2, Math.floor(gantt.width / 90)),
      gantt.plan.clock,
    ))
      svg.append(Chart.make("text", { ...style, x: gantt.x(value), y: floor + 15, "text-anchor": "middle" }, text));
    gantt.nameBands((text, x, y) => svg.append(Chart.make("text", { ...style, x, y, fill: ink }, text)));
    for (const { low } of gantt.groups().slice(1))
      if (low > gantt.view.low && low < gantt.view.high)
        svg.append(
          Chart.make("rect", { x: gantt.margin.left, y: gantt.y(low), width: gantt.width, height: 1, fill: ink }),
        );
    for (const [value, text] of gantt.rowTicks())
      svg.append(
        Chart.make("text", { ...style, x: gantt.margin.left - 6, y: gantt.y(value) + 4, "text-anchor": "end" }, text),
      );
  }

  return { chart, canvas, schedule, standalone };
})();
