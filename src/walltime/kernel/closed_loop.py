"""Users who submit their next batch of jobs when what they waited for is there, and when they are.

The loop is the same for every engine: an engine tells it which job has left, and is told which job comes when. Each
step costs as much as there are batches that wait for one that arrives or completes.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND
from walltime.kernel.heap import EventHeap
from walltime.workload.users import plan as plans

NEVER = cython.declare(cython.longlong, _NEVER)
HOUR = cython.declare(cython.longlong, 3600 * SECOND)
DAY = cython.declare(cython.longlong, 86_400 * SECOND)
HOURS = cython.declare(cython.longlong, 168)
ACCEPTS = cython.declare(cython.longlong, plans.ACCEPTS)
OPENS = cython.declare(cython.longlong, plans.OPENS)
SHUTS = cython.declare(cython.longlong, plans.SHUTS)
COMPLETION = cython.declare(cython.longlong, int(plans.After.COMPLETION))
BY_HOURS = cython.declare(cython.longlong, int(plans.Presence.HOURS))
BY_SESSIONS = cython.declare(cython.longlong, int(plans.Presence.SESSIONS))


@cython.final
@cython.cclass
class ClosedLoop:
    """What users do next. `next` is when the next job comes, `pop` takes its row; of an instant, the first row first.

    `batch` is each row's batch.
    """

    def __init__(self, plan) -> None:
        users: cython.Py_ssize_t = int(plan.user.max(initial=-1)) + 1
        self.rows = plan.rows
        self.offset = plan.offset
        self.first = plan.first
        self.user = plan.user
        self.ready = plan.ready.copy()
        self.pending = plan.pending.copy()
        self.heard = plan.heard
        self.listeners = plan.listeners
        self.what = plan.what
        self.delay = plan.delay
        self.presence = plan.presence
        self.clock = plan.clock
        self.skip = plan.skip
        self.session_first = plan.sessions.first
        self.session_start = plan.sessions.start
        self.session_last = plan.sessions.last
        self.session = np.full(users, -1, np.int64)
        self.begins = np.zeros(users, np.int64)
        self.accepts = np.full(users, -1, np.int64)
        self.left_in = np.diff(plan.first)
        self.began = np.zeros(len(plan.user), np.int64)
        batch = np.empty(len(plan.rows), np.int64)
        batch[plan.rows] = np.repeat(np.arange(len(plan.user)), np.diff(plan.first))
        self.batch = batch
        self.due = EventHeap()
        self.next = NEVER

    def begin(self):
        """Every batch that waits for nothing is to come."""
        b: cython.Py_ssize_t
        for b in range(len(self.pending)):
            if self.pending[b] == 0:
                self.plan(b)
        return 0

    def plan(self, b):
        """The batch is ready: its jobs come when its user is there."""
        at: cython.Py_ssize_t = self.first[b]
        self.began[b] = self.find_time(b, self.ready[b])
        self.due.push(self.began[b] + self.offset[at], self.rows[at], at, 0)
        self.next = self.due.first
        return 0

    def find_time(self, b, ready):
        """When the user submits a batch that is ready then."""
        user: cython.Py_ssize_t = self.user[b]
        hours: cython.longlong
        until: cython.longlong
        if user < 0:
            return ready
        if self.presence == BY_HOURS:
            hours = (ready + self.clock) // HOUR
            until = self.skip[user * HOURS + hours % HOURS]
            return ready if until == 0 else (hours + until) * HOUR - self.clock
        return self.find_session(user, ready) if self.presence == BY_SESSIONS else ready

    def find_session(self, user, ready):
        """In the session that the user is in while that one accepts, else in the next; after the last one, the next
        day."""
        at: cython.Py_ssize_t
        if ready + ACCEPTS >= self.accepts[user]:
            at = self.session[user] + 1 if self.session[user] >= 0 else self.session_first[user]
            self.session[user] = at
            if at < self.session_first[user + 1]:
                self.begins[user] = self.session_start[at]
                self.accepts[user] = self.session_last[at]
            else:
                self.begins[user] = ((ready + self.clock) // DAY + 1) * DAY - self.clock
                self.accepts[user] = self.begins[user] + SHUTS
                self.begins[user] += OPENS
        return max(ready, self.begins[user])

    def pop(self):
        """The row of the next job; what waits for the arrival of its batch is told."""
        b: cython.Py_ssize_t
        at: cython.Py_ssize_t
        self.due.pop()
        at = self.due.slot
        b = self.batch[self.due.seq]
        if self.due.stamp == 0:  # not one that was put back
            if at == self.first[b]:
                self.tell(b, False, self.due.time)
            if at + 1 < self.first[b + 1]:
                self.due.push(max(self.began[b] + self.offset[at + 1], self.due.time), self.rows[at + 1], at + 1, 0)
        self.next = self.due.first
        return self.rows[at]

    def put_back(self, row, time):
        """A job that was taken is not all that comes of its row, or not submitted yet: it is to come again then."""
        low: cython.Py_ssize_t = self.first[self.batch[row]]
        high: cython.Py_ssize_t = self.first[self.batch[row] + 1]
        middle: cython.Py_ssize_t
        while high - low > 1:  # the rows of a batch are in order
            middle = (low + high) // 2
            if self.rows[middle] <= row:
                low = middle
            else:
                high = middle
        self.due.push(time, row, low, 1)
        self.next = self.due.first
        return 0

    def leave(self, row, now):
        """The job has left the system, or never entered it."""
        b: cython.Py_ssize_t = self.batch[row]
        self.left_in[b] -= 1
        if self.left_in[b] == 0:
            self.tell(b, True, now)
        return 0

    def tell(self, b, completed, now):
        """The batch has arrived or is completed: what waits for that."""
        i: cython.Py_ssize_t
        x: cython.Py_ssize_t
        for i in range(self.heard[b], self.heard[b + 1]):
            if (self.what[i] == COMPLETION) == completed:
                x = self.listeners[i]
                self.pending[x] -= 1
                if now + self.delay[i] > self.ready[x]:
                    self.ready[x] = now + self.delay[i]
                if self.pending[x] == 0:
                    self.plan(x)
        return 0
