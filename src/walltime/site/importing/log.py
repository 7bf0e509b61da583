"""What a log asks of the scenario that it is for: whether parts of its heterogeneous jobs differ, and whether it tells
memory."""

from __future__ import annotations

import re
from pathlib import Path

from walltime.core.reading import reading
from walltime.workload.formats.sacct.texts import FREE_TEXT

_PART = re.compile(rb"(\d+(?:_\d+)?)\+\d+")
_TELLING = (
    b"partition",
    b"reqcpus",
    b"alloccpus",
    b"ncpus",
    b"nnodes",
    b"allocnodes",
    b"reqmem",
    b"reqtres",
    b"alloctres",
)


def has_uneven_jobs(path: str | Path) -> bool:
    """Whether a log of sacct has a heterogeneous job (`12+0`, `12+1`) whose parts ask for other things; False for
    another kind of log."""
    if Path(path).is_dir() or Path(path).suffix.lower() == ".parquet":
        return False
    first: dict[bytes, list[bytes]] = {}
    with reading(path) as file:
        lines = iter(file)
        heads = next(lines, b"").removeprefix(b"\xef\xbb\xbf").strip().lower().split(b"|")
        if b"jobid" not in heads:
            return False
        job = heads.index(b"jobid")
        telling = [place for place, head in enumerate(heads) if head in _TELLING]
        for line in lines:
            if b"+" not in line:
                continue
            cells = line.rstrip(b"\r\n").split(b"|")
            match = _PART.fullmatch(cells[job]) if len(cells) >= len(heads) else None
            if match is not None:
                told = [cells[place] for place in telling]
                if first.setdefault(match[1], told) != told:
                    return True
    return False


def find_clusters(path: Path) -> list[str]:
    """The clusters whose jobs a log of sacct has, where it tells them; none for another kind of log."""
    if path.is_dir() or path.suffix.lower() == ".parquet":
        return []
    found: set[bytes] = set()
    with reading(path) as file:
        lines = iter(file)
        heads = next(lines, b"").removeprefix(b"\xef\xbb\xbf").strip().lower().split(b"|")
        index = heads.index(b"cluster") if b"jobid" in heads and b"cluster" in heads else -1
        if index >= 0 and not any(head.decode("utf-8", "replace") in FREE_TEXT for head in heads[:index]):
            found = {cells[index] for line in lines if len(cells := line.split(b"|", index + 1)) > index + 1}
    return sorted(name.decode("utf-8", "replace") for name in found - {b""})


def tells_memory(path: Path) -> bool:
    """Whether a log of sacct has a column with the memory of its jobs; False for another kind of log."""
    if path.is_dir() or path.suffix.lower() == ".parquet":
        return False
    with reading(path) as file:
        heads = next(iter(file), b"").removeprefix(b"\xef\xbb\xbf").strip().lower().split(b"|")
    return b"jobid" in heads and not {b"reqmem", b"reqtres", b"alloctres"}.isdisjoint(heads)
