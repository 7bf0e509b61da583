// The data of the page unpacked: a header in JSON and arrays behind it, packed by report/encode.py.
const Jobs = (() => {
  const TYPES = {
    f8: Float64Array,
    f4: Float32Array,
    u4: Uint32Array,
    i4: Int32Array,
    u2: Uint16Array,
    u1: Uint8Array,
  };

  async function unpack(text) {
    const packed = atob(text),
      bytes = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const buffer = await new Response(stream).arrayBuffer();
    const length = Number(new DataView(buffer).getBigUint64(0, true));
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
    header.schedules = header.schedules.map((schedule, i) => restore(schedule, buffer, 8 + length, header, i));
    return header;
  }

  const isPlace = (value) => value && typeof value === "object" && "offset" in value && "type" in value;

  // The same object with arrays in the place of their descriptions.
  function restore(schedule, buffer, base, header, number) {
    const view = (value) => {
      if (isPlace(value)) return new TYPES[value.type](buffer, base + value.offset, value.length);
      if (value && typeof value === "object" && !Array.isArray(value))
        return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, view(part)]));
      return value;
    };
    return Object.assign(view(schedule), {
      label: header.labels[number],
      states: header.states,
      clock: header.clock,
      classes: header.classes,
    });
  }

  const name = (schedule, job) => (schedule.jobs.ids ? schedule.jobs.ids[job] : String(schedule.jobs.id[job]));

  function label(schedule, key, job) {
    const column = schedule.jobs.labels[key];
    return !column || column.codes[job] < 0 ? null : column.names[column.codes[job]];
  }

  // What is known of a job, as lines of [words, value].
  function tell(schedule, job) {
    const jobs = schedule.jobs,
      clock = schedule.clock,
      lines = [[`Job ${jobs.names?.[job] || name(schedule, job)}`, ""]];
    for (const key of ["user", "group", "account", "queue", "qos", "workflow", "phase"]) {
      const value = label(schedule, key, job);
      if (value !== null) lines.push([key, value]);
    }
    if (schedule.bands.length > 1) lines.push(["cluster", label(schedule, "cluster", job) ?? "–"]);
    lines.push(["cores", Ticks.grouped(jobs.cores[job])]);
    for (const key of ["nodes", "gpus"])
      if (jobs[key]?.[job] > 0) lines.push([key === "gpus" ? "GPUs" : key, Ticks.grouped(jobs[key][job])]);
    if (jobs.memory?.[job] > 0) lines.push(["memory", `${Ticks.number(jobs.memory[job] / 2 ** 30)} GiB`]);
    lines.push(["submitted", Ticks.moment(jobs.submit[job], clock)]);
    lines.push(["started", Ticks.moment(jobs.start[job], clock)], ["ended", Ticks.moment(jobs.end[job], clock)]);
    lines.push(["wait", Ticks.exact(jobs.wait[job])], ["requested", Ticks.exact(jobs.requested_time[job])]);
    lines.push(["state", schedule.states[jobs.state[job]] + (jobs.backfilled[job] ? ", backfilled" : "")]);
    return lines;
  }

  // Which of its times of running a block of a job is, where there were several.
  function tellPiece(schedule, job, block) {
    const { of, start, cut, outcome } = schedule.blocks;
    if (!cut) return [];
    const starts = new Set();
    for (let i = 0; i < of.length; i++) if (of[i] === job) starts.add(start[i]);
    if (starts.size < 2) return [];
    if (block < 0) return [["ran", `${starts.size} times`]];
    const number = [...starts].sort((a, b) => a - b).indexOf(start[block]) + 1;
    return [
      [
        "ran",
        `${number} of ${starts.size} times${cut[block] ? `; then ${words(outcome.names[outcome.codes[block]])}` : ""}`,
      ],
    ];
  }

  // How a time of running ended that was not the last one.
  const words = (outcome) => (outcome === "running" || !outcome ? "suspended" : outcome);

  // The jobs that a text asks for: a job's number or name, or a user's (queue's, ...) name, else a part of one.
  function search(schedule, text) {
    const jobs = schedule.jobs,
      wanted = text.trim().toLowerCase(),
      found = [];
    if (!wanted) return found;
    const labels = Object.values(jobs.labels),
      whole = labels.some((column) => column.names.some((label) => label.toLowerCase() === wanted));
    const fits = (label) => (whole ? label.toLowerCase() === wanted : label.toLowerCase().includes(wanted));
    const columns = labels.map((column) => [column.codes, column.names.map(fits)]);
    for (let job = 0; job < jobs.count; job++) {
      const hit =
        name(schedule, job) === wanted ||
        (!whole && jobs.names?.[job]?.toLowerCase().includes(wanted)) ||
        columns.some(([codes, hits]) => codes[job] >= 0 && hits[codes[job]]);
      if (hit) found.push(job);
    }
    const exact = (job) => (name(schedule, job) === wanted ? 0 : 1);
    return found.sort((a, b) => exact(a) - exact(b) || jobs.start[a] - jobs.start[b]);
  }

  return { unpack, tell, tellPiece, search, name, label };
})();

// What the colours of a schedule mean: the class of each job; as charts/colouring.py.
const Colouring = (() => {
  const MOST = 8,
    TONES = 3; // of grey, for all that have no colour of their own
  function of(schedule, way, base) {
    const jobs = schedule.jobs,
      count = jobs.count,
      codes = new Uint8Array(count);
    if (way === "size") {
      const { size } = schedule.classes;
      for (let i = 0; i < count; i++) codes[i] = size.filter(([, least]) => jobs.cores[i] >= least).length - 1;
      return { codes, names: size.map(([words]) => words), colours: ordered(size.length) };
    }
    if (way === "wait") {
      const { wait } = schedule.classes;
      for (let i = 0; i < count; i++) codes[i] = wait.findIndex(([, below]) => !(jobs.wait[i] >= (below ?? Infinity)));
      return { codes, names: wait.map(([words]) => words), colours: ordered(wait.length) };
    }
    if (way === "state") {
      codes.set(jobs.state);
      return { codes, names: schedule.states, colours: schedule.states.map((_, i) => variable(`--state${i}`)) };
    }
    if (way === "backfilled") {
      codes.set(jobs.backfilled);
      return { codes, names: ["in turn", "backfilled"], colours: [variable("--c0"), variable("--c1")] };
    }
    if (way === "change") return change(schedule, base, codes);
    return byLabel(schedule, way, codes);
  }

  const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function mix(one, other, part) {
    const channel = (colour, i) => parseInt(colour.slice(1 + 2 * i, 3 + 2 * i), 16);
    const mixed = [0, 1, 2].map((i) => Math.round(channel(one, i) + (channel(other, i) - channel(one, i)) * part));
    return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
  }

  // A colour of a scale, for a share from 0 to 1.
  function shade(share, diverging) {
    const [letter, steps] = diverging ? ["d", 6] : ["s", 5],
      place = share * steps,
      first = Math.min(Math.floor(place), steps - 1);
    return mix(variable(`--${letter}${first}`), variable(`--${letter}${first + 1}`), place - first);
  }

  const ordered = (count) => Array.from({ length: count }, (_, i) => shade(0.12 + (0.88 * i) / Math.max(count - 1, 1)));

  function change(schedule, base, codes) {
    const before = new Map(),
      { names, edges } = schedule.classes.change;
    for (let i = 0; i < base.jobs.count; i++) before.set(Jobs.name(base, i), base.jobs.start[i]);
    for (let i = 0; i < schedule.jobs.count; i++) {
      const shift = schedule.jobs.start[i] - (before.get(Jobs.name(schedule, i)) ?? schedule.jobs.start[i]);
      codes[i] = edges.filter((edge) => shift > edge).length;
    }
    return { codes, names, colours: names.map((_, i) => variable(`--d${i}`)) };
  }

  function byLabel(schedule, way, codes) {
    const column = schedule.jobs.labels[way],
      work = new Float64Array(column.names.length + 1);
    for (let i = 0; i < codes.length; i++) work[column.codes[i] + 1] += schedule.jobs.work[i];
    const nameless = column.codes.includes(-1);
    const present = [...work.keys()].slice(1).sort((a, b) => work[b] - work[a] || a - b);
    const shown = present.length + nameless <= MOST ? present.length : MOST - 1,
      rest = present.length - shown,
      place = new Uint8Array(work.length).fill(rest ? shown + TONES - 1 : shown);
    present.forEach((label, i) => {
      place[label] = i < shown ? i : shown + ((i - shown) % TONES);
    });
    for (let i = 0; i < codes.length; i++) codes[i] = place[column.codes[i] + 1];
    const names = present.slice(0, shown).map((label) => column.names[label - 1]);
    const colours = names.map((_, i) => variable(`--c${i}`));
    if (rest || nameless) {
      const others = rest ? [`all others (${Ticks.grouped(rest)})`] : [];
      names.push([...others, ...(nameless ? ["none"] : [])].join(" and "));
      colours.push(
        variable("--muted"),
        ...[0.3, 0.55].map((part) => mix(variable("--muted"), variable("--ground"), part)),
      );
    }
    return { codes, names, colours };
  }

  return { of, variable, shade };
})();
