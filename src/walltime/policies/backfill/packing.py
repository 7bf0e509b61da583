"""Which jobs together fill the free cores best: reachable sums as bits of large integers."""

from __future__ import annotations


def choose(sizes: list[int], short: list[bool], free: int, extra: int) -> list[int]:
    """The places of the jobs that together use the most of `free` cores, the long ones at most `extra` of them.

    Sums that can be reached are the bits of a number. `over[i]` has bit n set if some of the long jobs from place i on
    use n cores together; `under[i]` has bit (free - n) set for the short ones: counted from the other end, so that a
    shift and an "and" find two sums with a given total.
    """
    free, extra, sizes = int(free), int(extra), list(map(int, sizes))  # uncompiled they are NumPy's, of 64 bits
    within = (1 << (extra + 1)) - 1
    over, under = [1], [1 << free]
    for size, brief in zip(reversed(sizes), reversed(short), strict=True):
        over.append(over[-1] if brief else (over[-1] | over[-1] << size) & within)
        under.append(under[-1] | under[-1] >> size if brief else under[-1])
    over.reverse()
    under.reverse()
    left = most(sizes, short, over[0], free)
    chosen = []
    for i in range(len(sizes)):
        size = sizes[i]
        room = extra if short[i] else extra - size
        if size <= left and room >= 0:
            rest = left - size
            if over[i + 1] & ((1 << (room + 1)) - 1) & (under[i + 1] >> (free - rest)):
                chosen.append(i)
                left = rest
                extra = room
    return chosen


def most(sizes: list[int], short: list[bool], reachable: int, free: int) -> int:
    """The largest number of cores, up to `free`, that the short jobs make with some sum of the long ones."""
    within = (1 << (free + 1)) - 1
    for size, brief in zip(sizes, short, strict=True):
        if brief:
            reachable = (reachable | reachable << size) & within
    return reachable.bit_length() - 1
