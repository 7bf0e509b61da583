"""What happens when: sources of events, and the engine as they see it."""

from __future__ import annotations

import enum

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.jobs import JobTable

NEVER = cython.declare(cython.longlong, _NEVER)


class Remedy(enum.IntEnum):
    """What becomes of a job that is interrupted."""

    REQUEUE = 0  # it waits again, and starts from nothing
    FAIL = 1  # it has failed, or was killed
    RESTORE = 2  # it waits again, and goes on from what is saved of its work
    KILL = 3  # it is cancelled


class Moment(enum.IntFlag):
    """Moments in a job's life of which a source may want to hear."""

    ENTERED = 1  # submitted, and taken
    ELIGIBLE = 2  # about to wait for resources
    STARTED = 4  # running for the first time
    BEGUN = 8  # running, for the first time or again
    INTERRUPTED = 16  # stopped while it ran or was suspended, and about to wait again
    LEFT = 32  # out of the system, or not let in
    MOVED = 64  # any transition, also those above
    OUTLIVES = 128  # running, and not known to end by its expected end and its limit


if not cython.compiled:

    def due_address(source):
        return source

    def next_due(sources, i, many, now):
        return next((k for k in range(i, many) if sources[k].next <= now), many)

    def earliest_of(sources, many, never):
        return min([never, *(sources[i].next for i in range(many))])


GONE = -2
"""What `entered` says of a job that has left at once."""


@cython.cclass
class Engine:
    """What a source may ask of the engine. The loop implements it; nothing else does."""

    def __init__(self, jobs=None) -> None:
        self.jobs = JobTable() if jobs is None else jobs
        self.now = 0
        self.per_event = False

    def submit(self, **description) -> int:
        """A new job, now: the columns of a workload by name, times in microseconds, labels as names; its slot."""
        raise NotImplementedError(f"{type(self).__name__}.submit")

    def finish(self, slot, state):
        """The job leaves: completed, timeout, failed or cancelled."""
        raise NotImplementedError(f"{type(self).__name__}.finish")

    def withdraw(self, slot, reason):
        """The job is cancelled; the reason is counted."""
        raise NotImplementedError(f"{type(self).__name__}.withdraw")

    def interrupt(self, slot, remedy, outcome):
        """The running or suspended job is stopped, and becomes what a Remedy says; `outcome` is for the record."""
        raise NotImplementedError(f"{type(self).__name__}.interrupt")

    def suspend(self, slot):
        """The running job stops and gives its resources back, its progress kept."""
        raise NotImplementedError(f"{type(self).__name__}.suspend")

    def resume(self, slot):
        """The suspended job takes its resources again and runs on."""
        raise NotImplementedError(f"{type(self).__name__}.resume")

    def shrink(self, slot, nodes):
        """The running job gives some of its nodes back, and runs on on the others."""
        raise NotImplementedError(f"{type(self).__name__}.shrink")

    def admit(self, slot):
        """The held job becomes eligible: it begins to wait."""
        raise NotImplementedError(f"{type(self).__name__}.admit")

    def rejoin(self, slot):
        """The job that was put back has paused long enough: it waits again."""
        raise NotImplementedError(f"{type(self).__name__}.rejoin")

    def wake(self, cluster):
        """The cluster's scheduler gets a pass, with the cause TIMER."""
        raise NotImplementedError(f"{type(self).__name__}.wake")

    def ledger_for(self, slot):
        """The resources from which the job has, or would get, its own."""
        raise NotImplementedError(f"{type(self).__name__}.ledger_for")

    def kill_time(self, slot):
        """When the running job is killed for its limit; NEVER or beyond where it has none."""
        return NEVER

    def prolong(self, slot, until):
        """The running job is now expected to end then, as the scheduler sees it."""
        raise NotImplementedError(f"{type(self).__name__}.prolong")

    def move(self, slot, state):
        """Make a transition of the job."""
        raise NotImplementedError(f"{type(self).__name__}.move")

    def listen_again(self):
        """A source wants to hear of other moments than before the run."""
        raise NotImplementedError(f"{type(self).__name__}.listen_again")

    def attend(self):
        """A source is asleep no more."""
        raise NotImplementedError(f"{type(self).__name__}.attend")


@cython.cclass
class Source:
    """Something that happens at times of its own, or at moments in the life of jobs: arrivals, ends, failures, users.

    `next` is when it wants to be called next (NEVER: not at all), and must be right whenever the loop looks at it.
    `fire(now)` makes everything happen that is due at `now`; with `engine.per_event` one thing at a time.
    One that is `asleep` is not looked at, as nothing will happen there before it has told so by `awaken`.
    `hears` are the Moments of which it wants to be told, by the method of that name; it is set before the run, or the
    engine is to `listen_again`.
    """

    def __init__(self) -> None:
        self.engine = None
        self.next = NEVER
        self.background = False  # goes on whether or not there are jobs: it keeps no simulation alive
        self.endless = False  # and would for ever
        self.to_running = False  # all that it does happens to jobs that run, or pause before they run again
        self.hears = 0
        self.asleep = False

    def attach(self, engine: Engine):
        """Called once, before the run."""
        self.engine = engine
        return 0

    def fire(self, now):
        """Make what is due happen, and set `next`."""
        raise NotImplementedError(f"{type(self).__name__}.fire")

    def forget(self):
        """Set `next` later where nothing will come of what is due then. Asked only when a run may be over."""
        return 0

    def awaken(self):
        """Have the loop look at `next` from now on."""
        self.asleep = False
        return 0 if self.engine is None else self.engine.attend()

    # ---- moments

    def entered(self, slot, begin):
        """A job was submitted, and may wait from `begin` on. Returns from when on it may: NEVER where that is not
        known, GONE where it has left at once."""
        return begin

    def admits(self, slot):
        """Whether the job, which is eligible, may wait now; a source that says no calls `engine.admit` later."""
        return True

    def started(self, slot):
        """The job runs for the first time."""
        return 0

    def begun(self, slot):
        """The job runs."""
        return 0

    def interrupted(self, slot):
        """The job is to wait again."""
        return 0

    def left(self, slot, state):
        """The job has made its last transition."""
        return 0

    def moved(self, slot, before, after):
        """The job has gone from one State to another."""
        return 0

    def outlives(self, slot):
        """The job runs, and will or may outlive its expected end or its limit."""
        return 0


@cython.cclass
class Observer:
    """Sees what happens and may not change it. Override what is of interest; the rest costs nothing much.

    `deaf` is true while it need not be told of promises: a rhythm whose plans last no longer than a pass then plans no
    more than it takes to know which jobs start.
    """

    deaf = False

    def moved(self, engine: Engine, slot, before, after):
        """A job went from one State to another, at `engine.now`."""
        return 0

    def promised(self, engine: Engine, slot, time):
        """A policy reserved resources for a waiting job from `time` on."""
        return 0

    def settled(self, engine: Engine):
        """All that happens at `engine.now` has happened, the passes included."""
        return 0
