"""`python -m benchmarks [NAME ...] [--quick] [--json FILE] [--record] [--against BUILD]`: a table of figures in CPU
time, targets and the last release's figures beside them; or this build and another one, by turns."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import tempfile
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import walltime
from benchmarks import (
    against,
    case_brokers,
    case_centre,
    case_command,
    case_conservative,
    case_disruptions,
    case_engine,
    case_experiments,
    case_fairshare,
    case_growth,
    case_hosts,
    case_index,
    case_models,
    case_nodes,
    case_orders,
    case_plans,
    case_programs,
    case_python,
    case_reading,
    case_report,
    case_rhythm,
    case_site,
    case_slurm,
    case_startup,
    case_timeshare,
    case_traces,
    case_users,
)
from benchmarks.figures import WIDTH, Figure, headings
from benchmarks.recorded import FILE, FULL, QUICK, Origin, Recorded, record
from benchmarks.setting import Setting, quick

ALL = (
    case_engine,
    case_index,
    case_orders,
    case_conservative,
    case_plans,
    case_nodes,
    case_hosts,
    case_traces,
    case_programs,
    case_disruptions,
    case_site,
    case_centre,
    case_fairshare,
    case_growth,
    case_python,
    case_reading,
    case_models,
    case_brokers,
    case_command,
    case_report,
    case_rhythm,
    case_experiments,
    case_startup,
    case_timeshare,
    case_users,
    case_slurm,
)
CASES = {case.CASE: case for case in ALL}


def main() -> None:
    """Measure what was asked for. A target that is missed fails nothing; a wrong schedule does."""
    options = _parse()
    origin = _find_origin()
    print(f"CPU time; {origin.machine}, load average {origin.load}")
    if options.against:
        lines = against.run(Path(options.against), options.names or list(CASES), options.rounds, options.quick)
        _write(options, {"against": [asdict(line) | {"ratio": line.ratio} for line in lines]})
        return
    figures: list[Figure] = []
    size = QUICK if options.quick else FULL
    recorded = Recorded.load(size)
    _tell_origins([] if recorded is None else recorded.origins(options.names or CASES), origin)
    with tempfile.TemporaryDirectory(prefix="walltime-bench-") as folder:
        setting = quick(Path(folder)) if options.quick else Setting(Path(folder))
        for name in options.names or CASES:
            _announce(name)
            for figure in CASES[name].measure(setting):
                print(figure.line(recorded and recorded.ratio(figure)), flush=True)
                figures.append(figure)
    _write(options, {"figures": [figure.as_data() for figure in figures]})
    if options.record:
        record(figures, origin, size)
    missed = [figure for figure in figures if figure.met is False]
    print(f"\n{sum(figure.met is True for figure in figures)} targets met, {len(missed)} missed")


def _write(options: argparse.Namespace, measured: dict[str, Any]) -> None:
    if options.json:
        data = {"origin": vars(_find_origin()), "quick": options.quick} | measured
        Path(options.json).write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks", description="How fast Walltime is, in CPU time.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(CASES)}; all, where none is given")
    parser.add_argument("--quick", action="store_true", help="a tenth of the jobs, fewer repetitions")
    parser.add_argument("--json", metavar="FILE", help="write the figures into this file too")
    parser.add_argument("--record", action="store_true", help=f"keep the figures as a release's, in {FILE.name}")
    parser.add_argument("--against", metavar="BUILD", help="another built checkout: both by turns, ratios of CPU time")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="with --against: so many turns of each")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    if options.record and options.against:
        parser.error("--record keeps the figures of one build; leave out --against")
    for name in options.names:
        if name not in CASES:
            parser.error(f"no benchmark is called {name!r}; choose from {', '.join(CASES)}")
    return options


def _announce(name: str) -> None:
    title = (CASES[name].__doc__ or "").partition("\n")[0]
    print(f"\n{name}: {title}\n{headings()}\n{'-' * WIDTH}", flush=True)


def _tell_origins(recorded: list[Origin], here: Origin) -> None:
    """What the last column of the tables is."""
    if not recorded:
        print("release: no figures of a release are recorded for this size; --record keeps those of this run")
    for one in recorded:
        print(f"release: the cost over that of {one}; below 1 is cheaper")
        if one.machine != here.machine:
            print("         that is another machine: its ratios tell of the machines, not of the code")


def _find_origin() -> Origin:
    known = [_find_processor(), platform.machine(), f"{os.cpu_count()} processors", platform.system()]
    machine = ", ".join([*filter(None, known), f"Python {platform.python_version()}"])
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return Origin(walltime.__version__, datetime.now(UTC).date().isoformat(), machine, load)


def _find_processor() -> str:
    """The processor's name, where the system tells it."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        return next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), "")
    return ""


if __name__ == "__main__":
    main()
