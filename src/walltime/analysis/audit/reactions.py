"""What users who react may do besides submitting when they are ready, and what they may not.

The rule `reaction`: a job comes when its user is ready, unless it is told that it was put off, and then later; one that
was dropped or merged into another is in no table; the parts of a job that was split are told. Jobs keep their work: on
other cores a job runs as long as Amdahl's law allows, merged jobs run one after the other, parts add up. Tasks of
arrays and jobs with dependencies are as in the log. Users, accounts and groups are the log's, which the rule `request`
looks at. Why users did something is theirs to know.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from walltime.analysis.audit.tables import REPORTED, Tables, Violation
from walltime.analysis.intervals import ABSENT
from walltime.core.time import NEVER, SECOND
from walltime.core.workload import Workload
from walltime.rules.reactions import find_fixed
from walltime.rules.users import plan_users
from walltime.scenario import Scenario
from walltime.workload.users.plan import After, Presence, UserPlan
from walltime.workload.users.submitted import as_asked, find_origins

HOUR = 3600 * SECOND
ROUNDING = 2
"""Microseconds that a time may be off for each part of it."""


def follow_reactions(tables: Tables, scenario: Scenario, workload: Workload) -> tuple[list[Violation], Workload]:
    """What users have done that they may not, and the workload as they have asked for it, in order of entry; jobs that
    were never submitted come last, after the simulation."""
    followed = _Followed(tables, workload)
    if np.any(followed.row < 0):
        return [], workload  # which is said elsewhere
    plan = plan_users(scenario, workload)
    made = followed.make_workload()
    found = list(followed.find_changed(made, find_fixed(workload, scenario.dependencies.preceding)))
    found += [] if plan is None else followed.find_moved(plan)
    return found[:REPORTED], made


class _Followed:
    """The jobs of a result beside the rows of the log that they come from."""

    def __init__(self, tables: Tables, workload: Workload) -> None:
        acts = tables.acts
        self.tables, self.workload, self.acts = tables, workload, acts
        self.number = workload.column("job_id").tolist()
        known = {number: row for row, number in enumerate(self.number)}
        origins = find_origins(tables.job_id, acts).tolist()
        self.row = np.array([known.get(number, -1) for number in origins], np.int64)
        self.put_off = {known[job] for job in acts.get("put_off", ()) if job in known}
        gone = ((job, time) for job, time in acts.get("abandoned", ()) if job in known)
        self.dropped: dict[int, int] = {known[job]: round(float(time) * SECOND) for job, time in gone}
        self.merged = {known[job]: [known[one] for one in others] for job, others in acts.get("merged", ())}
        self.split = {known[job]: (1 + len(parts), by) for job, parts, by in acts.get("split", ())}
        self.inside = {row: carrier for carrier, rows in self.merged.items() for row in rows}
        rejected = tables.is_state("rejected")
        self.ends = np.where(rejected, tables.time["submit"], tables.time["end"])
        self.done = tables.is_state("completed")
        self.of_row: dict[int, list[int]] = {}
        for index, row in enumerate(self.row.tolist()):
            self.of_row.setdefault(row, []).append(index)

    def make_workload(self) -> Workload:
        tables, size = self.tables, len(self.workload)
        left = np.setdiff1d(np.arange(size), self.row)
        after = max(tables.horizon, int(np.max(tables.time["submit"], initial=0))) + 1
        order = np.argsort(tables.time["submit"], kind="stable")
        rows = np.append(self.row[order], left)
        told: dict[str, Any] = {
            "job_id": np.append(tables.job_id[order], self.workload.column("job_id")[left]),
            "submit": np.append(tables.time["submit"][order], np.full(len(left), after)),
            "cores": np.append(tables.cores[order], self.workload.column("cores")[left]),
            "requested_time": np.append(
                tables.time["requested_time"][order], self.workload.column("requested_time")[left]
            ),
        }
        return as_asked(self.workload, rows, told, self.acts)

    # ---- what was asked for

    def find_changed(self, made: Workload, fixed: np.ndarray) -> Iterator[Violation]:
        """Jobs of which users have made what they may not."""
        for row in sorted({*self.dropped, *self.inside} & set(self.of_row)):
            yield self._blame(row, "was dropped or merged into another by its user, and is submitted all the same")
        run = dict(zip(made.column("job_id").tolist(), made.column("run_time").tolist(), strict=True))
        for row, places in self.of_row.items():
            if len(places) > self.split.get(row, (1, ""))[0]:
                yield self._blame(row, "is submitted more than once")
            elif fixed[row] and not self._is_as_recorded(row, places):
                yield self._blame(row, "has dependencies or is of an array, and is not as in the log")
            elif not self._keeps_work(row, places, run):
                yield self._blame(row, "does other work than in the log")

    def _is_as_recorded(self, row: int, places: list[int]) -> bool:
        place = places[0]
        same = self.tables.cores[place] == self.workload.column("cores")[row]
        asked = self.workload.column("requested_time")[row]
        return bool(same and self.tables.time["requested_time"][place] == asked and row not in self.merged)

    def _keeps_work(self, row: int, places: list[int], run: dict[int, int]) -> bool:
        """Whether the jobs that were made of a row, and those merged with it, do its work."""
        rows = [row, *self.merged.get(row, ())]
        count, by = self.split.get(row, (1, ""))
        times = [run[int(self.tables.job_id[place])] for place in places]
        work = self.workload.column("run_time")[rows]
        if np.any(work < 0) or len(places) < count:
            return True  # nothing is known of it, or not all of it was submitted
        before = int(self.workload.column("cores")[rows].max())
        cores = [int(self.tables.cores[place]) for place in places]
        after = sum(cores) if by == "cores" else max(cores)
        took = max(times) if by == "cores" else sum(times)
        whole, factor = int(work.sum()), before / max(after, 1)
        slack = ROUNDING * (len(rows) + count)
        return bool(whole * min(1.0, factor) - slack <= took <= whole * max(1.0, factor) + slack)

    def _blame(self, row: int, what: str) -> Violation:
        return Violation("reaction", int(self.number[row]), None, what)

    # ---- when it came

    def find_moved(self, plan: UserPlan) -> list[Violation]:
        """Jobs that came at another time than their users were ready."""
        due = self._find_due(plan)
        slack = self.tables.slack + SECOND if self.tables.slack else 0
        strict = not slack and plan.presence != Presence.SESSIONS
        excused = {*self.put_off, *self.inside, *self.dropped}
        found = []
        submit = self.tables.time["submit"]
        for row, time in enumerate(due):
            if row in self.of_row:
                came = int(min(submit[self.of_row[row]]))
                if came + slack < time:
                    found.append(
                        Violation("reaction", self.number[row], came / SECOND, "comes before its user is ready")
                    )
                elif strict and came > time and row not in self.put_off:
                    found.append(Violation("reaction", self.number[row], came / SECOND, "is late, and was not put off"))
            elif strict and time < self.tables.horizon and row not in excused:
                found.append(Violation("reaction", self.number[row], None, "was not submitted, nor dropped"))
        return found

    def _find_due(self, plan: UserPlan) -> list[int]:
        """When each row was due, NEVER where its batch was not ready."""
        first, heard = plan.first.tolist(), plan.heard.tolist()
        ready, offset, rows = plan.ready.tolist(), plan.offset.tolist(), plan.rows.tolist()
        due = [NEVER] * len(rows)
        submit = self.tables.time["submit"]
        for batch in range(len(plan.user)):  # what a batch waits for is before it
            begin = int(find_working(plan, np.array(ready[batch : batch + 1]), slice(batch, batch + 1))[0])
            for index in range(first[batch], first[batch + 1]):
                due[rows[index]] = min(begin + offset[index], NEVER)
            head = rows[first[batch]]
            if plan.presence == Presence.SESSIONS and head in self.of_row:
                begin = int(min(submit[self.of_row[head]]))  # in which session is not looked at
            done = max(self._find_end(row) for row in rows[first[batch] : first[batch + 1]])
            for index in range(heard[batch], heard[batch + 1]):
                met = done if plan.what[index] == After.COMPLETION else begin
                target = int(plan.listeners[index])
                ready[target] = max(ready[target], NEVER if met >= NEVER else met + int(plan.delay[index]))
        return due

    def _find_end(self, row: int) -> int:
        """When a row of the log was done with, NEVER where it was not."""
        if row in self.dropped:
            return self.dropped[row]
        if row in self.inside:
            return self._find_end(self.inside[row])
        places = self.of_row.get(row, [])
        ends = self.ends[places]
        count, by = self.split.get(row, (1, ""))
        given_up = by == "time" and bool(places) and not self.done[places].all()
        if np.any(ends == ABSENT) or (len(places) < count and not given_up):
            return NEVER
        return int(ends.max())


def find_working(plan: UserPlan, ready: np.ndarray, batches: slice | None = None) -> np.ndarray:
    """The next moment at which the user of each batch works, or of some batches."""
    if plan.presence != Presence.HOURS or not len(plan.skip):
        return ready
    user = plan.user if batches is None else plan.user[batches]
    hours = (np.minimum(ready, NEVER - HOUR) + plan.clock) // HOUR
    until = plan.skip.reshape(-1, 168)[user, hours % 168]
    later = np.where(until == 0, ready, (hours + until) * HOUR - plan.clock)
    return np.asarray(np.where((user < 0) | (ready >= NEVER), ready, later))
