"""Sets of nodes as bits, and numbers of many nodes bit by bit: what compiled modules have from node_bits.pxd.

A number of a node is a column of bits, the lowest first. Where numbers may be below nought, half of what the bits can
tell is added to each, so that the highest bit says that it is not. A *plane* is the same bit of all nodes, so that a
processor adds, or compares, hundreds of nodes at once.
"""

from __future__ import annotations

import numpy as np

WALLTIME_LANES = 1
"""Words of a group: in C as many as a processor takes at once."""
WORD = (1 << 64) - 1


def count_nodes(nodes: np.ndarray) -> int:
    return sum((int(word) & WORD).bit_count() for word in nodes)


def planes_of(cells: np.ndarray, at: int, groups: int, planes: int) -> np.ndarray:
    return np.asarray(cells)[at : at + groups * planes].reshape(groups, planes)


def fit_nodes(
    cells: np.ndarray,
    at: int,
    groups: int,
    planes: int,
    ask: np.ndarray,
    asks: int,
    among: np.ndarray,
    among_at: int,
    fit: np.ndarray,
    fit_at: int,
) -> int:
    """The nodes of `among` that have as much as is asked; how many."""
    row = planes_of(cells, at, groups, planes)
    good = np.array(among[among_at : among_at + groups])
    for k in range(asks):
        first, count, need = (int(word) for word in ask[3 * k : 3 * k + 3])
        enough = np.full(groups, -1)
        for b in range(count):
            enough = enough & row[:, first + b] if need >> b & 1 else enough | row[:, first + b]
        good &= enough
    fit[fit_at : fit_at + groups] = good
    return count_nodes(good)


def fit_beside(
    cells: np.ndarray,
    at: int,
    groups: int,
    planes: int,
    ask: np.ndarray,
    asks: int,
    among: np.ndarray,
    among_at: int,
    own: np.ndarray,
    below: int,
    fit: np.ndarray,
    fit_at: int,
) -> int:
    """The same for a job that has just that on the nodes of `own`; whether numbers may be below nought."""
    fit_nodes(cells, at, groups, planes, ask, asks, among, among_at, fit, fit_at)
    good = np.asarray(among)[among_at : among_at + groups] & np.asarray(own)[:groups]
    for k in range(asks if below else 0):
        good &= planes_of(cells, at, groups, planes)[:, int(ask[3 * k] + ask[3 * k + 1]) - 1]
    fit[fit_at : fit_at + groups] |= good
    return count_nodes(fit[fit_at : fit_at + groups])


def fit_steps(
    cells: np.ndarray,
    row: np.ndarray,
    closed: np.ndarray,
    since: int,
    until: int,
    groups: int,
    planes: int,
    ask: np.ndarray,
    asks: int,
    among: np.ndarray,
    own: np.ndarray,
    own_since: int,
    own_until: int,
    below: int,
    fit: np.ndarray,
    zero: int,
    want: int,
    have: np.ndarray,
) -> int:
    """The nodes that have room from each of some steps to the last of them, from the last step back, as long as they
    are enough; the step at which that ends, and in `have` how many have room from there on."""
    among_at = 0
    k = until
    while k > since:
        k -= 1
        at, fit_at = int(row[k]) * groups * planes, (k - zero) * groups
        if closed[row[k]] > 0:
            have[0] = 0
        elif own_since <= k < own_until:
            have[0] = fit_beside(cells, at, groups, planes, ask, asks, among, among_at, own, below, fit, fit_at)
        else:
            have[0] = fit_nodes(cells, at, groups, planes, ask, asks, among, among_at, fit, fit_at)
        if have[0] < want:
            break
        among, among_at = fit, fit_at
    return k


def add_to_nodes(
    cells: np.ndarray,
    row: np.ndarray,
    since: int,
    until: int,
    groups: int,
    planes: int,
    first: int,
    count: int,
    amount: int,
    nodes: np.ndarray,
    nodes_at: int,
) -> int:
    """The nodes have so much more, or less, in the rows of some steps; whether that is beyond the bits."""
    over = 0
    for k in range(since, until):
        for node in range(64 * groups):
            if has_node(nodes, nodes_at, node):
                over |= add_to_node(cells, int(row[k]) * groups * planes, planes, first, count, amount, node)
    return over


def add_to_node(cells: np.ndarray, at: int, planes: int, first: int, count: int, amount: int, node: int) -> int:
    """The same for one node."""
    at += node // 64 * planes + first
    value = amount + sum(has_node(cells, at + k, node % 64) << k for k in range(count))
    for k in range(count):
        word = int(cells[at + k]) & WORD & ~(1 << node % 64) | (value >> k & 1) << node % 64
        cells[at + k] = word - (word >> 63 << 64)
    return int(value >> count != 0)


def pass_times(times: np.ndarray, at: int, count: int, until: int) -> int:
    """The first of the times from one on, which ascend, that is not before another."""
    while at < count and times[at] < until:
        at += 1
    return at


def meet_nodes(
    one: np.ndarray, one_at: int, other: np.ndarray, other_at: int, into: np.ndarray, into_at: int, count: int
) -> int:
    """The nodes that are in both; how many."""
    into[into_at : into_at + count] = one[one_at : one_at + count] & other[other_at : other_at + count]
    return count_nodes(into[into_at : into_at + count])


def pick_nodes(
    source: np.ndarray, pairs: np.ndarray, first: int, last: int, want: int, into: np.ndarray, into_at: int, count: int
) -> int:
    """The first nodes of those in `source`, in the order of pairs of a word's place and nodes in that word."""
    into[into_at : into_at + count] = 0
    for k in range(first, last):
        word = int(pairs[2 * k])
        for bit in range(64):
            if want > 0 and has_node(source, word, bit) and has_node(pairs, 2 * k + 1, bit):
                put_node(into, into_at + word, bit)
                want -= 1
    return 0


def has_node(nodes: np.ndarray, at: int, node: int) -> int:
    return int(nodes[at + node // 64]) >> node % 64 & 1


def put_node(nodes: np.ndarray, at: int, node: int) -> int:
    word = int(nodes[at + node // 64]) & WORD | 1 << node % 64
    nodes[at + node // 64] = word - (word >> 63 << 64)
    return 0


def put_run(nodes: np.ndarray, at: int, first: int, last: int) -> int:
    """All from one to before another, as far as they are of one word."""
    for node in range(max(first, 0), min(last, 64)):
        put_node(nodes, at, node)
    return 0


def move_words(into: np.ndarray, into_at: int, source: np.ndarray, at: int, count: int) -> int:
    into[into_at : into_at + count] = np.array(source[at : at + count])
    return 0
