"""What is in use at every start, by all jobs that share something: a node, a quota, a licence."""

from __future__ import annotations

import numpy as np


def usage_at_starts(
    begin: np.ndarray, stop: np.ndarray, entity: np.ndarray, *amounts: np.ndarray
) -> tuple[np.ndarray, ...]:
    """For each row and each of the amounts, what is in use of its entity when it starts, the row itself included.

    Rows hold their amounts from `begin` to `stop`. At one instant ends come before starts, and of several starts each
    counts those before it. A row of no length is taken to be beside those that run through its instant.
    """
    lasting, instant = np.flatnonzero(stop > begin), np.flatnonzero(stop <= begin)
    rows = np.concatenate((lasting, lasting))
    starts = np.repeat(np.array([0, 1], np.int8), len(lasting))
    order = np.lexsort((starts, np.concatenate((stop[lasting], begin[lasting])), entity[rows]))
    is_start = starts[order] == 1
    started = rows[order][is_start]
    found = []
    for amount in amounts:
        change = np.concatenate((-amount[lasting], amount[lasting]))[order]
        used = np.zeros(len(begin), np.int64)
        used[started] = np.cumsum(change)[is_start]  # every entity comes back to zero, so that one sum serves all
        found.append(used)
    if len(instant):
        _add_instants(found, amounts, begin, stop, entity, lasting, instant)
    return tuple(found)


def _add_instants(
    found: list[np.ndarray],
    amounts: tuple[np.ndarray, ...],
    begin: np.ndarray,
    stop: np.ndarray,
    entity: np.ndarray,
    lasting: np.ndarray,
    instant: np.ndarray,
) -> None:
    """Fill in the rows of no length."""
    moments = np.unique(np.concatenate((begin, stop)))
    start_key, stop_key = (entity * len(moments) + np.searchsorted(moments, side) for side in (begin, stop))
    base, at = entity[instant] * len(moments), start_key[instant]
    by_start, by_stop = (lasting[np.argsort(key[lasting], kind="stable")] for key in (start_key, stop_key))
    for used, amount in zip(found, amounts, strict=True):
        through = sum_between(start_key[by_start], amount[by_start], base, at)
        through -= sum_between(stop_key[by_stop], amount[by_stop], base, at + 1)  # those that end at it included
        used[instant] = through + amount[instant]


def sum_between(keys: np.ndarray, amount: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """For each pair of bounds the sum of the amounts whose (sorted) key is at least `first` and below `last`."""
    sums = np.concatenate(([0], np.cumsum(amount)))
    return np.asarray(sums[np.searchsorted(keys, last)] - sums[np.searchsorted(keys, first)])
