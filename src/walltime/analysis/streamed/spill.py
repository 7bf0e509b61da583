"""Columns of numbers that are put aside in a temporary file, and quantiles of them in bounded memory."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

_HELD = 1 << 25
"""Bytes that are held in memory before there is a file."""
_BINS = 1 << 16
_FEW = 1 << 20
"""So many values are looked at themselves."""

Values = Callable[[], Iterable[np.ndarray]]


class Spill:
    """Pieces of a table whose cells have eight bytes each, written once and read as often as wanted.

    The file has no name and goes with the object; it is where temporary files are, which TMPDIR says.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self.rows = 0
        self._places: list[tuple[int, int]] = []
        self._file = tempfile.SpooledTemporaryFile(_HELD, prefix="walltime-")  # noqa: SIM115 - goes with the object

    def add(self, **columns: np.ndarray) -> None:
        """One piece: all columns, of one length."""
        count = len(columns[self.names[0]])
        if not count:
            return
        self._places.append((self._file.seek(0, 2), count))
        for name in self.names:
            self._file.write(np.ascontiguousarray(columns[name]).tobytes())
        self.rows += count

    def pieces(self, *names: str, dtype: Any = np.int64) -> Iterator[list[np.ndarray]]:
        """The named columns of each piece, in the order in which they came."""
        for first, count in self._places:
            found = []
            for name in names:
                self._file.seek(first + 8 * count * self.names.index(name))
                found.append(np.frombuffer(self._file.read(8 * count), dtype))
            yield found


def find_quantile(values: Values, count: int, fraction: float, dtype: Any = np.int64) -> float | None:
    """What np.quantile says of `count` numbers that come in pieces, as often as they are asked for; None for none.

    They are whole numbers, or the bits of numbers of this `dtype`, none of them negative, whose order is the same.
    """
    if not count:
        return None
    at = (count - 1) * fraction
    low = int(np.floor(at))
    pair = np.array([_select(values, low), _select(values, min(low + 1, count - 1))], np.int64)
    return float(np.quantile(pair.view(dtype), at - low))


def _select(values: Values, place: int) -> int:
    """The number at a place of the sorted ones: the range in which it is grows smaller until its numbers are few."""
    bounds = [(int(piece.min()), int(piece.max())) for piece in values() if len(piece)]
    low, high = min(bound[0] for bound in bounds), max(bound[1] for bound in bounds)
    while low < high:
        width = (high - low) // _BINS + 1
        counts = np.zeros(_BINS, np.int64)
        for piece in values():
            inside = piece[(piece >= low) & (piece <= high)]
            counts += np.bincount((inside - low) // width, minlength=_BINS)
        sums = np.cumsum(counts)
        found = int(np.searchsorted(sums, place, side="right"))
        place -= int(sums[found] - counts[found])
        low, high = low + found * width, min(high, low + (found + 1) * width - 1)
        if counts[found] <= _FEW:
            few = np.concatenate([piece[(piece >= low) & (piece <= high)] for piece in values()])
            return int(np.partition(few, place)[place])
    return low
