"""An order that a person writes as a formula."""

from __future__ import annotations

from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.kernel.jobs import JobTable
from walltime.policies.order.expression import Expression
from walltime.policy.api import Order
from walltime.policy.functions import Waiting, float_keys

NAMES = (
    "wait",
    "now",
    "submit",
    "eligible",
    "requested_time",
    "estimate",
    "cores",
    "nodes",
    "priority",
    "deadline",
)
CHANGING = {"wait", "now"}


class Formula(Order):
    """By the value of a formula, such as `wait / requested_time * cores`, the highest or the lowest first.

    Names: wait, now, submit, eligible, requested_time, estimate, deadline (seconds), cores, nodes, priority. Signs:
    + - * / % ** and brackets; functions: sqrt, log, log2, log10, exp, abs, min, max. Evaluated at each pass if it
    mentions wait or now, else once. A job without a deadline has an infinite one, one without a number of nodes has
    nan there; a job whose value is nan (such as 0 / 0) is last.
    """

    def __init__(self, value: str, first: str = "highest") -> None:
        super().__init__()
        if first not in ("highest", "lowest"):
            raise InputError("which value is first", value=first, choices=("highest", "lowest"))
        self.expression = Expression(value, NAMES)
        self.highest = first == "highest"
        self.dynamic = bool(self.expression.names & CHANGING)

    def key(self, jobs: JobTable, slot: int) -> int:
        return int(self._score(Waiting(jobs, np.array([slot]), 0))[0])

    def keys(self, jobs: JobTable, slots: Any, now: int, keys: Any) -> int:
        np.asarray(keys)[:] = self._score(Waiting(jobs, slots, now))
        return 0

    def _score(self, waiting: Waiting) -> Any:
        values = {
            name: np.float64(waiting.now) if name == "now" else np.asarray(getattr(waiting, name), np.float64)
            for name in self.expression.names
        }
        with np.errstate(all="ignore"):
            found = self.expression.evaluate(values)
        found = np.broadcast_to(found, (len(waiting),))
        return float_keys(-found if self.highest else found)
