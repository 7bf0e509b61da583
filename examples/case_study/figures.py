"""Figures 8 to 12, 16 and 17 of the paper, drawn from the store of the case study, as far as its runs are done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import matplotlib
import polars as pl
from matplotlib import pyplot

import walltime
from walltime.experiments.grouping import compare_workflows, read_kept

matplotlib.use("agg")
HANDLINGS = ("pilot", "chained", "aware")
COLOURS = {"pilot": "#4c78a8", "chained": "#e45756", "aware": "#54a24b"}
GENERATIONS = {
    8: ("no pressure, no fill", "no job pressure, no fill"),
    9: ("pressure, no fill", "job pressure 1.0, no fill"),
    10: ("large fill jobs", "job pressure 1.0, fill with large jobs"),
    11: ("small fill jobs", "job pressure 1.0, fill with small jobs"),
}


def draw(store: walltime.Store, folder: Path) -> Iterator[Path]:
    """Draw what there are runs for; the files."""
    folder.mkdir(exist_ok=True)
    known = {found.name for found in store.experiments() if found.counts["done"]}
    pictures: list[tuple[str, str, Callable[[walltime.Store], pyplot.Figure]]] = [
        ("phases", "utilization", draw_utilization),
        ("phases", "waits", draw_waits),
        ("set2", "wall-clock", draw_wall_clock),
        ("set2", "workflow-run-time", draw_run_times),
    ]
    for experiment, name, picture in pictures:
        if experiment in known:
            path = folder / f"{name}.png"
            made = picture(store)
            made.savefig(path, dpi=110)
            pyplot.close(made)
            yield path


def draw_utilization(store: walltime.Store) -> pyplot.Figure:
    """Figures 8 to 11: utilization of each minute, from the first fill job on."""
    table = read_kept(store, "phases", "minutes")
    figure, axes = pyplot.subplots(2, 2, figsize=(10, 5.5), sharex=True, sharey=True, layout="constrained")
    for axis, (number, (label, title)) in zip(axes.flat, GENERATIONS.items(), strict=True):
        own = table.filter(pl.col("generation") == label)
        axis.plot(own["time"] / 3600, 100 * own["utilization"], linewidth=0.6)
        axis.set(title=f"Fig. {number}: {title}", ylim=(0, 105), xlabel="hours", ylabel="utilization [%]")
    return figure


def draw_waits(store: walltime.Store) -> pyplot.Figure:
    """Figure 12: the median wait of the jobs that are submitted in each minute, without and with fill."""
    table = read_kept(store, "phases", "minutes")
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 3.4), sharey=True, layout="constrained")
    for axis, letter, label in zip(axes, "ab", ("pressure, no fill", "small fill jobs"), strict=True):
        own = table.filter(pl.col("generation") == label, pl.col("jobs") > 0)
        for column in (name for name in own.columns if name.startswith("median_wait ")):
            seen = own.filter(pl.col(column).is_not_null())
            axis.plot(seen["time"] / 3600, seen[column] / 3600, ".", markersize=1.2, label=column[12:] + " core-hours")
        axis.set(title=f"Fig. 12{letter}: {label}", xlabel="hours", ylabel="median wait [h]")
    axes[0].legend(markerscale=6)
    return figure


def draw_wall_clock(store: walltime.Store) -> pyplot.Figure:
    """Figure 16: the median time that a run takes, by handling, workflow and share."""
    runs = store.table("set2").filter(pl.col("state") == "done")
    flows, shares = (runs[axis].unique(maintain_order=True).to_list() for axis in ("workflow", "share"))
    figure, axes = pyplot.subplots(
        1, len(flows), figsize=(2 + 2 * len(flows), 3.2), sharey=True, layout="constrained", squeeze=False
    )
    for axis, flow in zip(axes.flat, flows, strict=True):
        for place, handling in enumerate(HANDLINGS):
            own = runs.filter(pl.col("workflow") == flow, pl.col("handling") == handling)
            median = dict(own.group_by("share").agg(pl.col("cpu").median()).iter_rows())
            heights = [median.get(share) or 0.0 for share in shares]
            where = [number + 0.27 * (place - 1) for number in range(len(shares))]
            axis.bar(where, heights, 0.26, color=COLOURS[handling], label=handling)
        axis.set_xticks(range(len(shares)), shares, rotation=90)
        axis.set(title=flow, yscale="log")
        axis.set_yticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
        axis.minorticks_off()
        axis.set_ylim(bottom=1)
    axes[0, 0].set_ylabel("median CPU time of a run [s]")
    axes[0, 0].legend()
    figure.suptitle("Fig. 16: what a run of 7 days takes")
    return figure


def draw_run_times(store: walltime.Store) -> pyplot.Figure:
    """Figure 17: median run time of workflows, as speed-up over chained jobs and in hours."""
    table = compare_workflows(store, "set2", "handling", figure="run", baseline="chained")
    flows = [flow for flow in ("cybershake", "sipht", "montage") if flow in table["workflow"]]
    shares = table["share"].unique(maintain_order=True).to_list()
    figure, axes = pyplot.subplots(
        len(flows), 2, figsize=(9, 1 + 2.2 * len(flows)), layout="constrained", squeeze=False
    )
    for row, flow in zip(axes, flows, strict=True):
        for place, handling in enumerate(HANDLINGS):
            own = table.filter(pl.col("workflow") == flow, pl.col("handling") == handling)
            where = [shares.index(share) + 0.27 * (place - 1) for share in own["share"]]
            row[0].bar(where, own["ratio"].fill_null(0.0), 0.26, color=COLOURS[handling], label=handling)
            row[1].bar(where, own["median"].fill_null(0.0) / 3600, 0.26, color=COLOURS[handling], label=handling)
        for axis, what in zip(row, ("speed-up over chained", "median run time [h]"), strict=True):
            axis.set_xticks(range(len(shares)), shares)
            axis.set(title=flow, ylabel=what)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=len(HANDLINGS))
    figure.suptitle("Fig. 17: median run time of workflows")
    return figure
