"""Jobs from a fitted model: ScSF's independent distributions, or users with sessions and repeated requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from walltime.core.errors import InputError
from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.core.workload import MISSING
from walltime.workload.models.distribution import Histogram, How, gap_quantiles, stratified
from walltime.workload.models.file import ModelFile, Others, User
from walltime.workload.models.sample import Sample, place_on_clock

Structure = Literal["users", "independent"]
_POINTS = 51
_LONGEST_RUN = 0.999  # of repetitions: even the most faithful user tries something else
_INSIDE: dict[str, How] = {"cores": "high", "requested_time": "high"}


@dataclass
class _Requests:
    """Everything that can be asked for: a row a template or line of the pool, with the quantiles of its outcome."""

    cores: np.ndarray
    repeat: np.ndarray
    requested: np.ndarray
    queue: np.ndarray
    memory: np.ndarray
    gpus: np.ndarray
    outcome: np.ndarray
    group: np.ndarray
    """Rows with the same outcomes have the same number here."""


class FittedModel:
    """A model file as a source of jobs.

    `structure` is `users` (sessions, repeated jobs, rhythm) or `independent` (ScSF's distributions alone, where `bins`
    says how a value is drawn inside its bin; by default requests are a bin's upper edge and all else is uniform).
    """

    def __init__(self, file: ModelFile, structure: Structure = "users", bins: How | None = None) -> None:
        if structure not in ("users", "independent"):
            raise InputError("unknown structure of a model", value=structure, choices=("users", "independent"))
        if bins is not None and structure != "independent":
            raise InputError(
                "where in a bin a value is drawn is a question for the structure independent; bins", value=bins
            )
        self.file = file
        self.structure = structure
        self.bins = bins
        self.requests, self.pool_start = _table(file)

    @property
    def title(self) -> str:
        return f"fitted to {self.file.source.log}"

    @property
    def jobs_per_day(self) -> float:
        return self.file.rates.jobs_per_day

    def clock(self, days: int) -> np.ndarray:
        weeks = -(-days // 7)
        hours = np.ones(168) if self.structure == "independent" else np.array(self.file.rhythm.hours)
        return np.asarray(np.tile(hours, weeks)[: days * 24])

    def draw(self, jobs: int, span: float, cores: int, seed: int, name: str) -> Sample:
        if self.structure == "independent":
            return self._draw_independent(jobs, span, cores, seed, name)
        return self._draw_users(jobs, span, cores, seed, name)

    def _draw_independent(self, jobs: int, span: float, cores: int, seed: int, name: str) -> Sample:
        """Each variable by itself; gaps are stretched so that `jobs` of them fill the span."""
        drawn = {
            key: Histogram.from_pairs(variable.width, variable.bins).draw(
                stratified(stream(seed, f"{name}.{key}"), jobs), self.bins or _INSIDE.get(key, "uniform")
            )
            for key, variable in self.file.variables.items()
        }
        times = np.cumsum(np.maximum(drawn["interarrival"], 1e-6))
        scale = span / (times[-1] + times[-1] / jobs)
        run = drawn["run_time"] if "run_time" in drawn else drawn["requested_time"] * drawn["accuracy"]
        columns = {
            "submit": np.rint(times * scale).astype(np.int64) * SECOND,
            "cores": np.clip(np.ceil(drawn["cores"]), 1, cores).astype(np.int64),
            "run_time": np.maximum(np.rint(run), 1).astype(np.int64) * SECOND,
        }
        if "requested_time" in drawn:
            columns["requested_time"] = np.maximum(np.ceil(drawn["requested_time"]), 1).astype(np.int64) * SECOND
        return Sample(columns)

    def _draw_users(self, jobs: int, span: float, cores: int, seed: int, name: str) -> Sample:
        """Sessions by user on the week's clock; in each, jobs that repeat or change; outcomes by request."""
        people = _People(self.file)
        count = max(1, round(jobs / people.mean_size))
        who = people.choose(stratified(stream(seed, f"{name}.user"), count))
        begins = place_on_clock(self._spread_sessions(count, seed, name), self._uneven_clock(span, seed, name), span)
        order = np.lexsort((begins, who))  # each user's sessions in order: a job may come again in the next one
        who, begins = who[order], begins[order]
        size = people.sizes(who, stream(seed, f"{name}.size"))
        session = np.repeat(np.arange(count), size)
        first = np.zeros(len(session), np.bool_)
        first[np.cumsum(size) - size] = True
        who = who[session]
        row, changes = self._choose_requests(who, first, people, cores, seed, name)
        submit = begins[session] + self._gaps(first, changes, seed, name)
        run_id = np.cumsum(changes) - 1
        outcome = self._outcomes(row, run_id, people.likeness[who], seed, name)
        table = self.requests
        request = table.requested[row]
        run = np.maximum(np.rint(np.where(request > 0, request * outcome, outcome)), 1)
        columns = {
            "submit": np.rint(submit).astype(np.int64) * SECOND,
            "cores": table.cores[row],
            "run_time": run.astype(np.int64) * SECOND,
            "requested_time": np.where(request > 0, request, MISSING / SECOND) * SECOND,
            "queue": table.queue[row],
            "memory": table.memory[row],
            "gpus": table.gpus[row],
        }
        columns["requested_time"] = np.rint(columns["requested_time"]).astype(np.int64)
        columns |= people.names(who, session, stream(seed, f"{name}.name"))
        inside = submit < span
        order = np.flatnonzero(inside)[np.argsort(columns["submit"][inside], kind="stable")]
        labels = {"queue": list(self.file.queues)} | people.labels()
        return Sample({key: values[order] for key, values in columns.items()}, labels)

    def _spread_sessions(self, count: int, seed: int, name: str) -> np.ndarray:
        """Where sessions begin, in [0, 1) of the clock: gaps as the log has them, in random order."""
        gaps = self.file.rhythm.gaps
        random = stream(seed, f"{name}.session")
        places = gap_quantiles() if len(gaps) == len(gap_quantiles()) else np.linspace(0, 1, len(gaps))
        drawn = np.interp(stratified(random, count + 1), places, gaps)
        total = np.cumsum(drawn)
        return np.asarray(total[:-1] / total[-1]) if total[-1] > 0 else random.random(count)

    def _uneven_clock(self, span: float, seed: int, name: str) -> np.ndarray:
        """The week's rhythm, each day made busier or quieter by chance as the log's days were."""
        days = int(-(-span // 86_400)) or 1
        spread = self.file.rhythm.day_spread
        hours = self.clock(days)
        if not spread:
            return hours
        shape = 1 / spread**2
        return np.asarray(hours * np.repeat(stream(seed, f"{name}.day").gamma(shape, 1 / shape, days), 24))

    def _gaps(self, first: np.ndarray, changes: np.ndarray, seed: int, name: str) -> np.ndarray:
        """Seconds since the start of each job's session."""
        gap = np.zeros(len(first))
        for kind, rows in (("same", ~first & ~changes), ("other", ~first & changes)):
            variable = self.file.gaps.get(kind) or self.file.gaps.get("same") or self.file.gaps.get("other")
            count = int(np.count_nonzero(rows))
            if variable and count:
                draws = stratified(stream(seed, f"{name}.gap.{kind}"), count)
                gap[rows] = Histogram.from_pairs(variable.width, variable.bins).draw(draws, "low")
        total = np.cumsum(gap)
        return np.asarray(total - np.repeat(total[first], np.diff(np.flatnonzero(first), append=len(first))))

    def _choose_requests(
        self, who: np.ndarray, first: np.ndarray, people: _People, cores: int, seed: int, name: str
    ) -> tuple[np.ndarray, np.ndarray]:
        """A row of the table for each job, and whether it is a new choice.

        A job is repeated as often as the log repeats its request, at the start of a session as its user returns to it.
        New choices are made the less often, the more a request is repeated: so its share of the jobs stays.
        """
        random = stream(seed, f"{name}.request")
        drawn = np.empty(len(who), np.int64)
        bounds = np.flatnonzero(np.diff(who, prepend=-1))  # jobs are sorted by user
        for begin, end in zip(bounds, [*bounds[1:], len(who)], strict=True):
            member = int(who[begin])
            stays = self.requests.repeat * (1 - people.fresh[member]) + people.returns[member] * people.fresh[member]
            shares = self._weights(member)
            weights = shares * (1 - np.minimum(stays, _LONGEST_RUN))
            choices = max(1, round((end - begin) * weights.sum() / shares.sum()))  # that will be made, about
            blocks = [stratified(random, choices) for _ in range(0, end - begin, choices)]
            drawn[begin:end] = self._own_rows(weights, cores, np.concatenate(blocks)[: end - begin])
        again = stream(seed, f"{name}.repeat").random(len(who))
        again[bounds] = np.inf  # no user repeats another user's job
        limit = np.where(first, people.returns[who], -1.0)
        return _repeat_rows(drawn, again, limit, np.minimum(self.requests.repeat, _LONGEST_RUN))

    def _own_rows(self, weights: np.ndarray, cores: int, uniform: np.ndarray) -> np.ndarray:
        """Rows by their weights; requests larger than the machine are left out."""
        fitting = np.where(self.requests.cores <= cores, weights, 0.0)
        if not fitting.any():
            fitting = np.where(self.requests.cores <= cores, self._weights(-1), 0.0)
        if not fitting.any():
            raise InputError("every job of the model is larger than the machine; cores", value=cores)
        cumulated = np.cumsum(fitting)
        index = np.searchsorted(cumulated, uniform * cumulated[-1], side="right")
        return np.asarray(np.minimum(index, np.flatnonzero(fitting)[-1]))

    def _weights(self, person: int) -> np.ndarray:
        """How often each row of the table is one user's choice; -1, and a user with no table: the pool's."""
        pool = np.zeros(len(self.requests.cores))
        counts = np.array(self.file.pool.jobs, np.float64)
        pool[self.pool_start :] = counts / max(counts.sum(), 1)
        if not len(counts):
            pool[:] = 1.0
        if not 0 <= person < len(self.file.users):
            return pool
        user = self.file.users[person]
        start = sum(len(other.templates) for other in self.file.users[:person])
        own = np.zeros_like(pool)
        own[start : start + len(user.templates)] = [template.jobs for template in user.templates]
        return np.asarray(own + pool * max(user.jobs - own.sum(), 0)) if len(counts) else own

    def _outcomes(self, row: np.ndarray, run_id: np.ndarray, likeness: np.ndarray, seed: int, name: str) -> np.ndarray:
        """Run time / requested time, or run time: alike within a run of repeated jobs, by a shared normal factor."""
        shared = stream(seed, f"{name}.shared").standard_normal(int(run_id[-1]) + 1)[run_id]
        own = stream(seed, f"{name}.outcome").standard_normal(len(row))
        score = np.sqrt(likeness) * shared + np.sqrt(1 - likeness) * own
        uniform = self._even_out(score, self.requests.group[row], stream(seed, f"{name}.even"))
        position = np.clip(uniform, 0, 1 - 1e-12) * (_POINTS - 1)
        low = position.astype(np.int64)
        part = position - low
        table = self.requests.outcome
        return np.asarray(table[row, low] * (1 - part) + table[row, low + 1] * part)

    @staticmethod
    def _even_out(score: np.ndarray, group: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Uniform numbers in the order of the scores, spread evenly over each group: totals with little noise."""
        order = np.lexsort((score, group))
        starts = np.flatnonzero(np.diff(group[order], prepend=-1))
        size = np.diff(starts, append=len(order))
        rank = np.arange(len(order)) - np.repeat(starts, size)
        uniform = np.empty(len(order))
        uniform[order] = (rank + random.random(len(order))) / np.repeat(size, size)
        return uniform


class _People:
    """The users who submit: the busy ones one by one, then the others as one."""

    def __init__(self, file: ModelFile) -> None:
        self.file = file
        members: list[User | Others] = [*file.users, *([file.others] if file.others.users else [])]
        self.members = members
        self.returns = np.array([getattr(member, "returns", 0.0) for member in members])
        self.likeness = np.array([member.likeness for member in members])
        tables = [np.array(member.sizes, np.float64) for member in members]
        self.tables = tables
        sessions = np.array([table[:, 1].sum() for table in tables])
        jobs = np.array([(table[:, 0] * table[:, 1]).sum() for table in tables])
        self.fresh = sessions / jobs  # the share of jobs that begin a session
        self.cumulated = np.cumsum(sessions) / sessions.sum()
        self.mean_size = float(jobs.sum() / sessions.sum())

    def choose(self, uniform: np.ndarray) -> np.ndarray:
        """A member for each session."""
        return np.minimum(np.searchsorted(self.cumulated, uniform, side="right"), len(self.members) - 1)

    def sizes(self, who: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Jobs in each session, from its member's own."""
        size = np.ones(len(who), np.int64)
        for index, table in enumerate(self.tables):
            mine = np.flatnonzero(who == index)
            cumulated = np.cumsum(table[:, 1])
            draws = stratified(random, len(mine)) * cumulated[-1]
            size[mine] = table[np.minimum(np.searchsorted(cumulated, draws, side="right"), len(table) - 1), 0]
        return size

    def names(self, who: np.ndarray, session: np.ndarray, random: np.random.Generator) -> dict[str, np.ndarray]:
        """Codes of users and groups; the sessions of the others are shared out by their activity."""
        busy, others = len(self.file.users), self.file.others
        groups = np.array([_code(user.group) for user in self.file.users] + [_code(group) for group in others.groups])
        if not others.users:
            return {"user": who.astype(np.int32), "group": groups[who].astype(np.int32)}
        activity = np.cumsum(others.users, dtype=np.float64)
        draws = random.random(int(session[-1]) + 1) * activity[-1]
        someone = busy + np.minimum(np.searchsorted(activity, draws, side="right"), len(activity) - 1)
        user = np.where(who < busy, who, someone[session])
        return {"user": user.astype(np.int32), "group": groups[user].astype(np.int32)}

    def labels(self) -> dict[str, list[str]]:
        people = len(self.file.users) + len(self.file.others.users)
        return {
            "user": [f"user{i + 1}" for i in range(people)],
            "group": [f"group{i + 1}" for i in range(self.file.groups)],
        }


def _repeat_rows(
    drawn: np.ndarray, again: np.ndarray, limit: np.ndarray, repeat: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Each job's row: the last one again where `again` is below its limit (its row's own, where that is negative).

    New rows are taken from `drawn` one after another, beginning at the user's first place, where `again` is infinite.
    """
    rows, changes = [], []
    stays, new = repeat.tolist(), drawn.tolist()
    current = following = 0
    for index, (draw, bound) in enumerate(zip(again.tolist(), limit.tolist(), strict=True)):
        change = draw >= (bound if bound >= 0 else stays[current])
        if change:
            following = index if draw == np.inf else following
            current = new[following]
            following += 1
        rows.append(current)
        changes.append(change)
    return np.array(rows, np.int64), np.array(changes, np.bool_)


def _code(group: int | None) -> int:
    return MISSING if group is None else group


def _table(file: ModelFile) -> tuple[_Requests, int]:
    """All templates and the pool as one table, and where the pool begins."""
    templates = [template for user in file.users for template in user.templates]
    pool, size = file.pool, len(file.pool.jobs)
    columns = {
        "repeat": [template.repeat for template in templates] + (pool.repeat or [0.0] * size),
        "cores": [template.cores for template in templates] + pool.cores,
        "requested": [template.requested_time or MISSING for template in templates]
        + [value or MISSING for value in pool.requested_time],
        "queue": [_code(template.queue) for template in templates] + [_code(value) for value in pool.queue],
        "memory": [template.memory or MISSING for template in templates] + [value or MISSING for value in pool.memory],
        "gpus": [template.gpus for template in templates] + pool.gpus,
    }
    outcome = np.empty((len(templates) + size, _POINTS))
    for index, template in enumerate(templates):
        outcome[index] = _resample(template.outcome)
    classes = _classes(file)
    if size:
        outcome[len(templates) :] = np.array([_resample(each.quantiles) for each in file.outcomes])[classes]
    requests = _Requests(
        cores=np.array(columns["cores"], np.int64),
        repeat=np.array(columns["repeat"], np.float64),
        requested=np.array(columns["requested"], np.float64),
        queue=np.array(columns["queue"], np.int32),
        memory=np.array(columns["memory"], np.int64),
        gpus=np.array(columns["gpus"], np.int64),
        outcome=outcome,
        group=np.append(np.arange(len(templates)), len(templates) + classes).astype(np.int64),
    )
    return requests, len(templates)


def _classes(file: ModelFile) -> np.ndarray:
    """The place of each line's class in `outcomes`: that with the tightest bounds that hold it."""
    bounds = [
        (index, each.requested_time is None, each.requested_time or 0.0, each.cores)
        for index, each in enumerate(file.outcomes)
    ]
    bounds.sort(key=lambda bound: bound[1:])
    found = np.zeros(len(file.pool.jobs), np.int64)
    for row, (request, cores) in enumerate(zip(file.pool.requested_time, file.pool.cores, strict=True)):
        known = [bound for bound in bounds if bound[1] == (request is None)] or bounds
        fitting = [bound for bound in known if bound[2] >= (request or 0.0) and bound[3] >= cores] or known
        found[row] = fitting[0][0]
    return found


def _resample(quantiles: list[float]) -> np.ndarray:
    return np.interp(np.linspace(0, 1, _POINTS), np.linspace(0, 1, len(quantiles)), quantiles)
