"""Growing lists of tasks, one for each node, in one array."""

from __future__ import annotations

import cython

from walltime.kernel.arrays import doubled, integers


@cython.final
@cython.cclass
class NodeLists:
    """The list of node i is `at[first[i]]` and the `length[i] - 1` places behind it.

    Its room is a power of two; one that it has outgrown serves another node. A view of `at` is void after `append`.
    """

    def __init__(self, nodes) -> None:
        self.first = integers(nodes, -1)
        self.length = integers(nodes)
        self.room = integers(nodes)
        self.at = integers(256)
        self.end = 0
        self.spare = integers(40, -1)

    def append(self, i, task):
        """One more task at the end of the node's list."""
        if self.length[i] == self.room[i]:
            self.grow(i)
        self.at[self.first[i] + self.length[i]] = task
        self.length[i] += 1
        return 0

    def grow(self, i):
        """Twice the room."""
        k: cython.Py_ssize_t
        size: cython.Py_ssize_t = 2 * self.room[i] if self.room[i] > 0 else 4
        level: cython.Py_ssize_t = 2
        old: cython.Py_ssize_t = self.first[i]
        place: cython.Py_ssize_t
        while 1 << level < size:
            level += 1
        place = self.spare[level]
        if place >= 0:
            self.spare[level] = self.at[place]
        else:
            while self.end + size > len(self.at):
                self.at = doubled(self.at)
            place = self.end
            self.end += size
        for k in range(self.length[i]):
            self.at[place + k] = self.at[old + k]
        if self.room[i] > 0:
            self.at[old] = self.spare[level - 1]
            self.spare[level - 1] = old
        self.first[i] = place
        self.room[i] = size
        return 0
