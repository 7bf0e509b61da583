"""What a plan is judged by, the lower the better: by estimates alone, never by run times.

D. Klusacek and H. Rudova, "Performance and fairness for users in parallel job scheduling", JSSPP 2012 (fairness).
"""

from __future__ import annotations

import cython

from walltime.core.errors import InputError
from walltime.core.time import SECOND, microseconds
from walltime.kernel.arrays import doubles, integers
from walltime.kernel.drafts.draft import Draft
from walltime.policy.optimise import Objective, tolerated_wait

MICRO = cython.declare(cython.double, 1e-6)


@cython.cclass
class Sum(Objective):
    """A mean over the jobs of the plan; `weighted` by area, which is cores times estimate."""

    def __init__(self, weighted=False) -> None:
        Objective.__init__(self)
        if not isinstance(weighted, bool):
            raise InputError("weighted is true or false", value=weighted)
        self.weighted = weighted
        self.total = self.saved = self.weight = 0

    def begin(self, draft: Draft):
        i: cython.Py_ssize_t
        self.total = self.weight = 0
        for i in range(draft.size):
            self.weight += self.area(draft, i)
            self.total += self.area(draft, i) * self.term(draft, i, draft.start[i])
        return 0

    def area(self, draft: Draft, i):
        if not self.weighted:
            return 1.0
        return cython.cast(cython.double, draft.cores[i]) * (draft.length[i] * MICRO)

    def moved(self, draft: Draft, i, before, after):
        self.total += self.area(draft, i) * (self.term(draft, i, after) - self.term(draft, i, before))
        return 0

    def value(self, draft: Draft):
        return self.total / self.weight if self.weight > 0 else 0.0

    def save(self):
        self.saved = self.total
        return 0

    def back(self):
        self.total = self.saved
        return 0

    def term(self, draft: Draft, i, start):
        """What one job adds, started then."""
        return 0.0


@cython.cclass
class Wait(Sum):
    """Mean wait in seconds, from eligibility to the planned start."""

    def term(self, draft: Draft, i, start):
        return (start - draft.eligible[i]) * MICRO


@cython.cclass
class Response(Sum):
    """Mean response time in seconds: wait and estimate."""

    def term(self, draft: Draft, i, start):
        return (start + draft.length[i] - draft.eligible[i]) * MICRO


@cython.cclass
class BoundedSlowdown(Sum):
    """Mean bounded slowdown: response over estimate, the estimate at least `bound` seconds, and at least 1."""

    def __init__(self, weighted=False, bound=10) -> None:
        Sum.__init__(self, weighted)
        if isinstance(bound, bool) or not isinstance(bound, int | float) or not 0 < bound < 1e9:
            raise InputError("bound takes a number of seconds above 0", value=bound)
        self.bound = bound * SECOND
        self.floor = 1.0

    def term(self, draft: Draft, i, start):
        length: cython.double = max(cython.cast(cython.double, draft.length[i]), self.bound)
        return max((start + draft.length[i] - draft.eligible[i]) / length, 1.0)


@cython.cclass
class Tardiness(Sum):
    """Mean time in seconds by which jobs end behind their deadlines; those without one are never late."""

    def term(self, draft: Draft, i, start):
        late: cython.longlong = start + draft.length[i] - draft.deadline[i]
        return late * MICRO if draft.deadline[i] >= 0 and late > 0 else 0.0


@cython.cclass
class MissedDeadlines(Sum):
    """The share of the jobs that end behind their deadlines."""

    def term(self, draft: Draft, i, start):
        return 1.0 if 0 <= draft.deadline[i] < start + draft.length[i] else 0.0


@cython.cclass
class Utilization(Sum):
    """The share of the machine that the plan leaves unused in the next `window` seconds."""

    def __init__(self, window=86400) -> None:
        Sum.__init__(self)
        if isinstance(window, bool) or not isinstance(window, int | float) or not 0 < window < 1e9:
            raise InputError("window takes a number of seconds above 0", value=window)
        self.window = microseconds(window)
        self.idle = 0.0

    def begin(self, draft: Draft):
        Sum.begin(self, draft)
        # What is free in the plan, and the jobs of the draft, are together what these have for themselves.
        self.idle = draft.free_area(draft.now, draft.now + self.window) * MICRO + self.total
        return 0

    def value(self, draft: Draft):
        machine: cython.double = cython.cast(cython.double, draft.capacity) * (self.window * MICRO)
        return max(self.idle - self.total, 0.0) / machine if machine > 0 else 0.0

    def term(self, draft: Draft, i, start):
        end: cython.longlong = min(start + draft.length[i], draft.now + self.window)
        return cython.cast(cython.double, draft.cores[i]) * ((end - start) * MICRO) if end > start else 0.0


@cython.cclass
class Makespan(Objective):
    """Seconds until the last job of the plan ends."""

    def __init__(self) -> None:
        Objective.__init__(self)
        self.last = self.saved = 0
        self.stale = self.saved_stale = False

    def begin(self, draft: Draft):
        i: cython.Py_ssize_t
        self.last = draft.now
        for i in range(draft.size):
            self.last = max(self.last, draft.start[i] + draft.length[i])
        self.stale = False
        return 0

    def moved(self, draft: Draft, i, before, after):
        if after + draft.length[i] >= self.last:
            self.last = after + draft.length[i]
            self.stale = False
        elif before + draft.length[i] == self.last:
            self.stale = True
        return 0

    def value(self, draft: Draft):
        if self.stale:
            self.begin(draft)
        return (self.last - draft.now) * MICRO

    def save(self):
        self.saved = self.last
        self.saved_stale = self.stale
        return 0

    def back(self):
        self.last = self.saved
        self.stale = self.saved_stale
        return 0


@cython.cclass
class ByUser(Objective):
    """What concerns users: the waits of each are added up, of the jobs that have started and of the plan."""

    def __init__(self) -> None:
        Objective.__init__(self)
        self.waits = integers(1)
        self.scale = doubles(1)
        self.concerned = integers(1)
        self.users = 0
        self.sum = self.squares = self.saved_sum = self.saved_squares = 0.0

    def begin(self, draft: Draft):
        i: cython.Py_ssize_t
        u: cython.Py_ssize_t
        for i in range(draft.size):
            self.people.know(draft.user[i])
        if len(self.waits) < self.people.size:
            self.waits, self.concerned = integers(2 * self.people.size), integers(2 * self.people.size)
            self.scale = doubles(2 * self.people.size)
        for u in range(self.people.size):
            self.waits[u] = self.people.waited[u]
            self.scale[u] = self.past(u)
            self.concerned[u] = self.scale[u] > 0
        for i in range(draft.size):
            u = draft.user[i] + 1
            self.waits[u] += draft.start[i] - draft.eligible[i]
            self.scale[u] += self.asked(draft, i)
            self.concerned[u] = 1
        self.users = 0
        self.sum = self.squares = 0.0
        for u in range(self.people.size):
            if self.concerned[u]:
                self.users += 1
                self.enter(u, 1.0)
        return 0

    def moved(self, draft: Draft, i, before, after):
        u: cython.Py_ssize_t = draft.user[i] + 1
        self.enter(u, -1.0)
        self.waits[u] += after - before
        return self.enter(u, 1.0)

    def enter(self, user, sign):
        share: cython.double = self.share(user)
        self.sum += sign * share
        self.squares += sign * share * share
        return 0

    def save(self):
        self.saved_sum = self.sum
        self.saved_squares = self.squares
        return 0

    def back(self):
        self.sum = self.saved_sum
        self.squares = self.saved_squares
        return 0

    def past(self, user):
        """What the jobs that have started so far add to the user's scale."""
        return 0.0

    def asked(self, draft: Draft, i):
        """What a job of the plan adds to it."""
        return 0.0

    def share(self, user):
        """The user's waits on this scale."""
        return 0.0


@cython.cclass
class Fairness(ByUser):
    """Sum over users of (1 + mean NUWT - NUWT of the user)^2, where NUWT is the user's total wait over the processor
    time that the user's jobs take up, both of the jobs that have started so far and of the plan."""

    def past(self, user):
        return self.people.used[user] * MICRO

    def share(self, user):
        return self.waits[user] * MICRO / self.scale[user] if self.scale[user] > 0 else 0.0

    def asked(self, draft: Draft, i):
        return cython.cast(cython.double, draft.cores[i]) * (draft.length[i] * MICRO)

    def value(self, draft: Draft):
        mean: cython.double
        if self.users == 0:
            return 0.0
        mean = self.sum / self.users
        # Over all users (1 + mean - x)^2 is 1 + 2 (mean - x) + (mean - x)^2, and the second adds up to nothing.
        return self.users + max(self.squares - self.sum * mean, 0.0)


@cython.cclass
class Satisfaction(ByUser):
    """Seconds that users wait beyond what they tolerate, by job of the plan: each user's waits, less the tolerated
    waits of the jobs that have started so far and of the plan."""

    def past(self, user):
        return self.people.tolerated[user]

    def share(self, user):
        return max(self.waits[user] * MICRO - self.scale[user], 0.0)

    def asked(self, draft: Draft, i):
        return tolerated_wait(draft.cores[i], draft.length[i])

    def value(self, draft: Draft):
        return max(self.sum, 0.0) / draft.size if draft.size > 0 else 0.0
