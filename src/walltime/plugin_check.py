"""Checks all that an installed package offers, as its author should before others install it.

Parts are simulated: determinism, legality by audit, no look at actual run times, errors that are named. Formats are
given files that are none of theirs; analyses and pictures results, twice.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from walltime.core.entry_points import GROUPS, Point, installed
from walltime.core.errors import InputError, WalltimeError
from walltime.policy.conformance import KINDS, ConformanceError, check_part

NONSENSE = {"empty": b"", "text": b"no jobs here\n", "binary": bytes(range(256)), "brackets": b"[{(" * 400}
"""Contents of files that no format has."""


@dataclass(frozen=True)
class Finding:
    """What was found of one thing that a package offers; `problem` is empty where all is well."""

    group: str
    name: str
    problem: str = ""


def check_package(package: str) -> list[Finding]:
    """Every thing that the package registers, with the first problem of each; raises InputError for one without any."""
    points = [point for group in GROUPS for point in installed(group).values() if _same(point.package, package)]
    if not points:
        known = {point.package for group in GROUPS for point in installed(group).values()}
        what = "no installed package of this name registers anything for Walltime"
        raise InputError(what, value=package, choices=sorted(known))
    return [Finding(point.group, point.name, _problem(point)) for point in points]


def _same(one: str, other: str) -> bool:
    return one.lower().replace("_", "-").replace(".", "-") == other.lower().replace("_", "-").replace(".", "-")


def _problem(point: Point) -> str:
    check: dict[str, Callable[[Point], None]] = {
        "walltime.parts": _check_part,
        "walltime.formats": _check_format,
        "walltime.analyses": _check_analysis,
        "walltime.pictures": _check_picture,
    }
    try:
        check[point.group](point)
    except (ConformanceError, WalltimeError) as error:
        return str(error)
    return ""


def _check_part(point: Point) -> None:
    from walltime.policy.registry import build
    from walltime.scenario import Part

    kind, _, name = point.name.partition(".")
    build(kind, Part(name=name))
    if kind in KINDS:
        check_part(kind, name)


def _check_format(point: Point) -> None:
    """What is none of its files is refused by an InputError, or understood: all else would be told as our fault."""
    from walltime.core.workload import Workload

    function = point.load()
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: Path(folder) / f"{name}.{point.name}" for name in [*NONSENSE, "missing"]}
        for name, contents in NONSENSE.items():
            paths[name].write_bytes(contents)
        for name, path in paths.items():
            try:
                jobs = function(path)
            except InputError:
                continue
            except OSError:
                if name == "missing":
                    continue
                raise
            except Exception as error:
                what = f"{point.target} raised {type(error).__name__}: {error} for a file ({name}); raise InputError"
                raise ConformanceError(what) from error
            if not isinstance(jobs, Workload):
                raise ConformanceError(
                    f"{point.target} gave {type(jobs).__name__}, not a Workload, for a file ({name})"
                )


def _check_analysis(point: Point) -> None:
    from walltime.analysis.analyses import analyse
    from walltime.scenario import Part

    part = Part(name=point.name)
    _check_twice(point, lambda results: [analyse(result, [part]).as_data() for result in results])


def _check_picture(point: Point) -> None:
    from walltime.analysis.plots import plot

    _check_twice(point, lambda results: plot(point.name, *results).render("svg"))


def _check_twice(point: Point, compute: Callable[[list[Any]], Any]) -> None:
    """The same results give the same twice, and are not changed."""
    results = list(_make_results())
    before = [result.digest for result in results]
    try:
        first, second = compute(results), compute(results)
    except WalltimeError:
        raise
    except Exception as error:
        raise ConformanceError(f"{point.target} raised {type(error).__name__}: {error}") from error
    if first != second:
        raise ConformanceError(f"{point.target} gave two answers for the same results; does it draw or remember?")
    if [result.digest for result in _make_results()] != before or [_contents(one) for one in results] != before:
        raise ConformanceError(f"{point.target} changed the results that it was given")


def _make_results() -> Iterator[Any]:
    """Two results of the same few jobs."""
    from walltime.api import simulate
    from walltime.workload.generate import generate

    jobs = generate(jobs=60, cores=16, load=1.0, seed=3)
    for policy in ("fcfs", "easy"):
        yield simulate(jobs, cores=16, policy=policy)


def _contents(result: Any) -> str:
    from walltime.core.digest import digest

    return digest(result.record.jobs, result.record.allocations)
