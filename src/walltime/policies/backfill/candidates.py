"""In which order jobs that may overtake are tried, where that is not the order of the queue."""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.errors import InputError
from walltime.policy.api import Order, Pass
from walltime.policy.functions import CheckedOrder
from walltime.policy.registry import build
from walltime.scenario import Part


def find_order(wanted):
    """The order that a parameter `candidates` names, by a name, a mapping, or an order itself; None for None."""
    if wanted is None or isinstance(wanted, CheckedOrder):
        return wanted
    try:
        part = Part.model_validate(wanted)
    except ValueError:
        raise InputError("candidates takes the name of an order, or a mapping with its name", value=wanted) from None
    order = build("order", part, "candidates")
    if order.periodic:
        raise InputError("candidates takes no order that is renewed every so often: it is for the queue", value=wanted)
    if order.charges:
        raise InputError("candidates takes no order that looks at what users have: it is for the queue", value=wanted)
    return order


@cython.cclass
class Candidates:
    """Jobs that could start now, tried by an order of their own; ties by order of entry."""

    def __init__(self, order: Order) -> None:
        self.order = order

    def start_waiting(self, p: Pass):
        """Try all jobs that fit now. One that does not fit now will not after others have started either."""
        slot: cython.Py_ssize_t = p.candidate(-1)
        fitting: list = []
        while slot >= 0:
            fitting.append(slot)
            slot = p.candidate(slot)
        return self.start(p, fitting)

    def start_fresh(self, p: Pass):
        """Try the jobs that joined at the end of the queue since the last pass."""
        i: cython.Py_ssize_t = 0
        slot: cython.Py_ssize_t = p.raw_queue.fresh(0)
        fitting: list = []
        while slot > -2:
            if slot >= 0 and p.fits(slot):
                fitting.append(slot)
            i += 1
            slot = p.raw_queue.fresh(i)
        return self.start(p, fitting)

    def start(self, p: Pass, fitting):
        """Start those of them that still fit when it is their turn."""
        slot: cython.Py_ssize_t
        for slot in self.rank(p, fitting):
            if p.fits(slot):
                p.start(slot)
        return 0

    def rank(self, p: Pass, fitting):
        """The same jobs in the candidates' order."""
        i: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        keys: cython.longlong[::1]
        ranked: list = []
        if not fitting:  # most passes end here
            return fitting
        slots = np.array(fitting, np.int64)
        keys = np.empty(len(slots), np.int64)
        if self.order.dynamic:
            self.order.keys(p.jobs, slots, p.now, keys)
        else:
            for i in range(len(keys)):
                keys[i] = self.order.key(p.jobs, fitting[i])
        for i in range(len(keys)):
            slot = fitting[i]
            ranked.append((keys[i], p.jobs.at[slot].seq, slot))
        ranked.sort()
        return [entry[2] for entry in ranked]
