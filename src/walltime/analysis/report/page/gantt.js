// The schedule on a canvas: cores or nodes over time. Drawing only; what the person does is in gantt_input.js.

// #rrggbb as a pixel of an image, in the order of bytes that canvases have on every machine browsers run on.
const packed = (colour) => {
  const channel = (i) => parseInt(colour.slice(1 + 2 * i, 3 + 2 * i), 16);
  return ((255 << 24) | (channel(2) << 16) | (channel(1) << 8) | channel(0)) >>> 0;
};

const blended = (one, other, part) => {
  const mix = (shift) => {
    const a = (one >>> shift) & 255,
      b = (other >>> shift) & 255;
    return Math.round(a + (b - a) * part) << shift;
  };
  return ((255 << 24) | mix(16) | mix(8) | mix(0)) >>> 0;
};

class Gantt {
  constructor(canvas, schedules) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.schedules = schedules;
    this.margin = { left: 56, right: 8, top: 20, bottom: 40 };
    this.marked = true;
    this.matches = null;
    this.only = null;
    this.current = -1;
    this.outage = -1;
    this.extent = {
      left: Math.min(...schedules.map((plan) => plan.first)),
      right: Math.max(...schedules.map((plan) => plan.last)),
      low: 0,
      high: Math.max(...schedules.map((plan) => plan.rows)),
    };
    this.view = { ...this.extent };
    this.choose(0, null);
  }

  get plan() {
    return this.schedules[this.number];
  }

  // Another result, or another meaning of the colours.
  choose(number, way) {
    this.number = number;
    const ways = this.ways();
    this.way = ways.includes(way) ? way : this.plan.way;
    this.colouring = Colouring.of(this.plan, this.way, this.schedules[0]);
    this.matches = null;
    this.current = this.outage = -1;
    this.redraw();
  }

  // The number in the legend: the tones of grey are one class.
  classOf(code) {
    return Math.min(code, this.colouring.names.length - 1);
  }

  ways() {
    return this.number > 0 ? [...this.plan.ways, "change"] : this.plan.ways;
  }

  // Sizes of the picture in CSS pixels.
  get width() {
    return this.canvas.clientWidth - this.margin.left - this.margin.right;
  }
  get height() {
    return this.canvas.clientHeight - this.margin.top - this.margin.bottom;
  }
  x(time) {
    return this.margin.left + ((time - this.view.left) / (this.view.right - this.view.left)) * this.width;
  }
  y(row) {
    return this.margin.top + this.height - ((row - this.view.low) / (this.view.high - this.view.low)) * this.height;
  }
  time(x) {
    return this.view.left + ((x - this.margin.left) / this.width) * (this.view.right - this.view.left);
  }
  row(y) {
    return this.view.low + ((this.margin.top + this.height - y) / this.height) * (this.view.high - this.view.low);
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.draw();
    });
  }

  draw(ratio = window.devicePixelRatio || 1) {
    const { canvas, pen } = this,
      began = performance.now();
    const wide = Math.round(canvas.clientWidth * ratio),
      high = Math.round(canvas.clientHeight * ratio);
    if (canvas.width !== wide || canvas.height !== high) {
      canvas.width = wide;
      canvas.height = high;
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = Colouring.variable("--ground");
    pen.fillRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    this.paint(ratio);
    this.drawCurrent();
    this.drawBands();
    this.drawAxes();
    this.spent = performance.now() - began;
  }

  // All blocks, pixel by pixel into a buffer of our own: jobs do not overlap, so that this costs no more than the
  // pixels of the picture, however many jobs there are; a hundred thousand calls of fillRect would be a slide show.
  paint(ratio) {
    const left = Math.round(this.margin.left * ratio),
      top = Math.round(this.margin.top * ratio);
    const wide = Math.max(1, Math.round(this.width * ratio)),
      high = Math.max(1, Math.round(this.height * ratio));
    if (!this.image || this.image.width !== wide || this.image.height !== high)
      this.image = this.pen.createImageData(wide, high);
    const pixels = new Uint32Array(this.image.data.buffer),
      ground = packed(Colouring.variable("--ground"));
    pixels.fill(ground);
    if (this.plan.hidden) this.paintHidden(pixels, wide, high);
    if (this.plan.outages) Outages.paint(this, pixels, wide, high, ratio);
    const { matches, only } = this,
      full = this.colouring.colours.map(packed),
      faint = full.map((colour) => blended(ground, colour, 0.16));
    const shown = full.map((colour, code) =>
      matches || (only !== null && only !== this.classOf(code)) ? faint[code] : colour,
    );
    this.paintBlocks(pixels, wide, high, ratio, shown, this.marked && !matches, null);
    if (matches) this.paintBlocks(pixels, wide, high, ratio, full, false, matches);
    this.pen.putImageData(this.image, left, top);
  }

  // Few blocks are at least a pixel wide and high. Of many, a pixel shows the one at its middle, so that the picture
  // is a fair sample of what happens there.
  paintBlocks(pixels, wide, high, ratio, colours, marked, matches) {
    const { of, start, end, low, high: upper } = this.plan.blocks,
      { cut } = this.plan.blocks,
      { backfilled } = this.plan.jobs,
      { codes } = this.colouring,
      { view, only } = this;
    const sx = wide / (view.right - view.left),
      sy = high / (view.high - view.low),
      ink = packed(Colouring.variable("--ink"));
    const apart = 4 * ratio,
      edge = Math.max(1, Math.round(1.5 * ratio)),
      least = matches ? 1 + Math.round(ratio) : this.showsMany() ? 0 : 1;
    for (let i = 0; i < of.length; i++) {
      const job = of[i];
      if (
        end[i] <= view.left ||
        start[i] >= view.right ||
        upper[i] <= view.low ||
        low[i] >= view.high ||
        (matches && !matches.has(job))
      )
        continue;
      const x0 = Math.ceil((start[i] - view.left) * sx - 0.5);
      let x1 = Math.max(x0 + least, Math.ceil((end[i] - view.left) * sx - 0.5));
      if (x1 <= x0) continue; // most of many: the rest need not be looked at
      const y0 = Math.ceil((view.high - upper[i]) * sy - 0.5);
      let y1 = Math.max(y0 + least, Math.ceil((view.high - low[i]) * sy - 0.5));
      const edged =
        marked && x1 - x0 > 2 * apart && y1 - y0 > ratio && (only === null || only === this.classOf(codes[job]));
      const notch = edged && backfilled[job] && x0 >= 0,
        torn = edged && cut?.[i] && x1 <= wide;
      if (x1 - x0 > apart && y1 - y0 > apart) {
        x1 -= 1;
        y1 -= 1;
      } // a hair between neighbours of one colour
      const colour = colours[codes[job]],
        x = Math.max(x0, 0),
        y = Math.max(y0, 0);
      x1 = Math.min(x1, wide);
      y1 = Math.min(y1, high);
      if (x1 - x < 12) {
        for (let row = y * wide; row < y1 * wide; row += wide)
          for (let at = row + x; at < row + x1; at++) pixels[at] = colour;
      } else for (let row = y * wide; row < y1 * wide; row += wide) pixels.fill(colour, row + x, row + x1);
      if (notch) for (let row = y * wide; row < y1 * wide; row += wide) pixels.fill(ink, row + x, row + x + edge);
      if (torn) for (let row = y * wide; row < y1 * wide; row += wide) pixels.fill(ink, row + x1 - edge, row + x1);
    }
  }

  // Whether more blocks are in view than can be told apart.
  showsMany() {
    const { of, start, end } = this.plan.blocks,
      { left, right } = this.view;
    let rest = 10000;
    for (let i = 0; i < of.length && rest >= 0; i++) if (end[i] > left && start[i] < right) rest--;
    return rest < 0;
  }

  // The grey of the jobs that are not in the detail.
  paintHidden(pixels, wide, high) {
    const { rows, columns, levels } = this.plan.hidden,
      { view, plan } = this,
      greys = [];
    const ground = packed(Colouring.variable("--ground")),
      muted = packed(Colouring.variable("--muted"));
    for (let level = 0; level < 256; level++) greys.push(blended(ground, muted, level / 255));
    const across = new Int32Array(wide);
    for (let x = 0; x < wide; x++) {
      const time = view.left + ((x + 0.5) / wide) * (view.right - view.left);
      across[x] = Math.floor(((time - plan.first) / (plan.last - plan.first)) * columns);
    }
    for (let y = 0; y < high; y++) {
      const line = Math.floor(((view.high - ((y + 0.5) / high) * (view.high - view.low)) / plan.rows) * rows);
      if (line < 0 || line >= rows) continue;
      for (let x = 0; x < wide; x++)
        if (across[x] >= 0 && across[x] < columns) pixels[y * wide + x] = greys[levels[line * columns + across[x]]];
    }
  }

  // Those of the blocks that the picture shows: fn(block, left, top, width, height) in CSS pixels.
  eachVisible(list, fn, blocks = this.plan.blocks) {
    const { start, end, low, high } = blocks,
      view = this.view;
    const sx = this.width / (view.right - view.left),
      sy = this.height / (view.high - view.low);
    const ox = this.margin.left,
      oy = this.margin.top + this.height;
    for (const i of list) {
      if (end[i] < view.left || start[i] > view.right || high[i] < view.low || low[i] > view.high) continue;
      const left = Math.max(start[i], view.left),
        right = Math.min(end[i], view.right);
      fn(i, ox + (left - view.left) * sx, oy - (high[i] - view.low) * sy, (right - left) * sx, (high[i] - low[i]) * sy);
    }
  }

  // A frame around the job, or the outage, that is being read.
  drawCurrent() {
    const { pen, plan } = this;
    const frame = (number, blocks) =>
      this.eachVisible(
        [...blocks.of.keys()].filter((i) => blocks.of[i] === number),
        (i, x, y, w, h) => pen.strokeRect(x - 1, y - 1, w + 2, h + 2),
        blocks,
      );
    pen.strokeStyle = Colouring.variable("--ink");
    pen.lineWidth = 2;
    if (this.current >= 0) frame(this.current, plan.blocks);
    if (this.outage >= 0) frame(this.outage, plan.outages.blocks);
    pen.lineWidth = 1;
  }

  drawBands() {
    const { pen, plan } = this;
    pen.fillStyle = Colouring.variable("--ink");
    for (const band of this.groups().slice(1)) pen.fillRect(this.margin.left, this.y(band.low), this.width, 1);
    this.nameBands((text, x, y) => {
      pen.globalAlpha = 0.8;
      pen.fillStyle = Colouring.variable("--ground");
      pen.fillRect(x - 4, y - 12, Chart.textWidth(text) + 8, 16);
      pen.globalAlpha = 1;
      pen.fillStyle = Colouring.variable("--ink");
      pen.font = "12px system-ui, sans-serif";
      pen.textAlign = "left";
      pen.fillText(text, x, y);
    });
    const nodes = plan.nodes,
      each = nodes.length > 1 ? this.y(nodes[0]) - this.y(nodes[1]) : 0;
    if (each < 12) return;
    pen.globalAlpha = 0.18;
    for (const low of nodes) pen.fillRect(this.margin.left, this.y(low), this.width, 1);
    pen.globalAlpha = 1;
  }

  // Clusters or, of one cluster, its partitions.
  groups() {
    const { bands, parts } = this.plan;
    return bands.length < 2 && parts && parts.length > 1 ? parts : bands;
  }

  // The names of the clusters or partitions, where there are several and room for them: fn(text, x, y).
  nameBands(fn) {
    const floor = this.margin.top + this.height;
    const groups = this.groups();
    if (groups.length < 2) return;
    for (const band of groups) {
      const top = Math.max(this.y(band.high), this.margin.top),
        bottom = Math.min(this.y(band.low), floor);
      if (bottom - top > 20) fn(Chart.fit(band.name, this.width / 2), this.margin.left + 6, top + 14);
    }
  }

  drawAxes() {
    const { pen, plan, margin } = this,
      floor = margin.top + this.height;
    pen.font = "12px system-ui, sans-serif";
    pen.fillStyle = Colouring.variable("--soft");
    pen.strokeStyle = Colouring.variable("--grid");
    pen.strokeRect(margin.left - 0.5, margin.top - 0.5, this.width + 1, this.height + 1);
    pen.textAlign = "center";
    let end = -Infinity;
    for (const [value, text] of Ticks.find(
      { kind: "time" },
      this.view.left,
      this.view.right,
      Math.max(2, Math.floor(this.width / 90)),
      plan.clock,
    )) {
      const half = pen.measureText(text).width / 2,
        at = Math.min(Math.max(this.x(value), half + 1), this.canvas.clientWidth - half - 1);
      if (at - half < end + 8) continue;
      end = at + half;
      pen.fillText(text, at, floor + 15);
      pen.fillRect(this.x(value), floor, 1, 4);
    }
    pen.fillText(Chart.fit(this.span(), this.canvas.clientWidth), this.canvas.clientWidth / 2, floor + 33);
    pen.textAlign = "left";
    pen.fillText(this.rowWords(), 4, 12);
    pen.textAlign = "right";
    for (const [value, text] of this.rowTicks())
      pen.fillText(text, margin.left - 6, Math.min(Math.max(this.y(value) + 4, margin.top + 9), floor));
  }

  // What is seen, in words: the ticks may be hours only.
  span() {
    const { clock } = this.plan,
      short = (time) => Ticks.moment(time, clock).replace(/:\d\d$/, "");
    const zone = Ticks.zone(clock, this.view.left, this.view.right);
    return `${short(this.view.left)} to ${short(this.view.right)}${zone ? ` (${zone})` : " of the trace"}`;
  }

  rowWords() {
    return this.plan.nodes.length > 1 ? "nodes" : "cores";
  }

  // Rows are told as nodes where there are nodes and room for it, else as cores.
  rowTicks() {
    const nodes = this.plan.nodes,
      { low, high } = this.view,
      count = Math.max(2, Math.floor(this.height / 44));
    if (nodes.length < 2) return Ticks.find({ kind: "count" }, low, high, count);
    const shown = [...nodes.keys()].filter((i) => nodes[i] >= low && nodes[i] <= high),
      every = Math.max(1, Math.ceil(shown.length / count));
    return shown.filter((_, i) => i % every === 0).map((i) => [nodes[i], this.plan.names?.[i] ?? `n${i}`]);
  }

  // The number of the block (of a job, or of others) under a point, or -1.
  find(px, py, { of, start, end, low, high } = this.plan.blocks) {
    const time = this.time(px),
      row = this.row(py);
    if (px < this.margin.left || py < this.margin.top || py > this.margin.top + this.height) return -1;
    const near = (1.5 / this.width) * (this.view.right - this.view.left);
    let found = -1;
    for (let i = 0; i < of.length; i++) {
      if (row < low[i] || row >= high[i]) continue;
      if (time >= start[i] && time < end[i]) return i;
      if (time >= start[i] - near && time < end[i] + near) found = i;
    }
    return found;
  }

  // Zoom by a factor around a point (0 to 1 in both directions); 0.5 shows half as much.
  zoom(factor, atX = 0.5, atY = 0.5, rows = false) {
    const view = this.view;
    if (!rows) {
      const span = Math.min(Math.max((view.right - view.left) * factor, 1e-3), this.extent.right - this.extent.left);
      const middle = view.left + atX * (view.right - view.left);
      view.left = middle - atX * span;
      view.right = view.left + span;
    } else {
      const span = Math.min(Math.max((view.high - view.low) * factor, 1), this.extent.high);
      const middle = view.low + atY * (view.high - view.low);
      view.low = middle - atY * span;
      view.high = view.low + span;
    }
    this.keepInside();
  }

  // Move by parts of what is seen.
  pan(partX, partY) {
    const { view } = this,
      dx = partX * (view.right - view.left),
      dy = partY * (view.high - view.low);
    view.left += dx;
    view.right += dx;
    view.low += dy;
    view.high += dy;
    this.keepInside();
  }

  keepInside() {
    const { view, extent } = this;
    for (const [low, high, least, most] of [
      ["left", "right", extent.left, extent.right],
      ["low", "high", extent.low, extent.high],
    ]) {
      const span = view[high] - view[low];
      if (view[low] < least) {
        view[low] = least;
        view[high] = least + span;
      }
      if (view[high] > most) {
        view[high] = most;
        view[low] = most - span;
      }
    }
    this.redraw();
  }

  reset() {
    this.view = { ...this.extent };
    this.redraw();
  }

  // Bring a job into the middle, with some time around it.
  show(job) {
    this.current = job;
    this.outage = -1;
    const jobs = this.plan.jobs;
    this.centre(jobs.start[job], Number.isNaN(jobs.end[job]) ? this.plan.last : jobs.end[job], job, this.plan.blocks);
  }

  // The same for what was down or reserved.
  showOutage(number) {
    this.current = -1;
    this.outage = number;
    const { start, end, blocks } = this.plan.outages;
    this.centre(start[number], end[number], number, blocks);
  }

  centre(start, end, owner, { of, low, high }) {
    const span = Math.min(
      Math.max(8 * (end - start), (this.extent.right - this.extent.left) / 2000),
      this.extent.right - this.extent.left,
    );
    this.view.left = (start + end - span) / 2;
    this.view.right = this.view.left + span;
    const first = of.indexOf(owner);
    if (first >= 0 && (low[first] < this.view.low || high[first] > this.view.high)) {
      const rows = this.view.high - this.view.low;
      this.view.low = (low[first] + high[first] - rows) / 2;
      this.view.high = this.view.low + rows;
    }
    this.keepInside();
  }
}
