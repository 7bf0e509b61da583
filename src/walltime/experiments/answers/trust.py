"""How far answers of an experiment can be trusted: what is kept of its site's calibration, for whoever tells them.

A comparison has sides, a sweep and a report an experiment, a file may be either or a scenario's: each stands for
scenarios, and the first of these whose site was calibrated tells of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from walltime.analysis.calibration.file import find_trust as find_beside
from walltime.analysis.calibration.file import tell_calibration
from walltime.core.errors import InputError

if TYPE_CHECKING:
    from walltime.experiments.answers.sides import Side
    from walltime.experiments.definition import Experiment
    from walltime.experiments.store import Store
    from walltime.scenario import Scenario

Trust = Mapping[str, Any]
"""What a result repeats of a calibration."""


def find_trust(place: str | Path, sides: Sequence[Side]) -> Trust | None:
    """That of the first side whose site was calibrated: results tell it, cells of the store at `place` by their
    scenario; raises InputError."""
    from walltime.experiments.store import Store

    known = next((side.calibration for side in sides if side.calibration is not None), None)
    if known is not None or not any(side.runs for side in sides):
        return known
    with Store(place) as store:
        return _find_first(_read_sites(store, [side for side in sides if side.runs]))


def tell_trust(*scenarios: Scenario | str | Path) -> list[str]:
    """The sentence about that of the first of these scenarios, or of their files, whose site was calibrated, and none
    where that is none; raises InputError."""
    told = tell_calibration({"calibration": _find_first(scenarios)})
    return [] if told is None else [told]


def load_base(experiment: Experiment) -> Scenario | None:
    """The scenario that it began with; none where that is in its own file, or no longer as it was."""
    from walltime.scenario import load

    path = None if experiment.base is None else experiment.folder / experiment.base
    try:
        return None if path is None or not path.is_file() else load(path)
    except InputError:
        return None


def _find_first(scenarios: Iterable[Scenario | str | Path]) -> Trust | None:
    return next((told for one in scenarios if (told := find_beside(one)) is not None), None)


def _read_sites(store: Store, sides: Sequence[Side]) -> Iterator[Scenario]:
    """The scenarios of cells, one of each log and cluster."""
    from walltime.scenario import parse

    seen = set()
    for side in sides:
        tree = store.run(next(iter(side.runs.values())))["specification"]["scenario"]
        parts = [tree.get(key) for key in ("workload", "cluster", "clusters")]
        site = [part.get("trace" if part is parts[0] else "name") if isinstance(part, dict) else part for part in parts]
        if repr(site) not in seen:
            yield parse(tree)
        seen.add(repr(site))
