"""Repetitions taken together, and workflows of cells against each other."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import walltime
from walltime.cli.app import app
from walltime.core.errors import InputError
from walltime.experiments.grouping import (
    _equalise,
    compare_workflows,
    find_quantiles,
    group_jobs,
    group_workflows,
    merge_distributions,
    read_kept,
)

TASKS = [
    {"id": "wide", "number_of_cores": 12, "runtime_sim": 900},
    {"id": "long", "number_of_cores": 2, "runtime_sim": 3600, "deps": ["wide"]},
]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two ways of submission and two periods, two seeds, in an axis that is called like a column."""
    folder = tmp_path_factory.mktemp("grouping")
    (folder / "flow.json").write_text(json.dumps({"tasks": TASKS}))
    experiment = {
        "name": "flows",
        "scenario": {
            "workload": {
                "generate": {"jobs": 150, "cores": 16, "load": 0.9},
                "workflows": {"manifests": str(folder / "flow.json"), "every": "6h"},
            },
            "cluster": {"cores": 16},
        },
        "grid": {
            "way": {"key": "workload.workflows.0.submit", "values": {"pilot": "single", "chained": "multi"}},
            "every": {"key": "workload.workflows.0.every", "values": ["6h", "12h"]},
        },
        "repetitions": 2,
        "warmup": "12h",
        "analyses": ["distributions", "workflows"],
    }
    with walltime.Store(folder / "store", create=True) as opened:
        assert walltime.sweep(experiment, opened, workers=2).counts["done"] == 8
        yield opened


def test_kept_tables_are_one_with_the_labels_of_their_cells(store):
    table = read_kept(store, "flows", "workflows")
    assert table.select("way", "every", "seed").unique().height == 8
    assert set(table["way_workflows"]) == {"single", "multi"}
    only = read_kept(store, "flows", "workflows", {"way": "pilot"})
    assert set(only["way_workflows"]) == {"single"}
    with pytest.raises(InputError, match="distributions"):
        read_kept(store, "flows", "distribution")


def test_a_group_is_all_repetitions_together(store):
    """Medians over the pooled workflows, not means of medians."""
    kept = read_kept(store, "flows", "workflows", {"way": "chained", "every": "6h"})
    row = group_workflows(store, "flows", {"way": "chained", "every": "6h"}).row(0, named=True)
    assert row["workflows"] == kept.height
    assert row["turnaround_p50"] == pytest.approx(kept["turnaround"].median())
    both = group_workflows(store, "flows")
    assert both.height == 8  # four cells, each by type and all
    assert both.filter(pl.col("type") == "all")["workflows"].sum() == read_kept(store, "flows", "workflows").height


def test_histograms_add_up_and_their_quantiles_are_near_the_exact_ones(store):
    merged = merge_distributions(store, "flows", {"way": "pilot", "every": "6h"})
    waits = merged.filter(pl.col("by") == "all", pl.col("variable") == "run_time")
    kept = read_kept(store, "flows", "distributions", {"way": "pilot", "every": "6h"})
    parts = kept.filter(pl.col("by") == "all", pl.col("variable") == "run_time")
    assert waits["jobs"].sum() == parts["jobs"].sum()
    assert waits["cdf"].to_list()[-1] == pytest.approx(1.0)
    assert waits["low"].is_sorted()
    row = group_jobs(store, "flows", {"way": "pilot"}).row(0, named=True)
    assert row["p5"] <= row["p50"] <= row["p95"]


def test_quantiles_of_a_histogram():
    values = np.sort(np.random.default_rng(1).lognormal(5, 2, 20_000))
    from walltime.analysis.analyses.jobs import count_bins

    found = find_quantiles(*count_bins(values))
    assert found == pytest.approx(np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95]), rel=0.05)
    assert find_quantiles(*count_bins(np.array([0.0, 0.0, 0.0, 7.0])))[2] == 0.0


def test_pictures_show_the_jobs_of_each_cell(store, tmp_path):
    """The share below a bin's edge, the shares of bins, and quartiles are those of the kept histograms."""
    chart = walltime.plot_experiment(store, "flows", "cdf", of="run_time").chart
    merged = merge_distributions(store, "flows", {"way": "pilot", "every": "6h"})
    own = merged.filter(pl.col("by") == "all", pl.col("variable") == "run_time")
    line = chart.panels[0].marks[0]
    assert [mark.label for mark in chart.panels[0].marks] == ["pilot, 6h", "pilot, 12h", "chained, 6h", "chained, 12h"]
    assert line.y[1:] == pytest.approx(own["cdf"].to_numpy())
    assert line.x[1:] == pytest.approx(np.maximum(own["high"].to_numpy(), 1))
    bars = walltime.plot_experiment(store, "flows", "histogram", of="run_time").chart.panels[0].marks[0]
    assert bars.y.sum() == pytest.approx(1)
    middle = 10 ** round(np.log10(own["high"].median()), 1)
    assert bars.y[:-1][bars.x[1:] <= middle * 1.001].sum() == pytest.approx(
        own.filter(pl.col("high") <= middle * 1.001)["jobs"].sum() / own["jobs"].sum()
    )
    boxes = walltime.plot_experiment(store, "flows", "boxes", of="slowdown", by="core-hours").chart.panels[0]
    rows = group_jobs(store, "flows").filter(pl.col("by") == "core-hours", pl.col("variable") == "slowdown")
    first = rows.filter(pl.col("way") == "chained", pl.col("every") == "6h").row(0, named=True)
    mark = next(mark for mark in boxes.marks if mark.label == "chained, 6h")
    assert mark.figures[0] == pytest.approx([first[name] for name in ("p5", "p25", "p50", "p75", "p95")])
    assert mark.counts[0] == first["jobs"]
    for kind in ("cdf", "histogram", "boxes"):
        for name in ("picture.png", "picture.html"):
            target = tmp_path / f"{kind}-{name}"
            run = CliRunner().invoke(app, ["plot", kind, "flows", "--store", str(store.place), "-o", str(target)])
            assert run.exit_code == 0, run.output
            assert target.stat().st_size > 1000
    for wrong in ({"of": "waits"}, {"by": "user"}, {"x": "way"}):
        with pytest.raises(InputError):
            walltime.plot_experiment(store, "flows", "cdf", **wrong)


def workflows(rows) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"way": way, "submit": submit, "workflow_id": f"w-{submit}", "state": state, "run": run}
            for way, submit, state, run in rows
        ]
    )


def test_only_workflows_that_completed_under_every_level_are_compared():
    """Under `b` the slow one is cut off: its median alone would be too good."""
    kept = _equalise(
        workflows(
            [
                *[("a", 0, "completed", 1.0), ("a", 1, "completed", 9.0), ("a", 2, "completed", 3.0)],
                *[("b", 0, "completed", 2.0), ("b", 1, "running", None), ("b", 2, "completed", 4.0)],
            ]
        ),
        "way",
    )
    assert sorted(kept.select("way", "run").rows()) == [("a", 1.0), ("a", 3.0), ("b", 2.0), ("b", 4.0)]


def test_where_they_are_not_the_same_ones_as_many_of_each_are_compared():
    kept = _equalise(
        workflows(
            [("a", n, "completed", float(n)) for n in range(5)] + [("b", 2 * n, "completed", 1.0) for n in (0, 1)]
        ),
        "way",
    )
    assert kept.filter(pl.col("way") == "a")["run"].to_list() == [0.0, 1.0]
    assert kept.height == 4


def test_delta_compares_the_same_workflows(store):
    table = compare_workflows(store, "flows", "way", "run", "chained")
    assert table["workflows"].min() > 0
    base = table.filter(pl.col("way") == "chained")
    assert base["ratio"].to_list() == [1.0] * base.height
    pilot = table.filter(pl.col("way") == "pilot")
    assert pilot["median"].to_list() == [4500.0] * pilot.height  # a pilot takes its critical path
    assert all(ratio >= 1 for ratio in pilot["ratio"])
    for mistaken in ({"axis": "load"}, {"axis": "way", "figure": "cores"}, {"axis": "way", "baseline": "aware"}):
        with pytest.raises(InputError):
            compare_workflows(store, "flows", **mistaken)


def test_a_changed_table_is_told(store, tmp_path):
    from walltime.experiments.maintenance import back_up

    folder, _ = back_up(store, tmp_path / "copy")
    file = next(folder.glob("results/??/*/workflows.parquet"))
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with walltime.Store(folder) as copy, pytest.raises(InputError, match="was changed"):
        read_kept(copy, "flows", "workflows")


def test_commands(store, tmp_path):
    def say(*words):
        return CliRunner().invoke(app, [*words, "--store", store.place], catch_exceptions=False).output

    groups = json.loads(say("store", "group", "flows", "--of", "workflows", "--json"))["groups"]
    assert groups == group_workflows(store, "flows").to_dicts()
    assert "p95" in say("store", "group", "flows", "--cell", "way=pilot")
    found = json.loads(say("store", "delta", "flows", "--axis", "way", "--figure", "run", "--json"))["differences"]
    assert found == compare_workflows(store, "flows", "way", "run").to_dicts()
    assert "quicker" in say("store", "delta", "flows", "--axis", "way")
    target = tmp_path / "all.csv"
    say("store", "export", "flows", str(target), "--table", "workflows")
    assert pl.read_csv(target).height == read_kept(store, "flows", "workflows").height
