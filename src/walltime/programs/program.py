"""A job that runs as a program: its processes, what they do, and what waits for what.

Everything that takes time is a `Pending`: an operation of a process, a coroutine, several of either. `await` waits for
it. The clock is the simulator's, and at most one coroutine runs at a time, so that a run is the same every time.
"""

from __future__ import annotations

import copy
from collections.abc import Coroutine

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.programs.activities import Activities, Waiter
from walltime.programs.errors import ProfileError, StorageError
from walltime.programs.platform import DiskState, Platform

INFINITE = cython.declare(cython.double, float("inf"))
NO_END = cython.declare(cython.longlong, _NEVER)
MOST_AT_ONCE = cython.declare(cython.longlong, 1_000_000)
"""Operations that one program may begin at one moment; one more, and it is a loop that takes no time."""

CURRENT = cython.declare(object, None)  # the program whose coroutine runs


class StepPath(tuple):
    """A checkpoint of a profile of a file: which step of its sequence is next, from the outermost to the innermost."""

    __slots__ = ()


@cython.cclass
class Pending(Waiter):
    """Something that will be over; `await` it for its result, or the error with which it ended."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.over = False
        self.result = self.error = self.listeners = None

    def __await__(self):
        return self

    def __iter__(self):
        return self

    def __next__(self):
        if not self.over:
            return self
        if self.error is not None:
            raise self.error
        raise StopIteration(self.result)

    def listen(self, other: Pending):
        """The other is told once this is over."""
        if self.listeners is None:
            self.listeners = [other]
        else:
            self.listeners.append(other)
        return 0

    def told(self, child: Pending):
        """Something that this has listened to is over."""
        raise NotImplementedError(f"{type(self).__name__}.told")

    def finish(self, result, error):
        """This is over: all that listen are told, in the order in which they came."""
        k: cython.Py_ssize_t
        listeners: list = self.listeners
        if self.over:
            return 0
        self.over = True
        self.result = result
        self.error = error
        self.listeners = None
        if listeners is not None:
            for k in range(len(listeners)):
                cython.cast(Pending, listeners[k]).told(self)
        return 0

    def cancel(self):
        """Stop, without telling anything that listens."""
        self.over = True
        self.listeners = None
        self.error = ProfileError("this was cancelled")
        return 0


@cython.final
@cython.cclass
class Operation(Pending):
    """One activity, or several that are over together."""

    def __init__(self, program: Program) -> None:
        Pending.__init__(self, program)
        self.numbers = set()
        program.begin_operation()
        program.operations[self] = None

    def add(self, amount, delay, weight, bound):
        """One more activity, which has not begun."""
        a: cython.Py_ssize_t = self.program.platform.activities.open(amount, delay, weight, bound, self)
        self.numbers.add(a)
        return a

    def add_together(self, amount, delay, weight, bound, uses, sizes):
        """One activity that takes so much of each resource by its end, and moves so much at each end; it begins."""
        activities: Activities = self.program.platform.activities
        a: cython.Py_ssize_t = self.add(amount, delay, weight, bound)
        for resource, whole in uses.items():
            activities.use_resource(a, resource, whole / amount)
        if self.program.platform.meters is not None:
            activities.measure(a, self.program.platform.meters.of_task(sizes, amount))
        return activities.go(a)

    def begun(self):
        """All its activities have been added; where there are none it is over."""
        if not self.numbers and not self.over:
            self.program.operations.pop(self, None)
            self.finish(None, None)
        return 0

    def fail(self, error) -> None:
        """It cannot be done: `await` raises the error."""
        self.cancel()
        self.error = error

    def wake(self, a):
        program: Program = self.program
        self.numbers.discard(a)
        if not self.numbers:
            program.operations.pop(self, None)
            self.finish(None, None)
            return program.settle()
        return 0

    def cancel(self):
        a: cython.Py_ssize_t
        activities: Activities = self.program.platform.activities
        for a in self.numbers:
            activities.cancel(a)
        self.numbers.clear()
        self.program.operations.pop(self, None)
        return Pending.cancel(self)

    def pause(self) -> None:
        """Stop for a while."""
        for a in self.numbers:
            self.program.platform.activities.pause(a)

    def go_on(self) -> None:
        for a in self.numbers:
            self.program.platform.activities.go(a)


@cython.final
@cython.cclass
class Task(Pending):
    """A coroutine, which runs until it waits for something."""

    def __init__(self, program: Program, coroutine) -> None:
        Pending.__init__(self, program)
        self.coroutine = coroutine
        self.awaited = None
        self.running = False

    def told(self, child: Pending):
        return self.step()

    def step(self):
        """Let the coroutine run on."""
        global CURRENT
        if self.over:
            return 0
        before: object = CURRENT
        CURRENT = self.program
        self.awaited = None
        self.running = True
        try:
            awaited = self.coroutine.send(None)
        except StopIteration as stop:
            self.running = False
            return self.finish(stop.value, None)
        except Exception as error:
            self.running = False
            return self.finish(None, error)
        finally:
            CURRENT = before
        self.running = False
        if not isinstance(awaited, Pending):
            return self.finish(None, self.refuse(awaited))
        self.awaited = awaited
        return self.awaited.listen(self)

    def refuse(self, awaited):
        """Raise in the coroutine, so that the line is known, that this cannot be awaited here; what came of it."""
        error = ProfileError(f"awaits what is none of the simulation's: {type(awaited).__name__}")
        try:
            self.coroutine.throw(error)
        except (Exception, GeneratorExit) as raised:
            return raised
        self.coroutine.close()
        return error

    def cancel(self):
        awaited: Pending = self.awaited
        Pending.cancel(self)
        if not self.running:  # it may cancel itself, as the one that lost a race
            self.coroutine.close()
        if awaited is not None and not awaited.over:
            self.awaited = None
            return awaited.cancel()
        return 0

    def frame(self):
        """Where the coroutine stands, in the innermost of those that it waits for."""
        inner = self.coroutine
        while isinstance(inner.cr_await, Coroutine):
            inner = inner.cr_await
        return inner.cr_frame


@cython.cclass
class Several(Pending):
    """What is over by what becomes of its children."""

    def __init__(self, program: Program, children) -> None:
        Pending.__init__(self, program)
        self.children = list(children)

    def cancel(self):
        Pending.cancel(self)
        return self.cancel_children()

    def cancel_children(self):
        """Cancel those that are not over."""
        child: Pending
        for child in self.children:
            if not child.over:
                child.cancel()
        return 0


@cython.final
@cython.cclass
class Together(Several):
    """All of several: over with the last, or with the first error, which cancels the others. The result is a list."""

    def __init__(self, program: Program, children) -> None:
        child: Pending
        Several.__init__(self, program, children)
        self.open = 0
        for child in self.children:
            if not child.over:
                self.open += 1
                child.listen(self)
        for child in self.children:
            if child.over and child.error is not None:
                self.fail(child.error)
                return
        if self.open == 0:
            self.finish([child.result for child in self.children], None)

    def told(self, child: Pending):
        if self.over:
            return 0
        if child.error is not None:
            return self.fail(child.error)
        self.open -= 1
        if self.open == 0:
            return self.finish([one.result for one in self.children], None)
        return 0

    def fail(self, error):
        self.cancel_children()
        return self.finish(None, error)


@cython.final
@cython.cclass
class Race(Several):
    """The first of several, which cancels the others. The result is (its place, its result)."""

    def __init__(self, program: Program, children) -> None:
        child: Pending
        Several.__init__(self, program, children)
        for child in self.children:
            if child.over:
                self.told(child)
                return
        for child in self.children:
            child.listen(self)

    def told(self, child: Pending):
        place: cython.Py_ssize_t = 0
        if self.over:
            return 0
        for i in range(len(self.children)):
            if self.children[i] is child:
                place = i
        self.cancel_children()
        return self.finish(None if child.error is not None else (place, child.result), child.error)


@cython.final
@cython.cclass
class Timed(Pending):
    """Something, or a TimeoutError once the timer is over before it."""

    def __init__(self, program: Program, child: Pending, timer: Pending) -> None:
        Pending.__init__(self, program)
        self.child = child
        self.timer = timer
        if child.over:
            self.told(child)
        else:
            child.listen(self)
            timer.listen(self)

    def told(self, child: Pending):
        if self.over:
            return 0
        if child is self.child:
            if not self.timer.over:
                self.timer.cancel()
            return self.finish(child.result, child.error)
        self.child.cancel()
        return self.finish(None, TimeoutError("not over in time"))

    def cancel(self):
        Pending.cancel(self)
        if not self.child.over:
            self.child.cancel()
        return self.timer.cancel() if not self.timer.over else 0


@cython.final
@cython.cclass
class Program:
    """One job that runs. `nodes` are (node, cores) of its processes; `on_end(program)` is called once it is over.

    `label` and `profile` are for messages: the job, and the name of its profile; `slot` is the job that it runs for;
    `most` is how many operations it may begin, all told;
    `on_release(program)` is called where one of its processes is over before it, `on_checkpoint(program, state)` where
    it saves a state from which it could go on; one that goes on has it as `restored`.
    """

    def __init__(self, platform: Platform, nodes, speedup, label=None, profile=None, on_end=None) -> None:
        self.platform = platform
        self.label = label
        self.profile = profile
        self.on_end = on_end
        self.slot = -1
        self.over = self.paused = False
        self.error = self.root = self.on_release = self.on_checkpoint = None
        self.restored = self.inside = self.resume = None
        self.fresh = False
        self.operations = {}
        self.written = {}
        self.moment = -1.0
        self.begun = self.all_begun = 0
        self.most = NO_END
        self.processes = [Process(self, rank, node, cores, speedup) for rank, (node, cores) in enumerate(nodes)]

    def start(self, profile, restored=None) -> None:
        """Run a profile: anything with `run(processes)` that is a coroutine or something to wait for; from its
        beginning, or from a state that it saved."""
        self.restored = restored
        self.resume = list(restored) if isinstance(restored, StepPath) else None
        self.fresh = True
        try:
            self.root = begin_run(self, profile, self.processes)
        except Exception as error:
            self.end(error)
            return
        self.settle()

    def settle(self):
        """Look whether the program is over, or waits for what will never come."""
        if self.over or self.root is None:
            return 0
        if self.root.over:
            return self.end(self.root.error)
        if not self.operations:
            frame = cython.cast(Task, self.root).frame() if isinstance(self.root, Task) else None
            return self.end(ProfileError("waits for something that never happens", frame=frame))
        return 0

    def begin_operation(self):
        """Count what begins at one moment; raises ProfileError for too much, or where the job has ended."""
        if self.over:
            raise ProfileError("the job has ended")
        if self.platform.activities.now != self.moment:
            self.moment = self.platform.activities.now
            self.begun = 0
        self.begun += 1
        if self.begun > MOST_AT_ONCE:
            raise ProfileError(f"{MOST_AT_ONCE:,} operations at one moment: a loop that takes no time")
        self.all_begun += 1
        if self.all_begun > self.most:
            raise ProfileError(f"{self.most:,} operations, and no end; the model's `operations` allows more")
        return 0

    def standing(self):
        """Where the program waits, for a person: the file and the line, in code or among profiles; None where that is
        not known."""
        rounds: object = self.inside
        if isinstance(self.root, Task):
            frame = cython.cast(Task, self.root).frame()
            return None if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
        return None if rounds is None else rounds.standing()

    def save(self, state):
        """From here the program could go on."""
        if self.on_checkpoint is not None:
            self.on_checkpoint(self, state)
        return 0

    def end(self, error):
        self.error = error
        self.close()
        if self.on_end is not None:
            self.on_end(self)
        return 0

    def close(self):
        """The program is over, whatever it was doing: all that it used is free."""
        process: Process
        if self.over:
            return 0
        self.over = True
        if self.root is not None and not self.root.over:
            try:
                self.root.cancel()
            except Exception as error:
                self.error = self.error or error
        for operation in list(self.operations):
            operation.cancel()
        for disk, size in self.written.items():
            cython.cast(DiskState, disk).used -= size
        for process in self.processes:
            self.platform.give_back(process.own)
        return 0

    def pause(self) -> None:
        """Everything that the program does stands still."""
        self.paused = True
        for operation in self.operations:
            operation.pause()

    def go_on(self) -> None:
        """After a pause."""
        self.paused = False
        for operation in self.operations:
            operation.go_on()


@cython.final
@cython.cclass
class Process:
    """One process of a job, on one node, with `cores` of it. What it does begins at once, and may be awaited.

    Work is in operations (flops), sizes are bytes, times seconds.
    """

    def __init__(self, program: Program, rank, node, cores, speedup) -> None:
        self.program = program
        self.activities = program.platform.activities
        self.rank = rank
        self.node = node
        self.cores = cores
        self.gone = False
        self.speed = program.platform.speed[node]
        self.full = speedup(cores)
        self.own = program.platform.lend(float(cores))

    @property
    def name(self):
        """The name of its node."""
        return self.program.platform.names[self.node]

    @property
    def now(self):
        """The simulated time, in seconds."""
        return self.activities.now / 1e6

    def sleep(self, seconds):
        """Wait for so long."""
        amount: cython.double = number(seconds, "seconds")
        self.check()
        made: Operation = Operation(self.program)
        self.add_sleep(made, amount)
        return made

    def compute(self, flops, speedup=None):
        """Do so many operations on all its cores: work / speed / speed-up(cores), longer where cores are shared."""
        amount: cython.double = number(flops, "flops")
        self.check()
        full: cython.double = self.full if speedup is None else speedup(self.cores)
        made: Operation = Operation(self.program)
        self.add_compute(made, amount, full)
        return made

    def transfer(self, size, other):
        """Send so many bytes to another process of the job, or to an outside component by name."""
        amount: cython.double = number(size, "bytes")
        self.check()
        target: cython.Py_ssize_t = self.end_of(other)
        made: Operation = Operation(self.program)
        self.add_transfer(made, amount, self.node, target)
        return made

    def receive(self, size, source):
        """Get so many bytes from another process of the job, or from an outside component by name."""
        amount: cython.double = number(size, "bytes")
        self.check()
        end: cython.Py_ssize_t = self.end_of(source)
        made: Operation = Operation(self.program)
        self.add_transfer(made, amount, end, self.node)
        return made

    def read(self, size, where=None):
        """Read so many bytes from its node's disk, or from that of a component; raises StorageError when awaited."""
        amount: cython.double = number(size, "bytes")
        self.check()
        made: Operation = Operation(self.program)
        self.add_disk(made, amount, where, False)
        return made

    def write(self, size, where=None):
        """Write so many bytes, likewise. On a node's disk they are there until the job ends; a component keeps them."""
        amount: cython.double = number(size, "bytes")
        self.check()
        made: Operation = Operation(self.program)
        self.add_disk(made, amount, where, True)
        return made

    @property
    def restored(self):
        """The state of the last checkpoint, where the job goes on from one; else None."""
        state = self.program.restored
        return None if isinstance(state, StepPath) else copy.deepcopy(state)

    def checkpoint(self, state) -> None:
        """Save what the program needs to go on from here. It takes no time: write what it would take before it."""
        self.check()
        if state is None or isinstance(state, StepPath):
            raise ProfileError("a checkpoint needs a state that is not None")
        self.program.save(copy.deepcopy(state))

    def release(self) -> None:
        """The process is over: it does nothing more, and nothing may be sent to it; its node is another job's to have.

        Raises ProfileError while it computes. Transfers and what goes on on disks end as they would have."""
        program: Program = self.program
        platform: Platform = program.platform
        self.check()
        if self.activities.shares.resource[self.own].count > 0:
            raise ProfileError(f"process {self.rank} is released while it computes")
        self.gone = True
        disk: DiskState = platform.disk_of(self.node)
        if disk is not None:
            disk.used -= program.written.pop(disk, 0.0)
        if program.on_release is not None:
            program.on_release(program)

    # ---- activities

    def check(self):
        if self.gone:
            raise ProfileError(f"process {self.rank} is gone")
        return 0

    def end_of(self, other):
        """The number of a process's node, or of a component."""
        if isinstance(other, Process):
            process: Process = other
            process.check()
            return process.node
        if isinstance(other, str):
            found = self.program.platform.outside.get(other)
            if found is None:
                names = ", ".join(self.program.platform.outside) or "none"
                raise ProfileError(f"there is no component {other!r} (components: {names})")
            return found
        raise ProfileError(f"neither a process nor the name of a component: {other!r}")

    def add_sleep(self, made: Operation, seconds):
        return self.activities.go(made.add(0.0, seconds, 1.0, INFINITE))

    def add_compute(self, made: Operation, flops, speedup):
        """Amounts are core-seconds: at full speed it has all cores of the process."""
        cores: cython.double = self.cores
        a: cython.Py_ssize_t = made.add(flops / self.speed / speedup * cores, 0.0, cores, cores)
        shared: cython.Py_ssize_t = self.program.platform.processor[self.node]
        self.activities.use_resource(a, self.own, 1.0)
        if shared >= 0:
            self.activities.use_resource(a, shared, 1.0)
        return self.activities.go(a)

    def add_work(self, uses, flops):
        """Add what a computation takes by its end of the cores of the process, and of its node's."""
        shared: cython.Py_ssize_t = self.program.platform.processor[self.node]
        whole: cython.double = flops / self.speed / self.full * self.cores
        if whole > 0:
            uses[self.own] = uses.get(self.own, 0.0) + whole
            if shared >= 0:
                uses[shared] = uses.get(shared, 0.0) + whole
        return 0

    def add_transfer(self, made: Operation, size, source, target):
        resource: object
        latency: cython.double
        bound: cython.double
        resources, latency, bound = self.program.platform.route(source, target)
        a: cython.Py_ssize_t = made.add(size, latency, 1.0, bound)
        for resource in resources:
            self.activities.use_resource(a, resource, 1.0)
        if self.program.platform.meters is not None:
            self.activities.measure(a, self.program.platform.meters.of_transfer(source, target))
        return self.activities.go(a)

    def add_disk(self, made: Operation, size, where, writes):
        """On a component's disk the bytes pass the network at the same time."""
        platform: Platform = self.program.platform
        end: cython.Py_ssize_t = self.node if where is None else self.end_of(where)
        disk: DiskState = platform.disk_of(end)
        latency: cython.double = 0.0
        bound: cython.double = INFINITE
        resources: tuple = ()
        if disk is None:
            made.fail(StorageError(f"{self.name if where is None else where} has no disk"))
            return 0
        room: cython.double = disk.capacity - disk.used if writes else disk.capacity
        if size > room:
            verb = "write" if writes else "read"
            made.fail(StorageError(f"cannot {verb} {size:g} bytes on a disk that has {room:g}"))
            return 0
        if writes:
            disk.used += size
            if disk.scratch:
                self.program.written[disk] = self.program.written.get(disk, 0.0) + size
        if end != self.node:
            resources, latency, bound = platform.route(self.node, end) if writes else platform.route(end, self.node)
        a: cython.Py_ssize_t = made.add(size, latency, 1.0, bound)
        for resource in resources:
            self.activities.use_resource(a, resource, 1.0)
        self.activities.use_resource(a, disk.writer if writes else disk.reader, 1.0)
        if platform.meters is not None:
            self.activities.measure(a, platform.meters.of_disk(self.node, end, writes))
        if disk.gate >= 0:
            self.activities.pass_gate(a, disk.gate)
        return self.activities.go(a)


def number(value, what):
    """A number from 0 on; raises ProfileError for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e100:
        try:
            value = float(value) if not isinstance(value, (bool, str)) else -1.0
        except (TypeError, ValueError, OverflowError):
            value = -1.0
        if not 0 <= value < 1e100:
            raise ProfileError(f"{what} must be a number from 0 on")
    return float(value)


def begin_run(program: Program, profile, processes) -> Pending:
    """Begin what the profile's `run` gives: a coroutine, or something to wait for."""
    global CURRENT
    before: object = CURRENT
    CURRENT = program
    try:
        return as_pending(profile.run(processes))
    finally:
        CURRENT = before


def as_pending(thing) -> Pending:
    """A coroutine begins to run; anything that is to be waited for is itself."""
    if isinstance(thing, Pending):
        return thing
    if not isinstance(thing, Coroutine):
        raise ProfileError(f"nothing to wait for: {type(thing).__name__}; is it an `async def`?")
    task: Task = Task(current(), thing)
    task.step()
    return task


def current() -> Program:
    """The program whose coroutine runs; raises ProfileError outside of one."""
    if CURRENT is None:
        raise ProfileError("this is for programs that run in a simulation")
    return CURRENT


def gather(*things) -> Pending:
    """Wait for all: operations and coroutines, which go on together; a list of their results.

    The first error cancels the others and is raised.
    """
    return Together(current(), [as_pending(thing) for thing in things])


def race(*things) -> Pending:
    """Wait for the first: (its place, its result). The others are cancelled."""
    if not things:
        raise ProfileError("a race needs something to wait for")
    return Race(current(), [as_pending(thing) for thing in things])


def timeout(thing, seconds) -> Pending:
    """Wait for so long at most; raises TimeoutError after that, and cancels what did not end in time."""
    program: Program = current()
    limit: cython.double = number(seconds, "seconds")
    child: Pending = as_pending(thing)
    timer: Operation = Operation(program)
    cython.cast(Process, program.processes[0]).add_sleep(timer, limit)
    return Timed(program, child, timer)
