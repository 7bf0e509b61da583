"""Did users who react submit when they should have?

The rule `users`: a batch is submitted when what it waits for has happened and the think time has passed, at the next
hour at which its user works; the jobs of a batch keep their distance. What waits for what is inferred from the workload
once more; whether it was obeyed is read from the tables. Where users have reactions besides, see `reactions.py`.
"""

from __future__ import annotations

import numpy as np

from walltime.analysis.audit.reactions import find_working, follow_reactions
from walltime.analysis.audit.tables import Tables, Violation, report
from walltime.analysis.intervals import ABSENT
from walltime.core.time import NEVER, SECOND
from walltime.core.workload import Workload
from walltime.rules.users import plan_users
from walltime.scenario import Scenario
from walltime.workload.users.plan import After, Presence, UserPlan
from walltime.workload.users.submitted import as_submitted


def follow_users(
    tables: Tables, scenario: Scenario, workload: Workload, at: np.ndarray
) -> tuple[list[Violation], Workload]:
    """What is wrong with the submissions, and the workload as the users have submitted it, in order of entry.

    `at` is each job's row in the workload. Jobs that were never submitted come last, after the simulation.
    """
    if scenario.users is not None and scenario.users.reactions:
        return follow_reactions(tables, scenario, workload)
    if scenario.users is None or np.any(at < 0):
        return [], workload
    plan = plan_users(scenario, workload)
    came = np.full(len(workload), ABSENT)
    came[at] = tables.time["submit"]
    made = _as_submitted(tables, workload, at, came)
    return [] if plan is None else _find_moved(tables, plan, workload, at, came), made


def _find_moved(
    tables: Tables, plan: UserPlan, workload: Workload, at: np.ndarray, came: np.ndarray
) -> list[Violation]:
    """Jobs that were submitted at another time than their user's plan says; Alea's sessions are not looked at."""
    left = np.full(len(workload), NEVER)
    ends = np.where(tables.is_state("rejected"), tables.time["submit"], tables.time["end"])
    left[at] = np.where(ends == ABSENT, NEVER, ends)
    expected = np.repeat(find_working(plan, _find_ready(plan, came, left)), np.diff(plan.first)) + plan.offset
    begun = np.repeat(came[plan.rows[plan.first[:-1]]], np.diff(plan.first))
    told, number = came[plan.rows], workload.column("job_id")[plan.rows]
    slack = tables.slack + SECOND if tables.slack else 0
    found: list[Violation] = []
    there = told != ABSENT
    early = there & (told + slack < np.minimum(expected, NEVER))
    report(found, "users", early, number, told, "is submitted before what its user waits for")
    if tables.slack or plan.presence == Presence.SESSIONS:
        return found
    report(found, "users", there & (told > expected), number, told, "is submitted too late by its user")
    missing = ~there & (expected < tables.horizon)
    report(found, "users", missing, number, told, "was not submitted when its user was ready")
    torn = there & (told - begun != plan.offset)
    report(found, "users", torn, number, told, "does not keep its distance from the first job of its batch")
    return found


def _find_ready(plan: UserPlan, came: np.ndarray, left: np.ndarray) -> np.ndarray:
    """When each batch was ready, NEVER where it was not."""
    arrived = came[plan.rows[plan.first[:-1]]]
    arrived = np.where(arrived == ABSENT, NEVER, arrived)
    completed = np.maximum.reduceat(left[plan.rows], plan.first[:-1]) if len(arrived) else arrived
    source = np.repeat(np.arange(len(arrived)), np.diff(plan.heard))
    met = np.where(plan.what == After.COMPLETION, completed[source], arrived[source])
    ready = plan.ready.copy()
    np.maximum.at(ready, plan.listeners, np.where(met >= NEVER, NEVER, met + plan.delay))
    return ready


def _as_submitted(tables: Tables, workload: Workload, at: np.ndarray, came: np.ndarray) -> Workload:
    left = np.flatnonzero(came == ABSENT)
    after = max(tables.horizon, int(np.max(came, initial=0))) + 1
    entered = at[np.argsort(came[at], kind="stable")]  # the table is in order of entry, unless it is damaged
    rows = np.append(entered, left)
    return as_submitted(workload, rows, np.append(came[entered], np.full(len(left), after)))
