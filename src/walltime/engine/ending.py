"""When a run is over although jobs are left: nothing that can still happen could start or end one of them.

Failures, repairs and reservations go on whether or not there are jobs, some of them for ever. Once nothing else is to
come, a job can get on if it runs or is suspended, or waits where it may still be let in. One that is held cannot, as
only other jobs could release it; nor one bound to a reservation that will never be again. Whether the machine will ever
leave room for one that waits cannot always be told: such jobs have `CHANCES` changes of the machine, and all that will
end of itself, but no more than `MOST`. A job that is interrupted again and again has `CHANCES` attempts in which it
gets no further. A scheduler that only the clock still calls has `LONG` to start a job, and `MOST` passes at least.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND
from walltime.kernel.jobs import State
from walltime.kernel.source import Moment, Source

NEVER = cython.declare(cython.longlong, _NEVER)

if not cython.compiled:
    STARTED, INTERRUPTED, LEFT = Moment.STARTED, Moment.INTERRUPTED, Moment.LEFT

CHANCES = 1000
"""Changes of the machine in a row that start no job; interruptions of a job in a row that leave it no further."""

MOST = 20_000
"""Changes of the machine in a row that start no job, whatever is still to come: a closing of years with a failure each
minute would go on without an end in sight."""

LONG = cython.declare(cython.longlong, 100 * 86_400 * SECOND)
"""So long a scheduler may call itself, with nothing else to come, before a job starts or leaves: ages and shares that
change with time have changed by then."""

HELD = "held until other jobs have started or ended, which they never will"
GONE = "bound to a reservation that will never be again"
FRUITLESS = f"interrupted {CHANCES:,} times in a row without getting further"
BEYOND = "it would end later than the clock can count (146,000 years)"
NO_ROOM = "the machine never had room for it between its failures and reservations"
TOO_LONG = f"the machine had no room for it in {MOST:,} changes by failures and reservations"
NOT_STARTED = "its scheduler never started it"


@cython.final
@cython.cclass
class Ending(Source):
    """What the loop has to know of jobs that may never end."""

    def __init__(self, simulation) -> None:
        Source.__init__(self)
        self.simulation = simulation
        self.fruitless = {}  # by order of entry: what is saved, and how often in vain
        self.exhausted = 0  # jobs that have had all their chances
        self.idle = 0  # instants since something last happened that was not in the background
        self.active = 0  # and when that was
        self.patience = 0  # so long at least is waited for what recurs without end
        self.hears = INTERRUPTED
        self.passes = 0  # of the clock's alone, since something else was to come or a job left
        self.alone = 0  # and when the first of them was
        self.staying = 0  # and the jobs that were there

    def watch(self, attended):
        """Whether something goes on in the background, so that the run may have to be ended."""
        if attended:
            self.hears = STARTED | INTERRUPTED | LEFT
        return 0

    def worthwhile(self, time, sources):
        """Whether something that can still happen could start or end a job."""
        source: Source
        endless: cython.bint = True
        vain: cython.bint = self.exhausted > 0  # then what is to happen to running jobs tells nothing
        for source in sources:
            if source.next < NEVER and not source.background:
                source.forget()
            if source.next >= NEVER:
                continue
            if source.background:
                endless &= source.endless
            elif not vain or not source.to_running:
                self.idle = 0
                return True
        if vain and self.runs():
            return True
        if self.idle == 0 or not endless:
            self.active = time
        self.idle += 1
        patient: cython.bint = time - self.active <= self.patience and self.idle <= MOST
        return (self.idle <= CHANCES or patient) and self.hopes()

    def is_called_in_vain(self, time, alone):
        """Whether the pass that is due at `time` can change nothing, or so many before it have changed nothing; it is
        `alone` if nothing else is to come."""
        if not alone:
            self.passes = 0
            return False
        live: cython.longlong = self.simulation.jobs.live
        if self.passes == 0 or live != self.staying:
            if live == 0 or not self.hopes():
                return True
            self.passes = 0
            self.alone = time
            self.staying = live
        self.passes += 1
        return self.passes > MOST and time - self.alone > LONG

    def started(self, slot):
        self.idle = 0
        return 0

    def interrupted(self, slot):
        """A running or suspended job is to wait again, with what is saved of it."""
        jobs = self.simulation.jobs
        seq, saved = int(jobs.seq[slot]), int(jobs.saved[slot])
        before, count = self.fruitless.get(seq, (0, 0))
        self.fruitless[seq] = (saved, 0) if saved > before else (before, count + 1)
        self.exhausted += self.fruitless[seq][1] == CHANCES
        return 0

    def left(self, slot, state):
        self.idle = 0
        if self.fruitless:
            _, count = self.fruitless.pop(int(self.simulation.jobs.seq[slot]), (0, 0))
            self.exhausted -= count >= CHANCES
        return 0

    def is_exhausted(self, slot: int) -> bool:
        return self.fruitless.get(int(self.simulation.jobs.seq[slot]), (0, 0))[1] >= CHANCES

    def runs(self) -> bool:
        """Whether some job runs, or pauses before it runs again, that has chances left."""
        state = self.simulation.jobs.state
        for slot in self._there():
            if (state[slot] == State.RUNNING or self.pauses(slot)) and not self.is_exhausted(slot):
                return True
        return False

    def pauses(self, slot: int) -> bool:
        """Whether the job was put back, and is held for a while."""
        jobs = self.simulation.jobs
        return bool(jobs.state[slot] == State.HELD and jobs.attempt[slot] > 0)

    def hopes(self) -> bool:
        """Whether some job waits, or is suspended, for which there may still be room."""
        state = self.simulation.jobs.state
        for slot in self._there():
            if state[slot] not in (State.WAITING, State.SUSPENDED) or self.is_exhausted(slot):
                continue
            if not self._is_stranded(slot):
                return True
        return False

    def explain(self, until: int) -> dict[str, list[int]]:
        """The numbers of the jobs that are left, by what became of them, in order of entry; `until` is the cut-off."""
        jobs = self.simulation.jobs
        found: dict[str, list[int]] = {}
        for slot in self._there():
            if jobs.state[slot] == State.RUNNING and until < NEVER and not self.is_exhausted(slot):
                continue  # it runs on after the cut-off
            found.setdefault(self._reason(slot), []).append(int(jobs.job_id[slot]))
        return found

    def _reason(self, slot: int) -> str:
        simulation = self.simulation
        if self.is_exhausted(slot):
            return FRUITLESS
        if simulation.jobs.state[slot] == State.HELD:
            return HELD
        if simulation.jobs.state[slot] == State.RUNNING:
            return BEYOND
        if self._is_stranded(slot):
            return GONE
        if self.idle > MOST:
            return TOO_LONG
        return NO_ROOM if simulation.machines else NOT_STARTED

    def _there(self) -> list[int]:
        """The jobs in the system, in order of entry; slots in use that are none have no number of entry."""
        jobs = self.simulation.jobs
        state, seq = jobs.state[: jobs.size], jobs.seq[: jobs.size]
        found = np.flatnonzero((seq >= 0) & (state >= State.HELD) & (state <= State.SUSPENDED))
        return [int(slot) for slot in found[np.argsort(seq[found])]]

    def _is_stranded(self, slot: int) -> bool:
        """Whether the job is bound to a reservation that will never be again."""
        jobs, clusters = self.simulation.jobs, self.simulation.clusters
        if not 0 <= jobs.cluster[slot] < len(clusters):
            return False
        machine = clusters[jobs.cluster[slot]].machine
        return machine is not None and any(
            window.over and window.domain == jobs.domain[slot] for window in machine.reserved
        )
