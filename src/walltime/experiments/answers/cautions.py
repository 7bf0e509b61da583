"""What stands below the answers of an experiment: how far replays of its site can be trusted, what no user does."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from walltime.experiments.answers.trust import load_base, tell_trust

if TYPE_CHECKING:
    from walltime.experiments.definition import Experiment
    from walltime.experiments.store import Store

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
    from walltime.core.source import SourceData
    from walltime.experiments.definition import parse_experiment

    known = store.find(name)
    experiment = parse_experiment(known.definition).placed(SourceData(known.definition, known.file, {}))
    return tell_cautions(experiment, chosen or {})


def find_cautions_of_file(path: str | Path) -> list[str]:
    """The sentences for a scenario's or an experiment's file; raises InputError."""
    from walltime.core.source import read_source
    from walltime.experiments.definition import load_experiment

    data = read_source(path).data
    if isinstance(data, dict) and ("base" in data or "scenario" in data):
        return tell_cautions(load_experiment(path), {})
    return tell_trust(path)


def tell_cautions(experiment: Experiment, chosen: Mapping[str, str]) -> list[str]:
    """The same for an experiment as its file says it."""
    base = load_base(experiment)
    if base is None:
        return []
    limits = base.workload.trace is not None and has_other_limits(experiment, chosen)
    return [*([BEHAVIOUR] if limits else []), *tell_trust(base)]


def has_other_limits(experiment: Experiment, chosen: Mapping[str, str]) -> bool:
    """Whether some level of the chosen cells has another time limit, and nothing about how users would take it."""
    return any(
        any(_LIMIT.search(key) for key, _ in level.settings)
        and not any(_REACTION.search(key) for key, _ in level.settings)
        for levels in experiment.axes
        for level in levels
        if chosen.get(level.axis, level.label) == level.label
    )
