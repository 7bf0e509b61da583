"""Rows that are found in another order than that of submission: sorted in bounded memory, by way of a temporary file.

Rows are gathered until there are RUN of them, sorted, and put aside; at the end the sorted runs are merged.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np

RUN = 500_000
"""Rows that are sorted at a time; so many are held."""
KEY = "submit"


class Spool:
    """Rows of whole numbers, one of which is the submission. `add` some, then take `batches` of them in order."""

    def __init__(self, names: Sequence[str]) -> None:
        self.kind = np.dtype([(name, np.int64) for name in names])
        self.rows = 0
        self._held: list[np.ndarray[Any, Any]] = []
        self._waiting = 0
        self._runs: list[tuple[int, int]] = []  # first row and number of rows in the file
        self._file: BinaryIO | None = None

    def add(self, columns: dict[str, Any]) -> None:
        """Some rows, in any order; those of one submission stay in the order in which they came."""
        names = self.kind.names or ()
        rows = np.empty(len(columns[KEY]), self.kind)
        for name in names:
            rows[name] = columns[name]
        self._held.append(rows)
        self._waiting += len(rows)
        self.rows += len(rows)
        if self._waiting >= RUN:
            self._put_aside()

    def batches(self, size: int) -> Iterator[dict[str, np.ndarray[Any, Any]]]:
        """All rows by submission, about `size` at a time: rows of the last submission are not divided."""
        runs = [self._map(first, count) for first, count in self._runs]
        if self._held:
            runs.append(self._sorted())
        places = [0] * len(runs)
        while any(place < len(run) for place, run in zip(places, runs, strict=True)):
            heads = [run[KEY][place : place + size] for place, run in zip(places, runs, strict=True)]
            keys = np.concatenate(heads)
            last = np.partition(keys, size - 1)[size - 1] if len(keys) > size else keys.max()
            pieces = []
            for number, run in enumerate(runs):
                end = places[number] + int(np.searchsorted(run[KEY][places[number] :], last, side="right"))
                pieces.append(np.array(run[places[number] : end]))
                places[number] = end
            rows = np.concatenate(pieces)
            rows = rows[np.argsort(rows[KEY], kind="stable")]
            yield {name: np.ascontiguousarray(rows[name]) for name in self.kind.names or ()}

    def close(self) -> None:
        """The temporary file goes."""
        if self._file is not None:
            self._file.close()

    def _sorted(self) -> np.ndarray[Any, Any]:
        rows = np.concatenate(self._held)
        self._held, self._waiting = [], 0
        return rows[np.argsort(rows[KEY], kind="stable")]

    def _put_aside(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="walltime-")  # noqa: SIM115 - closed by close
        rows = self._sorted()
        self._runs.append((self._file.seek(0, 2) // self.kind.itemsize, len(rows)))
        self._file.write(rows.tobytes())

    def _map(self, first: int, count: int) -> np.ndarray[Any, Any]:
        assert self._file is not None
        self._file.flush()
        return np.memmap(self._file, self.kind, "r", first * self.kind.itemsize, (count,))
