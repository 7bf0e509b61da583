// The schedule on a canvas: cores or nodes over time. Drawing only; what the person does is in gantt_input.js.
class Gantt {
  constructor(canvas, schedules) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.schedules = schedules;
    this.margin = { left: 56, right: 8, top: 6, bottom: 26 };
    this.marked = true;
    this.matches = null;
    this.only = null;
    this.current = -1;
    this.extent = {
      left: Math.min(...schedules.map((plan) => plan.first)),
      right: Math.max(...schedules.map((plan) => plan.last)),
      low: 0,
      high: Math.max(...schedules.map((plan) => plan.rows)),
    };
    this.view = { ...this.extent };
    this.choose(0, null);
  }

  get plan() { return this.schedules[this.number]; }

  // Another result, or another meaning of the colours.
  choose(number, way) {
    this.number = number;
    const ways = this.ways();
    this.way = ways.includes(way) ? way : ways[0];
    this.colouring = Colouring.of(this.plan, this.way, this.schedules[0]);
    const { of } = this.plan.blocks, codes = this.colouring.codes;
    this.byColour = this.colouring.names.map(() => []);
    for (let i = 0; i < of.length; i++) this.byColour[codes[of[i]]].push(i);
    this.matches = null;
    this.current = -1;
    this.shade = null;
    this.redraw();
  }

  ways() { return this.number > 0 ? [...this.plan.ways, "change"] : this.plan.ways; }

  // Sizes of the picture in CSS pixels.
  get width() { return this.canvas.clientWidth - this.margin.left - this.margin.right; }
  get height() { return this.canvas.clientHeight - this.margin.top - this.margin.bottom; }
  x(time) { return this.margin.left + ((time - this.view.left) / (this.view.right - this.view.left)) * this.width; }
  y(row) { return this.margin.top + this.height - ((row - this.view.low) / (this.view.high - this.view.low)) * this.height; }
  time(x) { return this.view.left + ((x - this.margin.left) / this.width) * (this.view.right - this.view.left); }
  row(y) { return this.view.low + ((this.margin.top + this.height - y) / this.height) * (this.view.high - this.view.low); }

  redraw() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.draw(); });
  }

  draw(ratio = window.devicePixelRatio || 1) {
    const { canvas, pen } = this, began = performance.now();
    const wide = Math.round(canvas.clientWidth * ratio), high = Math.round(canvas.clientHeight * ratio);
    if (canvas.width !== wide || canvas.height !== high) { canvas.width = wide; canvas.height = high; }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = Colouring.variable("--ground");
    pen.fillRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    pen.save();
    pen.beginPath();
    pen.rect(this.margin.left, this.margin.top, this.width, this.height);
    pen.clip();
    this.drawHidden();
    this.drawBlocks();
    this.drawEdges();
    this.drawBands();
    pen.restore();
    this.drawAxes();
    this.spent = performance.now() - began;
  }

  // The grey of the jobs that are not in the detail.
  drawHidden() {
    const hidden = this.plan.hidden;
    if (!hidden) return;
    if (!this.shade || this.shade.theme !== Colouring.variable("--ground")) this.shade = this.makeShade(hidden);
    this.pen.imageSmoothingEnabled = false;
    const [left, right, top, bottom] = [this.x(this.plan.first), this.x(this.plan.last), this.y(this.plan.rows), this.y(0)];
    this.pen.drawImage(this.shade.picture, left, top, right - left, bottom - top);
  }

  makeShade({ rows, columns, levels }) {
    const picture = document.createElement("canvas"), theme = Colouring.variable("--ground"), muted = Colouring.variable("--muted");
    picture.width = columns;
    picture.height = rows;
    const pen = picture.getContext("2d"), image = pen.createImageData(columns, rows);
    const channels = [0, 1, 2].map((i) => parseInt(muted.slice(1 + 2 * i, 3 + 2 * i), 16));
    for (let row = 0; row < rows; row++)
      for (let column = 0; column < columns; column++) {
        const at = 4 * ((rows - 1 - row) * columns + column);
        image.data.set([...channels, levels[row * columns + column]], at);
      }
    pen.putImageData(image, 0, 0);
    return { picture, theme };
  }

  // The blocks that the picture shows, class by class: fn(block, left, top, width, height).
  eachVisible(list, fn) {
    const { start, end, low, high } = this.plan.blocks, view = this.view;
    const sx = this.width / (view.right - view.left), sy = this.height / (view.high - view.low);
    const ox = this.margin.left, oy = this.margin.top + this.height;
    for (const i of list) {
      if (end[i] < view.left || start[i] > view.right || high[i] < view.low || low[i] > view.high) continue;
      const left = Math.max(start[i], view.left), right = Math.min(end[i], view.right);
      fn(i, ox + (left - view.left) * sx, oy - (high[i] - view.low) * sy, (right - left) * sx, (high[i] - low[i]) * sy);
    }
  }

  isDim(code) { return this.only !== null && this.only !== code; }

  drawBlocks() {
    const { pen, matches } = this, { of } = this.plan.blocks, gap = this.view.right - this.view.left < (this.extent.right - this.extent.left) / 4;
    this.byColour.forEach((list, code) => {
      pen.fillStyle = this.colouring.colours[code];
      pen.globalAlpha = matches || this.isDim(code) ? 0.13 : 1;
      this.eachVisible(list, (i, x, y, w, h) => {
        const slim = gap && w > 4 ? 0.5 : 0, flat = h > 5 ? 0.5 : 0;
        pen.fillRect(x + slim, y + flat, Math.max(w - 2 * slim, 0.5), Math.max(h - 2 * flat, 0.5));
      });
    });
    pen.globalAlpha = 1;
    if (!matches) return;
    this.byColour.forEach((list, code) => {
      pen.fillStyle = this.colouring.colours[code];
      pen.strokeStyle = Colouring.variable("--ink");
      this.eachVisible(list.filter((i) => matches.has(of[i])), (i, x, y, w, h) => {
        pen.fillRect(x, y, Math.max(w, 1.5), Math.max(h, 1.5));
        if (w > 3 && h > 3) pen.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
      });
    });
  }

  // A dark edge where a backfilled job starts, and a frame around the job that is being read.
  drawEdges() {
    const { pen } = this, { of, start } = this.plan.blocks, backfilled = this.plan.jobs.backfilled;
    if (this.marked && !this.matches) {
      pen.fillStyle = Colouring.variable("--ink");
      this.eachVisible(of.keys(), (i, x, y, w, h) => {
        if (backfilled[of[i]] && w > 3 && h > 1.5 && start[i] >= this.view.left && !this.isDim(this.colouring.codes[of[i]])) pen.fillRect(x, y, 1.6, h);
      });
    }
    if (this.current < 0) return;
    pen.strokeStyle = Colouring.variable("--ink");
    pen.lineWidth = 2;
    this.eachVisible([...of.keys()].filter((i) => of[i] === this.current), (i, x, y, w, h) => pen.strokeRect(x - 1, y - 1, w + 2, h + 2));
    pen.lineWidth = 1;
  }

  drawBands() {
    const { pen, plan } = this;
    pen.fillStyle = Colouring.variable("--ink");
    for (const band of plan.bands.slice(1)) pen.fillRect(this.margin.left, this.y(band.low), this.width, 1);
    const nodes = plan.nodes, each = nodes.length > 1 ? this.y(nodes[0]) - this.y(nodes[1]) : 0;
    if (each < 12) return;
    pen.globalAlpha = 0.18;
    for (const low of nodes) pen.fillRect(this.margin.left, this.y(low), this.width, 1);
    pen.globalAlpha = 1;
  }

  drawAxes() {
    const { pen, plan, margin } = this, floor = margin.top + this.height;
    pen.font = "12px system-ui, sans-serif";
    pen.fillStyle = Colouring.variable("--soft");
    pen.strokeStyle = Colouring.variable("--grid");
    pen.strokeRect(margin.left - 0.5, margin.top - 0.5, this.width + 1, this.height + 1);
    pen.textAlign = "center";
    let end = -Infinity;
    for (const [value, text] of Ticks.find({ kind: "time" }, this.view.left, this.view.right, Math.max(2, Math.floor(this.width / 90)), plan.clock)) {
      const half = pen.measureText(text).width / 2, at = Math.min(Math.max(this.x(value), half + 1), this.canvas.clientWidth - half - 1);
      if (at - half < end + 8) continue;
      end = at + half;
      pen.fillText(text, at, floor + 15);
      pen.fillRect(this.x(value), floor, 1, 4);
    }
    pen.textAlign = "right";
    for (const [value, text] of this.rowTicks()) pen.fillText(text, margin.left - 6, Math.min(Math.max(this.y(value) + 4, margin.top + 9), floor));
  }

  // Rows are told as nodes where there are nodes and room for it, else as cores.
  rowTicks() {
    const nodes = this.plan.nodes, { low, high } = this.view, count = Math.max(2, Math.floor(this.height / 44));
    if (nodes.length < 2) return Ticks.find({ kind: "count" }, low, high, count);
    const shown = [...nodes.keys()].filter((i) => nodes[i] >= low && nodes[i] <= high), every = Math.max(1, Math.ceil(shown.length / count));
    return shown.filter((_, i) => i % every === 0).map((i) => [nodes[i], `n${i}`]);
  }

  // The job under a point, or -1.
  find(px, py) {
    const { of, start, end, low, high } = this.plan.blocks, time = this.time(px), row = this.row(py);
    if (px < this.margin.left || py < this.margin.top || py > this.margin.top + this.height) return -1;
    const near = (1.5 / this.width) * (this.view.right - this.view.left);
    let found = -1;
    for (let i = 0; i < of.length; i++) {
      if (row < low[i] || row >= high[i]) continue;
      if (time >= start[i] && time < end[i]) return of[i];
      if (time >= start[i] - near && time < end[i] + near) found = of[i];
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
    const { view } = this, dx = partX * (view.right - view.left), dy = partY * (view.high - view.low);
    view.left += dx; view.right += dx; view.low += dy; view.high += dy;
    this.keepInside();
  }

  keepInside() {
    const { view, extent } = this;
    for (const [low, high, least, most] of [["left", "right", extent.left, extent.right], ["low", "high", extent.low, extent.high]]) {
      const span = view[high] - view[low];
      if (view[low] < least) { view[low] = least; view[high] = least + span; }
      if (view[high] > most) { view[high] = most; view[low] = most - span; }
    }
    this.redraw();
  }

  reset() { this.view = { ...this.extent }; this.redraw(); }

  // Bring a job into the middle, with some time around it.
  show(job) {
    this.current = job;
    const { of, low, high } = this.plan.blocks, jobs = this.plan.jobs;
    const start = jobs.start[job], end = Number.isNaN(jobs.end[job]) ? this.plan.last : jobs.end[job];
    const span = Math.min(Math.max(8 * (end - start), (this.extent.right - this.extent.left) / 2000), this.extent.right - this.extent.left);
    this.view.left = (start + end - span) / 2;
    this.view.right = this.view.left + span;
    const first = of.indexOf(job);
    if (first >= 0 && (low[first] < this.view.low || high[first] > this.view.high)) {
      const rows = this.view.high - this.view.low;
      this.view.low = (low[first] + high[first] - rows) / 2;
      this.view.high = this.view.low + rows;
    }
    this.keepInside();
  }
}
