"""The report of an experiment: what its maps, curves, verdicts and pairs say is what the runs say."""

from __future__ import annotations

import base64
import gzip
import json
import re
from io import BytesIO

import numpy as np
import polars as pl
import pytest
from small import make

import walltime
from walltime.analysis.charts.grids import draw_curves, draw_map
from walltime.analysis.noise import estimate
from walltime.core.errors import InputError
from walltime.experiments.leases import Leases
from walltime.experiments.planning import ExperimentPlan
from walltime.experiments.reporting.contents import ReportContents
from walltime.experiments.reporting.page import make_page
from walltime.experiments.reporting.pairs import find_pairs
from walltime.experiments.store import Store
from walltime.experiments.tasks import TaskOutcome

EVIL = "<script>window.hacked=1</script>"
POLICIES = ("fcfs", "easy", EVIL)
GRID = {
    "policy": {
        "combinations": {"fcfs": {"policy": "fcfs"}, "easy": {"policy": "easy"}, EVIL: {"policy": "conservative"}}
    },
    "load": {"key": "workload.generate.load", "values": [0.5, 0.7, 0.9]},
}


def wait(policy: str, load: float, seed: int) -> float:
    """The wait that every run of the tests is said to have: a third of it under EASY."""
    return (1.0 if policy == "easy" else 3.0) * 1000 * load + 40 * ((seed * 7) % 5)


def group_table(policy: str, load: float, seed: int) -> bytes:
    """EASY is good for ann, and bad for the other."""
    own = wait(policy, load, seed)
    rows = {"user": ["ann", EVIL], "started": [50, 50], "p95_wait": [own, 5000.0 - own]}
    buffer = BytesIO()
    pl.DataFrame(rows).write_parquet(buffer)
    return buffer.getvalue()


@pytest.fixture
def store(tmp_path):
    experiment = make(grid=GRID, repetitions=6, keep={"groups": ["user"]})
    with Store(tmp_path / "store", create=True) as opened:
        plan = ExperimentPlan(experiment)
        number = opened.register(experiment, plan.specifications())
        leases = Leases(opened)
        keys = {run: one.cell.labels for one in plan.specifications() for _, run in one.runs}
        outcomes = []
        for task in leases.take(number, 1000):
            policy, load = keys[task.digest]["policy"], float(keys[task.digest]["load"])
            figures = {"mean_wait": wait(policy, load, task.seed), "utilization_window": load, "special": 7.0 * load}
            files = {"by_user.parquet": group_table(policy, load, task.seed)}
            outcomes.append(TaskOutcome(task, figures=figures, files=files, result="0" * 64, host="here"))
        leases.finish(outcomes)
        leases.close()
        yield opened


def test_maps_and_curves_have_the_means_and_intervals_of_the_cells(store):
    contents = ReportContents(store, "small")
    grid = contents.grid("mean_wait")
    (panel,) = draw_map(grid).panels
    assert (panel.x.label, panel.x.categories) == ("load", ("0.5", "0.7", "0.9"))
    assert panel.y.categories[:2] == ("fcfs", "easy")
    expected = [[np.mean([wait(p, load, seed) for seed in range(6)]) for load in (0.5, 0.7, 0.9)] for p in POLICIES]
    assert panel.marks[0].values == pytest.approx(np.array(expected))
    (panel,) = draw_curves(grid).panels
    lines = [mark for mark in panel.marks if mark.label.startswith("policy easy")]
    assert lines[0].x.tolist() == [0.5, 0.7, 0.9]
    place = panel.marks.index(lines[0])
    found = estimate([wait("easy", 0.7, seed) for seed in range(6)])
    mean, low, high = (panel.marks[place + step].y[1] for step in range(3))
    assert (mean, low, high) == pytest.approx((found.mean, found.low, found.high))
    bars = draw_curves(grid, "policy").panels[0]
    assert bars.y.categories[:2] == ("fcfs", "easy")
    with pytest.raises(InputError, match="no such axis"):
        draw_map(grid, "lod")
    with pytest.raises(InputError, match="no run of the experiment has such a figure"):
        contents.grid("mean_wiat")


def test_any_two_cells_are_judged_with_the_groups_that_gain_and_lose(store):
    contents = ReportContents(store, "small")
    pairs, total = find_pairs(contents)
    assert len(pairs) == total == 9 * 8 // 2
    names = [cell.name for cell in contents.cells]
    wanted = {names.index("fcfs, 0.9"), names.index("easy, 0.9")}
    (pair,) = (one for one in pairs if {one["first"], one["second"]} == wanted)
    text = pair["verdicts"][0]
    assert text["text"].startswith("easy, 0.9 beats fcfs, 0.9 in mean wait by 65 %")
    assert text["better"] is True
    (group,) = pair["groups"]
    assert (group["key"], group["lose"], group["gain"]) == ("user", 1, 1)
    assert [(row[0], row[-1]) for row in group["rows"]] == [(EVIL, "loses"), ("ann", "gains")]
    assert group["rows"][0][3] == "+30:00 min"  # 3 x 900 s less 900 s


def unpack(page):
    text = gzip.decompress(base64.b64decode(re.search(r"id=data>([^<]*)<", page)[1]))
    return json.loads(text[8 : 8 + int.from_bytes(text[:8], "little")])


def test_the_page_has_everything_and_no_name_is_code(store):
    page = make_page(store, "small", more=["special"])
    assert EVIL not in page
    assert "&lt;script&gt;window.hacked=1" in page
    assert "easy beats fcfs in mean wait by" in page
    assert "What a replay cannot know" in page
    assert "keep: tables keeps them" in page  # no schedule was kept
    data = unpack(page)
    assert len(data["charts"]) == 6  # three figures, maps and curves
    assert len(data["runs"]["rows"]) == 54
    assert data["runs"]["heads"] == ["mean wait", "utilization", "special"]
    with pytest.raises(InputError, match="no experiment of this name"):
        make_page(store, "smal")
    with pytest.raises(InputError, match="no run of the experiment has such a figure"):
        make_page(store, "small", more=["specail"])


def test_the_same_in_python(store, tmp_path):
    written = walltime.report_experiment(store, "small", tmp_path / "small.html")
    assert written.read_text(encoding="utf-8") == make_page(store, "small")
    picture = walltime.plot_experiment(store.place, "small", "heat-map", of="utilization_window", x="policy")
    means = picture.chart.panels[0].marks[0].values
    assert means == pytest.approx(np.array([[0.5] * 3, [0.7] * 3, [0.9] * 3]))
    assert picture.save(tmp_path / "map.png").stat().st_size > 1000
    with pytest.raises(InputError, match="unknown kind of picture"):
        walltime.plot_experiment(store, "small", "maps")
    with pytest.raises(InputError, match=r"ends in \.html"):
        walltime.report_experiment(store, "small", tmp_path / "small.pdf")


def test_an_experiment_without_runs_or_axes(tmp_path):
    with Store(tmp_path / "store", create=True) as store:
        experiment = make(repetitions=2)
        number = store.register(experiment, ExperimentPlan(experiment).specifications())
        with pytest.raises(InputError, match="no run of the experiment is done"):
            make_page(store, "small")
        leases = Leases(store)
        leases.finish(
            [TaskOutcome(task, figures={"mean_wait": 1.0}, result="0", host="") for task in leases.take(number, 9)]
        )
        leases.close()
        page = make_page(store, "small")
    assert "There is nothing to compare" in page
    assert "id=pairs" not in page
