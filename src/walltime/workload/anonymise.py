"""A trace that can be shared: no user's name, no date, the same structure.

Users, groups, accounts (and queues, qualities of service and properties of nodes, unless kept) become numbers in random
order; jobs get new numbers and lose their names; references between jobs follow. Licences and other resources keep
their names. The calendar moves by a random number of whole
weeks, so that hours and weekdays stay what they were. The header, which names the site, is dropped. Sizes, times and
who submitted together with whom stay: whoever knows such details of a job will find it again.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.core.workload import COLUMNS, MISSING, Origin, Workload
from walltime.workload.calendar import hour_of_week

_NAMES = {
    "user": "user",
    "group": "group",
    "account": "account",
    "queue": "queue",
    "qos": "qos",
    "profile": "profile",
    "constraint": "property",
}
_KEPT = ("queue", "qos", "constraint")
_PROPERTY = re.compile(r"[A-Za-z_][\w.-]*")
_MONDAY = 345_600  # seconds since 1970 of a Monday, 0:00
_WEEK = 7 * 86_400
_WEEKS = 2000  # the calendar begins in one of so many weeks
_ABSOLUTE = ("begin", "deadline", "cancel")


def anonymise(workload: Workload, seed: int = 0, keep_queues: bool = False) -> Workload:
    """The same jobs without names and dates; the same seed gives the same numbers."""
    columns: dict[str, Any] = {name: values for name, values in workload.columns.items() if name != "name"}
    labels: dict[str, list[str]] = {}
    for name in (name for name in columns if COLUMNS[name].kind == "label"):
        known = workload.label_names(name)
        word = _NAMES.get(name)
        if word is None or (keep_queues and name in _KEPT):
            labels[name] = list(known)
            continue
        if name == "constraint":
            labels[name] = _rename_properties(known, seed)
            continue
        order = stream(seed, "anonymise", name).permutation(len(known))
        codes = np.append(order, MISSING).astype(np.int32)
        columns[name] = codes[columns[name]]
        labels[name] = [f"{word}{index + 1}" for index in range(len(known))]
    _renumber(workload, columns)
    origin = _move_clock(workload, columns, seed)
    return Workload(
        columns,
        labels,
        origin=origin,
        machine_cores=workload.machine_cores,
        notes={"lines": len(workload), "skipped": {}},
        source="anonymised trace",
    )


def _rename_properties(constraints: list[str], seed: int) -> list[str]:
    """Constraints such as ib&xeon with each property renamed, the same everywhere."""
    known = sorted({word for text in constraints for word in _PROPERTY.findall(text)})
    order = stream(seed, "anonymise", "constraint").permutation(len(known))
    names = {word: f"property{place + 1}" for word, place in zip(known, order.tolist(), strict=True)}
    return [_PROPERTY.sub(lambda match: names[match[0]], text) for text in constraints]


def _renumber(workload: Workload, columns: dict[str, Any]) -> None:
    """Numbers from 1 in order of submission; a reference to a job that is not there is dropped."""
    old = workload.column("job_id")
    columns["job_id"] = np.arange(1, len(workload) + 1, dtype=np.int64)
    if not {"preceding_job", "dependencies"} & set(columns):
        return
    order = np.argsort(old, kind="stable")
    if "preceding_job" in columns:
        asked = columns["preceding_job"]
        index = np.minimum(np.searchsorted(old[order], asked), len(old) - 1)
        found = old[order][index] == asked
        columns["preceding_job"] = np.where(found & (asked != MISSING), order[index] + 1, MISSING)
    if "dependencies" in columns:
        numbers = dict(zip(old.tolist(), columns["job_id"].tolist(), strict=True))
        columns["dependencies"] = [_follow(text, numbers) for text in columns["dependencies"]]


def _follow(text: str, numbers: dict[int, int]) -> str:
    """A text of dependencies with the new numbers."""
    return re.sub(r"\d+(?=[:,?+]|$)", lambda match: str(numbers.get(int(match[0]), match[0])), text)


def _move_clock(workload: Workload, columns: dict[str, Any], seed: int) -> Origin:
    """Begins the clock on the Monday before the first job, and that Monday in another year."""
    if not len(workload):
        return Origin()
    submit = columns["submit"]
    hour = int(hour_of_week(workload, submit[:1])[0])
    into_hour = _into_hour(workload, int(submit[0]))
    shift = hour * 3600 * SECOND + into_hour - int(submit[0])
    for name in ("submit", *_ABSOLUTE):
        if name in columns:
            values = columns[name]
            moved = np.maximum(values + shift, 0)
            columns[name] = moved if name == "submit" else np.where(values == MISSING, MISSING, moved)
    weeks = int(stream(seed, "anonymise", "weeks").integers(_WEEKS))
    return Origin(float(_MONDAY + weeks * _WEEK), "UTC")


def _into_hour(workload: Workload, moment: int) -> int:
    """Microseconds since the full hour, on the calendar where there is one."""
    epoch = round((workload.origin.epoch or 0.0) * SECOND)
    return (moment + epoch) % (3600 * SECOND)
