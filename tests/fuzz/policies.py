"""Cases of policies in Python: a pass that calls everything it can, with whatever arguments."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import walltime
from walltime import Policy, Workload
from walltime.core.errors import PolicyError

ARGUMENTS: list[Any] = [
    *(-1, 0, 1, 2, 5, 10**8, -(10**8), 2**31, 2**63 - 1, -(2**63), 2**63, 2**70, 1.5, float("nan"), float("inf")),
    *(None, True, "x", b"x", [], {}, [0], [10**9], (), object()),
]


class Wild(Policy):
    """Starts some jobs properly, and does anything in between."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)

    def schedule(self, p: Any) -> None:
        for _ in range(self.dice.randrange(4)):
            self._call(p)
        slot = p.head()
        while slot >= 0 and p.fits(slot):
            p.start(slot)
            slot = p.head()
        if self.dice.random() < 0.5:
            self._call(p)

    def _call(self, p: Any) -> None:
        names = [name for name in dir(p) if not name.startswith("_")]
        name = self.dice.choice(names)
        arguments = [self._argument(p) for _ in range(self.dice.randrange(4))]
        try:
            found = getattr(p, name)
            if callable(found):
                found(*arguments)
        except (TypeError, ValueError, OverflowError, IndexError, AttributeError, RuntimeError, NotImplementedError):
            pass  # what a policy did wrong may be told in any way that it can catch

    def _argument(self, p: Any) -> Any:
        return p.head() if self.dice.random() < 0.3 else self.dice.choice(ARGUMENTS)


def run_wild(dice: random.Random, folder: Path) -> None:
    """A small run under a wild policy: it ends, or the policy is told what it did wrong."""
    size = dice.randrange(1, 9)
    jobs = Workload.from_columns(
        submit=sorted(dice.randrange(20) for _ in range(size)),
        run_time=[dice.randrange(1, 20) for _ in range(size)],
        requested_time=[dice.randrange(1, 30) for _ in range(size)],
        cores=[dice.randrange(1, 5) for _ in range(size)],
    )
    machine = {"cores": 4} if dice.random() < 0.5 else {"nodes": "2x2"}
    try:
        walltime.simulate(jobs, policy=Wild(dice.randrange(1 << 30)), **machine)
    except PolicyError:
        raise
    except (TypeError, ValueError) as error:
        raise PolicyError(str(error) or "refused") from error
