"""Shares from a file: a name and a number in each line."""

from __future__ import annotations

import math
from pathlib import Path

from walltime.core.errors import InputError
from walltime.core.reading import reading


def read_shares(path: str | Path) -> dict[str, float]:
    """Shares by name; between name and number are blanks, a tab, a comma or a colon, after `#` is a remark.

    Raises InputError with the line.
    """
    with reading(path) as file:
        return _parse(list(file.lines()), path)


def _parse(lines: list[tuple[int, str]], path: str | Path) -> dict[str, float]:
    shares: dict[str, float] = {}
    for number, line in lines:
        words = line.partition("#")[0].replace(",", " ").replace(":", " ").split()
        if not words:
            continue
        if len(words) != 2:
            raise InputError("a line of shares is a name and a number", value=line.strip(), file=path, line=number)
        if words[0] in shares:
            raise InputError("the name has shares already", value=words[0], file=path, line=number)
        shares[words[0]] = _number(words[1], path, number)
    return shares


def _number(text: str, path: str | Path, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1e12:
        raise InputError("shares are a number from 0", value=text, file=path, line=line)
    return value
