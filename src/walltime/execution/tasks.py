"""Jobs as tasks on nodes whose time is shared: what every such model has in common.

A job is so many tasks as it has cores; each has the job's run time as cpu time at full speed. It goes through *bursts*
of work between meetings of all its tasks. A model tells how the tasks of one node get on: it plays a node up to a time
(`advance`), and says when the next of its tasks will have done its burst (`predict`). Between two changes nothing is
played: cost is by changes, not by time slices. A job that is alone on its nodes is not even played step by step.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.execution.agenda import Agenda
from walltime.execution.model import Execution
from walltime.execution.tasktable import TaskTable, Want
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.heap import EventHeap
from walltime.kernel.jobs import JobTable, State, done_in, time_for
from walltime.kernel.ledger.interface import Ledger
from walltime.workload.pattern import duration, make_pattern, parse_profile

NEVER = cython.declare(cython.longlong, _NEVER)
ENDLESS = cython.declare(cython.longlong, 1 << 60)  # work of a job that runs until it is stopped
CORES = cython.declare(cython.longlong, 0xFFFFFF)  # the part of a ledger's range that is the cores of each node

if not cython.compiled:
    COMPLETED = State.COMPLETED
    NOTHING, COMPUTE, SPIN = Want


@cython.cclass
class TaskExecution(Execution):
    """The course of every running job, over nodes that a model plays. Times are microseconds throughout.

    `tasks`, `step`, `delay` and `waiting` are for jobs whose profile tells nothing else.
    """

    def __init__(self, tasks="sequential", step=1.0, delay=0.0, waiting="block", sync_delay=0.0) -> None:
        Execution.__init__(self)
        self.patterns = [make_pattern(tasks, step, delay, waiting)]
        self.sync_delay = duration("sync_delay", sync_delay, zero=True) / 1_000_000
        self.table = TaskTable()
        self.timers = EventHeap()
        self.done = integers(64)
        self.done_first = self.done_end = 0
        self.touched = integers(64)
        self.touches = 0
        self.tickets = 0
        self.seed = 0
        self.profile = integers(0)
        self.profile_codes = {}
        self.batches_read = 0
        self.read_patterns()

    # ---- before the run

    def equip(self, layouts, seed, profiles=()):
        """The nodes of all clusters, numbered on from one cluster to the next."""
        self.seed = seed
        for text in profiles:
            self.pattern_code(text)
        self.node_base = np.cumsum([0, *(layout.count for layout in layouts)], dtype=np.int64)
        self.cores = np.concatenate([layout.processors() for layout in layouts])
        self.pace = np.concatenate([layout.pace() for layout in layouts])
        self.sync = np.concatenate([layout.durations("sync_delay", self.sync_delay) for layout in layouts])
        self.n = len(self.cores)
        self.at = integers(self.n)
        self.load = integers(self.n)
        self.jobs_on = integers(self.n)
        self.lapper = integers(self.n, -1)
        self.touch_mark = integers(self.n)
        self.agenda = Agenda(self.n)
        return 0

    def read_patterns(self):
        """The patterns as arrays, after one has been added."""
        self.burst = np.array([pattern.burst for pattern in self.patterns], np.int64)
        self.meets = np.array([pattern.meets for pattern in self.patterns], np.int64)
        self.opens = np.array([pattern.opens for pattern in self.patterns], np.int64)
        self.spins = np.array([pattern.spin for pattern in self.patterns], np.int64)
        self.delays = np.array([pattern.fixed_delay for pattern in self.patterns], np.int64)
        return 0

    def pattern_of(self, slot):
        """Which of the patterns the job follows."""
        row: cython.longlong = self.engine.jobs.at[slot].row
        if row < 0:
            return self.pattern_code(self.live_jobs[-row - 1].get("profile"))
        if row >= len(self.profile):
            self.read_profiles()
        return self.profile[row]

    def read_profiles(self):
        """The patterns of the jobs of further batches of the workload."""
        parts = [np.asarray(self.profile)]
        batches = self.arrivals.batches
        while self.batches_read < len(batches):
            batch = batches[self.batches_read]
            codes = np.array([self.pattern_code(text) for text in [*batch.label_names("profile"), None]], np.int64)
            parts.append(codes[batch.column("profile")])
            self.batches_read += 1
        self.profile = np.concatenate(parts)
        return 0

    def pattern_code(self, text) -> int:
        if not text:
            return 0
        if text not in self.profile_codes:
            self.profile_codes[text] = len(self.patterns)
            self.patterns.append(parse_profile(text, self.patterns[0]))
            self.read_patterns()
        return self.profile_codes[text]

    # ---- a job's way in and out

    def begin(self, slot):
        jobs: JobTable = self.engine.jobs
        table: TaskTable = self.table
        now: cython.longlong = self.engine.now
        t: cython.Py_ssize_t
        pattern: cython.Py_ssize_t = self.pattern_of(slot)
        table.open(slot)
        table.course[slot].pattern = pattern
        table.course[slot].work = jobs.at[slot].run_time if jobs.at[slot].run_time >= 0 else ENDLESS
        table.course[slot].done = jobs.at[slot].progress
        self.place_tasks(slot)
        t = table.course[slot].first
        while t >= 0:
            self.join(t, now)
            t = table.at[t].sibling
        if self.opens[pattern] and table.course[slot].done == 0:
            self.meet(slot, now)
        else:
            self.proceed(slot, now)
        self.settle(now)
        return NEVER

    def place_tasks(self, slot):
        """The job's tasks, on the nodes that its ledger gave it; of whole nodes, evenly over them."""
        jobs: JobTable = self.engine.jobs
        ledger: Ledger = self.engine.ledger_for(slot)
        base: cython.Py_ssize_t = self.node_base[jobs.at[slot].cluster]
        ranges: cython.Py_ssize_t = ledger.describe(slot)
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        _task: cython.longlong
        length: cython.Py_ssize_t
        share: cython.longlong
        given: cython.longlong = 0
        nodes: cython.longlong = 0
        left: cython.longlong = jobs.at[slot].cores
        for k in range(ranges):
            length = ((ledger.ranges[k] >> 24) & 0xFFFFF) + 1
            nodes += length
            given += length * (ledger.ranges[k] & CORES)
        for k in range(ranges):
            for i in range(((ledger.ranges[k] >> 24) & 0xFFFFF) + 1):
                share = ledger.ranges[k] & CORES
                if given > jobs.at[slot].cores:
                    share = (left + nodes - 1) // nodes
                    nodes -= 1
                left -= share
                for _task in range(share):
                    self.table.add(slot, base + (ledger.ranges[k] >> 44) + i)
        return 0

    def join(self, t, now):
        """The new task is on its node."""
        i: cython.Py_ssize_t = self.table.at[t].node
        slot: cython.Py_ssize_t = self.table.at[t].job
        if self.lapper[i] >= 0 and self.lapper[i] != slot:
            self.rejoin(self.lapper[i], now)
        self.advance(i, now)
        if self.table.at[t].sibling < 0 or self.table.at[self.table.at[t].sibling].node != i:
            self.jobs_on[i] += 1
        self.load[i] += 1
        if self.sync[i] > self.table.course[slot].sync:
            self.table.course[slot].sync = self.sync[i]
        self.enter(t)
        self.touch(i)
        return 0

    def disband(self, slot, now):
        """The job's tasks leave their nodes."""
        table: TaskTable = self.table
        t: cython.Py_ssize_t = table.course[slot].first
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        sibling: cython.Py_ssize_t
        while t >= 0:
            i = table.at[t].node
            sibling = table.at[t].sibling
            self.advance(i, now)
            if table.at[t].state != NOTHING:
                self.rest(t)
            self.exit(t)
            self.load[i] -= 1
            if sibling < 0 or table.at[sibling].node != i:
                self.jobs_on[i] -= 1
            self.touch(i)
            for k in range(self.done_first, self.done_end):
                if self.done[k] == t:
                    self.done[k] = -1
            table.drop(t)
            t = sibling
        table.course[slot].first = -1
        table.course[slot].ticket = 0
        return 0

    def interrupt(self, slot, keep):
        jobs: JobTable = self.engine.jobs
        table: TaskTable = self.table
        now: cython.longlong = self.engine.now
        t: cython.Py_ssize_t = table.course[slot].first
        least: cython.longlong = table.course[slot].burst
        done: cython.longlong
        pace: cython.longlong
        if table.course[slot].laps > 0:
            self.rejoin(slot, now)
            least = table.course[slot].burst
        while t >= 0:
            self.advance(table.at[t].node, now)
            if table.at[t].state == COMPUTE:
                pace = self.pace[table.at[t].node]
                done = done_in(self.need(table.course[slot].burst, table.at[t].node) - self.remaining(t), pace)
                if done < least:
                    least = done
            t = table.at[t].sibling
        if keep:
            jobs.at[slot].progress = table.course[slot].done + least
        self.disband(slot, now)
        self.settle(now)
        return 0

    # ---- bursts and meetings

    def proceed(self, slot, now):
        """The job's next burst begins."""
        table: TaskTable = self.table
        t: cython.Py_ssize_t = table.course[slot].first
        work: cython.longlong = table.course[slot].work - table.course[slot].done
        step: cython.longlong = self.burst[table.course[slot].pattern] if table.course[slot].count > 1 else 0
        if step > 0 and work > step - table.course[slot].done % step:
            work = step - table.course[slot].done % step
        table.course[slot].burst = work
        table.course[slot].arrived = 0
        if step > 0 and self.lap(slot, now):
            return 0
        while t >= 0:
            self.advance(table.at[t].node, now)
            if table.at[t].state == SPIN:
                self.rest(t)
            table.at[t].left = self.need(work, table.at[t].node)
            table.at[t].state = COMPUTE
            if table.at[t].left > 0:
                self.ready(t)
            else:  # nothing to do, and no cpu to wait for
                self.report(t)
            self.touch(table.at[t].node)
            t = table.at[t].sibling
        return 0

    def need(self, work, i):
        """The cpu time that the node takes for so much work."""
        return time_for(work, self.pace[i]) if work < ENDLESS >> 1 else ENDLESS

    def arrive(self, t, now):
        """The task has done its burst."""
        table: TaskTable = self.table
        slot: cython.Py_ssize_t = table.at[t].job
        pattern: cython.Py_ssize_t = table.course[slot].pattern
        table.course[slot].arrived += 1
        if self.meets[pattern] and self.spins[pattern] and table.course[slot].count > 1:
            table.at[t].state = SPIN
            table.at[t].left = ENDLESS
            self.ready(t)
        else:
            table.at[t].state = NOTHING
            self.block(t)
        self.touch(table.at[t].node)
        if table.course[slot].arrived < table.course[slot].count:
            return 0
        table.course[slot].done += table.course[slot].burst
        table.course[slot].burst = 0
        return self.meet(slot, now)

    def meet(self, slot, now):
        """All tasks are there: the meeting is over after its delay."""
        delay: cython.longlong = self.delay_of(slot)
        return self.plan(slot, now + delay) if delay > 0 else self.go_on(slot, now)

    def plan(self, slot, time):
        """The job's course changes at that time, unless it is planned again."""
        self.tickets += 1
        self.table.course[slot].ticket = self.tickets
        return self.timers.push(time, self.engine.jobs.at[slot].seq, slot, self.tickets)

    def go_on(self, slot, now):
        """The meeting is over."""
        self.table.course[slot].meeting += 1
        if self.table.course[slot].done < self.table.course[slot].work:
            return self.proceed(slot, now)
        if self.table.course[slot].arrived == 0:  # an opening meeting, and nothing to do
            return self.proceed(slot, now)
        self.disband(slot, now)
        return self.engine.finish(slot, COMPLETED)

    def delay_of(self, slot):
        """How long the job's meeting takes; a task alone meets no other."""
        table: TaskTable = self.table
        pattern: cython.Py_ssize_t = table.course[slot].pattern
        if table.course[slot].count < 2 or not self.meets[pattern]:
            return 0
        if self.delays[pattern] >= 0:
            return self.delays[pattern] + table.course[slot].sync
        job: object = self.engine.jobs.at[slot].job_id
        drawn: cython.longlong = self.patterns[pattern].draw_delay(self.seed, job, table.course[slot].meeting)
        return drawn + table.course[slot].sync

    def fire(self, now):
        i: cython.Py_ssize_t
        while True:
            if self.done_first < self.done_end:
                i = self.done[self.done_first]
                self.done_first += 1
                if i >= 0:
                    self.arrive(i, now)
            elif self.timers.first <= now:
                self.timers.pop()
                i = self.timers.slot
                if self.table.course[i].ticket == self.timers.stamp:
                    if self.table.course[i].laps > 0:
                        self.rejoin(i, now)
                    else:
                        self.go_on(i, now)
            elif self.agenda.next <= now:
                self.advance(self.agenda.first, now)
                self.touch(self.agenda.first)
            else:
                break
            if self.done_first == self.done_end:
                self.settle(now)
            if self.engine.per_event:
                break
        return self.settle(now)

    def touch(self, i):
        """Something has changed on the node: what it will do next is not known any more."""
        if self.touch_mark[i] == 0:
            self.touch_mark[i] = 1
            if self.touches == len(self.touched):
                self.touched = doubled(self.touched)
            self.touched[self.touches] = i
            self.touches += 1
        return 0

    def settle(self, now):
        """After all changes: when each of the changed nodes has something to tell, and when that is first."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        for k in range(self.touches):
            i = self.touched[k]
            self.touch_mark[i] = 0
            self.agenda.set(i, self.predict(i))
        self.touches = 0
        if self.done_first == self.done_end:
            self.done_first = self.done_end = 0
            self.next = self.agenda.next
            if self.timers.first < self.next:
                self.next = self.timers.first
        else:
            self.next = now
        return 0

    def report(self, t):
        """A model tells that the task has done its burst."""
        if self.done_end == len(self.done):
            self.done = doubled(self.done)
        self.done[self.done_end] = t
        self.done_end += 1
        return 0

    # ---- a job that is alone is not played

    def lap(self, slot, now):
        """Whether the job's full steps up to the last are taken at once: it is alone on its nodes, with a core for
        each of its tasks, and every step takes the same time."""
        table: TaskTable = self.table
        step: cython.longlong = self.burst[table.course[slot].pattern]
        laps: cython.longlong = (table.course[slot].work - table.course[slot].done - 1) // step
        t: cython.Py_ssize_t = table.course[slot].first
        i: cython.Py_ssize_t
        longest: cython.longlong = 0
        time: cython.longlong
        if laps < 2 or table.course[slot].done % step > 0 or self.delays[table.course[slot].pattern] < 0:
            return False
        while t >= 0:
            i = table.at[t].node
            if self.jobs_on[i] > 1 or self.load[i] > self.cores[i] or not self.steady(t):
                return False
            time = self.overhead(t) + time_for(step, self.pace[i])
            if time > longest:
                longest = time
            t = table.at[t].sibling
        longest += self.delay_of(slot)
        if laps > ENDLESS // (longest + 1) >> 1:
            laps = ENDLESS // (longest + 1) >> 1
        table.course[slot].lap = longest
        table.course[slot].laps = laps
        table.course[slot].since = now
        t = table.course[slot].first
        while t >= 0:
            i = table.at[t].node
            self.advance(i, now)
            if table.at[t].state == SPIN:
                self.rest(t)
            table.at[t].state = NOTHING
            self.lapper[i] = slot
            self.touch(i)
            t = table.at[t].sibling
        self.plan(slot, now + laps * longest)
        return True

    def rejoin(self, slot, now):
        """The job is played again from now on: as far as it has come, in the middle of a step or a meeting."""
        table: TaskTable = self.table
        lap: cython.longlong = table.course[slot].lap
        laps: cython.longlong = (now - table.course[slot].since) // lap
        within: cython.longlong = now - table.course[slot].since - laps * lap
        step: cython.longlong = self.burst[table.course[slot].pattern]
        spins: cython.bint = self.spins[table.course[slot].pattern]
        t: cython.Py_ssize_t = table.course[slot].first
        i: cython.Py_ssize_t
        need: cython.longlong
        over: cython.longlong
        last: cython.bint = laps == table.course[slot].laps
        table.course[slot].laps = 0
        table.course[slot].ticket = 0
        table.course[slot].done += laps * step
        table.course[slot].meeting += laps
        table.course[slot].arrived = 0
        while t >= 0:
            i = table.at[t].node
            self.lapper[i] = -1
            self.advance(i, now)
            need = time_for(step, self.pace[i])
            over = self.overhead(t)
            self.catch_up(t, laps, within, need, over)
            if last:
                table.at[t].state = NOTHING
                if not spins:
                    self.block(t)
            elif within < over + need:
                table.at[t].state = COMPUTE
                table.at[t].left = need - (within - over if within > over else 0)
                self.ready(t)
            elif spins:
                table.at[t].state = SPIN
                table.at[t].left = ENDLESS
                table.course[slot].arrived += 1
                self.ready(t)
            else:
                table.at[t].state = NOTHING
                table.course[slot].arrived += 1
                self.block(t)
            self.touch(i)
            t = table.at[t].sibling
        if last:
            return self.proceed(slot, now)
        table.course[slot].burst = step
        if table.course[slot].arrived == table.course[slot].count:
            table.course[slot].done += step
            table.course[slot].burst = 0
            self.plan(slot, now - within + lap)
        return 0

    # ---- what a model does: all on nodes that have been played up to now

    def enter(self, t):
        """The task is new on its node, and wants nothing yet."""
        return 0

    def ready(self, t):
        """The task wants the cpu: to compute `left`, or to spin."""
        raise NotImplementedError(f"{type(self).__name__}.ready")

    def rest(self, t):
        """The task, which wanted the cpu, does not want it any more; its state is still what it was."""
        raise NotImplementedError(f"{type(self).__name__}.rest")

    def block(self, t):
        """The task has done its burst, and waits without the cpu."""
        return 0

    def exit(self, t):
        """The task leaves its node."""
        return 0

    def advance(self, i, now):
        """Play the node up to now, and `report` the tasks that have done their bursts."""
        raise NotImplementedError(f"{type(self).__name__}.advance")

    def predict(self, i):
        """When the next task of the node will have done its burst, if nothing else happens."""
        raise NotImplementedError(f"{type(self).__name__}.predict")

    def remaining(self, t):
        """The cpu time that a computing task still needs."""
        return self.table.at[t].left

    def steady(self, t):
        """Whether the task, alone with its siblings, will go on in the same way step after step."""
        return True

    def overhead(self, t):
        """What it costs the task to get the cpu for its next burst."""
        return 0

    def catch_up(self, t, laps, within, need, over):
        """The task has gone through so many steps without being played, and is so far in the next."""
        return 0
