// The schedule's controls: buttons, search, legend, pointer, wheel, touch and keys.
const Viewer = (() => {
  const element = (name, attributes = {}, text = "") => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes))
      if (value !== false) node.setAttribute(key, value === true ? "" : value);
    if (text) node.textContent = text;
    return node;
  };

  function select(words, options, onChange) {
    const label = element("label", {}, `${words} `),
      list = element("select");
    options.forEach(([value, text]) => list.append(element("option", { value }, text)));
    list.addEventListener("change", () => onChange(list.value));
    label.append(list);
    return [label, list];
  }

  function button(text, words, onClick) {
    const node = element("button", { type: "button", title: words, "aria-label": words }, text);
    node.addEventListener("click", onClick);
    return node;
  }

  function build(place, schedules) {
    const bar = element("div", { class: "toolbar", role: "toolbar", "aria-label": "Schedule" });
    const canvas = element("canvas", {
      tabindex: 0,
      role: "application",
      "aria-label":
        "Schedule: cores over time. Arrow keys move, plus and minus zoom, brackets zoom rows, n and p read the next and the previous job, o the next outage, 0 shows all.",
    });
    const legend = element("ul", { class: "legend" }),
      status = element("p", { class: "status", role: "status" }),
      rule = element("p", { class: "note" });
    const outages = schedules.some((plan) => plan.outages),
      cut = schedules.some((plan) => plan.blocks.cut);
    const help = element(
      "p",
      { class: "note" },
      `Drag to move; Ctrl and wheel, or the wheel after a click, to zoom (with Shift: rows). Keys: arrows move, + − zoom, [ ] zoom rows, n p next and previous job,${outages ? " o next outage," : ""} 0 all, / search, Esc clears. An edge at its start marks a backfilled job${cut ? ", one at its end a job that was interrupted and ran again later" : ""}.${schedules.length > 1 ? " Choose another result and the colour “change” to see what starts earlier or later." : ""}`,
    );
    const gantt = new Gantt(canvas, schedules);
    const viewer = { gantt, canvas, legend, status, rule, place, matches: [], match: -1 };
    addControls(viewer, bar, schedules);
    place.append(bar, status, canvas, legend, rule, help);
    choose(viewer, 0, null);
    pointer(viewer);
    keys(viewer);
    viewer.recolour = () => recolour(viewer);
    new ResizeObserver(() => gantt.redraw()).observe(canvas);
    return viewer;
  }

  function addControls(viewer, bar, schedules) {
    const { gantt } = viewer,
      one = schedules.length === 1;
    const [resultLabel, results] = select(
      "Result",
      schedules.map((plan, i) => [String(i), plan.label]),
      (value) => choose(viewer, Number(value), gantt.way),
    );
    const [wayLabel, ways] = select("Colour", [], (value) => choose(viewer, gantt.number, value));
    const box = element("input", {
      type: "search",
      placeholder: "job or user",
      "aria-label": "Search a job or user",
      autocomplete: "off",
      spellcheck: "false",
    });
    box.addEventListener("input", () => search(viewer, box.value));
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        step(viewer, event.shiftKey ? -1 : 1);
      }
      if (event.key === "Escape") {
        box.value = "";
        search(viewer, "");
      }
    });
    const marks = element("input", { type: "checkbox", checked: true }),
      marksLabel = element("label");
    marks.addEventListener("change", () => {
      gantt.marked = marks.checked;
      gantt.redraw();
    });
    marksLabel.append(marks, schedules.some((plan) => plan.blocks.cut) ? " edges" : " backfilled");
    Object.assign(viewer, { box, ways, results });
    bar.append(
      ...(one ? [] : [resultLabel]),
      wayLabel,
      box,
      button("‹", "Previous match", () => step(viewer, -1)),
      button("›", "Next match", () => step(viewer, 1)),
      button("+", "Zoom in", () => gantt.zoom(0.5)),
      button("−", "Zoom out", () => gantt.zoom(2)),
      button("All", "Show all", () => gantt.reset()),
      marksLabel,
      button("PNG", "Save as PNG", () => Export.canvas(viewer)),
      button("SVG", "Save as SVG", () => Export.schedule(viewer)),
    );
  }

  function choose(viewer, number, way) {
    const { gantt, ways, rule } = viewer;
    gantt.choose(number, way);
    ways.replaceChildren(
      ...gantt
        .ways()
        .map((name) =>
          element("option", { value: name }, name === "change" ? `change against ${gantt.schedules[0].label}` : name),
        ),
    );
    ways.value = gantt.way;
    rule.textContent = `${gantt.plan.rule} ${gantt.plan.vague}`.trim();
    gantt.only = null;
    fillLegend(viewer);
    search(viewer, viewer.box.value);
  }

  // The colours of another theme; what is seen and found stays.
  function recolour(viewer) {
    const { gantt } = viewer;
    gantt.colouring = Colouring.of(gantt.plan, gantt.way, gantt.schedules[0]);
    fillLegend(viewer);
    gantt.redraw();
  }

  // The classes of jobs; a press shows one of them alone.
  function fillLegend({ gantt, legend }) {
    const present = new Set(Array.from(gantt.colouring.codes, (code) => gantt.classOf(code)));
    legend.replaceChildren(
      ...gantt.colouring.names.map((words, code) => {
        const item = element("li"),
          press = element("button", { type: "button", "aria-pressed": "false" }),
          name = element("bdi", {}, words),
          sample = element("span", { class: "sample solid" });
        sample.style.setProperty("--sample", gantt.colouring.colours[code]);
        press.append(sample, name);
        press.addEventListener("click", () => {
          gantt.only = gantt.only === code ? null : code;
          legend
            .querySelectorAll("button")
            .forEach((other) => other.setAttribute("aria-pressed", String(other === press && gantt.only !== null)));
          gantt.redraw();
        });
        item.append(press);
        item.hidden = !present.has(code);
        return item;
      }),
      ...Outages.present(gantt.plan).map((kind) => {
        const item = element("li", { class: "outage" });
        item.append(element("img", { src: Outages.sample(kind, 14), alt: "", width: 14, height: 14 }), kind);
        return item;
      }),
    );
  }

  function search(viewer, text) {
    const { gantt, status } = viewer;
    viewer.matches = Jobs.search(gantt.plan, text);
    viewer.match = -1;
    gantt.matches = text.trim() ? new Set(viewer.matches) : null;
    gantt.current = gantt.outage = -1;
    const count = viewer.matches.length;
    status.textContent = !text.trim()
      ? ""
      : count
        ? `${Ticks.grouped(count)} ${count === 1 ? "job" : "jobs"} found; Enter shows them one by one`
        : "nothing found among the jobs that are shown";
    gantt.redraw();
  }

  function step(viewer, by) {
    const { gantt, matches, status } = viewer;
    if (!matches.length) return;
    viewer.match = (viewer.match + by + matches.length) % matches.length;
    if (viewer.match < 0) viewer.match = matches.length - 1;
    gantt.show(matches[viewer.match]);
    status.textContent = `${Ticks.grouped(viewer.match + 1)} of ${Ticks.grouped(matches.length)}: ${plain(tell(viewer, matches[viewer.match]))}`;
  }

  const plain = (lines) => lines.map(([words, value]) => `${words} ${value}`.trim()).join(", ");

  // A job's lines, with its start under the other results; `block` is the part of it that is meant.
  function tell({ gantt }, job, block = -1) {
    const lines = [...Jobs.tell(gantt.plan, job), ...Jobs.tellPiece(gantt.plan, job, block)],
      mine = Jobs.name(gantt.plan, job),
      start = gantt.plan.jobs.start[job];
    for (const other of gantt.schedules) {
      if (other === gantt.plan) continue;
      other.index ??= new Map(Array.from({ length: other.jobs.count }, (_, i) => [Jobs.name(other, i), i]));
      const there = other.index.get(mine);
      if (there === undefined) continue;
      const shift = start - other.jobs.start[there];
      lines.push([
        `under ${other.label}`,
        Math.abs(shift) < 0.5e-6
          ? "the same start"
          : `${Ticks.exact(Math.abs(shift))} ${shift < 0 ? "later" : "earlier"}`,
      ]);
    }
    return lines;
  }

  function pointer(viewer) {
    const { gantt, canvas } = viewer,
      down = new Map();
    let pinch = 0;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      down.set(event.pointerId, event);
      canvas.focus({ preventScroll: true });
    });
    for (const name of ["pointerup", "pointercancel"])
      canvas.addEventListener(name, (event) => {
        down.delete(event.pointerId);
        pinch = 0;
        canvas.classList.remove("moving");
      });
    canvas.addEventListener("pointermove", (event) => {
      const last = down.get(event.pointerId);
      if (!last) return hover(viewer, event);
      Hover.hide();
      down.set(event.pointerId, event);
      if (down.size === 2) {
        const [one, other] = [...down.values()],
          apart = Math.abs(one.clientX - other.clientX) + 1;
        if (pinch) gantt.zoom(pinch / apart);
        pinch = apart;
      } else if (event.clientX !== last.clientX || event.clientY !== last.clientY) {
        canvas.classList.add("moving");
        gantt.pan((last.clientX - event.clientX) / gantt.width, (event.clientY - last.clientY) / gantt.height);
      }
    });
    canvas.addEventListener("pointerleave", () => Hover.hide());
    canvas.addEventListener("dblclick", (event) => zoomAt(gantt, canvas, event, 0.25, false));
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && document.activeElement !== canvas) return;
        event.preventDefault();
        zoomAt(
          gantt,
          canvas,
          event,
          Math.exp(
            Math.sign(event.deltaY || event.deltaX) * Math.min(Math.abs(event.deltaY || event.deltaX), 100) * 0.004,
          ),
          event.shiftKey,
        );
        hover(viewer, event);
      },
      { passive: false },
    );
  }

  function zoomAt(gantt, canvas, event, factor, rows) {
    const box = canvas.getBoundingClientRect();
    gantt.zoom(
      factor,
      (event.clientX - box.left - gantt.margin.left) / gantt.width,
      1 - (event.clientY - box.top - gantt.margin.top) / gantt.height,
      rows,
    );
  }

  function hover(viewer, event) {
    const { gantt, canvas } = viewer,
      box = canvas.getBoundingClientRect();
    const place = [event.clientX - box.left, event.clientY - box.top],
      { blocks, outages } = gantt.plan;
    const block = gantt.find(...place),
      out = outages ? gantt.find(...place, outages.blocks) : -1;
    canvas.classList.toggle("on-job", block >= 0 || out >= 0);
    const lines = block < 0 ? [] : tell(viewer, blocks.of[block], block);
    if (out >= 0) {
      const told = Outages.tell(gantt.plan, outages.blocks.of[out]);
      lines.push(...(block < 0 ? told : [[`in a ${told[0][0].toLowerCase()}`, told[0][1]]]));
    }
    if (lines.length) Hover.show(lines, event.clientX, event.clientY);
    else Hover.hide();
  }

  // The next job in time after the one that is being read, or the first that is seen.
  function read(viewer, by) {
    const { gantt, status } = viewer,
      jobs = gantt.plan.jobs;
    gantt.order ??= {};
    const order = (gantt.order[gantt.number] ??= Array.from({ length: jobs.count }, (_, i) => i).sort(
      (a, b) => jobs.start[a] - jobs.start[b] || a - b,
    ));
    let place = order.indexOf(gantt.current);
    place =
      place >= 0
        ? place + by
        : Math.max(
            0,
            order.findIndex((job) => jobs.start[job] >= gantt.view.left),
          );
    const job = order[Math.min(Math.max(place, 0), order.length - 1)];
    if (job === undefined) return;
    gantt.current = job;
    gantt.outage = -1;
    if (jobs.start[job] < gantt.view.left || jobs.start[job] > gantt.view.right) gantt.show(job);
    gantt.redraw();
    status.textContent = plain(tell(viewer, job));
  }

  // The next outage in time after the one that is being read, or the first that is seen; round and round.
  function readOutage(viewer) {
    const { gantt, status } = viewer,
      { outages } = gantt.plan;
    if (!outages?.blocks.of.length) {
      status.textContent = "nothing was down or reserved";
      return;
    }
    const order = [...new Set(outages.blocks.of)].sort((a, b) => outages.start[a] - outages.start[b] || a - b);
    const place = order.indexOf(gantt.outage);
    const next = place >= 0 ? place + 1 : order.findIndex((number) => outages.end[number] > gantt.view.left);
    gantt.showOutage(order[Math.max(next, 0) % order.length]);
    status.textContent = plain(Outages.tell(gantt.plan, gantt.outage));
  }

  function keys(viewer) {
    const { gantt, canvas, box } = viewer;
    const acts = {
      ArrowLeft: () => gantt.pan(-0.2, 0),
      ArrowRight: () => gantt.pan(0.2, 0),
      ArrowUp: () => gantt.pan(0, 0.2),
      ArrowDown: () => gantt.pan(0, -0.2),
      "+": () => gantt.zoom(0.5),
      "=": () => gantt.zoom(0.5),
      "-": () => gantt.zoom(2),
      "]": () => gantt.zoom(0.5, 0.5, 0.5, true),
      "[": () => gantt.zoom(2, 0.5, 0.5, true),
      0: () => gantt.reset(),
      Home: () => gantt.reset(),
      n: () => read(viewer, 1),
      p: () => read(viewer, -1),
      o: () => readOutage(viewer),
      "/": () => box.focus(),
      Enter: () => {
        if (gantt.current >= 0) gantt.show(gantt.current);
      },
      Escape: () => {
        box.value = "";
        search(viewer, "");
        Hover.hide();
      },
    };
    canvas.addEventListener("keydown", (event) => {
      const act = acts[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act(event);
    });
  }

  return { build };
})();
