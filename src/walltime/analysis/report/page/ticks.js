// Where an axis has its marks and what is written there; the same as charts/ticks.py, which a test compares.
const Ticks = (() => {
  const DAY = 86400;
  const DURATIONS = [1, 10, 60, 600, 3600, 21600, DAY, 7 * DAY, 30 * DAY, 365 * DAY];
  const FINE_DURATIONS = [
    ...[1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200],
    ...[1, 2, 7, 14, 30, 90, 180, 365].map((days) => days * DAY),
  ];
  const ROOM = 0.8;
  const STEPS = [
    1,
    2,
    5,
    10,
    15,
    30,
    60,
    120,
    300,
    600,
    900,
    1800,
    3600,
    7200,
    10800,
    21600,
    43200,
    DAY,
    2 * DAY,
    5 * DAY,
    7 * DAY,
    10 * DAY,
    20 * DAY,
  ];
  const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

  const grouped = (value, digits = 0) =>
    value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const minus = (text) => text.replace(/-/g, "−");

  function trim(value, digits = 4) {
    const rounded = Number(value.toPrecision(digits));
    return rounded.toLocaleString("en-US", { maximumSignificantDigits: digits });
  }

  function number(value) {
    const size = Math.abs(value);
    for (const [limit, letter] of [
      [1e12, "T"],
      [1e9, "G"],
      [1e6, "M"],
    ])
      if (size >= limit) return `${trim(value / limit)} ${letter}`;
    return size >= 1000 ? grouped(value) : trim(value);
  }

  const UNITS = [
    [DAY, "d"],
    [3600, "h"],
    [60, "min"],
    [1, "s"],
  ];
  const writeIn = (value, [unit, name]) =>
    `${Math.abs(value) / unit < 10000 ? trim(value / unit) : grouped(value / unit)} ${name}`;

  function duration(value) {
    const size = Math.abs(value);
    const found = UNITS.find(([unit]) => unit > 1 && (size >= 2 * unit || (size >= unit && size % unit === 0)));
    return writeIn(value, found ?? [1, "s"]);
  }

  // One unit for all durations of an axis.
  function findUnit(largest, step) {
    return UNITS.find(([unit]) => largest >= 2 * unit && (2 * step) % unit === 0) ?? [1, "s"];
  }

  // For a person who reads one value: as walltime.core.time.format_duration.
  function exact(seconds) {
    if (seconds === null || Number.isNaN(seconds)) return "–";
    if (seconds < 0) return "−" + exact(-seconds);
    const two = (n) => String(n).padStart(2, "0");
    if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
    if (seconds < 59.5) return `${seconds.toFixed(0)} s`;
    if (seconds < 3599.5) {
      const s = Math.round(seconds);
      return `${Math.floor(s / 60)}:${two(s % 60)} min`;
    }
    if (seconds < 2 * DAY) {
      const m = Math.round(seconds / 60);
      return `${Math.floor(m / 60)}:${two(m % 60)} h`;
    }
    return `${(seconds / DAY).toFixed(1)} d`;
  }

  // [from when on, until when, shift, zone] for each part of the time from low to high, as clocks are put forward or back.
  function pieces(clock, low, high) {
    const told = [[-Infinity, clock.shift, clock.zone], ...(clock.changes ?? [])];
    return told
      .map(([begin, shift, zone], i) => [begin, i + 1 < told.length ? told[i + 1][0] : Infinity, shift, zone])
      .filter(([begin, end]) => begin <= high && end > low);
  }

  function moment(seconds, clock) {
    if (seconds === null || Number.isNaN(seconds)) return "–";
    const two = (n) => String(Math.floor(n)).padStart(2, "0");
    if (clock.shift === null) {
      const rest = ((seconds % DAY) + DAY) % DAY;
      return `day ${Math.floor(seconds / DAY)}, ${two(rest / 3600)}:${two((rest % 3600) / 60)}:${two(rest % 60)}`;
    }
    const [[, , shift]] = pieces(clock, seconds, seconds).slice(-1),
      d = new Date(1000 * (seconds + shift));
    return (
      `${d.getUTCDate()} ${MONTHS[d.getUTCMonth()]} ${d.getUTCFullYear()} ` +
      `${two(d.getUTCHours())}:${two(d.getUTCMinutes())}:${two(d.getUTCSeconds())}`
    );
  }

  // The zone of the dates from low to high, or both of them.
  function zone(clock, low, high) {
    return [...new Set(pieces(clock, low, high).map((piece) => piece[3]))].join(" / ");
  }

  function write(axis, value, step = 0) {
    if (axis.kind === "duration") return minus(duration(value));
    if (axis.kind === "share") return minus(`${grouped(100 * value, step === 0 || step >= 0.01 ? 0 : 1)} %`);
    return minus(number(value));
  }

  // One value of an axis for a person: more digits than at the axis.
  function tell(axis, value, clock) {
    if (value === null || value === undefined) return "–";
    if (axis.kind === "time") return moment(value, clock);
    if (axis.kind === "duration") return exact(value);
    if (axis.kind === "share") return `${(100 * value).toFixed(1)} %`;
    if (axis.kind === "category") return axis.categories[Math.round(value)] ?? "";
    return Number.isInteger(value) ? grouped(value) : trim(value);
  }

  function roundStep(span, count) {
    const rough = span / Math.max(count, 1),
      power = 10 ** Math.floor(Math.log10(rough));
    for (const factor of [1, 2, 5, 10]) if (power * factor >= rough * 0.999999) return power * factor;
    return power * 10;
  }

  function durationStep(span, count) {
    const rough = span / Math.max(count, 1);
    if (rough <= 1) return roundStep(span, count);
    return STEPS.find((step) => step >= rough) ?? DAY * roundStep(span / DAY, count);
  }

  function multiples(low, high, step) {
    const first = Math.ceil(low / step - 1e-9),
      last = Math.floor(high / step + 1e-9),
      out = [];
    for (let i = first; i <= last; i++) out.push(Number((i * step).toPrecision(14)));
    return out;
  }

  function logTicks(axis, low, high, count) {
    if (low <= 0) return [];
    const [fine, coarse] = findRound(axis, low, high);
    const roomy = (Math.log(2) / Math.log(high / low)) * count >= ROOM;
    if (roomy && fine.length > 2) return fine.map((v) => [v, write(axis, v)]);
    if (coarse.length < 2)
      return find({ ...axis, log: false }, low, high, Math.min(count, 3)).filter(([value]) => value > 0);
    const every = Math.max(1, Math.ceil(coarse.length / Math.max(count, 1)));
    return coarse.filter((_, i) => i % every === 0).map((v) => [v, write(axis, v)]);
  }

  // Round values of a logarithmic axis, many and few of them.
  function findRound(axis, low, high) {
    let lists = [FINE_DURATIONS, DURATIONS];
    if (axis.kind !== "duration") {
      const powers = [],
        last = Math.floor(Math.log10(high) + 1e-9);
      for (let p = Math.floor(Math.log10(low)); p <= last; p++) powers.push(10 ** p);
      const fine = powers.flatMap((power) => [power, 2 * power, 5 * power]);
      lists = [fine.filter((v) => v >= 1 || axis.kind !== "count"), powers];
    }
    return lists.map((list) => list.filter((v) => low * 0.999 <= v && v <= high * 1.001));
  }

  function timeTicks(low, high, count, clock) {
    const step = STEPS.find((s) => s >= (high - low) / Math.max(count, 1)) ?? null;
    if (clock.shift === null) {
      const size = step ?? DAY * roundStep((high - low) / DAY, count);
      return multiples(low, high, size).map((v) => [v, writeDay(v, size)]);
    }
    const parts = pieces(clock, low, high),
      begin = Math.min(...parts.map(([start, , shift]) => Math.max(low, start) + shift)),
      end = Math.max(...parts.map(([, stop, shift]) => Math.min(high, stop) + shift));
    let found = [];
    if (step === null || step > 7 * DAY) found = monthStarts(begin, end, count);
    const last = step === null ? STEPS.length - 1 : STEPS.indexOf(step);
    // Too short for months: days with equal distances.
    for (const size of step === null || step > 2 * DAY ? [STEPS[last], STEPS[last - 1]] : [step]) {
      const days = found.length > 1 ? [] : multiples(begin, end, size);
      if (days.length) found = days;
    }
    const fine = step !== null && step < DAY,
      years = high - low > 300 * DAY,
      whole = found.every(isNewYear);
    const texts = found.map((v) => [v, writeDate(v, fine, years, whole)]);
    if (parts.length === 1) return texts.map(([v, text]) => [v - parts[0][2], text]);
    return parts.flatMap(([start, stop, shift]) =>
      texts
        .map(([v, text]) => [v - shift, text])
        .filter(([t]) => Math.max(start, low - 1e-6) <= t && t <= high + 1e-6 && t < stop),
    );
  }

  function writeDay(value, step) {
    const day = Math.floor(value / DAY),
      rest = value - day * DAY,
      two = (n) => String(n).padStart(2, "0");
    if (step >= DAY) return grouped(value / DAY);
    if (day && !rest) return `${grouped(day)} d`;
    const text = `${Math.floor(rest / 3600)}:${two(Math.floor((rest % 3600) / 60))}`;
    return step < 60 ? `${text}:${two(Math.round(rest % 60))}` : text;
  }

  function isNewYear(value) {
    const d = new Date(1000 * value);
    return d.getUTCMonth() === 0 && d.getUTCDate() === 1;
  }

  function writeDate(value, fine, years, whole) {
    const d = new Date(1000 * value),
      two = (n) => String(n).padStart(2, "0");
    if (years) return `${whole ? "" : `${MONTHS[d.getUTCMonth()]} `}${d.getUTCFullYear()}`;
    const [h, m, s] = [d.getUTCHours(), d.getUTCMinutes(), d.getUTCSeconds()];
    if (fine && (h || m || s)) return s ? `${two(h)}:${two(m)}:${two(s)}` : `${two(h)}:${two(m)}`;
    return `${d.getUTCDate()} ${MONTHS[d.getUTCMonth()]}`;
  }

  function monthStarts(begin, end, count) {
    const length = (end - begin) / (30.4 * DAY),
      steps = [1, 2, 3, 6, 12, 24, 60, 120, 1200, 12000],
      fitting = steps.findIndex((s) => length / s <= count + 0.5),
      place = fitting < 0 ? steps.length - 1 : fitting,
      found = months(begin, end, steps[place]);
    return found.length > 1 || !place ? found : months(begin, end, steps[place - 1]);
  }

  function months(begin, end, every) {
    const first = new Date(1000 * begin),
      found = [];
    let number = first.getUTCFullYear() * 12 + first.getUTCMonth();
    number += (every - (number % every)) % every;
    for (;;) {
      const at = Date.UTC(Math.floor(number / 12), number % 12, 1) / 1000;
      if (at > end) return found;
      if (at >= begin) found.push(at);
      number += every;
    }
  }

  // About `count` ticks as [value, text].
  function find(axis, low, high, count, clock = { shift: null }) {
    if (!Number.isFinite(low) || !Number.isFinite(high) || high <= low)
      return Number.isFinite(low) ? [[low, write(axis, low)]] : [];
    if (axis.kind === "time") return timeTicks(low, high, count, clock);
    if (axis.log) return logTicks(axis, low, high, count);
    let step = axis.kind === "duration" ? durationStep(high - low, count) : roundStep(high - low, count);
    if (axis.kind === "count") step = Math.max(step, 1);
    const values = multiples(low, high, step);
    if (axis.kind === "duration") {
      const unit = findUnit(Math.max(0, ...values.map(Math.abs)), step);
      return values.map((v) => [v, minus(writeIn(v, unit))]);
    }
    return values.map((v) => [v, write(axis, v, step)]);
  }

  return { find, write, tell, exact, moment, zone, number, grouped };
})();
