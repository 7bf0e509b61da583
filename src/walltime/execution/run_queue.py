"""The play of one node with several cores and more tasks than cores, slice by slice; periods are taken at once."""

from __future__ import annotations

import cython

from walltime.execution.lists import NodeLists
from walltime.execution.tasktable import TaskTable, Want
from walltime.kernel.arrays import integers

SOON = cython.declare(cython.longlong, 1 << 59)

if not cython.compiled:
    NOTHING, COMPUTE = Want.NOTHING, Want.COMPUTE


@cython.final
@cython.cclass
class RunQueuePlayer:
    """A copy of a node's run queue: play it, and store it back or not."""

    def __init__(self) -> None:
        self.size = 0
        self.cores = self.quantum = self.switch = 0
        self.task = integers(0)
        self.reserve(8)

    def reserve(self, length):
        """Room for run queues of that length."""
        size: cython.Py_ssize_t = 2 * length
        if length <= len(self.task):
            return 0
        self.task = integers(size)
        self.want = integers(size)
        self.left = integers(size)
        self.slice = integers(size)
        self.over = integers(size)
        self.running = integers(size)
        self.old_task = integers(size)
        self.old_left = integers(size)
        self.old_slice = integers(size)
        self.old_over = integers(size)
        self.old_running = integers(size)
        return 0

    def load(self, table: TaskTable, lists: NodeLists, i, cores, quantum, switch):
        """The node's run queue, its cores, quantum and cost of a switch."""
        k: cython.Py_ssize_t
        t: cython.Py_ssize_t
        self.size = lists.length[i]
        self.cores = cores
        self.quantum = quantum
        self.switch = switch
        for k in range(self.size):
            t = lists.at[lists.first[i] + k]
            self.task[k] = t
            self.want[k] = table.at[t].state
            self.left[k] = table.at[t].left
            if self.want[k] == COMPUTE and self.left[k] == 0:  # done already, and only to be told so
                self.want[k] = NOTHING
            self.slice[k] = table.at[t].quantum
            self.over[k] = table.at[t].over
            self.running[k] = table.at[t].running
        return 0

    def store(self, table: TaskTable, lists: NodeLists, i):
        """The run queue back to the node."""
        k: cython.Py_ssize_t
        t: cython.Py_ssize_t
        for k in range(self.size):
            t = self.task[k]
            lists.at[lists.first[i] + k] = t
            if self.want[k] != NOTHING:
                table.at[t].left = self.left[k]
                table.at[t].quantum = self.slice[k]
                table.at[t].over = self.over[k]
                table.at[t].running = self.running[k]
        return 0

    def some_end(self):
        """Whether some task will ever have done its burst."""
        k: cython.Py_ssize_t
        for k in range(self.size):  # noqa: SIM110 - a generator would be an object a call
            if self.want[k] == COMPUTE and self.left[k] < SOON:
                return True
        return False

    def run(self, budget):
        """Play until so much time is over, or a task has done its burst; the time that has passed."""
        passed: cython.longlong = 0
        since: cython.longlong = 0
        slices: cython.longlong = 0
        settled: cython.longlong = 2 * self.size  # by then every task has had a whole quantum
        time: cython.longlong
        while passed < budget:
            time = self.dispatch()
            if passed + time > budget:
                self.spend(budget - passed)
                return budget
            passed += time
            if self.spend(time):
                return passed
            slices += 1
            if slices == settled:
                since = passed
                self.remember()
            elif slices > settled and self.recurs():
                passed += self.repeat(passed - since, budget - passed)
                settled = SOON
            elif slices > settled + 4 * self.size * self.cores:
                slices = settled - 1
        return passed

    def dispatch(self):
        """The first tasks that want one have a core; the time until one of them has done its slice or its burst."""
        k: cython.Py_ssize_t
        cores: cython.longlong = self.cores
        time: cython.longlong
        least: cython.longlong = SOON
        for k in range(self.size):
            if self.want[k] == NOTHING:
                continue
            if cores == 0:
                self.running[k] = 0
                continue
            cores -= 1
            if self.running[k] == 0:
                self.running[k] = 1
                self.over[k] = self.switch
            time = self.over[k] + (self.left[k] if self.left[k] < self.slice[k] else self.slice[k])
            if time < least:
                least = time
        return least

    def spend(self, time):
        """So much time passes for the tasks that have a core; whether one of them has done its burst."""
        k: cython.Py_ssize_t
        used: cython.longlong
        done: cython.bint = False
        late: cython.bint = False
        for k in range(self.size):
            if self.want[k] == NOTHING or self.running[k] == 0:
                continue
            used = time - self.over[k]
            if used < 0:
                self.over[k] -= time
                continue
            self.over[k] = 0
            self.slice[k] -= used
            if self.want[k] == COMPUTE:
                self.left[k] -= used
                if self.left[k] == 0:
                    done = True
            if self.slice[k] == 0:
                late = True
        if late:
            self.move_to_end()
        return done

    def move_to_end(self):
        """A task that has used up its quantum goes to the end of the run queue, in the order of the run queue."""
        index: cython.Py_ssize_t = 0
        _looked: cython.Py_ssize_t
        for _looked in range(self.size):
            if self.want[index] != NOTHING and self.slice[index] == 0:
                self.slice[index] = self.quantum
                self.move_back(index)
            else:
                index += 1
        return 0

    def move_back(self, place):
        """The task at that place goes to the end."""
        k: cython.Py_ssize_t
        last: cython.Py_ssize_t = self.size - 1
        task: cython.longlong = self.task[place]
        want: cython.longlong = self.want[place]
        left: cython.longlong = self.left[place]
        slice: cython.longlong = self.slice[place]
        over: cython.longlong = self.over[place]
        running: cython.longlong = self.running[place]
        for k in range(place, last):
            self.task[k] = self.task[k + 1]
            self.want[k] = self.want[k + 1]
            self.left[k] = self.left[k + 1]
            self.slice[k] = self.slice[k + 1]
            self.over[k] = self.over[k + 1]
            self.running[k] = self.running[k + 1]
        self.task[last] = task
        self.want[last] = want
        self.left[last] = left
        self.slice[last] = slice
        self.over[last] = over
        self.running[last] = running
        return 0

    # ---- periods

    def remember(self):
        """Keep the run queue as it is."""
        k: cython.Py_ssize_t
        for k in range(self.size):
            self.old_task[k] = self.task[k]
            self.old_left[k] = self.left[k]
            self.old_slice[k] = self.slice[k]
            self.old_over[k] = self.over[k]
            self.old_running[k] = self.running[k]
        return 0

    def recurs(self):
        """Whether the run queue is as it was kept, but for the work that is done."""
        k: cython.Py_ssize_t
        for k in range(self.size):
            if self.old_task[k] != self.task[k] or self.old_slice[k] != self.slice[k]:
                return False
            if self.old_over[k] != self.over[k] or self.old_running[k] != self.running[k]:
                return False
        return True

    def repeat(self, period, budget):
        """Take as many periods as fit before a task does its burst; the time that they take."""
        k: cython.Py_ssize_t
        used: cython.longlong
        times: cython.longlong = budget // period
        for k in range(self.size):
            used = self.old_left[k] - self.left[k]
            if used > 0 and (self.left[k] - 1) // used < times:
                times = (self.left[k] - 1) // used
        for k in range(self.size):
            self.left[k] -= times * (self.old_left[k] - self.left[k])
        return times * period
