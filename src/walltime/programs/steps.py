"""What profiles in files are made of: one class for each type, and steps one after the other or together.

A step begins on some processes and gives something to wait for. The same step may be under way many times at once; what
belongs to one time is in what it gives.
"""

from __future__ import annotations

import cython

from walltime.programs.errors import ProfileError
from walltime.programs.program import Operation, Pending, Process, Program, StepPath, Together, begin_run, current

INFINITE = cython.declare(cython.double, float("inf"))
MOST_EMPTY = cython.declare(cython.longlong, 1_000_000)
"""Steps without anything to do that may follow each other; one more, and it is a loop that takes no time."""


@cython.cclass
class Step:
    """A part of a profile; `file` and `line` are where it stands."""

    def begin(self, program: Program, processes: list) -> Pending:
        """Begin on these processes."""
        raise NotImplementedError(f"{type(self).__name__}.begin")

    def run(self, processes) -> Pending:
        """The same from a program in Python: `await step.run(processes)`."""
        program: Program = current()
        program.inside = None
        return self.begin(program, list(processes))

    def stand(self, file, line) -> None:
        """Where it stands."""
        self.file = file
        self.line = line

    def pick(self, processes, rank) -> Process:
        """The process of this rank."""
        if not 0 <= rank < len(processes):
            raise self.wrong(f"there is no process {rank}, the job has {len(processes)}")
        cython.cast(Process, processes[rank]).check()
        return processes[rank]

    def all_of(self, processes: list) -> list:
        """All processes; raises ProfileError where one is gone."""
        process: Process
        for process in processes:
            process.check()
        return processes

    def wrong(self, what):
        """The error that tells where the step stands."""
        return ProfileError(what, file=self.file, line=self.line)


@cython.final
@cython.cclass
class Idle(Step):
    """Nothing, for so many seconds."""

    def __init__(self, time) -> None:
        self.seconds = time

    def begin(self, program: Program, processes: list) -> Pending:
        made: Operation = Operation(program)
        cython.cast(Process, processes[0]).add_sleep(made, self.seconds)
        return made


@cython.final
@cython.cclass
class Compute(Step):
    """Work on every process: the same on each, or by a list."""

    def __init__(self, compute_work) -> None:
        self.works = list(compute_work) if isinstance(compute_work, (list, tuple)) else None
        self.each = 0.0 if self.works is not None else compute_work

    def begin(self, program: Program, processes: list) -> Pending:
        made: Operation
        process: Process
        k: cython.Py_ssize_t
        work: cython.double = self.each
        if self.works is not None and len(self.works) != len(processes):
            raise self.wrong(f"work for {len(self.works)} processes, the job has {len(processes)}")
        made = Operation(program)
        for k in range(len(processes)):
            process = cython.cast(Process, processes[k])
            process.check()
            if self.works is not None:
                work = self.works[k]
            process.add_compute(made, work, process.full)
        made.begun()
        return made


@cython.final
@cython.cclass
class Exchange(Step):
    """Every process sends the same to every other."""

    def __init__(self, size) -> None:
        self.size = size

    def begin(self, program: Program, processes: list) -> Pending:
        made: Operation
        source: Process
        target: Process
        self.all_of(processes)
        made = Operation(program)
        for source in processes:
            for target in processes:
                if source is not target:
                    source.add_transfer(made, self.size, source.node, target.node)
        made.begun()
        return made


@cython.final
@cython.cclass
class Matrix(Step):
    """The process of a row sends to that of a column; nothing where the matrix has 0."""

    def __init__(self, matrix) -> None:
        self.rows = [list(row) for row in matrix]

    def begin(self, program: Program, processes: list) -> Pending:
        made: Operation
        source: Process
        target: Process
        size: cython.double
        if len(self.rows) != len(processes):
            raise self.wrong(f"a matrix for {len(self.rows)} processes, the job has {len(processes)}")
        self.all_of(processes)
        made = Operation(program)
        for source, row in zip(processes, self.rows):  # noqa: B905 - as long as each other
            for target, size in zip(processes, row):  # noqa: B905
                if size > 0:
                    source.add_transfer(made, size, source.node, target.node)
        made.begun()
        return made


@cython.final
@cython.cclass
class SourceTarget(Step):
    """Each of some processes sends the same to each of some others."""

    def __init__(self, src, dst, size) -> None:
        self.sources = list(src)
        self.targets = list(dst)
        self.size = size

    def begin(self, program: Program, processes: list) -> Pending:
        source: Process
        target: Process
        pairs = [(self.pick(processes, a), self.pick(processes, b)) for a in self.sources for b in self.targets]
        made: Operation = Operation(program)
        for source, target in pairs:
            source.add_transfer(made, self.size, source.node, target.node)
        made.begun()
        return made


@cython.final
@cython.cclass
class External(Step):
    """Some processes, or all, get so much from a component outside, and send it so much; with `total`, together."""

    def __init__(self, processes, component_name, input_size=0.0, output_size=0.0, total=False) -> None:
        self.ranks = None if processes is None else list(processes)
        self.total = total
        self.component = component_name
        self.incoming = input_size
        self.outgoing = output_size

    def begin(self, program: Program, processes: list) -> Pending:
        process: Process
        end: cython.Py_ssize_t
        chosen = self.all_of(processes) if self.ranks is None else [self.pick(processes, rank) for rank in self.ranks]
        parts: cython.double = len(chosen) if self.total else 1.0
        end = cython.cast(Process, processes[0]).end_of(self.component)
        made: Operation = Operation(program)
        for process in chosen:
            if self.incoming > 0:
                process.add_transfer(made, self.incoming / parts, end, process.node)
            if self.outgoing > 0:
                process.add_transfer(made, self.outgoing / parts, process.node, end)
        made.begun()
        return made


@cython.final
@cython.cclass
class ParallelTask(Step):
    """Computations and transfers that progress together: at any moment the same share of each has been done.

    `compute_work` by process and `matrix` (rows send to columns); or numbers, the same for each process and each pair,
    which with `total` are divided among them.
    """

    def __init__(self, compute_work=0.0, matrix=None, size=0.0, total=False) -> None:
        self.works = list(compute_work) if isinstance(compute_work, (list, tuple)) else None
        self.each = 0.0 if self.works is not None else compute_work
        self.rows = None if matrix is None else [list(row) for row in matrix]
        self.size = size
        self.total = total

    def begin(self, program: Program, processes: list) -> Pending:
        process: Process
        made: Operation = Operation(program)
        uses: dict = {}  # what the whole task takes of each resource: core-seconds, bytes
        shares: cython.double = 1.0
        most: cython.double = 0.0
        sizes: dict = {}  # bytes that it moves, by end and kind
        latency, fastest, bytes_most = self.send(program, processes, uses, sizes)
        for process, work in zip(processes, self.works_of(processes)):  # noqa: B905 - as long as each other
            process.check()
            process.add_work(uses, work)
            if work > 0 and process.cores > shares:
                shares = cython.cast(cython.double, process.cores)
        most = bytes_most if bytes_most > 0 else max(uses.values(), default=0.0)
        if most > 0:
            # the amount is what its busiest link carries, so that it shares that as a transfer does
            made.add_together(most, latency, shares if bytes_most == 0 else 1.0, fastest * most, uses, sizes)
        elif latency > 0:
            cython.cast(Process, processes[0]).add_sleep(made, latency)
        made.begun()
        return made

    def works_of(self, processes) -> list:
        """The work of each process."""
        if self.works is None:
            return [self.each / len(processes) if self.total else self.each] * len(processes)
        if len(self.works) != len(processes):
            raise self.wrong(f"work for {len(self.works)} processes, the job has {len(processes)}")
        return self.works

    def rows_of(self, processes) -> list:
        """What each process sends to each."""
        count: cython.Py_ssize_t = len(processes)
        if self.rows is None:
            size = self.size / (count * (count - 1)) if self.total and count > 1 else self.size
            return [[0.0 if a == b else size for b in range(count)] for a in range(count)] if size > 0 else []
        if len(self.rows) != count:
            raise self.wrong(f"a matrix for {len(self.rows)} processes, the job has {count}")
        return self.rows

    def send(self, program: Program, processes, uses, sizes):
        """Add what the transfers take: (the longest latency, the share in a second that the slowest route allows, the
        most bytes on one resource, or of one transfer where there is none)."""
        latency: cython.double = 0.0
        fastest: cython.double = INFINITE
        most: cython.double = 0.0
        for source, row in zip(processes, self.rows_of(processes)):  # noqa: B905
            for target, size in zip(processes, row):  # noqa: B905
                if size <= 0:
                    continue
                source.end_of(target)
                resources, delay, bound = program.platform.route(source.node, target.node)
                latency = max(latency, delay)
                fastest = min(fastest, bound / size)
                most = max(most, size if resources or bound < INFINITE else 0.0)
                for resource in resources:
                    uses[resource] = uses.get(resource, 0.0) + size
                if source is not target:
                    for place in ((source.node, "sent"), (target.node, "received")):
                        sizes[place] = sizes.get(place, 0.0) + size
        return latency, fastest, max(max(uses.values(), default=0.0), most)


@cython.final
@cython.cclass
class Exit(Step):
    """The end of a program that returns a code: other than 0 it has failed."""

    def __init__(self, code=0) -> None:
        self.code = code

    def begin(self, program: Program, processes: list) -> Pending:
        if self.code != 0:
            raise self.wrong(f"the program returned {self.code}")
        made: Operation = Operation(program)
        made.begun()
        return made


@cython.final
@cython.cclass
class Checkpoint(Step):
    """From here on the program goes on where it is interrupted later and may go on; it takes no time."""

    def begin(self, program: Program, processes: list) -> Pending:
        made: Operation = Operation(program)
        rounds: Rounds = cython.cast(Rounds, program.inside) if program.inside is not None else None
        places: list = []
        while rounds is not None:
            if rounds.abreast or not rounds.rooted:
                raise self.wrong(
                    "a checkpoint stands in the sequences of a job's profile, not in parallel nor in Python"
                )
            places.append(rounds.at if not places else rounds.at - 1)
            rounds = rounds.parent
        if places:
            program.save(StepPath(reversed(places)))
        made.begun()
        return made


@cython.final
@cython.cclass
class DiskUse(Step):
    """Some processes read or write so much, on the disks of their nodes or that of a component."""

    def __init__(self, processes=None, read_size=0.0, write_size=0.0, component_name=None) -> None:
        self.ranks = None if processes is None else list(processes)
        self.incoming = read_size
        self.outgoing = write_size
        self.where = component_name

    def begin(self, program: Program, processes: list) -> Pending:
        process: Process
        chosen = self.all_of(processes) if self.ranks is None else [self.pick(processes, rank) for rank in self.ranks]
        made: Operation = Operation(program)
        for process in chosen:
            if self.incoming > 0 and not made.over:
                process.add_disk(made, self.incoming, self.where, False)
            if self.outgoing > 0 and not made.over:
                process.add_disk(made, self.outgoing, self.where, True)
        if made.over and made.error is not None:
            made.error = self.wrong(str(made.error))
        made.begun()
        return made


@cython.final
@cython.cclass
class Sequence(Step):
    """Steps one after the other, all of them `repeat` times."""

    def __init__(self, profiles, repeat=1) -> None:
        self.steps = list(profiles)
        self.repeat = repeat

    def begin(self, program: Program, processes: list) -> Pending:
        return Rounds(program, self.steps, processes, self.repeat * len(self.steps), False)


@cython.final
@cython.cclass
class Parallel(Step):
    """Steps together, `repeat` times: a round begins when the one before is over."""

    def __init__(self, profiles, repeat=1) -> None:
        self.steps = list(profiles)
        self.repeat = repeat

    def begin(self, program: Program, processes: list) -> Pending:
        return Rounds(program, self.steps, processes, self.repeat, True)


@cython.final
@cython.cclass
class Custom(Step):
    """A profile in Python: anything with `async def run(self, processes)`."""

    def __init__(self, profile) -> None:
        self.profile = profile

    def begin(self, program: Program, processes: list) -> Pending:
        program.inside = None
        program.fresh = False
        return begin_run(program, self.profile, processes)


@cython.final
@cython.cclass
class Rounds(Pending):
    """One time through the steps of a sequence, or through the rounds of what goes on together."""

    def __init__(self, program: Program, steps: list, processes: list, total, abreast) -> None:
        Pending.__init__(self, program)
        self.steps = steps
        self.processes = processes
        self.total = total
        self.abreast = abreast
        self.at = 0
        self.child = None
        self.parent = cython.cast(Rounds, program.inside) if program.inside is not None else None
        self.rooted = program.fresh if self.parent is None else self.parent.rooted
        program.fresh = False
        if program.resume and self.rooted:
            self.at = program.resume.pop(0)
        self.go()

    def told(self, child: Pending):
        if self.over:
            return 0
        if child.error is not None:
            return self.finish(None, child.error)
        try:
            return self.go()
        except Exception as error:
            return self.finish(None, error)

    def go(self):
        """Begin the next step, or the one after it where that takes no time."""
        step: Step
        child: Pending
        empty: cython.longlong = 0
        while self.at < self.total:
            step = cython.cast(Step, self.steps[0 if self.abreast else self.at % len(self.steps)])
            self.at += 1
            if self.abreast:
                child = Together(self.program, [self.begin(one) for one in self.steps])
            else:
                child = self.begin(step)
            if not child.over:
                self.child = child
                return child.listen(self)
            if child.error is not None:
                return self.finish(None, child.error)
            empty += 1
            if empty > MOST_EMPTY:
                raise step.wrong("a loop that takes no time")
        return self.finish(None, None)

    def standing(self) -> str | None:
        """The file and the line of the step that goes on."""
        step: Step = self.steps[0 if self.abreast else (self.at - 1) % len(self.steps)]
        return None if step.file is None else f"{step.file}:{step.line}"

    def begin(self, step: Step) -> Pending:
        """Begin a step; an error that knows no line is at the step's."""
        self.program.inside = self
        try:
            return step.begin(self.program, self.processes)
        except ProfileError as error:
            if error.line is None:
                error.file, error.line = step.file, step.line
            raise

    def cancel(self):
        Pending.cancel(self)
        return self.child.cancel() if self.child is not None and not self.child.over else 0
