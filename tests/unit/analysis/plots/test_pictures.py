"""Pictures by matplotlib: every kind, both themes, several widths; nothing overlaps, and files are whole."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import walltime
from walltime.analysis.charts import KINDS
from walltime.analysis.charts.chart import Axis, Cells, Chart, Panel
from walltime.analysis.charts.palette import THEMES
from walltime.analysis.plots import FORMATS, plot
from walltime.analysis.plots.drawing import draw
from walltime.core.errors import InputError
from walltime.core.tables import STATES
from walltime.core.time import format_duration
from walltime.workload.synthesis.workflow_mix import Mix, add_workflows
from walltime.workload.workflow import Task, Workflow

PAIRS = {"winners", "change", "difference", "schedule-diff"}
NAMES = ("<script>alert(1)</script>", "$x^2$", "_hidden", "z" * 400, "tab\tand\nline", "emoji 🚀", "عربي", "\u202eback")


def jobs(users: tuple[str, ...] = ("ann", "bo", "cy"), count: int = 60) -> walltime.Workload:
    return walltime.Workload.from_columns(
        submit=[400 * i for i in range(count)],
        run_time=[100 + 977 * i % 5000 for i in range(count)],
        requested_time=[6000] * count,
        cores=[1 + 5 * i % 12 for i in range(count)],
        user=[users[i % len(users)] for i in range(count)],
        queue=[("short", "long", "night")[i % 3] for i in range(count)],
        recorded_wait=[61 * i % 900 for i in range(count)],
    )


@pytest.fixture(scope="module")
def results() -> list[walltime.Result]:
    """Two results of everything that can be drawn: fair shares, workflows, nodes that fail and are maintained."""
    tasks = [Task("first", 4, 900, 1200), Task("second", 8, 300, 600, ("first",))]
    work = add_workflows(jobs(), Mix([Workflow.of("chain", tasks)], "multi", every=6000.0), 1)
    made = []
    for backfill in ("conservative", "easy"):
        cluster = {
            "nodes": "4x4",
            "failures": [{"between": {"mean": 40_000.0}, "repair": 3000.0}],
            "reservations": [{"name": "update", "start": 9000, "length": 1200}],
            "scheduler": {"order": {"name": "fairshare", "interval": 600}, "backfill": backfill},
        }
        scenario = {
            "workload": work,
            "cluster": cluster,
            "seed": 1,
            "record": {"by": ["queue", "node-group"], "plans": True},
        }
        made.append(walltime.simulate(scenario, label=backfill))
    return made


def needed(kind: str, results: list[walltime.Result]) -> list[walltime.Result]:
    return results if kind in PAIRS else results[:1]


def texts(figure: Any) -> list[tuple[str, Any]]:
    """Every text that is seen, with its box in pixels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    hidden = {text for axes in figure.axes if not axes.get_visible() for text in axes.findobj(Text)}
    found = []
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip() and text not in hidden:
            box = text.get_window_extent(renderer)
            if box.width > 0:
                found.append((text.get_text(), box))
    return found


@pytest.mark.parametrize("kind", list(KINDS))
def test_labels_never_overlap_and_stay_inside(kind: str, results: list[walltime.Result]) -> None:
    for width, shown in itertools.product((4.0, 8.0), (needed(kind, results), results)):
        if len(shown) > 1 and not KINDS[kind].several:
            continue
        figure = plot(kind, *shown, width=width).figure
        seen = texts(figure)
        for (one, box), (other, next_box) in itertools.combinations(seen, 2):
            across = min(box.x1, next_box.x1) - max(box.x0, next_box.x0)
            up = min(box.y1, next_box.y1) - max(box.y0, next_box.y0)
            assert not (across > 1 and up > 1), f"{kind} at {width} inches: {one!r} and {other!r}"
        for text, box in seen:
            assert box.x0 > -2, f"{kind}: {text!r}"
            assert box.x1 < figure.bbox.width + 2, f"{kind}: {text!r}"


@pytest.mark.parametrize("kind", list(KINDS))
def test_titles_and_words_at_the_axes_are_always_there(kind: str, results: list[walltime.Result]) -> None:
    picture = plot(kind, *needed(kind, results), theme="dark")
    assert picture.chart.title
    for panel in picture.chart.panels:
        assert panel.x.label
        assert panel.y.label or panel.y.categories
    assert picture.render("png", 50).startswith(b"\x89PNG")


def test_bars_tell_their_values(results: list[walltime.Result]) -> None:
    picture = plot("users", results[0])
    values = picture.chart.marks[0].values
    assert {format_duration(value) for value in values} <= {text for text, _ in texts(picture.figure)}


def test_few_nodes_stand_under_their_names_in_a_schedule() -> None:
    nodes = [{"count": 3, "cores": 4, "name": "c[01-03]"}, {"count": 1, "cores": 8, "name": "big"}]
    figure = plot("schedule", walltime.simulate({"workload": jobs(), "cluster": {"nodes": nodes}})).figure
    (axes,) = [axes for axes in figure.axes if axes.get_ylabel().startswith("nodes")]
    named = {text.get_text(): text.get_position()[1] for text in axes.get_yticklabels()}
    assert named == {"c01": 2, "c02": 6, "c03": 10, "big0": 16}


def test_of_many_nodes_some_stand_under_their_names() -> None:
    """Small nodes would have their names on top of each other: the next one is as far away as there is room."""
    nodes = [{"count": 60, "cores": 1, "name": "c[01-60]"}, {"count": 10, "cores": 22, "name": "g[01-10]"}]
    picture = plot("schedule", walltime.simulate({"workload": jobs(), "cluster": {"nodes": nodes}}))
    (axes,) = [axes for axes in picture.figure.axes if axes.get_ylabel().startswith("nodes")]
    named = [text.get_text() for text in axes.get_yticklabels()]
    assert named == ["c01", "c21", "c41", *(f"g{number:02d}" for number in range(1, 11))]
    boxes = [box for text, box in texts(picture.figure) if text in named]
    assert all(not one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


def test_partitions_are_told_apart_in_a_schedule() -> None:
    """Two on nodes of their own, one on all: a line where the first ends, and both names in their halves."""
    queues = {"short": {"nodes": ["n[0-1]"]}, "long": {"nodes": ["n[2-3]"], "default": True}, "night": {}}
    queues["any"] = {"nodes": ["n[0-3]"]}  # all of them, told by name
    made = walltime.simulate({"workload": jobs(), "cluster": {"nodes": "4x6", "queues": queues}})
    figure = plot("schedule", made).figure
    (axes,) = [axes for axes in figure.axes if axes.get_ylabel().startswith("cores")]
    named = {text.get_text(): text.get_position()[1] for text in axes.texts}
    assert named["short"] == 6
    assert named["long"] == 18
    assert "night" not in named
    assert any(set(line.get_ydata()) == {12} for line in axes.lines)


def test_hostile_names_are_only_names() -> None:
    result = walltime.simulate(jobs(users=NAMES), cores=16, label="$\\frac{1}{0$ <b>")
    for kind, options in (("users", {}), ("boxes", {"by": "user"}), ("schedule", {"by": "user"}), ("usage", {})):
        for format in ("png", "svg"):
            data = plot(kind, result, **options).render(format, 50)
            assert b"<script" not in data


def test_a_long_name_below_an_axis_leaves_room_for_short_ones_beside_it() -> None:
    def show(*names: str) -> list[str]:
        edges = [np.arange(count + 1) - 0.5 for count in (len(names), 1)]
        cells = Cells(*edges, np.zeros((1, len(names))), Axis("wait", low=0, high=1))
        axes = Axis("order", "category", categories=names), Axis("policy", "category", categories=("easy",))
        figure = draw(Chart("heat-map", "Wait", (Panel(*axes, (cells,)),)), THEMES["light"], width=8)
        seen = texts(figure)
        boxes = [box for text, box in seen if text in names]
        assert all(one.x1 < other.x0 for one, other in itertools.pairwise(boxes))
        return [text for text, _ in seen if text in names]

    wide = "fairshare formula=fair-tree"
    assert show("fcfs", "sjf", wide) == ["fcfs", "sjf", wide]
    assert show(*(f"{wide} {number}" for number in range(9)))[:2] != [f"{wide} 0", f"{wide} 1"]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("kind", "job", "until"),
    [
        *(("queue", {"run_time": [0]}, None), ("queue", {"run_time": [10], "cores": [9]}, None)),
        *(("details", {"run_time": [10], "cores": [9]}, None), ("fairness", {"run_time": [10], "user": ["ann"]}, "1s")),
    ],
)
def test_a_result_of_one_instant_or_without_a_start_is_drawn_without_a_warning(
    kind: str, job: dict[str, Any], until: str | None
) -> None:
    jobs = walltime.Workload.from_columns(submit=[0], **job)
    shown = walltime.simulate(jobs, cores=4, until=until)
    assert plot(kind, shown).render("png", 50)


@pytest.mark.parametrize("format", FORMATS)
def test_files_are_written_whole_and_the_same_each_time(
    format: str, results: list[walltime.Result], tmp_path: Path
) -> None:
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF", "html": b"<!doctype html>"}
    written = []
    for name in ("a", "b"):
        target = results[0].plot.schedule().save(tmp_path / f"{name}.{format}")
        written.append(target.read_bytes())
    assert written[0] == written[1]
    assert written[0].startswith(starts[format])
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"a.{format}", f"b.{format}"]


def test_what_cannot_be_written_is_refused(results: list[walltime.Result], tmp_path: Path) -> None:
    picture = results[0].plot.cdf()
    with pytest.raises(InputError, match="suffix"):
        picture.save(tmp_path / "a.gif")
    with pytest.raises(InputError, match="no such folder"):
        picture.save(tmp_path / "none" / "a.png")
    (tmp_path / "a.png").touch()
    with pytest.raises(InputError, match="already there"):
        picture.save(tmp_path / "a.png", force=False)
    with pytest.raises(InputError, match="unknown theme"):
        results[0].plot.cdf(theme="pink")
    with pytest.raises(InputError, match="inches"):
        results[0].plot.cdf(width=0.1)


def test_a_notebook_shows_a_picture(results: list[walltime.Result]) -> None:
    picture = results[1].plot.utilization(results[0])
    assert picture._repr_png_().startswith(b"\x89PNG")
    assert "Utilization" in repr(picture)
    assert "median_wait" in dir(results[0].plot)
    assert "Used cores" in (results[0].plot.utilization.__doc__ or "")
    with pytest.raises(InputError, match="did you mean 'utilization'"):
        _ = results[0].plot.utilisation


def test_drawing_leaves_matplotlib_as_it_was(results: list[walltime.Result]) -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    results[0].plot.jobs(theme="dark").render("png", 40)
    assert dict(matplotlib.rcParams) == before


def lightness(colour: str) -> float:
    """The relative luminance of a colour (WCAG 2)."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((lightness(one), lightness(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", THEMES.values(), ids=list(THEMES))
def test_colours_can_be_read_and_told_apart_by_the_colour_blind(theme: Any) -> None:
    for ground in (theme.ground, theme.card):
        assert contrast(theme.ink, ground) > 7
        assert contrast(theme.soft, ground) > 4.5
        assert all(contrast(colour, ground) > 1.9 for colour in theme.categories)
    assert len(theme.states) == len(STATES)
    # The matrices of Viénot, Brettel and Mollon (1999) for missing long- and middle-wave cones, on linear light.
    for matrix in ([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]],
                   [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]):  # fmt: skip
        seen = [_seen(colour, matrix) for colour in theme.categories]
        for (i, one), (j, other) in itertools.combinations(enumerate(seen), 2):
            assert sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5 > 0.1, (i, j)


def _seen(colour: str, matrix: list[list[float]]) -> list[float]:
    """The colour as it is seen, in steps of about equal difference (gamma encoded)."""
    linear = [(int(colour[i : i + 2], 16) / 255) ** 2.2 for i in (1, 3, 5)]
    return [
        max(0.0, sum(factor * value for factor, value in zip(row, linear, strict=True))) ** (1 / 2.2) for row in matrix
    ]
