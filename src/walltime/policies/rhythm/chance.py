"""Whether a job may still get a place in a backfill cycle that has not come to it yet."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND as _SECOND
from walltime.kernel.profiles.node_space import NodeSpace
from walltime.policies.rhythm.will_run import WillRun

NEVER = cython.declare(cython.longlong, _NEVER)
SECOND = cython.declare(cython.longlong, _SECOND)


@cython.final
@cython.cclass
class Chance:
    """Of one job in one cycle: asked again and again while others get places before it.

    A place at a time within an interval of the plan wants so many nodes that have room by then, by what runs, and are
    kept for no job from there to the end. What is planned later takes nodes, and gives none; so once there is no such
    interval there is none up to the job's turn, and one before the last that was found need not be looked at again.
    """

    def __init__(self, space: NodeSpace, look: WillRun, window, resolution) -> None:
        self.space = space
        self.look = look
        self.window = window
        self.resolution = resolution
        self.from_time = 0
        self.until = NEVER

    def begin(self, now):
        """A cycle begins."""
        self.from_time = now
        return 0

    def is_left(self, slot, queue, length, now):
        """Whether there is one. If not, `until` is up to when there will be none, if nothing happens."""
        space: NodeSpace = self.space
        look: WillRun = self.look
        covered: cython.longlong = length - self.resolution - 1  # the end of a place is rounded down
        next: cython.Py_ssize_t
        look.aim(slot)
        if not look.shaped or covered < 0:
            return True
        look.list_running()
        next = look.place_of(now + self.window + 1)
        if now + SECOND >= space.close or next > look.place_of(space.close):
            return True  # it may start behind the end of the plan, on nodes that are free long before
        space.open(queue, self.from_time)
        while space.at < space.count:
            space.gather(space.begin[space.at] + covered)
            if look.reaches(space.end(space.at) - 1):
                self.from_time = max(self.from_time, space.begin[space.at])
                return True
            space.at += 1
        self.until = look.find_ready() - self.window  # on the nodes that the last interval leaves
        if next < look.running:
            self.until = min(self.until, look.ends[next] - self.window - 1)
        return False
