"""What users do again and again: sessions, repeated jobs, how alike their outcomes are; the second layer of a fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from walltime.core.time import SECOND
from walltime.core.workload import MISSING, Workload
from walltime.workload.models.file import Others, RequestPool, RunTimeQuantiles, Template, User
from walltime.workload.users.sessions import begin_sessions, sort_by_user

POINTS = 26
"""Quantiles of a template's outcomes."""
CLASS_POINTS = 51
"""Quantiles of a class's outcomes."""
REQUEST_CLASSES = (600.0, 1800.0, 3600.0, 7200.0, 14_400.0, 28_800.0, 43_200.0, 86_400.0, 172_800.0, 345_600.0, 1e12)
SIZE_CLASSES = (1, 8, 64, 1 << 31)
_FEWEST = 20  # jobs that make a repeated request, or a class
_TEMPLATES = 12  # repeated requests of one user
_ROWS = 1500  # rows of the pool
_LISTED = 300  # other users whose activity is listed
_HIGHEST = 2.0  # run time / requested time beyond which nothing is told apart


@dataclass
class Sheet:
    """The jobs by user and submission: codes of users and requests, sessions, and outcomes.

    A job without a user is a session of its own.

    `outcome` is run time / requested time, or the run time in seconds where nothing was requested.
    """

    jobs: Workload
    order: np.ndarray
    user: np.ndarray
    key: np.ndarray
    begins: np.ndarray
    gap: np.ndarray
    outcome: np.ndarray
    session_start: np.ndarray
    session_size: np.ndarray
    session_user: np.ndarray

    @classmethod
    def of(cls, jobs: Workload, session_gap: float) -> Sheet:
        """Sorts the jobs by user, and cuts each user's stream where nothing came for `session_gap` seconds."""
        order, user = sort_by_user(jobs)
        submit = jobs.column("submit")[order]
        gap = np.diff(submit, prepend=submit[:1]) / SECOND
        begins = begin_sessions(user, gap, session_gap)
        key, _ = _combine([jobs.column(name)[order] for name in _shape(jobs)])
        request, run = jobs.column("requested_time")[order], jobs.column("run_time")[order]
        ratio = np.minimum(run / np.maximum(request, 1), _HIGHEST)
        places = np.flatnonzero(begins)
        return cls(
            jobs=jobs,
            order=order,
            user=user,
            key=key,
            begins=begins,
            gap=gap,
            outcome=np.where(request > 0, ratio, run / SECOND),
            session_start=submit[places],
            session_size=np.diff(places, append=len(order)),
            session_user=user[places],
        )

    def gaps(self) -> dict[str, np.ndarray]:
        """Seconds between two jobs of a session: before the same job again, and before another."""
        inside = ~self.begins
        same = np.zeros(len(self.key), np.bool_)
        same[1:] = self.key[1:] == self.key[:-1]
        return {"same": self.gap[inside & same], "other": self.gap[inside & ~same]}

    def column(self, name: str, rows: np.ndarray) -> np.ndarray:
        """A column of the workload for rows of the sheet."""
        return np.asarray(self.jobs.column(name)[self.order[rows]])


def _shape(jobs: Workload) -> list[str]:
    """The columns that make two jobs the same request."""
    return [name for name in ("cores", "requested_time", "queue", "memory", "gpus") if jobs.has(name)]


def _combine(columns: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """A code for each different combination of values, and a row that has it."""
    code = np.zeros(len(columns[0]), np.int64)
    codes = 1
    for values in columns:
        low, high = int(values.min()), int(values.max())
        part, size = values - low, high - low + 1
        if size > 1 << 20:  # sorting costs more than wide codes do, until they overflow
            different, part = np.unique(values, return_inverse=True)
            size = len(different)
        if codes * size >= 1 << 62:
            different, code = np.unique(code, return_inverse=True)
            codes = len(different)
        code = code * size + part
        codes *= size
    _, first, code = np.unique(code, return_index=True, return_inverse=True)
    return code, first


def fit_sessions(sheet: Sheet, busy_users: int) -> dict[str, Any]:
    """The parts `users`, `others`, `pool` and `outcomes` of a model file."""
    activity = np.bincount(sheet.user[sheet.user >= 0]) if np.any(sheet.user >= 0) else np.zeros(0, np.int64)
    ranked = np.argsort(-activity, kind="stable")
    busy = [int(code) for code in ranked[:busy_users] if activity[code] >= _FEWEST]
    likeness = _Likeness(sheet)
    edges = np.flatnonzero(np.diff(sheet.user, prepend=sheet.user[0] - 1))
    ends = np.append(edges[1:], len(sheet.user))
    spans = {int(sheet.user[at]): (int(at), int(stop)) for at, stop in zip(edges, ends, strict=True)}
    sizes = _session_sizes(sheet)
    covered = np.zeros(len(sheet.user), np.bool_)
    repeats = _Repeats(sheet)
    users = [_user(sheet, spans[code], sizes[code], likeness, repeats, covered) for code in busy]
    rest = np.ones(len(sheet.user), np.bool_)
    for code in busy:
        rest[slice(*spans[code])] = False
    known = set(busy)
    quiet = [code for code in ranked if activity[code] > 0 and int(code) not in known]
    return {
        "users": users,
        "others": _others(sheet, rest, quiet, activity, sizes, likeness),
        "pool": _pool(sheet, ~covered, repeats),
        "outcomes": _outcomes(sheet, ~covered if not covered.all() else covered),
    }


def _session_sizes(sheet: Sheet) -> dict[int, np.ndarray]:
    order = np.argsort(sheet.session_user, kind="stable")
    users, starts = np.unique(sheet.session_user[order], return_index=True)
    parts = np.split(sheet.session_size[order], starts[1:])
    return {int(user): part for user, part in zip(users, parts, strict=True)}


def _count_sizes(sizes: np.ndarray) -> list[tuple[int, int]]:
    """[size, sessions] pairs; sizes above 32 to two digits, which is enough."""
    step = np.where(sizes > 32, 10.0 ** (np.floor(np.log10(np.maximum(sizes, 1))) - 1), 1.0)
    values, counts = np.unique((np.rint(sizes / step) * step).astype(np.int64), return_counts=True)
    return [(int(value), int(count)) for value, count in zip(values, counts, strict=True)]


class _Likeness:
    """How alike the outcomes of repeated jobs are: rank correlation between neighbours in a session."""

    def __init__(self, sheet: Sheet) -> None:
        order = np.lexsort((sheet.outcome, sheet.key, sheet.user))
        group = np.ones(len(order), np.bool_)
        group[1:] = (sheet.user[order][1:] != sheet.user[order][:-1]) | (sheet.key[order][1:] != sheet.key[order][:-1])
        starts = np.flatnonzero(group)
        size = np.diff(starts, append=len(order))
        index = np.arange(len(order)) - np.repeat(starts, size)
        self.rank = np.empty(len(order))
        self.rank[order] = (index + 0.5) / np.repeat(size, size) - 0.5
        self.same = np.zeros(len(order), np.bool_)
        self.same[1:] = ~sheet.begins[1:] & (sheet.key[1:] == sheet.key[:-1])
        group_size = np.empty(len(order), np.int64)
        group_size[order] = np.repeat(size, size)
        self.usable = self.same & (group_size >= _FEWEST)

    def measure(self, rows: slice | np.ndarray) -> float:
        """The correlation of the normal scores; 0 where there is too little to tell."""
        chosen = np.flatnonzero(self.usable[rows])
        if len(chosen) < _FEWEST:
            return 0.0
        rank = self.rank[rows]
        product = float(np.mean(rank[chosen] * rank[chosen - 1]) * 12)
        return round(float(np.clip(2 * np.sin(np.pi * np.clip(product, 0, 1) / 6), 0, 0.99)), 4)


def _returns(sheet: Sheet, rows: slice) -> float:
    """The probability that a session begins with the job that the last one ended with, beyond chance."""
    key = sheet.key[rows]
    begins = np.flatnonzero(sheet.begins[rows])
    begins = begins[begins > 0]
    if not len(begins):
        return 0.0
    same = float(np.mean(key[begins] == key[begins - 1]))
    chance = float(np.sum((np.bincount(key) / len(key)) ** 2))
    return round(float(np.clip((same - chance) / (1 - chance), 0, 1)), 4) if chance < 1 else 1.0


class _Repeats:
    """Inside sessions: jobs that are followed by one, and by the same one once more."""

    def __init__(self, sheet: Sheet) -> None:
        self.followed = np.append(~sheet.begins[1:], False)
        self.repeated = self.followed.copy()
        self.repeated[:-1] &= sheet.key[1:] == sheet.key[:-1]

    def share(self, rows: np.ndarray) -> float:
        """Of some jobs, how many of those that are followed are repeated."""
        return round(float(self.repeated[rows].sum() / max(self.followed[rows].sum(), 1)), 4)


def _user(
    sheet: Sheet,
    span: tuple[int, int],
    sizes: np.ndarray,
    likeness: _Likeness,
    repeats: _Repeats,
    covered: np.ndarray,
) -> User:
    first, last = span
    rows = slice(first, last)
    key = sheet.key[rows]
    different, counts = np.unique(key, return_counts=True)
    fewest = max(_FEWEST, len(sheet.user) // 4000)
    favourites = [index for index in np.argsort(-counts, kind="stable")[:_TEMPLATES] if counts[index] >= fewest]
    templates = []
    for code in different[favourites].tolist():
        mine = first + np.flatnonzero(key == code)
        covered[mine] = True
        templates.append(_template(sheet, mine, repeats.share(mine)))
    groups = sheet.column("group", np.arange(first, last)) if sheet.jobs.has("group") else np.full(1, MISSING)
    return User(
        jobs=last - first,
        group=_label(np.bincount(groups[groups >= 0]).argmax()) if np.any(groups >= 0) else None,
        sizes=_count_sizes(sizes),
        returns=_returns(sheet, rows),
        likeness=likeness.measure(rows),
        templates=templates,
    )


def _template(sheet: Sheet, rows: np.ndarray, repeat: float) -> Template:
    one = rows[:1]
    request, memory = int(sheet.column("requested_time", one)[0]), int(sheet.column("memory", one)[0])
    return Template(
        jobs=len(rows),
        repeat=repeat,
        cores=int(sheet.column("cores", one)[0]),
        requested_time=request / SECOND if request > 0 else None,
        queue=_label(sheet.column("queue", one)[0]),
        memory=memory if memory > 0 else None,
        gpus=int(sheet.column("gpus", one)[0]),
        outcome=_quantiles(sheet.outcome[rows], POINTS),
    )


def _label(code: Any) -> int | None:
    return int(code) if int(code) >= 0 else None


def _quantiles(values: np.ndarray, points: int) -> list[float]:
    found = np.quantile(values, np.linspace(0, 1, points), method="inverted_cdf")
    return [float(f"{value:.4g}") for value in found]


def _others(
    sheet: Sheet,
    rest: np.ndarray,
    quiet: list[Any],
    activity: np.ndarray,
    sizes: dict[int, np.ndarray],
    likeness: _Likeness,
) -> Others:
    """All users who are not busy, and jobs without a user."""
    if not rest.any():
        return Others()
    rows = np.flatnonzero(rest)
    known = set(np.unique(sheet.user[~rest]).tolist())
    own = [code for code in sizes if code not in known]
    joined = np.concatenate([sizes[code] for code in own])
    step = max(1, -(-len(quiet) // _LISTED))
    groups = _user_groups(sheet)
    return Others(
        users=[int(activity[code]) for code in quiet[::step]] or [len(rows)],
        groups=[groups.get(int(code)) for code in quiet[::step]] or [None],
        sizes=_count_sizes(joined),
        likeness=likeness.measure(rest),
    )


def _user_groups(sheet: Sheet) -> dict[int, int | None]:
    """A group for each user: that of its first job."""
    users, first = np.unique(sheet.user, return_index=True)
    groups = sheet.column("group", first)
    return {int(user): _label(group) for user, group in zip(users, groups, strict=True)}


def _pool(sheet: Sheet, rows: np.ndarray, repeats: _Repeats) -> RequestPool:
    """The requests of all jobs that no user repeats; of many rare ones that are alike, one stands for all."""
    places = np.flatnonzero(rows)
    if not len(places):
        return RequestPool()
    values = {name: sheet.column(name, places) for name in ("cores", "requested_time", "queue", "memory", "gpus")}
    code, first = _combine(list(values.values()))
    chosen, counts = _shorten(np.bincount(code), values["cores"][first], values["requested_time"][first])
    followed = np.bincount(code, repeats.followed[places])
    again = np.bincount(code, repeats.repeated[places]) / np.maximum(followed, 1)
    table = {name: column[first[chosen]].tolist() for name, column in values.items()}
    return RequestPool(
        jobs=counts.tolist(),
        repeat=[round(float(value), 4) for value in again[chosen]],
        cores=table["cores"],
        requested_time=[value / SECOND if value > 0 else None for value in table["requested_time"]],
        queue=[value if value >= 0 else None for value in table["queue"]],
        memory=[value if value > 0 else None for value in table["memory"]],
        gpus=table["gpus"],
    )


def _shorten(counts: np.ndarray, cores: np.ndarray, request: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At most `_ROWS` of the requests, and how many jobs each stands for.

    The frequent half stays as it is. The rest, sorted by cores and requested time, is cut into stretches of equally
    many jobs, and the middle one stands for each: both distributions stay, to less than a thousandth.
    """
    order = np.argsort(-counts, kind="stable")
    if len(order) <= _ROWS:
        return order, counts[order]
    half = _ROWS // 2
    rare = order[half:]
    rare = rare[np.lexsort((request[rare], cores[rare]))]
    middle = np.cumsum(counts[rare]) - counts[rare] / 2
    stretch = np.minimum((middle * half / counts[rare].sum()).astype(np.int64), half - 1)
    used, total = np.unique(stretch), np.bincount(stretch, counts[rare], half).astype(np.int64)
    starts, ends = np.searchsorted(stretch, used), np.searchsorted(stretch, used, side="right")
    return np.append(order[:half], rare[(starts + ends - 1) // 2]), np.append(counts[order[:half]], total[used])


def _outcomes(sheet: Sheet, rows: np.ndarray) -> list[RunTimeQuantiles]:
    """Quantiles of outcomes by class of request and size; a class with few jobs takes those of all sizes, then all."""
    places = np.flatnonzero(rows)
    if not len(places):
        return []
    outcome = sheet.outcome[places]
    request, cores = sheet.column("requested_time", places), sheet.column("cores", places)
    asked = request > 0
    wide = np.searchsorted(SIZE_CLASSES, cores)
    long = np.where(asked, np.searchsorted(REQUEST_CLASSES, request / SECOND), len(REQUEST_CLASSES))
    found = []
    for klass in np.unique(long * len(SIZE_CLASSES) + wide).tolist():
        length, size = divmod(klass, len(SIZE_CLASSES))
        alike = (long == length) & (wide == size)
        for wider in (long == length, asked == (length < len(REQUEST_CLASSES))):
            alike = wider if np.count_nonzero(alike) < _FEWEST else alike
        bound = REQUEST_CLASSES[length] if length < len(REQUEST_CLASSES) else None
        found.append(
            RunTimeQuantiles(
                requested_time=bound, cores=SIZE_CLASSES[size], quantiles=_quantiles(outcome[alike], CLASS_POINTS)
            )
        )
    return found
