"""The queue and the ledger of a pass as a policy in Python sees them: questions are checked, nothing can be changed.

Compiled policies use the queue and the ledger themselves. What only the engine may do is in functions of this module.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import cython
import numpy as np

from walltime.core.errors import PolicyError
from walltime.kernel.jobs import JobTable, State  # noqa: F401 - as in views.pxd
from walltime.kernel.ledger.interface import Ledger  # noqa: F401 - as in views.pxd
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.kernel.quotas import Quotas  # noqa: F401 - as in views.pxd
from walltime.policy.api import Pass, require_open

if not cython.compiled:
    WAITING = State.WAITING

UNLIMITED = 1 << 60  # an amount that is not counted, as in cluster.nodes


class Request(NamedTuple):
    """What a job asks of nodes: `each` of the resources on every one of so many `nodes`, which have to be `allowed`.

    With 0 nodes it wants `cores` anywhere, and `each` is what goes with one of them.
    """

    nodes: int
    cores: int
    each: Any
    allowed: Any


def make_request(ledger, slot) -> Request:
    """The request of a job, by the ledger of its nodes."""
    nodes, each = ledger.wants(slot)
    return Request(nodes, int(ledger.jobs.cores[slot]), np.array(each, np.float64), ledger.mask_of(slot))


def vectors(amounts):
    """Amounts with infinity for what is not counted."""
    return np.where(amounts >= UNLIMITED // 2, np.inf, amounts)


@cython.final
@cython.cclass
class QueueView:
    """The waiting jobs of one pass, in order."""

    def __init__(self, p: Pass) -> None:
        self.p = _check(p)

    def __len__(self) -> int:
        return require_open(self.p).raw_queue.size

    @property
    def size(self) -> int:
        """How many jobs wait."""
        return require_open(self.p).raw_queue.size

    def head(self):
        """The first waiting job, or -1."""
        return require_open(self.p).head()

    def next(self, slot):
        """The waiting job behind this one, or -1."""
        return require_open(self.p).next(slot)

    def slots(self) -> list:
        """All of them."""
        return require_open(self.p).waiting()


@cython.final
@cython.cclass
class LedgerView:
    """The resources of a cluster in one pass, in cores; times are microseconds."""

    def __init__(self, p: Pass) -> None:
        self.p = _check(p)

    def look(self):
        return require_open(self.p).raw_ledger

    @property
    def now(self) -> int:
        """The time of the pass."""
        return self.look().now

    @property
    def size(self) -> int:
        """Cores that there are."""
        return self.look().size

    @property
    def capacity(self) -> int:
        """Cores that work at present."""
        return self.look().capacity

    @property
    def free(self) -> int:
        """Cores free now."""
        return self.look().free

    @property
    def window(self) -> int:
        """For how long all free cores may be used without touching a reservation."""
        return self.look().window

    @property
    def extra(self) -> int:
        """Cores that may be used for longer than that."""
        return self.look().extra

    @property
    def longest(self) -> int:
        """A longer job does not fit now, whatever it needs."""
        return self.look().longest

    @property
    def resources(self) -> tuple:
        """The names of what is counted on the nodes, cores first; of a plain number of cores that is all."""
        ledger = self.look()
        return ledger.resources if isinstance(ledger, ResourceLedger) else ("cores",)

    @property
    def nodes(self) -> int:
        """How many nodes there are; 0 where the cluster is a plain number of cores."""
        ledger = self.look()
        return ledger.n if isinstance(ledger, ResourceLedger) else 0

    def free_vectors(self) -> np.ndarray:
        """What is free now, a row for each node and a column for each of the `resources`; infinite where it is not
        counted. What is kept for others there is not taken off: `Pass.fits_on` says whether a job may have it."""
        return vectors(self.require_nodes().timelines.left_now())

    def node_vectors(self) -> np.ndarray:
        """What each node has, in the same rows and columns."""
        return vectors(self.require_nodes().timelines.amounts())

    def request(self, slot) -> Request:
        """What the waiting job asks for."""
        require_open(self.p).check(slot)
        ledger = self.require_nodes()
        return make_request(ledger, slot)

    def where(self, slot) -> list:
        """The nodes of a job that runs, or has just been started, each with its cores; none on a plain number."""
        require_open(self.p).look(slot)
        if self.p.jobs.at[slot].holding != 1 or self.p.jobs.at[slot].cluster != self.p.raw_ledger.index:
            raise PolicyError(f"asked where {slot} runs, which does not run here")
        return self.p.raw_ledger.where(slot)

    def require_nodes(self):
        ledger = self.look()
        if not isinstance(ledger, ResourceLedger):
            raise PolicyError("asked about nodes, but the cluster is a plain number of cores")
        return ledger

    def fits(self, slot):
        """Whether the waiting job could start now, the limits apart."""
        require_open(self.p).check(slot)
        return self.p.raw_ledger.fits(slot)

    def earliest(self, slot):
        """From when on it would fit; NEVER if never."""
        return require_open(self.p).earliest(slot)


def _check(p):
    if not isinstance(p, Pass):
        raise PolicyError("a view is of a pass")
    return p


def find_ledger(p):
    """The ledger itself, for the engine."""
    return _check(p) and p.raw_ledger


def find_quotas(p):
    """The limits themselves, for the engine; None where there are none."""
    return _check(p) and p.quotas


def judge(p, slot, now):
    """`Pass.verdict` on a waiting job, for the engine."""
    if p is None or not 0 <= slot < p.jobs.size:
        raise PolicyError(f"asked about {slot}, which is not a job")
    return p.verdict(slot, now)


def see_start(p, mine, slot):
    """What there is to say of a job that starts while another waits in this pass's queue, if it was behind that one in
    the order or came later: its number, cores, submission, estimate, and which of the two; else None. Both are jobs."""
    if p is None or not (0 <= mine < p.jobs.size and 0 <= slot < p.jobs.size):
        raise PolicyError(f"asked about {mine} and {slot}, which are not jobs")
    since: cython.longlong = p.jobs.at[mine].submit
    submit: cython.longlong = p.jobs.at[slot].submit
    behind: cython.bint = p.raw_queue.precedes(mine, slot)
    later: cython.bint = submit > since or (submit == since and p.jobs.at[slot].seq > p.jobs.at[mine].seq)
    if not behind and not later:
        return None
    return p.jobs.at[slot].job_id, p.jobs.at[slot].cores, submit, p.jobs.at[slot].estimate, behind, later


def first_promised(jobs, besides):
    """Of the waiting jobs with a promise the first to start but for one, for the engine: (start, slot), or None."""
    i: cython.Py_ssize_t
    found: cython.Py_ssize_t = -1
    for i in range(jobs.size if jobs is not None else 0):
        if jobs.at[i].state != WAITING or jobs.at[i].promise < 0 or i == besides:
            continue
        if found < 0 or jobs.at[i].promise < jobs.at[found].promise:
            found = i
    return None if found < 0 else (jobs.at[found].promise, found)
