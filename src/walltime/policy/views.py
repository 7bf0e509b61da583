"""The queue and the ledger of a pass as a policy in Python sees them: questions are checked, nothing can be changed.

Compiled policies use the queue and the ledger themselves. What only the engine may do is in functions of this module.
"""

from __future__ import annotations

import cython

from walltime.core.errors import PolicyError
from walltime.kernel.ledger.cores import Ledger  # noqa: F401 - as in views.pxd
from walltime.kernel.quotas import Quotas  # noqa: F401 - as in views.pxd
from walltime.policy.api import Pass, require_open


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
