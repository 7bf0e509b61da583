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
from pathlib import Path
from typing import Any

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
from benchmarks.recorded import FILE, Recorded, record
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
    print(f"CPU time; {_describe_machine()}")
    if options.against:
        lines = against.run(Path(options.against), options.names or list(CASES), options.rounds, options.quick)
        _write(options, {"against": [asdict(line) | {"ratio": line.ratio} for line in lines]})
        return
    figures: list[Figure] = []
    recorded = None if options.quick else Recorded.load()
    if recorded is not None:
        print(f"release: the cost over that of the last release, which was measured on {recorded.machine}")
    with tempfile.TemporaryDirectory(prefix="walltime-bench-") as folder:
        setting = quick(Path(folder)) if options.quick else Setting(Path(folder))
        for name in options.names or CASES:
            _announce(name)
            for figure in CASES[name].measure(setting):
                print(figure.line(recorded and recorded.ratio(figure)), flush=True)
                figures.append(figure)
    _write(options, {"figures": [figure.as_data() for figure in figures]})
    if options.record:
        record(figures, _describe_machine())
    missed = [figure for figure in figures if figure.met is False]
    print(f"\n{sum(figure.met is True for figure in figures)} targets met, {len(missed)} missed")


def _write(options: argparse.Namespace, measured: dict[str, Any]) -> None:
    if options.json:
        data = {"machine": _describe_machine(), "quick": options.quick} | measured
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
    if options.record and (options.quick or options.against):
        parser.error("--record keeps figures of full size; leave out --quick and --against")
    for name in options.names:
        if name not in CASES:
            parser.error(f"no benchmark is called {name!r}; choose from {', '.join(CASES)}")
    return options


def _announce(name: str) -> None:
    title = (CASES[name].__doc__ or "").partition("\n")[0]
    print(f"\n{name}: {title}\n{headings()}\n{'-' * WIDTH}", flush=True)


def _describe_machine() -> str:
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    known = [_find_processor(), platform.machine(), f"{os.cpu_count()} processors", platform.system()]
    return ", ".join([*filter(None, known), f"Python {platform.python_version()}", f"load average {load}"])


def _find_processor() -> str:
    """The processor's name, where the system tells it."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        return next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), "")
    return ""


if __name__ == "__main__":
    main()
