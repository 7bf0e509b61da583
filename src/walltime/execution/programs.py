"""A started job runs as a program: how long it takes emerges from what it does and what it shares with others.

Its profile, the workload's column of that name, tells what it does; a job without one runs for as long as its trace
says. The programs' clock counts parts of a microsecond, the engine's whole ones: a program that ends between two is
over at the later one, and what happens inside programs is not rounded.
"""

from __future__ import annotations

import math

import cython
import numpy as np

from walltime.core.errors import InputError
from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND as _SECOND
from walltime.execution.model import Execution
from walltime.kernel.jobs import JobTable, State, done_in, time_for
from walltime.kernel.source import Moment
from walltime.programs.activities import Activities
from walltime.programs.errors import tell
from walltime.programs.metering import Meters, measure
from walltime.programs.platform import Platform
from walltime.programs.profiles import Profiles, read_profiles
from walltime.programs.program import Program
from walltime.programs.speedup import check_factor, read_speedup
from walltime.programs.steps import Idle

NEVER = cython.declare(cython.longlong, _NEVER)
SECOND = cython.declare(cython.longlong, _SECOND)
FAR = cython.declare(cython.double, float(_NEVER))
SLIGHT = cython.declare(cython.double, 1e-3)
"""Microseconds by which a sum of floats may miss a whole one."""
TOLD = cython.declare(cython.Py_ssize_t, 10)
"""So many programs that failed are told of."""

if not cython.compiled:
    ceil = math.ceil
    COMPLETED, FAILED, TIMEOUT = State.COMPLETED, State.FAILED, State.TIMEOUT
    LEFT = Moment.LEFT

ON_ERROR = ("fail", "stop")


@cython.cclass
class Programs(Execution):
    """Jobs are programs. A core of speed 1 does `flops` operations a second; `speedup` tells how several are faster.

    A program with an error fails its job, and the rest goes on (`on_error: fail`), or it ends the simulation (`stop`).
    One that begins more than so many `operations` is taken for one that never ends, which is an error.
    """

    def __init__(self, flops=1e9, speedup="linear", on_error="fail", operations=10_000_000) -> None:
        Execution.__init__(self)
        self.hears = LEFT
        if isinstance(operations, bool) or not isinstance(operations, int) or not 1 <= operations < NEVER:
            raise InputError("operations is a whole number from 1 on", value=operations)
        self.most = operations
        if on_error not in ON_ERROR:
            raise InputError("on_error is not one of its choices", value=on_error, choices=ON_ERROR)
        self.flops = check_factor(float(flops) if isinstance(flops, str) else flops)
        self.speedup = read_speedup(speedup)
        self.on_error = on_error
        self.profiles = Profiles()
        self.platforms = []
        self.metering = False
        self.machines = []
        self.errors = []  # what the first programs that failed say
        self.failed = 0
        self.cut = []  # the same of those that were at their limit
        self.cut_off = 0
        self.stopped = None  # of the job that is leaving: where its program stood
        self.programs = {}  # of running and suspended jobs, by slot: ((seq, attempt, nodes), program)
        self.finished = []  # programs that are over, whose jobs are still to end
        self.saved = {}  # of running jobs, by slot: (seq, attempt, state, progress, time that it took)
        self.released = []  # programs with processes that are over, whose nodes are still to be given back

    # ---- before the run

    def read(self, path) -> None:
        """The file of profiles that jobs name."""
        self.profiles = read_profiles(path)

    def equip(self, layouts, seed, profiles=()):
        for text in profiles:
            self.profiles.find(text)
        return 0

    def connect(self, machines):
        self.machines = list(machines)
        for machine in machines:
            layout = machine.layout
            self.platforms.append(
                Platform(
                    layout.processors(),
                    layout.pace().astype(np.float64) / 1e6 * self.flops,
                    machine.network,
                    machine.disks,
                    machine.components,
                    layout.names(),
                    crowded=any([group.max_load > 1 for group in layout.groups]),  # noqa: C419
                )
            )
            if self.metering:
                self.platforms[len(self.platforms) - 1].measure(Meters())
        return 0

    def traffic(self) -> list:
        """After the run: what programs have moved in each cluster, where that was to be measured."""
        platform: Platform
        if not self.metering:
            return []
        for platform in self.platforms:
            self.catch_up(platform, self.engine.now)
            platform.activities.note_all()
        return [measure(one.meters, machine) for one, machine in zip(self.platforms, self.machines)]  # noqa: B905

    # ---- a job's way in and out

    def taken(self, slot):
        """How long a program takes is not known: what the trace says of its run time does not count."""
        if self.profile_of(slot) is not None:
            self.engine.jobs.at[slot].run_time = -1
        return Execution.taken(self, slot)

    def begin(self, slot):
        jobs: JobTable = self.engine.jobs
        platform: Platform = self.platforms[jobs.at[slot].cluster]
        program: Program
        shares = self.shares_of(slot)
        mine = (jobs.at[slot].seq, jobs.at[slot].attempt, [node for node, _ in shares])
        self.catch_up(platform, self.engine.now)
        kept = self.programs.get(slot)
        if kept is not None and kept[0] == mine:
            program = kept[1]
            program.go_on()
            self.released.append(program)
            if program.over:
                self.finished.append(program)
        else:
            if kept is not None:
                cython.cast(Program, kept[1]).close()
            self.programs[slot] = (mine, self.start(slot, platform, shares))
        self.look()
        return NEVER

    def start(self, job, platform: Platform, shares) -> Program:
        """The job's program from its beginning; where it has none, as long a sleep as its trace says."""
        slot: cython.Py_ssize_t = job
        jobs: JobTable = self.engine.jobs
        left: cython.longlong = jobs.at[slot].run_time - jobs.at[slot].progress
        text = self.profile_of(slot)
        program: Program = Program(platform, shares, self.speedup, jobs.at[slot].job_id, text, self.note)
        program.slot = slot
        program.most = self.most
        program.on_release = self.released.append
        program.on_checkpoint = self.save
        if text is not None:
            program.start(self.profiles.find(text), self.state_of(slot)[2])
        elif jobs.at[slot].run_time >= 0:
            program.start(Idle(time_for(left, jobs.at[slot].speed) / 1e6))
        return program

    def note(self, program):
        """A program is over; its job ends when the engine asks for it."""
        self.finished.append(program)

    def save(self, program: Program, state):
        """The program has written a checkpoint."""
        slot: cython.Py_ssize_t = program.slot
        jobs: JobTable = self.engine.jobs
        moment: cython.longlong = cython.cast(cython.longlong, ceil(program.platform.activities.now - SLIGHT))
        elapsed: cython.longlong = max(min(moment, self.engine.now) - jobs.at[slot].start, 0)
        done: cython.longlong = jobs.at[slot].progress + done_in(elapsed, jobs.at[slot].speed)
        self.saved[slot] = (jobs.at[slot].seq, jobs.at[slot].attempt, state, done, jobs.at[slot].used + elapsed)
        return 0

    def state_of(self, job) -> tuple:
        """What the job has saved in this attempt, or has gone on from: its state, progress and time last."""
        slot: cython.Py_ssize_t = job
        jobs: JobTable = self.engine.jobs
        found = self.saved.get(slot)
        if found is None or found[0] != jobs.at[slot].seq or found[1] != jobs.at[slot].attempt:
            return (jobs.at[slot].seq, jobs.at[slot].attempt, None, 0, 0)
        return found

    def restore(self, slot):
        """The job is to go on, on any nodes, from the state that its program saved last."""
        jobs: JobTable = self.engine.jobs
        seq, attempt, state, done, time = self.state_of(slot)
        self.saved[slot] = (seq, attempt + 1, state, done, time)
        jobs.at[slot].progress = jobs.at[slot].saved = done
        return time

    def interrupt(self, slot, keep):
        """The program stands still. It goes on where the job is resumed on the same nodes, else it begins again."""
        jobs: JobTable = self.engine.jobs
        program: Program
        kept = self.programs.get(slot)
        if kept is None:
            return 0
        program = kept[1]
        self.catch_up(program.platform, self.engine.now)
        if not program.over:
            program.pause()
        if keep:
            jobs.at[slot].progress += done_in(self.engine.now - jobs.at[slot].start, jobs.at[slot].speed)
        self.look()
        return 0

    def ended(self, slot):
        self.saved.pop(slot, None)
        kept = self.programs.pop(slot, None)
        self.stopped = None
        if kept is not None:
            program: Program = kept[1]
            self.stopped = self.place_of(slot, program)
            program.close()
            self.look()
        return 0

    def place_of(self, slot, program: Program):
        """Where the program stands, for a person; None for one that is over, or that only sleeps as its trace says."""
        text = self.profile_of(slot)
        if program.over or text is None:
            return None
        where = program.standing()
        step = self.profiles.find(text)
        if where is None and getattr(step, "file", None) is not None:
            where = f"{step.file}:{step.line}"
        return ("" if where is None else f"{where}: ") + f"job {program.label}, profile {program.profile}"

    def left(self, slot, state):
        """A job that was stopped at its limit is told of, with where its program stood."""
        if state == TIMEOUT and self.stopped is not None:
            self.cut_off += 1
            if len(self.cut) < TOLD:
                self.cut.append(self.stopped)
        return None

    # ---- time

    def catch_up(self, platform: Platform, now):
        """Let programs go on up to now."""
        activities: Activities = platform.activities
        moment: cython.double = activities.next_time()
        while moment <= now + SLIGHT:
            activities.advance(moment)
            moment = activities.next_time()
        return activities.advance(cython.cast(cython.double, now))

    def fire(self, now):
        platform: Platform
        for platform in self.platforms:
            self.catch_up(platform, now)
        while self.released or self.finished:
            if self.released:
                self.shrink(self.released.pop(0))
            else:
                self.end(self.finished.pop(0))
            if self.engine.per_event:
                break
        return self.look()

    def shrink(self, program: Program):
        """The nodes of processes that are over go back to the scheduler; the job keeps one while its program runs."""
        slot: cython.Py_ssize_t = program.slot
        kept = self.programs.get(slot)
        if kept is None or kept[1] is not program or program.over or program.paused:
            return 0
        nodes: list = kept[0][2]
        left = [process.node for process in program.processes if process.gone and process.node in nodes]
        if len(left) == len(nodes):
            left = left[1:]
        if not left:
            return 0
        self.engine.shrink(slot, left)
        self.programs[slot] = ((kept[0][0], kept[0][1], [node for node in nodes if node not in left]), program)
        return 0

    def end(self, program: Program):
        """The job of a program that is over ends; a job that has been interrupted since has not."""
        slot: cython.Py_ssize_t = program.slot
        kept = self.programs.get(slot)
        if kept is None or kept[1] is not program or program.paused:
            return 0
        if program.error is None:
            return self.engine.finish(slot, COMPLETED)
        said = tell(program)
        if self.on_error == "stop":
            raise InputError(f"a program has failed at {self.engine.now / SECOND:g} s: {said}")
        self.failed += 1
        if len(self.errors) < TOLD:
            self.errors.append(said)
        return self.engine.finish(slot, FAILED)

    def look(self):
        """When something happens next."""
        platform: Platform
        moment: cython.double
        first: cython.double = FAR
        if self.finished or self.released:
            self.next = self.engine.now
            return 0
        for platform in self.platforms:
            moment = platform.activities.next_time()
            if moment < first:
                first = moment
        if first >= FAR:
            self.next = NEVER
        else:
            self.next = cython.cast(cython.longlong, ceil(first - SLIGHT))
            if self.next < self.engine.now:
                self.next = self.engine.now
        return 0

    def forget(self):
        return 0
