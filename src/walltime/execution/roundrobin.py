"""Round robin: the runnable tasks of a node take turns of one quantum on its cores.

All tasks of a node are in one run queue. Its cores run the first that want to run. A task that has used up a quantum
goes to the end of the run queue and gets a new one; one that meets the others of its job waits where it stands, with
what is left of its quantum, and runs again, before all behind it, as soon as the meeting is over (Santoso et al. 2003:
this mimics the priority that Unix gives to processes that wait for input). Getting a core costs `switch_cost`, which is
no part of the quantum; a task that keeps its core pays nothing.

Everything is in whole microseconds, so that slices may be skipped and nothing changes. With a core for each runnable
task, and with one core, what many slices come to is a formula; otherwise slices are played until the run queue, the
quanta and the cores are as they were before, and then as many such periods are taken at once as fit.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.execution.lists import NodeLists
from walltime.execution.run_queue import RunQueuePlayer
from walltime.execution.tasks import TaskExecution
from walltime.execution.tasktable import TaskTable, Want
from walltime.workload.pattern import duration

NEVER = cython.declare(cython.longlong, _NEVER)
ENDLESS = cython.declare(cython.longlong, 1 << 60)
FAR = cython.declare(cython.double, _NEVER)
SOON = cython.declare(cython.longlong, 1 << 59)  # no task has a need above it

if not cython.compiled:
    NOTHING, COMPUTE, SPIN = Want


@cython.final
@cython.cclass
class TimeShared(TaskExecution):
    """Round robin on every node. `quantum` and `switch_cost` (seconds) are for nodes that tell none.

    `tasks` is how the tasks of a job meet where its profile does not tell (`sequential`, `lock-step`, `master-slave`),
    `step` the seconds of work between meetings in lock step, `delay` what a meeting takes (seconds, or a distribution),
    `waiting` what a task does meanwhile (`block` or `spin`), `sync_delay` a delay of nodes that tell none.
    """

    def __init__(
        self,
        quantum=0.1,
        switch_cost=0.0,
        tasks="sequential",
        step=1.0,
        delay=0.0,
        waiting="block",
        sync_delay=0.0,
    ) -> None:
        TaskExecution.__init__(self, tasks, step, delay, waiting, sync_delay)
        self.usual_quantum = duration("quantum", quantum) / 1_000_000
        self.usual_switch = duration("switch_cost", switch_cost, zero=True) / 1_000_000

    def equip(self, layouts, seed, profiles=()):
        TaskExecution.equip(self, layouts, seed, profiles)
        self.quantum = np.concatenate([layout.durations("quantum", self.usual_quantum) for layout in layouts])
        self.switch = np.concatenate([layout.durations("switch_cost", self.usual_switch) for layout in layouts])
        self.wanting = np.zeros(self.n, np.int64)
        self.run_queue = NodeLists(self.n)
        self.player = RunQueuePlayer()
        return 0

    # ---- what each task wants

    def enter(self, t):
        i: cython.Py_ssize_t = self.table.at[t].node
        self.table.at[t].quantum = self.quantum[i]
        self.run_queue.append(i, t)
        return self.player.reserve(self.run_queue.length[i])

    def exit(self, t):
        i: cython.Py_ssize_t = self.table.at[t].node
        k: cython.Py_ssize_t = self.run_queue.first[i]
        end: cython.Py_ssize_t = k + self.run_queue.length[i]
        at: cython.longlong[::1] = self.run_queue.at
        while at[k] != t:
            k += 1
        while k + 1 < end:
            at[k] = at[k + 1]
            k += 1
        self.run_queue.length[i] -= 1
        return 0

    def ready(self, t):
        self.wanting[self.table.at[t].node] += 1
        return 0

    def rest(self, t):
        if not self.wants(t):
            return 0
        self.wanting[self.table.at[t].node] -= 1
        return 0

    def block(self, t):
        self.table.at[t].running = 0
        return 0

    # ---- alone

    def steady(self, t):
        """Siblings on one node must be in the same part of their quanta; a task that spins must have its core."""
        table: TaskTable = self.table
        s: cython.Py_ssize_t = table.at[t].sibling
        if s >= 0 and table.at[s].node == table.at[t].node and table.at[s].quantum != table.at[t].quantum:
            return False
        if self.spins[table.course[table.at[t].job].pattern]:
            return table.at[t].state == SPIN and table.at[t].running == 1 and table.at[t].over == 0
        return True

    def overhead(self, t):
        if self.spins[self.table.course[self.table.at[t].job].pattern]:
            return 0
        return self.switch[self.table.at[t].node]

    def catch_up(self, t, laps, within, need, over):
        table: TaskTable = self.table
        used: cython.longlong
        quantum: cython.longlong = self.quantum[table.at[t].node]
        if self.spins[table.course[table.at[t].job].pattern]:
            used = laps * table.course[table.at[t].job].lap + within
            table.at[t].running = 1
        else:
            used = within - over
            if used < 0:
                used = 0
            if used > need:
                used = need
            used += laps * need
            table.at[t].running = 1
            table.at[t].over = over - within if within < over else 0
        if used < table.at[t].quantum:
            table.at[t].quantum -= used
        else:
            table.at[t].quantum = quantum - (used - table.at[t].quantum) % quantum
        return 0

    # ---- the play of a node

    def wants(self, t):
        """Whether the task wants a core: one that has done its burst, and is only to be told so, does not."""
        return self.table.at[t].state == SPIN or (self.table.at[t].state == COMPUTE and self.table.at[t].left > 0)

    def advance(self, i, now):
        while self.at[i] < now:
            if self.wanting[i] == 0:
                self.at[i] = now
            elif self.wanting[i] <= self.cores[i]:
                self.run_all(i, now - self.at[i])
            elif self.cores[i] == 1:
                self.take_turns(i, now - self.at[i])
            else:
                self.play(i, now - self.at[i])
        return 0

    def predict(self, i):
        table: TaskTable = self.table
        first: cython.Py_ssize_t = self.run_queue.first[i]
        k: cython.Py_ssize_t
        t: cython.Py_ssize_t
        least: cython.longlong = NEVER
        time: cython.longlong
        if self.wanting[i] == 0:
            return NEVER
        if self.wanting[i] > self.cores[i]:
            time = self.first_done(i) if self.cores[i] == 1 else self.foresee(i)
            return NEVER if time >= NEVER else self.at[i] + time
        for k in range(first, first + self.run_queue.length[i]):
            t = self.run_queue.at[k]
            if table.at[t].state == COMPUTE and 0 < table.at[t].left < SOON:
                time = table.at[t].left + (table.at[t].over if table.at[t].running else self.switch[i])
                if time < least:
                    least = time
        return NEVER if least >= NEVER else self.at[i] + least

    def report_done(self, i, t):
        """The task has done its burst, and leaves its core."""
        self.wanting[i] -= 1
        return self.report(t)

    # ---- a core for every task

    def run_all(self, i, budget):
        """Every task that wants to runs, until the budget is used up or one has done its burst."""
        table: TaskTable = self.table
        first: cython.Py_ssize_t = self.run_queue.first[i]
        end: cython.Py_ssize_t = first + self.run_queue.length[i]
        k: cython.Py_ssize_t
        t: cython.Py_ssize_t
        time: cython.longlong = budget
        used: cython.longlong
        late: cython.bint = False
        for k in range(first, end):
            t = self.run_queue.at[k]
            if self.wants(t):
                if table.at[t].running == 0:
                    table.at[t].running = 1
                    table.at[t].over = self.switch[i]
                if table.at[t].state == COMPUTE and table.at[t].over + table.at[t].left < time:
                    time = table.at[t].over + table.at[t].left
        for k in range(first, end):
            t = self.run_queue.at[k]
            if not self.wants(t):
                continue
            used = time - table.at[t].over
            if used < 0:
                table.at[t].over -= time
                continue
            table.at[t].over = 0
            if table.at[t].state == COMPUTE:
                table.at[t].left -= used
            if used < table.at[t].quantum:
                table.at[t].quantum -= used
            else:  # for the order of the run queue: minus the time since it last went to the end, and how often it did
                table.at[t].position = (used - table.at[t].quantum) // self.quantum[i]
                table.at[t].quantum = -((used - table.at[t].quantum) % self.quantum[i]) - 1
                late = True
            if table.at[t].left == 0:
                self.report_done(i, t)
        self.at[i] += time
        return self.move_to_end(i) if late else 0

    def move_to_end(self, i):
        """Tasks that have used up a quantum go to the end of the run queue, the last to do so last."""
        table: TaskTable = self.table
        at: cython.longlong[::1] = self.run_queue.at
        first: cython.Py_ssize_t = self.run_queue.first[i]
        end: cython.Py_ssize_t = first + self.run_queue.length[i]
        k: cython.Py_ssize_t
        j: cython.Py_ssize_t
        t: cython.Py_ssize_t
        for k in range(first + 1, end):  # by insertion: the others are before them in any case
            t = at[k]
            j = k
            while j > first and self.behind(at[j - 1], t):
                at[j] = at[j - 1]
                j -= 1
            at[j] = t
        for k in range(first, end):
            t = at[k]
            if table.at[t].quantum < 0:
                table.at[t].quantum += self.quantum[i] + 1
        return 0

    def behind(self, a, b):
        """Whether task a, now before b, has to stand behind it. Of two that went at the same time, the one that had
        been there before, and so was behind the other, goes last."""
        x: cython.longlong = self.table.at[a].quantum
        y: cython.longlong = self.table.at[b].quantum
        return x < 0 and (y >= 0 or x > y or (x == y and self.table.at[a].position > self.table.at[b].position))

    # ---- one core

    def take_turns(self, i, budget):
        """The first of the run queue has its turn, or each task has as many as fit."""
        table: TaskTable = self.table
        at: cython.longlong[::1] = self.run_queue.at
        first: cython.Py_ssize_t = self.run_queue.first[i]
        end: cython.Py_ssize_t = first + self.run_queue.length[i]
        index: cython.Py_ssize_t = first
        k: cython.Py_ssize_t
        t: cython.Py_ssize_t
        turn: cython.longlong
        while not self.wants(at[index]):
            index += 1
        t = at[index]
        if table.at[t].running == 0:
            for k in range(first, end):
                table.at[at[k]].running = 0
            table.at[t].running = 1
            table.at[t].over = self.switch[i]
        turn = self.quantum[i] + self.switch[i]
        fresh: cython.bint = table.at[t].over == self.switch[i] and table.at[t].quantum == self.quantum[i]
        if fresh and budget // turn >= self.wanting[i] and self.skip_rounds(i, budget, turn):
            return 0
        turn = table.at[t].quantum if table.at[t].quantum < table.at[t].left else table.at[t].left
        if table.at[t].over + turn > budget:
            turn = budget - table.at[t].over
            self.at[i] += budget
            if turn < 0:
                table.at[t].over -= budget
                return 0
        else:
            self.at[i] += table.at[t].over + turn
        table.at[t].over = 0
        table.at[t].quantum -= turn
        if table.at[t].state == COMPUTE:
            table.at[t].left -= turn
        if table.at[t].quantum == 0:
            table.at[t].quantum = self.quantum[i]
            for k in range(index, end - 1):
                at[k] = at[k + 1]
            at[end - 1] = t
        return self.report_done(i, t) if table.at[t].left == 0 else 0

    def skip_rounds(self, i, budget, turn):
        """Whether every task had some turns: whole rounds in which none does its burst, all quanta being whole."""
        table: TaskTable = self.table
        at: cython.longlong[::1] = self.run_queue.at
        first: cython.Py_ssize_t = self.run_queue.first[i]
        end: cython.Py_ssize_t = first + self.run_queue.length[i]
        k: cython.Py_ssize_t
        t: cython.Py_ssize_t
        last: cython.Py_ssize_t = -1
        index: cython.Py_ssize_t = first
        quantum: cython.longlong = self.quantum[i]
        rounds: cython.longlong = budget // turn // self.wanting[i]  # divided twice: the product may be too long
        for k in range(first, end):
            t = at[k]
            if self.wants(t):
                if table.at[t].quantum != quantum:
                    return False
                if table.at[t].state == COMPUTE and (table.at[t].left - 1) // quantum < rounds:
                    rounds = (table.at[t].left - 1) // quantum
        if rounds <= 0:
            return False
        self.at[i] += rounds * self.wanting[i] * turn
        for k in range(first, end):
            t = at[k]
            if self.wants(t):
                table.at[t].running = 0
                if table.at[t].state == COMPUTE:
                    table.at[t].left -= rounds * quantum
                last = t
        table.at[last].running = 1
        for k in range(first, end):  # a task that waits has been passed by all the others, and is before them now
            t = at[k]
            if not self.wants(t):
                last = k
                while last > index:
                    at[last] = at[last - 1]
                    last -= 1
                at[index] = t
                index += 1
        return True

    def first_done(self, i):
        """After what time the first task has done its burst, on one core; NEVER where the clock does not go so far."""
        table: TaskTable = self.table
        first: cython.Py_ssize_t = self.run_queue.first[i]
        quantum: cython.longlong = self.quantum[i]
        switch: cython.longlong = self.switch[i]
        k: cython.Py_ssize_t
        t: cython.Py_ssize_t
        before: cython.longlong = 0  # what is before in the run queue
        first_round: cython.longlong = 0  # its length, so far
        turns: cython.longlong
        fewest: cython.longlong = NEVER
        place: cython.longlong = 0
        rest: cython.longlong = 0
        for k in range(first, first + self.run_queue.length[i]):
            t = self.run_queue.at[k]
            if not self.wants(t):
                continue
            first_round += table.at[t].over if before == 0 and table.at[t].running else switch
            if table.at[t].state == COMPUTE and table.at[t].left < SOON:
                if table.at[t].left <= table.at[t].quantum:
                    return first_round + table.at[t].left
                turns = (table.at[t].left - table.at[t].quantum + quantum - 1) // quantum
                if turns < fewest:
                    fewest = turns
                    place = before
                    rest = table.at[t].left - table.at[t].quantum - (turns - 1) * quantum
            first_round += table.at[t].quantum
            before += 1
        if fewest >= NEVER or cython.cast(cython.double, fewest) * before * (quantum + switch) >= FAR:
            return NEVER
        return first_round + ((fewest - 1) * before + place) * (quantum + switch) + switch + rest

    # ---- several cores, and more tasks than cores

    def play(self, i, budget):
        player: RunQueuePlayer = self.player
        k: cython.Py_ssize_t
        player.load(self.table, self.run_queue, i, self.cores[i], self.quantum[i], self.switch[i])
        self.at[i] += player.run(budget)
        player.store(self.table, self.run_queue, i)
        for k in range(player.size):
            if player.want[k] == COMPUTE and player.left[k] == 0:
                self.report_done(i, player.task[k])
        return 0

    def foresee(self, i):
        """After what time the first task has done its burst, by playing it."""
        player: RunQueuePlayer = self.player
        player.load(self.table, self.run_queue, i, self.cores[i], self.quantum[i], self.switch[i])
        return player.run(SOON) if player.some_end() else NEVER
