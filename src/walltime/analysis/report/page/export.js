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
      items = [...figure.querySelectorAll(".legend li")],
      top = 30 + (items.length ? 22 : 0);
    const width = Math.ceil(box.width),
      height = Math.ceil(box.height) + top;
    const whole = sheet(width, height);
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
        title,
      ),
    );
    let at = 8;
    for (const item of items) {
      const colour = getComputedStyle(item.querySelector(".sample")).getPropertyValue("--sample").trim();
      const name = /^var\((.*)\)$/.exec(colour),
        text = Chart.fit(item.textContent, 160);
      whole.append(
        Chart.make("rect", { x: at, y: 32, width: 12, height: 8, fill: name ? Colouring.variable(name[1]) : colour }),
      );
      whole.append(
        Chart.make(
          "text",
          { x: at + 16, y: 41, "font-size": 12, "font-family": "sans-serif", fill: Colouring.variable("--ink") },
          text,
        ),
      );
      at += 34 + Chart.textWidth(text);
    }
    for (const panel of panels) {
      const place = panel.getBoundingClientRect(),
        group = Chart.make("g", { transform: `translate(${place.left - box.left} ${place.top - box.top + top})` });
      for (const child of panel.children) if (!child.classList.contains("cursor")) group.append(written(child));
      whole.append(group);
    }
    return new XMLSerializer().serializeToString(whole);
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
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = 2 * image.width;
      canvas.height = 2 * image.height;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((png) => save(png, fileName(title, "png")));
    };
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  }

  function canvas({ gantt }) {
    gantt.draw(2);
    gantt.canvas.toBlob((png) => {
      save(png, fileName(`schedule ${gantt.plan.label}`, "png"));
      gantt.redraw();
    });
  }

  // The part of the schedule that is seen, as SVG.
  function schedule({ gantt }) {
    const svg = sheet(gantt.canvas.clientWidth, gantt.canvas.clientHeight),
      { of } = gantt.plan.blocks,
      byColour = gantt.colouring.colours.map(() => []);
    if (gantt.plan.outages) hatch(gantt, svg);
    gantt.eachVisible(of.keys(), (i, ...box) => byColour[gantt.colouring.codes[of[i]]].push(outline(gantt, ...box)));
    byColour.forEach((parts, code) => {
      if (!parts.length) return;
      const path = Chart.make("path", { d: parts.join(""), fill: gantt.colouring.colours[code] });
      path.append(Chart.make("title", {}, gantt.colouring.names[gantt.classOf(code)]));
      svg.append(path);
    });
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

  // What was down or reserved, in patterns.
  function hatch(gantt, svg) {
    const { outages } = gantt.plan,
      lines = { failure: "M0,0L7,7M7,0L0,7", maintenance: "M0,7L7,0", reservation: "M3,3h1M6,6h1" };
    for (const kind of Outages.present(gantt.plan)) {
      const pattern = Chart.make("pattern", { id: kind, width: 7, height: 7, patternUnits: "userSpaceOnUse" }),
        mine = [...outages.blocks.of.keys()].filter((i) => Outages.kindOf(outages, outages.blocks.of[i]) === kind),
        parts = [];
      pattern.append(Chart.make("rect", { width: 7, height: 7, fill: Colouring.variable("--muted"), opacity: 0.28 }));
      pattern.append(Chart.make("path", { d: lines[kind], stroke: Colouring.variable("--soft"), fill: "none" }));
      gantt.eachVisible(mine, (i, ...box) => parts.push(outline(gantt, ...box)), outages.blocks);
      const path = Chart.make("path", { d: parts.join(""), fill: `url(#${kind})` });
      path.append(Chart.make("title", {}, kind));
      svg.append(pattern, path);
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
    for (const { low } of gantt.plan.bands.slice(1))
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
