// Everything put together, once the data is unpacked.
(async () => {
  const root = document.documentElement;

  function addButtons(figure) {
    const caption = figure.querySelector("figcaption"),
      bar = document.createElement("span");
    bar.className = "save";
    for (const format of ["png", "svg"]) {
      const press = document.createElement("button");
      press.type = "button";
      press.textContent = format.toUpperCase();
      press.setAttribute("aria-label", `Save ${caption.textContent.trim()} as ${format.toUpperCase()}`);
      press.addEventListener("click", () => Export.chart(figure, format));
      bar.append(press);
    }
    caption.append(bar);
  }

  // `find` gives the schedule that is shown, if any.
  function watchTheme(find, redraw) {
    const dark = window.matchMedia("(prefers-color-scheme: dark)"),
      isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
    const recolour = () => {
      redraw();
      find()?.recolour();
    };
    document.getElementById("theme").addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      recolour();
    });
    dark.addEventListener("change", recolour);
  }

  // Paper is narrower than most screens, and light: everything is drawn again for it, and again for the screen.
  function watchPrinting(redraw, find) {
    const paper = window.matchMedia("print");
    const change = () => {
      redraw();
      const viewer = find();
      if (viewer) {
        viewer.recolour();
        viewer.gantt.draw(2);
      }
    };
    paper.addEventListener("change", change);
    window.addEventListener("afterprint", change);
  }

  // What is folded opens where a link leads into it, and all of it on paper.
  function watchFolds() {
    const open = () => {
      const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
      if (!target) return;
      const fold = target.querySelector(":scope > details.fold");
      if (fold) fold.open = true;
      target.scrollIntoView();
    };
    window.addEventListener("hashchange", open);
    for (const link of document.querySelectorAll("nav.contents a"))
      link.addEventListener("click", () => setTimeout(open, 0));
    window.addEventListener("beforeprint", () => {
      for (const fold of document.querySelectorAll("details.fold")) fold.open = true;
    });
    open();
  }

  try {
    const data = await Jobs.unpack(document.getElementById("data").textContent);
    const figures = [...document.querySelectorAll("figure[data-chart]")];
    const redraw = (figure) => Chart.draw(figure.querySelector(".chart"), data.charts[figure.dataset.chart]);
    figures.forEach(addButtons);
    const sizes = new ResizeObserver((entries) => {
      for (const { target, contentRect } of entries) {
        const width = Math.floor(contentRect.width);
        if (width && target.drawn !== width) {
          target.drawn = width;
          redraw(target.parentElement);
        }
      }
    });
    figures.forEach((figure) => sizes.observe(figure.querySelector(".chart")));
    const place = document.getElementById("gantt");
    const shown = data.schedules.filter((plan) => plan.blocks.of.length);
    let viewer = null;
    // One schedule of an experiment, or all of a report's results.
    const open = (number, move) => {
      place.replaceChildren();
      viewer = Viewer.build(place, number === null ? shown : [data.schedules[number]]);
      window.walltime = { Ticks, viewer, data };
      if (number !== null) document.getElementById("chosen").textContent = data.labels[number];
      if (move) document.getElementById("schedule").scrollIntoView({ behavior: "smooth" });
    };
    window.walltime = { Ticks, viewer, data };
    if (place && shown.length) open(data.runs ? 0 : null, false);
    else if (place) place.textContent = "No job ever ran.";
    if (data.runs) CellView.build(data, open);
    const tables = document.getElementById("tables");
    if (tables) Tables.build(tables, data.groups, data.labels);
    watchTheme(() => viewer, () => figures.filter((figure) => figure.querySelector("svg image")).forEach(redraw));
    watchPrinting(() => figures.forEach(redraw), () => viewer);
    watchFolds();
    root.dataset.ready = "yes";
  } catch (error) {
    const note = document.getElementById("broken");
    note.hidden = false;
    note.textContent = `This browser cannot show the pictures (${error.message}); one of 2023 or later can.`;
    throw error;
  }
})();
