"""What stands below the answers of an experiment: how far replays of its site can be trusted, what no user does."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from walltime.analysis.calibration.file import find_trust, tell_calibration
from walltime.core.errors import InputError

if TYPE_CHECKING:
    from walltime.experiments.definition import Experiment
    from walltime.experiments.store import Store
    from walltime.scenario import Scenario

BEHAVIOUR = (
    "Time limits differ, and the jobs of a log ask for what they asked for: no user reacts. What can be asked: jobs "
    "that were cut off run on to a drawn length (workload.adjust.run_on: true); jobs of another queue go where they "
    "fit now (workload.adjust.moves: [{sources: OLD, to: NEW}])."
)
"""What a replay cannot show of another time limit."""
_LIMIT = re.compile(r"\bqueues\.[^.]+\.(max_time|default_time)$")
_REACTION = re.compile(r"\bworkload\.adjust(\.run_on|\.moves.*)?$")


def find_cautions(store: Store, name: str, chosen: Mapping[str, str] | None = None) -> list[str]:
    """The sentences for an experiment of a store, or for the cells with the labels chosen; raises InputError."""
    from walltime.core.source import Source
    from walltime.experiments.definition import parse_experiment

    known = store.find(name)
    experiment = parse_experiment(known.definition).placed(Source(known.definition, known.file, {}))
    return tell_cautions(experiment, chosen or {})


def find_cautions_of_file(path: str | Path) -> list[str]:
    """The sentences for a scenario's or an experiment's file; raises InputError."""
    from walltime.core.source import read_source
    from walltime.experiments.definition import load_experiment

    data = read_source(path).data
    if isinstance(data, dict) and ("base" in data or "scenario" in data):
        return tell_cautions(load_experiment(path), {})
    trust = tell_calibration({"calibration": find_trust(path)})
    return [] if trust is None else [trust]


def tell_cautions(experiment: Experiment, chosen: Mapping[str, str]) -> list[str]:
    """The same for an experiment as its file says it."""
    base = _load_base(experiment)
    if base is None:
        return []
    limits = base.workload.trace is not None and has_other_limits(experiment, chosen)
    trust = tell_calibration({"calibration": find_trust(base)})
    return ([BEHAVIOUR] if limits else []) + ([] if trust is None else [trust])


def has_other_limits(experiment: Experiment, chosen: Mapping[str, str]) -> bool:
    """Whether some level of the chosen cells has another time limit, and nothing about how users would take it."""
    return any(
        any(_LIMIT.search(key) for key, _ in level.settings)
        and not any(_REACTION.search(key) for key, _ in level.settings)
        for levels in experiment.axes
        for level in levels
        if chosen.get(level.axis, level.label) == level.label
    )


def _load_base(experiment: Experiment) -> Scenario | None:
    """The scenario that it began with; none where that is in its own file, or no longer as it was."""
    from walltime.scenario import load

    path = None if experiment.base is None else experiment.folder / experiment.base
    try:
        return None if path is None or not path.is_file() else load(path)
    except InputError:
        return None
