"""Lines of sacct in which several free texts may hold the delimiter: the typed columns between tell them apart.

A line such as `7|a|b|COMPLETED|sbatch --wrap "x | y"` under `JobID|JobName|State|SubmitLine` has more pieces than the
header has columns. A division is possible where every typed column is a piece that looks like its type. A line is read
where just one division is; where none or several are, it is not guessed at.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from walltime.workload.formats.sacct.fields import ROLES, Role

FREE_TEXT = ("jobname", "comment", "submitline", "workdir", "admincomment", "systemcomment", "wckey", "extra")
"""Columns that people may write anything into, by their names in small letters."""

_MOMENT = rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*|\d*|Unknown|None|N/A"
_SPAN = rb"(?:\d+-)?[\d:.]*|UNLIMITED|Partition_Limit|INVALID"
_COUNT = rb"(?:\d[\d.]*[KMGTP]?)?"
_WORD = rb"\S*"
_AMOUNTS = rb"[\w/:=.,()@*+-]*"
_SHAPES = {
    **dict.fromkeys((Role.JOB, Role.JOB_RAW), rb"\d+(?:[_+.]\S*)?"),
    **dict.fromkeys((Role.USER, Role.GROUP, Role.ACCOUNT, Role.PARTITION, Role.QOS), _WORD),
    **dict.fromkeys((Role.SUBMIT, Role.ELIGIBLE, Role.START, Role.END), _MOMENT),
    **dict.fromkeys((Role.ELAPSED, Role.ELAPSED_RAW, Role.LIMIT, Role.LIMIT_RAW), _SPAN),
    Role.STATE: rb"[A-Z_]+(?: by \d+)?\+?",
    **dict.fromkeys(
        (Role.ALLOCATED_CPUS, Role.REQUESTED_CPUS, Role.ALLOCATED_NODES, Role.REQUESTED_NODES), _COUNT
    ),
    Role.MEMORY: rb"(?:\d[\d.]*[KMGTPkmgtp]?[nc]?)?|\?",
    **dict.fromkeys((Role.REQUESTED_TRES, Role.ALLOCATED_TRES, Role.REQUESTED_GRES, Role.ALLOCATED_GRES), _AMOUNTS),
}  # fmt: skip
_OTHERS = {"exitcode": rb"\d+:\d+", "derivedexitcode": rb"\d+:\d+", "priority": rb"\d*", "cputimeraw": rb"\d*"}


class Texts:
    """Divides the pieces of a line among its columns; `closed`: lines end with the delimiter (`sacct --parsable`)."""

    def __init__(self, names: Sequence[str], closed: bool) -> None:
        self.closed = closed
        self.free = [name in FREE_TEXT for name in names]
        self.shapes = [re.compile(_shape(name)) for name in names]
        self.groups = self._group([name in ROLES or name in _OTHERS for name in names])

    def _group(self, typed: list[bool]) -> list[tuple[int, int]]:
        """First and last column of each run from a text to a text with nothing typed between: where those end inside a
        run does not matter."""
        groups: list[tuple[int, int]] = []
        for column, free in enumerate(self.free):
            if not free:
                continue
            if groups and not any(typed[groups[-1][1] + 1 : column]):
                groups[-1] = (groups[-1][0], column)
            else:
                groups.append((column, column))
        return groups

    def divide(self, pieces: list[bytes]) -> list[int] | None:
        """For each column the number of pieces up to its end; None where no division is possible, or several are."""
        if self.closed and not pieces[-1].strip():
            pieces = pieces[:-1]
        spare = len(pieces) - len(self.free)
        ways = [taken for taken in self._ways(pieces, 0, 0, spare, {}) if len(taken) == len(self.groups)]
        if len(ways) != 1:
            return None
        ends, at, extra = [], 0, dict(zip((last for _, last in self.groups), ways[0], strict=True))
        for column in range(len(self.free)):
            at += 1 + extra.get(column, 0)
            ends.append(at)
        return ends

    def _ways(
        self, pieces: list[bytes], group: int, before: int, spare: int, seen: dict[tuple[int, int], list[list[int]]]
    ) -> list[list[int]]:
        """Up to two ways to give the spare pieces to the groups from `group` on; `before` were given already."""
        if group == len(self.groups):
            return [[]] if spare == 0 else []
        if (group, before) in seen:
            return seen[group, before]
        begin = self.groups[group][1] + 1
        end = self.groups[group + 1][0] if group + 1 < len(self.groups) else len(self.free)
        if group == 0 and not self._fit(pieces, 0, self.groups[0][0], 0):
            return []
        found: list[list[int]] = []
        for more in range(spare + 1):
            if len(found) < 2 and self._fit(pieces, begin, end, before + more):
                rest = self._ways(pieces, group + 1, before + more, spare - more, seen)
                found += [[more, *way] for way in rest]
        seen[group, before] = found[:2]
        return seen[group, before]

    def _fit(self, pieces: list[bytes], begin: int, end: int, shift: int) -> bool:
        """Whether the columns from `begin` to before `end` look like their types, `shift` pieces further on."""
        return all(self.shapes[i].fullmatch(pieces[i + shift].strip()) for i in range(begin, end))


def _shape(name: str) -> bytes:
    if name in ROLES:
        return _SHAPES[Role(ROLES[name])]
    return _OTHERS.get(name, rb"(?s:.*)")
