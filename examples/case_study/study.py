"""The case study of G. Rodrigo et al., ScSF: a scheduling simulation framework (JSSPP 2017, section 4): 1,728 runs of a
week on a machine like Edison, to find out how workflows should be submitted.

    python examples/case_study/study.py FOLDER                 # everything; stop it and run it again
    python examples/case_study/study.py FOLDER --sets set1     # one of phases, set0, set1, set2
    python examples/case_study/study.py FOLDER --small         # a small machine, half a day, a few cells

The folder gets the experiments' files, the workflows, the store and the figures. Six of the workflows are real ones or
the paper's own; they are looked for in $WALLTIME_DATA/workflows. Twelve others are made here.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import yaml

import walltime
from walltime.workload.formats.workflows import write_manifest
from walltime.workload.workflow import Task, Workflow

HERE = Path(__file__).parent
SETS = ("phases", "set0", "set1", "set2")
REAL = ("cybershake", "floodplain", "montage", "sipht", "synthLongWide", "synthWideLong")
WIDTHS = (240, 960, 1920)
HOUR = 3600.0
SMALL: dict[str, dict[str, list[str]]] = {
    "phases": {},
    "set0": {"workflow": ["sipht", "fork-join-240"]},
    "set1": {"workflow": ["sipht"], "period": ["none", "1/h"]},
    "set2": {"workflow": ["sipht"], "share": ["10%", "50%"]},
}
"""Of each set's axes the labels that a small study has."""


def variants() -> list[Workflow]:
    """Four structures, each in three widths: about the work of the paper's two synthetic ones at 480 cores."""
    made = []
    for width in WIDTHS:
        wide, long = ("wide", width, HOUR), ("long", 48, 4 * HOUR)
        made.append(chain(f"wide-long-{width}", [wide, long]))
        made.append(chain(f"long-wide-{width}", [long, wide]))
        parts = [Task(f"part{number}", cores=width // 10, run_time=HOUR, needs=("split",)) for number in range(10)]
        names = tuple(part.id for part in parts)
        ends = Task("split", cores=24, run_time=HOUR / 2), Task("merge", cores=24, run_time=HOUR, needs=names)
        made.append(Workflow.of(f"fork-join-{width}", [ends[0], *parts, ends[1]]))
        steps = [(f"step{number}", width if number % 2 else 48, HOUR) for number in range(6)]
        made.append(chain(f"steps-{width}", steps))
    return made


def chain(name: str, steps: list[tuple[str, int, float]]) -> Workflow:
    tasks, before = [], ()
    for task, cores, run in steps:
        tasks.append(Task(task, cores=cores, run_time=run, requested_time=run + 60, needs=before))
        before = (task,)
    return Workflow.of(name, tasks)


def prepare(folder: Path, small: bool) -> None:
    """Put the experiments' files and the workflows into the folder."""
    flows = folder / "workflows"
    flows.mkdir(parents=True, exist_ok=True)
    data = Path(os.environ.get("WALLTIME_DATA", HERE.parents[2] / "shared")) / "workflows"
    for name in REAL:
        if not (data / f"{name}.json").exists():
            sys.exit(f"no workflow {data / name}.json: WALLTIME_DATA names the folder that has a folder `workflows`")
        shutil.copy(data / f"{name}.json", flows)
    for flow in variants():
        write_manifest(flow, flows / f"{flow.name}.json")
    shutil.copy(HERE / "edison.json", folder)
    for name in ("edison", *SETS):
        read = yaml.safe_load((HERE / f"{name}.yaml").read_text(encoding="utf-8"))
        made = reduce(name, read) if small else read
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(made, sort_keys=False), encoding="utf-8")


def reduce(name: str, read: dict[str, Any]) -> dict[str, Any]:
    """The same on 256 nodes, for half a day, with one repetition and a few labels of each axis."""
    if name == "edison":
        model = read["workload"]["model"] | {"days": 0.5, "stabilization": "6h", "drain": "6h", "fill": "3h"}
        return read | {
            "workload": read["workload"] | {"model": model},
            "cluster": read["cluster"] | {"nodes": "256x24"},
        }
    if name == "phases":  # the model's own rate is that of a large machine
        read["grid"]["generation"]["combinations"]["no pressure, no fill"]["workload.model.load"] = 0.6
    for axis, labels in SMALL[name].items():
        form = "values" if "values" in read["grid"][axis] else "combinations"
        read["grid"][axis][form] = {label: read["grid"][axis][form][label] for label in labels}
    return read | {"repetitions": 1}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--workers", type=int, help="processes; by default one for each core")
    parser.add_argument("--dask", help="run on a Dask cluster, as walltime sweep --dask does")
    parser.add_argument("--draw", action="store_true", help="only draw what there is")
    options = parser.parse_args()
    prepare(options.folder, options.small)
    with walltime.Store(options.folder / "store", create=True) as store:
        for name in () if options.draw else options.sets:
            done = walltime.sweep(options.folder / f"{name}.yaml", store, workers=options.workers, dask=options.dask)
            print(f"{name}: {done.counts['done']:,} runs are done, {done.counts['failed']:,} failed", flush=True)
        from figures import draw

        for path in draw(store, options.folder / "figures"):
            print(path)


if __name__ == "__main__":
    main()
