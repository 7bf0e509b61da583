"""What bounds the jobs that can start now, as far as a queue can tell by their sizes."""

from __future__ import annotations

import cython

from walltime.kernel.arrays import integers


@cython.cclass
class Bounds:
    """Scalar bounds for a queue's index: necessary, not sufficient.

    Where jobs want so many cores on each of some nodes, free cores say little: they may be scattered. So a queue keeps
    such jobs in *parts*, by what they want of each node, and each part has bounds of its own. Part 0 has all others.
    """

    def __init__(self) -> None:
        self.most_free = self.most_extra = self.most_window = 0
        self.parts = 1  # from 0 up to, but not, this number
        self.part_free = integers(1)
        self.part_extra = integers(1)

    def focus(self, node_set, local):
        """Let `most_free`, `most_extra` and `most_window` be bounds for jobs that need these nodes (-1: any), and,
        where `local`, a single one of them."""
        raise NotImplementedError(f"{type(self).__name__}.focus")

    def part_of(self, slot):
        """The part of a waiting job."""
        return 0

    def focus_parts(self, node_set):
        """Let `part_free` and `part_extra` be such bounds for each part but 0, beside those of the node set."""
        return 0
