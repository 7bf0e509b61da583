"""Rows of numbers in order, in blocks: what changes one row moves at most a block."""

from __future__ import annotations

import cython
import numpy as np

from walltime.kernel.arrays import doubled, integers

if not cython.compiled:
    from walltime.kernel.arrays import words

    def move_words(a, count, places):
        return None


def structs(values, width) -> np.ndarray:
    """The same words as structs of so many."""
    return np.asarray(values).view(",".join("q" * width))


@cython.cclass
class SortedRows:
    """Rows of `width` words in blocks of up to `size`; there is always a block.

    Each block has a head: its first row, how many it has, and what the list wants to know of them. The heads are in
    the order of the blocks. What rows and heads are, each list says by its structs: `see` lays them over the words.
    """

    def __init__(self, width, head_width, size, room) -> None:
        self.width = width
        self.head_width = head_width
        self.size = size
        self.row_words = integers(room * size * width)
        self.head_words = integers(room * head_width)
        self.begin()
        self.see()

    def see(self):
        raise NotImplementedError

    def begin(self):
        """One block, of no rows."""
        self.blocks = 1
        self.end = self.size  # all rows before it are or were of a block
        self.spare = -1  # the first row of a block that was dropped; its first word tells of another one
        self.head_words[0] = self.head_words[1] = 0
        return 0

    def be(self, other: SortedRows):
        """Be the same as another one."""
        if len(self.head_words) != len(other.head_words):
            self.row_words = integers(len(other.row_words))
            self.head_words = integers(len(other.head_words))
            self.see()
        self.row_words[:] = other.row_words
        self.head_words[:] = other.head_words
        self.end = other.end
        self.spare = other.spare
        self.blocks = other.blocks
        return 0

    def empty(self):
        """Whether there is no row."""
        return self.head_words[1] == 0

    def open_row(self, p, i):
        """A place for one more row of block p, at row i."""
        head: cython.p_longlong = cython.address(self.head_words[p * self.head_width])
        behind: cython.Py_ssize_t = head[0] + head[1] - i
        if behind > 0:
            move_words(cython.address(self.row_words[i * self.width]), behind * self.width, self.width)
        head[1] += 1
        return 0

    def close_row(self, p, i):
        """Row i of block p is there no more."""
        head: cython.p_longlong = cython.address(self.head_words[p * self.head_width])
        head[1] -= 1
        behind: cython.Py_ssize_t = head[0] + head[1] - i
        if behind > 0:
            move_words(cython.address(self.row_words[(i + 1) * self.width]), behind * self.width, -self.width)
        return 0

    def split(self, p):
        """The later half of a full block becomes the next one, whose head is else the same."""
        new: cython.Py_ssize_t = self.spare
        half: cython.Py_ssize_t = self.size // 2
        x: cython.Py_ssize_t
        if new >= 0:
            self.spare = self.row_words[new * self.width]
        else:
            if self.end * self.width == len(self.row_words):
                self.row_words = doubled(self.row_words)
                self.head_words = doubled(self.head_words)
                self.see()
            new = self.end
            self.end += self.size
        a: cython.p_longlong = words(self.row_words)
        head: cython.p_longlong = cython.address(self.head_words[p * self.head_width])
        for x in range(half * self.width):
            a[new * self.width + x] = a[(head[0] + half) * self.width + x]
        move_words(head, (self.blocks - p) * self.head_width, self.head_width)
        self.blocks += 1
        head[1] = half
        head[self.head_width] = new
        head[self.head_width + 1] = self.size - half
        return 0

    def drop_block(self, p):
        """The block has no rows and goes; the last of all stays."""
        if self.blocks == 1:
            return 0
        head: cython.p_longlong = cython.address(self.head_words[p * self.head_width])
        self.row_words[head[0] * self.width] = self.spare
        self.spare = head[0]
        self.blocks -= 1
        if p < self.blocks:
            move_words(head + self.head_width, (self.blocks - p) * self.head_width, -self.head_width)
        return 0
