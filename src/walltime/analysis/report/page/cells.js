// The cells of an experiment: two of them against each other, and its runs with their schedules.
const CellView = (() => {
  const SHOWN = 30;

  const node = (name, text = "", kind = "") => {
    const made = document.createElement(name);
    if (text !== "") made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };

  const named = (name, text) => {
    const made = node(name),
      inner = node("bdi", text);
    made.append(inner);
    return made;
  };

  function table(heads, rows, kind = "groups") {
    const grid = node("table", "", kind),
      head = grid.createTHead().insertRow(),
      scroll = node("div", "", "scroll");
    for (const text of heads) {
      const cell = named("th", text);
      cell.scope = "col";
      head.append(cell);
    }
    grid.createTBody().append(...rows);
    scroll.tabIndex = 0;
    scroll.append(grid);
    return scroll;
  }

  function chooser(words, names, onChange) {
    const label = node("label", `${words} `),
      list = node("select");
    names.forEach((name, i) => {
      const option = node("option", name);
      option.value = String(i);
      list.append(option);
    });
    list.addEventListener("change", onChange);
    label.append(list);
    return [label, list];
  }

  function pairs(place, data) {
    const known = new Map(data.pairs.map((pair) => [`${pair.first} ${pair.second}`, pair])),
      bar = node("div", "", "toolbar"),
      found = node("div");
    const [before, from] = chooser("From", data.cells, show),
      [after, to] = chooser("to", data.cells, show);
    from.value = String(data.pairs[0].first);
    to.value = String(data.pairs[0].second);
    found.setAttribute("aria-live", "polite");
    bar.append(before, after);
    place.append(bar, found);

    function show() {
      const [first, second] = [Number(from.value), Number(to.value)].sort((a, b) => a - b);
      const pair = known.get(`${first} ${second}`);
      if (first === second) return found.replaceChildren(node("p", "Choose two cells that differ."));
      if (!pair) return found.replaceChildren(node("p", "This pair is not in the report, or has no seed in common."));
      const list = node("ul", "", "words");
      for (const one of pair.verdicts) {
        const item = named("li", `${one.text}.`);
        if (one.better !== null) item.className = one.better ? "gain" : "loss";
        list.append(item);
      }
      found.replaceChildren(list, ...pair.groups.flatMap((group) => groups(group, data.cells[first], data.cells[second])));
    }

    show();
  }

  function groups(group, before, after) {
    const rows = group.rows.map((row) => {
      const line = node("tr"),
        name = named("th", row[0]);
      name.scope = "row";
      line.append(name);
      row.slice(1).forEach((text, i) => {
        const cell = named("td", text);
        if (i === 4 && (text === "loses" || text === "gains")) cell.className = text === "gains" ? "gain" : "loss";
        line.append(cell);
      });
      return line;
    });
    const words = `By ${group.key}: ${group.lose} of ${group.total} lose, ${group.gain} gain`;
    const heads = [group.key, before, after, "change", "95 % interval", ""];
    const note =
      group.rows.length < group.total
        ? [node("p", `${group.rows.length} of ${group.total}: those at both ends.`, "note")]
        : [];
    return [named("h3", words), table(heads, rows), ...note];
  }

  function runs(place, data, open) {
    const { heads, rows } = data.runs,
      more = node("button"),
      box = node("div");
    let all = false;
    more.type = "button";
    more.addEventListener("click", () => {
      all = !all;
      fill();
    });

    function line(row) {
      const made = node("tr"),
        schedule = row.at(-1),
        name = named("th", data.cells[row[0]]);
      name.scope = "row";
      made.append(name, ...row.slice(1, -1).map((text) => named("td", text)));
      const last = node("td");
      if (schedule >= 0) {
        const press = node("button", "schedule");
        press.type = "button";
        press.setAttribute("aria-label", `Show the schedule of ${data.cells[row[0]]}, seed ${row[1]}`);
        press.addEventListener("click", () => open(schedule, true));
        last.append(press);
      }
      made.append(last);
      return made;
    }

    function fill() {
      const shown = all ? rows : rows.slice(0, SHOWN);
      box.replaceChildren(table(["cell", "seed", "run", ...heads, ""], shown.map(line)));
      more.hidden = rows.length <= SHOWN;
      more.textContent = all ? `Show ${SHOWN}` : `Show all ${Ticks.grouped(rows.length)}`;
    }

    fill();
    place.append(box, more);
  }

  // `open` shows a schedule by its number.
  function build(data, open) {
    const both = document.getElementById("pairs"),
      list = document.getElementById("run-list");
    if (both) pairs(both, data);
    if (list) runs(list, data, open);
  }

  return { build };
})();
