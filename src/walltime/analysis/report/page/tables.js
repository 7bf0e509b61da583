// Figures by size class, queue, user, ...: tables that can be sorted and searched.
const Tables = (() => {
  const SHOWN = 20;

  function build(place, groups, labels) {
    for (const group of groups) {
      const box = document.createElement("details"),
        summary = document.createElement("summary");
      summary.textContent = `By ${group.key} (${Ticks.grouped(group.total)})`;
      box.open = group.key === "size" || group.key === "user";
      box.append(summary);
      table(box, group, labels);
      place.append(box);
    }
  }

  function columns(group, labels) {
    const several = labels.length > 1,
      wait = (v) => Ticks.exact(v),
      slow = (v) => (v === null ? "–" : Ticks.number(v));
    const list = [
      { words: "jobs", values: group.columns.jobs, write: Ticks.grouped },
      { words: "core-hours", values: group.columns.hours, write: Ticks.number },
    ];
    labels.forEach((label, i) =>
      list.push({ words: several ? `wait, ${label}` : "mean wait", values: group.columns[`wait ${i}`], write: wait }),
    );
    labels.slice(1).forEach((label, i) => {
      const base = group.columns["wait 0"],
        values = group.columns[`wait ${i + 1}`].map((value, row) =>
          value === null || base[row] === null ? null : value - base[row],
        );
      list.push({
        words: `change, ${label}`,
        values,
        write: (v) => (v === null ? "–" : `${v > 0 ? "+" : ""}${Ticks.exact(v)}`),
        signed: true,
      });
    });
    labels.forEach((label, i) =>
      list.push({
        words: several ? `slowdown, ${label}` : "mean bounded slowdown",
        values: group.columns[`slow ${i}`],
        write: slow,
      }),
    );
    return list;
  }

  function table(box, group, labels) {
    const list = columns(group, labels),
      state = { by: null, down: true, text: "", all: false };
    const grid = document.createElement("table"),
      head = grid.createTHead().insertRow(),
      body = grid.createTBody();
    const scroll = document.createElement("div"),
      more = document.createElement("button"),
      find = document.createElement("input");
    [grid.className, scroll.className, scroll.tabIndex] = ["groups", "scroll", 0];
    Object.assign(find, { type: "search", placeholder: `search a ${group.key}`, autocomplete: "off" });
    find.setAttribute("aria-label", `Search a ${group.key}`);
    find.addEventListener("input", () => {
      state.text = find.value.trim().toLowerCase();
      fill();
    });
    more.type = "button";
    more.addEventListener("click", () => {
      state.all = !state.all;
      fill();
    });
    const heading = (words, column) => {
      const cell = document.createElement("th"),
        press = document.createElement("button"),
        name = document.createElement("bdi");
      cell.scope = "col";
      press.type = "button";
      name.textContent = words;
      press.append(name);
      press.addEventListener("click", () => {
        state.down = state.by === column ? !state.down : column !== null;
        state.by = column;
        fill();
      });
      cell.append(press);
      cell.column = column;
      head.append(cell);
    };
    heading(group.key === "size" ? "cores" : group.key, null);
    list.forEach((column) => heading(column.words, column));

    function fill() {
      let rows = group.names
        .map((_, i) => i)
        .filter((i) => !state.text || (group.names[i] ?? "").toLowerCase().includes(state.text));
      if (state.by) {
        const order = (i) => state.by.values[i] ?? (state.down ? -Infinity : Infinity);
        rows.sort((a, b) => (state.down ? order(b) - order(a) : order(a) - order(b)) || a - b);
      } else if (state.touched) rows.sort((a, b) => String(group.names[a]).localeCompare(String(group.names[b])));
      state.touched = true;
      const total = rows.length;
      if (!state.all) rows = rows.slice(0, SHOWN);
      body.replaceChildren(...rows.map(line));
      for (const cell of head.cells)
        cell.setAttribute(
          "aria-sort",
          state.by && cell.column === state.by ? (state.down ? "descending" : "ascending") : "none",
        );
      more.hidden = total <= SHOWN;
      more.textContent = state.all ? `Show ${SHOWN}` : `Show all ${Ticks.grouped(total)}`;
    }

    function line(i) {
      const row = document.createElement("tr"),
        name = document.createElement("th"),
        text = document.createElement("bdi");
      name.scope = "row";
      text.textContent = group.names[i] ?? "(none)";
      name.append(text);
      row.append(name);
      for (const column of list) {
        const cell = row.insertCell(),
          value = column.values[i];
        cell.textContent = column.write(value);
        if (column.signed && value) cell.className = value < 0 ? "gain" : "loss";
      }
      return row;
    }

    fill();
    scroll.append(grid);
    if (group.names.length > SHOWN) box.append(find);
    box.append(scroll, more);
    if (group.total > group.names.length) {
      const note = document.createElement("p");
      note.className = "note";
      note.textContent = `${Ticks.grouped(group.names.length)} of ${Ticks.grouped(group.total)}: those with the most core-hours.`;
      box.append(note);
    }
  }

  return { build };
})();
