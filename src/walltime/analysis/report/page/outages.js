// What was down or reserved: hatched below the jobs, told by the pointer and the keys.
const Outages = (() => {
  const KINDS = ["failure", "maintenance", "reservation"];

  // Whether the hatching of a kind covers a pixel: crosses, lines, dots. Sizes are in pixels of the picture.
  function covers(kind, x, y, unit) {
    const step = 7 * unit,
      a = (x + y) % step,
      b = (((x - y) % step) + step) % step;
    if (kind === "failure") return a < unit || b < unit;
    if (kind === "maintenance") return a < unit;
    return x % (4 * unit) < unit && y % (4 * unit) < unit;
  }

  const kindOf = (outages, number) => outages.kind.names[outages.kind.codes[number]] ?? "failure";

  // Into the buffer of the picture, before the jobs.
  function paint(gantt, pixels, wide, high, ratio) {
    const { outages } = gantt.plan,
      { of, start, end, low, high: upper } = outages.blocks,
      { view } = gantt;
    const sx = wide / (view.right - view.left),
      sy = high / (view.high - view.low),
      unit = Math.max(1, Math.round(ratio)),
      line = packed(Colouring.variable("--soft")),
      ground = packed(Colouring.variable("--ground")),
      fill = blended(ground, packed(Colouring.variable("--muted")), 0.28);
    for (let i = 0; i < of.length; i++) {
      if (end[i] <= view.left || start[i] >= view.right || upper[i] <= view.low || low[i] >= view.high) continue;
      const left = Math.round((start[i] - view.left) * sx),
        top = Math.round((view.high - upper[i]) * sy);
      const x0 = Math.max(left, 0),
        y0 = Math.max(top, 0),
        x1 = Math.min(Math.max(left + 1, Math.round((end[i] - view.left) * sx)), wide),
        y1 = Math.min(Math.max(top + 1, Math.round((view.high - low[i]) * sy)), high),
        kind = kindOf(outages, of[i]);
      for (let y = y0; y < y1; y++)
        for (let x = x0; x < x1; x++) pixels[y * wide + x] = covers(kind, x, y, unit) ? line : fill;
    }
  }

  // A sample of the hatching as an image, for the legend and for files.
  function sample(kind, size) {
    const canvas = document.createElement("canvas"),
      pen = canvas.getContext("2d");
    canvas.width = canvas.height = size;
    pen.fillStyle = Colouring.variable("--ground");
    pen.fillRect(0, 0, size, size);
    pen.globalAlpha = 0.28;
    pen.fillStyle = Colouring.variable("--muted");
    pen.fillRect(0, 0, size, size);
    pen.globalAlpha = 1;
    pen.fillStyle = Colouring.variable("--soft");
    for (let y = 0; y < size; y++) for (let x = 0; x < size; x++) if (covers(kind, x, y, 1)) pen.fillRect(x, y, 1, 1);
    return canvas.toDataURL();
  }

  // What is known of an outage, as lines of [words, value].
  function tell(plan, number) {
    const { outages, clock } = plan,
      kind = kindOf(outages, number),
      name = outages.name.names[outages.name.codes[number]] ?? "";
    const lines = [[kind[0].toUpperCase() + kind.slice(1), name]];
    if (outages.nodes[number]) lines.push(["nodes", outages.nodes[number].replaceAll(/:\d+/g, "")]);
    lines.push(["cores", Ticks.grouped(outages.cores[number])]);
    lines.push(["from", Ticks.moment(outages.start[number], clock)], ["to", Ticks.moment(outages.end[number], clock)]);
    lines.push(["for", Ticks.exact(outages.end[number] - outages.start[number])]);
    return lines;
  }

  // Those kinds that a schedule has.
  function present(plan) {
    const found = plan.outages ? new Set(plan.outages.blocks.of) : new Set();
    return KINDS.filter((kind) => [...found].some((number) => kindOf(plan.outages, number) === kind));
  }

  return { paint, sample, tell, present, kindOf };
})();
