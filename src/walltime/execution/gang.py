"""Gang scheduling: all tasks of a job run at the same time, in time slots that the jobs of a cluster share.

The slots are the rows of a matrix, the cores of the nodes its columns. A job is in the first row that has room for all
of its tasks on their nodes; a new row is opened where none has. The rows have the machine in turn, each for one slot,
the first part of which is lost to the switch; a row without jobs is struck out at once. So a job never waits for a task
that does not run: it needs as much time of its own row as it would take alone. Ousterhout, "Scheduling techniques for
concurrent systems", 3rd ICDCS, 1982.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND as _SECOND
from walltime.execution.model import Execution
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.jobs import JobTable, State, done_in, time_for
from walltime.workload.pattern import duration, make_pattern, parse_profile

NEVER = cython.declare(cython.longlong, _NEVER)
FAR = cython.declare(cython.double, _NEVER)
SECOND = cython.declare(cython.longlong, _SECOND)
ENDLESS = cython.declare(cython.longlong, 1 << 60)

if not cython.compiled:
    COMPLETED = State.COMPLETED


@cython.final
@cython.cclass
class Row:
    """One time slot: its jobs, the tasks on each node, and the time that it has had, switches not counted."""

    def __init__(self, nodes) -> None:
        self.used = np.zeros(nodes, np.int64)
        self.jobs = []
        self.clock = 0
        self.first = NEVER

    def find_first(self, finish):
        """When, on the row's own clock, the first of its jobs has done its work."""
        slot: cython.Py_ssize_t
        self.first = NEVER
        for slot in self.jobs:
            if finish[slot] < self.first:
                self.first = finish[slot]
        return 0


@cython.final
@cython.cclass
class Matrix:
    """The rows of one cluster; `turn` has the machine, since `began`, and the clocks are right at `at`."""

    def __init__(self, cores, slot, switch) -> None:
        self.cores = cores
        self.slot = slot
        self.switch = switch
        self.rows = []
        self.turn = 0
        self.began = 0
        self.at = 0
        self.next = NEVER

    def advance(self, now):
        """Let the rows have their turns up to now: whole cycles at once."""
        row: Row
        span: cython.longlong
        cycles: cython.longlong
        n: cython.longlong = len(self.rows)
        if n < 2:
            for row in self.rows:
                row.clock += now - self.at
            self.began = self.at = now
            return 0
        cycles = (now - self.at) // self.slot // n
        if cycles > 0:
            for row in self.rows:
                row.clock += cycles * (self.slot - self.switch)
            self.at += cycles * n * self.slot
            self.began += cycles * n * self.slot
        while self.at < now:
            row = cython.cast(Row, self.rows[self.turn])
            span = self.began + self.slot
            if span > now:
                span = now
            row.clock += self.worked(span) - self.worked(self.at)
            self.at = span
            if span == self.began + self.slot:
                self.began = span
                self.turn = (self.turn + 1) % n
        return 0

    def worked(self, time):
        """What the row whose turn it is has had of its slot at that time."""
        return time - self.began - self.switch if time - self.began > self.switch else 0

    def foresee(self):
        """When the first job of all has done its work, if nothing else happens."""
        row: Row
        k: cython.longlong
        n: cython.longlong = len(self.rows)
        need: cython.longlong
        time: cython.longlong
        each: cython.longlong = self.slot - self.switch
        slots: cython.longlong
        self.next = NEVER
        for k in range(n):
            row = cython.cast(Row, self.rows[(self.turn + k) % n])
            need = row.first - row.clock
            if need >= ENDLESS >> 1:
                continue
            if n == 1 or need <= 0:
                time = self.at + need
            else:
                if k == 0:  # count from the beginning of its slot
                    need += self.worked(self.at)
                slots = (need - 1) // each  # whole slots before the last one
                if cython.cast(cython.double, slots + 1) * n * self.slot >= FAR:
                    continue  # later than the clock can count
                time = self.began + (slots * n + k) * self.slot + self.switch + need - slots * each
            if time < self.next:
                self.next = time if time > self.at else self.at
        return 0


@cython.cclass
class Gang(Execution):
    """Gang scheduling in slots of `slot` seconds, of which `switch_cost` are lost to each change.

    `tasks`, `step`, `delay` and `sync_delay` tell, as in the other models, how the tasks of a job meet: that adds to
    the time which the job needs of its row. A task that waits keeps its core; no other task could have it.
    """

    def __init__(self, slot=1.0, switch_cost=0.0, tasks="sequential", step=1.0, delay=0.0, sync_delay=0.0) -> None:
        Execution.__init__(self)
        self.patterns = {None: make_pattern(tasks, step, delay, "block")}
        self.slot = duration("slot", slot)
        self.switch = duration("switch_cost", switch_cost, zero=True)
        self.sync_delay = duration("sync_delay", sync_delay, zero=True) / SECOND
        if self.switch >= self.slot:
            raise ValueError(f"switch_cost ({switch_cost}) leaves nothing of the slot ({slot})")
        self.finish = integers(64)
        self.row_of = [None] * 64
        self.need = integers(64)

    # ---- before the run

    def equip(self, layouts, seed, profiles=()):
        self.seed = seed
        self.pace = [layout.pace() for layout in layouts]
        self.sync = [layout.durations("sync_delay", self.sync_delay) for layout in layouts]
        self.matrices = [Matrix(layout.processors(), self.slot, self.switch) for layout in layouts]
        for text in profiles:
            self.pattern(text)
        return 0

    def pattern(self, text):
        if text not in self.patterns:
            self.patterns[text] = parse_profile(text, self.patterns[None])
        return self.patterns[text]

    # ---- a job's way in and out

    def begin(self, slot):
        jobs: JobTable = self.engine.jobs
        now: cython.longlong = self.engine.now
        matrix: Matrix = self.matrices[jobs.at[slot].cluster]
        shares = self.shares_of(slot)
        need: cython.longlong = ENDLESS
        row: Row
        while slot >= len(self.finish):
            self.finish = doubled(self.finish)
            self.need = doubled(self.need)
            self.row_of.extend([None] * len(self.row_of))
        if jobs.at[slot].run_time >= 0:
            need = self.alone(slot, shares)
        matrix.advance(now)
        row = self.find_row(matrix, shares)
        for node, tasks in shares:
            row.used[node] += tasks
        row.jobs.append(slot)
        self.row_of[slot] = (row, shares)
        self.need[slot] = need
        self.finish[slot] = row.clock + need
        row.find_first(self.finish)
        matrix.foresee()
        self.look()
        return NEVER

    def find_row(self, matrix: Matrix, shares):
        """The first row with a free core for every task, or a new one. More tasks than a node has cores never run at
        once: such a job has a row to itself there."""
        row: Row
        for row in matrix.rows:
            if all([row.used[node] == 0 or row.used[node] + tasks <= matrix.cores[node] for node, tasks in shares]):  # noqa: C419
                return row
        row = Row(len(matrix.cores))
        matrix.rows.append(row)
        if len(matrix.rows) == 2:  # no job had to share before: the slots begin now, with the row that is running
            matrix.began = matrix.at - matrix.switch
            matrix.turn = 0
        return row

    def alone(self, job, shares):
        """The time that the job needs of its row: what is left of its work on its slowest node, and its meetings."""
        jobs: JobTable = self.engine.jobs
        slot: cython.Py_ssize_t = job
        cluster: cython.longlong = jobs.at[slot].cluster
        matrix: Matrix = self.matrices[cluster]
        pattern = self.pattern(self.profile_of(slot))
        work: cython.longlong = jobs.at[slot].run_time
        done: cython.longlong = jobs.at[slot].progress
        tasks = sum([count for _, count in shares])
        step = pattern.burst if pattern.burst and tasks > 1 else max(work, 1)
        total = 0
        meeting = 0
        first = done // step
        last = max(-(-work // step), first + 1)
        slow = [(self.pace[cluster][node], -(-count // matrix.cores[node])) for node, count in shares]
        meets = pattern.meets and tasks > 1
        sync = max([self.sync[cluster][node] for node, _ in shares]) if meets else 0
        if meets and pattern.fixed_delay >= 0 and last - first > 2:
            each = max([layers * time_for(step, pace) for pace, layers in slow]) + pattern.fixed_delay + sync
            total += each * (last - first - 2)
            meeting = last - first - 2
            bursts = [(first + 1) * step - done, work - (last - 1) * step]
        else:
            bursts = [min(work, (k + 1) * step) - max(done, k * step) for k in range(first, last)]
        if meets and pattern.opens and done == 0:
            bursts.insert(0, 0)
        for burst in bursts:
            total += max([layers * time_for(max(burst, 0), pace) for pace, layers in slow])
            if meets:
                delay = pattern.fixed_delay
                total += sync + (delay if delay >= 0 else pattern.draw_delay(self.seed, jobs.at[slot].job_id, meeting))
                meeting += 1
        return total

    def interrupt(self, slot, keep):
        jobs: JobTable = self.engine.jobs
        matrix: Matrix = self.matrices[jobs.at[slot].cluster]
        row: Row
        total: cython.longlong
        matrix.advance(self.engine.now)
        if keep:
            row = self.row_of[slot][0]
            total = self.need[slot]
            if total >= ENDLESS:
                jobs.at[slot].progress += done_in(row.clock - self.finish[slot] + total, jobs.at[slot].speed)
            elif total > 0:  # meetings, too, are a part of the way: the share of it that is done
                share: cython.double = 1.0 - cython.cast(cython.double, self.finish[slot] - row.clock) / total
                gained: cython.longlong = cython.cast(
                    cython.longlong, (jobs.at[slot].run_time - jobs.at[slot].progress) * share
                )
                jobs.at[slot].progress += gained
        self.remove(slot, matrix)
        self.look()
        return 0

    def remove(self, slot, matrix: Matrix):
        """The job leaves its row, and the row the matrix where it was the last."""
        row: Row
        row, shares = self.row_of[slot]
        self.row_of[slot] = None
        for node, tasks in shares:
            row.used[node] -= tasks
        row.jobs.remove(slot)
        if row.jobs:
            row.find_first(self.finish)
        else:
            index: cython.Py_ssize_t = matrix.rows.index(row)
            matrix.rows.pop(index)
            if index < matrix.turn:
                matrix.turn -= 1
            elif index == matrix.turn:  # no job has the rest of its slot: the next row begins at once
                matrix.began = matrix.at
                matrix.turn = matrix.turn % len(matrix.rows) if matrix.rows else 0
        return matrix.foresee()

    def fire(self, now):
        matrix: Matrix
        for matrix in self.matrices:
            while matrix.next <= now:
                matrix.advance(now)
                done = self.find_done(matrix)
                for slot in done if not self.engine.per_event else done[:1]:
                    self.remove(slot, matrix)
                    self.engine.finish(slot, COMPLETED)
                matrix.foresee()
                if self.engine.per_event:
                    self.look()
                    return 0
        return self.look()

    def find_done(self, matrix: Matrix):
        """The jobs that have had all the time that they need, in order of entry."""
        row: Row
        slot: cython.Py_ssize_t
        found = []
        for row in matrix.rows:
            for slot in row.jobs:
                if self.finish[slot] <= row.clock:
                    found.append(slot)
        return sorted(found, key=self.engine.jobs.seq.__getitem__)

    def look(self):
        matrix: Matrix
        self.next = NEVER
        for matrix in self.matrices:
            if matrix.next < self.next:
                self.next = matrix.next
        return 0
