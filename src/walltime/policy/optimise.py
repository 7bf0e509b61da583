"""What improves a plan: objectives, operators that change it, and optimisers that try them.

Built-in ones are compiled. An objective of one's own is a function of the plan; an operator extends `Operator`.
"""

from __future__ import annotations

import math

import cython
import numpy as np

from walltime.core.errors import InputError, PolicyError
from walltime.core.random import stream
from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND, microseconds
from walltime.kernel.arrays import doubled, doubles, integers
from walltime.kernel.drafts.draft import Draft
from walltime.kernel.jobs import JobTable
from walltime.policy.api import Order

HOUR = cython.declare(cython.double, 3600.0)
MICRO = cython.declare(cython.double, 1e-6)
EVENTS = ("arrivals", "ends")

if not cython.compiled:
    from walltime.core.random import advance, as_uniform, mix


@cython.final
@cython.cclass
class RandomNumbers:
    """Random numbers that are the same for the same seed and name, whatever else is drawn; SplitMix64."""

    def __init__(self, seed=0, name="") -> None:
        self.state = int(stream(seed, "plan", name).integers(0, 1 << 62))

    def draw(self):
        self.state = advance(self.state)
        return mix(self.state)

    def below(self, count):
        """A whole number from 0 up to, and without, `count`."""
        if count <= 0:
            raise PolicyError(f"a random number below {count}")
        return cython.cast(cython.Py_ssize_t, (self.draw() >> 11) % cython.cast(cython.ulonglong, count))

    def uniform(self):
        """A number from 0 up to, and without, 1."""
        return as_uniform(self.draw())


def tolerated_wait(cores, estimate):
    """The wait in seconds that a user tolerates for such a job: (ln cores + 1) times its length, of which less and
    less counts from 3 h on."""
    length: cython.double = estimate * MICRO
    if length >= 168 * HOUR:
        length = max(42 * HOUR, length / 5)
    elif length >= 24 * HOUR:
        length = max(8 * HOUR, length / 4)
    elif length >= 7 * HOUR:
        length = max(3.5 * HOUR, length / 3)
    elif length >= 3 * HOUR:
        length = max(3 * HOUR, length / 2)
    return (math.log(cores) + 1) * length


@cython.final
@cython.cclass
class UserTotals(Order):
    """What has become of each user's jobs that have started so far: wait, processor time, and tolerated wait.

    It is told of starts and ends as an order is that charges for use: a job counts with its estimate while it runs, and
    with what it has used from its end on.
    """

    def __init__(self) -> None:
        Order.__init__(self)
        self.charges = True
        self.size = 0
        self.charged = {}
        self.waited = integers(16)
        self.used = doubles(16)
        self.tolerated = doubles(16)

    def know(self, user):
        """Have room for the user of this code; -1 is the one without a name."""
        while user + 1 >= len(self.waited):
            self.waited = doubled(self.waited)
            self.used = doubled(self.used)
            self.tolerated = doubled(self.tolerated)
        self.size = max(self.size, user + 2)
        return 0

    def started(self, jobs: JobTable, slot, now, cores):
        user: cython.Py_ssize_t = jobs.at[slot].user
        estimate: cython.longlong = max(jobs.at[slot].estimate, 1)
        self.know(user)
        self.used[user + 1] += cython.cast(cython.double, jobs.at[slot].cores) * estimate
        self.charged[slot] = (estimate, now)
        if jobs.at[slot].first_start == now:  # not where it goes on
            self.waited[user + 1] += now - jobs.at[slot].eligible
            self.tolerated[user + 1] += tolerated_wait(jobs.at[slot].cores, estimate)
        return 0

    def stopped(self, jobs: JobTable, slot, now):
        """What it was charged becomes what it has used."""
        estimate: cython.longlong
        since: cython.longlong
        if slot in self.charged:
            estimate, since = self.charged.pop(slot)
            self.used[jobs.at[slot].user + 1] += cython.cast(cython.double, jobs.at[slot].cores) * (
                now - since - estimate
            )
        return 0


@cython.cclass
class Objective:
    """A number that a plan is judged by, the lower the better, by estimates alone.

    `begin` looks at all jobs, `moved` at one that has another start; `save` and `back` go back to the value that was
    saved, after every job has been moved back.
    """

    def __init__(self) -> None:
        self.floor = 1e-13  # the least that a relative change is measured against
        self.people = None

    def know(self, people: UserTotals) -> None:
        """What was before the plan."""
        self.people = people

    def begin(self, draft: Draft):
        raise NotImplementedError(f"{type(self).__name__}: an objective of one's own is a function of the plan")

    def moved(self, draft: Draft, i, before, after):
        raise NotImplementedError(f"{type(self).__name__}.moved")

    def value(self, draft: Draft):
        raise NotImplementedError(f"{type(self).__name__}.value")

    def save(self):
        raise NotImplementedError(f"{type(self).__name__}.save")

    def back(self):
        raise NotImplementedError(f"{type(self).__name__}.back")

    def measure(self, draft: Draft) -> float:
        """The value of the plan as it stands, from all of its jobs."""
        self.begin(draft)
        return self.value(draft)


class PlannedJobs:
    """A plan as an objective in Python sees it: arrays of equal length, one entry a job, in the order of the queue.

    Times are in seconds; a job without a deadline has an infinite one, one without a user the code -1. `now` is the
    time, `capacity` the cores of the machine.
    """

    def __init__(self, draft: Draft) -> None:
        slots = np.array(draft.slot[: draft.size])
        jobs = draft.jobs
        self.now = draft.now / SECOND
        self.capacity = draft.capacity
        self.job_id = np.array(jobs.job_id)[slots]
        self.submit = np.array(jobs.submit)[slots] / SECOND
        self.eligible = np.array(jobs.eligible)[slots] / SECOND
        self.estimate = np.array(jobs.estimate)[slots] / SECOND
        self.cores = np.array(jobs.cores)[slots]
        self.user = np.array(jobs.user)[slots]
        deadline = np.array(jobs.deadline)[slots]
        self.deadline = np.where(deadline < 0, np.inf, deadline / SECOND)
        self.start = draft.starts() / SECOND

    def __len__(self) -> int:
        return len(self.job_id)

    @property
    def end(self) -> np.ndarray:
        return self.start + self.estimate

    @property
    def wait(self) -> np.ndarray:
        return self.start - self.eligible


@cython.final
@cython.cclass
class FunctionObjective(Objective):
    """A plain function of the plan as an objective: asked about all of it each time."""

    def __init__(self, function) -> None:
        Objective.__init__(self)
        self.function = function
        self.planned = None

    def begin(self, draft: Draft):
        self.planned = PlannedJobs(draft)
        return 0

    def moved(self, draft: Draft, i, before, after):
        return 0

    def value(self, draft: Draft):
        self.planned.start = draft.starts() / SECOND
        name = getattr(self.function, "__qualname__", "it")
        try:
            told = float(self.function(self.planned))
        except Exception as error:
            raise PolicyError(f"the objective {name} failed: {type(error).__name__}: {error}") from error
        if told != told:
            raise PolicyError(f"the objective {name} told what is not a number (nan)")
        return told

    def save(self):
        return 0

    def back(self):
        return 0


@cython.cclass
class Operator:
    """One way to change a plan."""

    def apply(self, draft: Draft, random: RandomNumbers, job):
        """Change the draft: take jobs out and put them in again. `job` is where to begin, one that was drawn."""
        raise NotImplementedError(f"{type(self).__name__}.apply")


@cython.cclass
class Optimiser:
    """Improves a plan when it is time: every so many seconds, and on `arrivals` or (early) `ends`.

    The jobs that are planned to start within `reach` seconds are its business, and of these the first that ask for
    `most` times the cores of the machine together; None for all of them.
    """

    def __init__(self, every=300, on=("ends",), reach=172800, most=2.0) -> None:
        events = [on] if isinstance(on, str) else on
        if not isinstance(events, list | tuple):
            raise InputError("on takes a list of events", value=on, choices=EVENTS)
        for event in events:
            if event not in EVENTS:
                raise InputError("on takes events at which the plan is improved", value=event, choices=EVENTS)
        self.on_arrivals = "arrivals" in events
        self.on_ends = "ends" in events
        self.every = _NEVER if every is None else microseconds(_positive("every", every))
        self.reach = _NEVER if reach is None else microseconds(_positive("reach", reach))
        self.most = math.inf if most is None else _positive("most", most)
        if every is None and not events:
            raise InputError("every: null, and on: []; the plan would never be improved")
        self.random = RandomNumbers()

    def improve(self, draft: Draft, people: UserTotals):
        """Change the draft to a better one; `people` is what has become of the jobs that have started."""
        raise NotImplementedError(f"{type(self).__name__}.improve")


def _positive(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e12:
        raise InputError(f"{name} takes a number above 0, or null", value=value)
    return value
