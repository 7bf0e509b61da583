"""Slurm's short form for many names: `n[1-3,7],login` and back."""

from __future__ import annotations

import math
import re
from itertools import groupby, product

from walltime.core.errors import InputError

_NUMBERED = re.compile(r"(.*?)(\d+)$")
_MOST = 1 << 20


def expand(text: str) -> list[str]:
    """Every name, in order; raises InputError for a text that is no list of names.

    >>> expand("a[1-2]b[08-09],c")
    ['a1b08', 'a1b09', 'a2b08', 'a2b09', 'c']
    """
    return [name for item in split(text) for name in _expand_one(item)]


def split(text: str) -> list[str]:
    """The items between the commas that stand outside of brackets."""
    items, depth, begin = [], 0, 0
    for index, sign in enumerate(text + ","):
        depth += (sign == "[") - (sign == "]")
        if depth not in (0, 1):
            raise InputError("brackets do not match in a list of nodes", value=text)
        if sign == "," and depth == 0:
            items.append(text[begin:index].strip())
            begin = index + 1
    if depth:
        raise InputError("brackets do not match in a list of nodes", value=text)
    return [item for item in items if item]


def _expand_one(item: str) -> list[str]:
    pieces = re.split(r"(\[[^]]*\])", item)
    choices = [_numbers(piece[1:-1], item) if piece.startswith("[") else [piece] for piece in pieces if piece]
    if math.prod(map(len, choices)) > _MOST:
        raise InputError("too many nodes in one list", value=item)
    return ["".join(chosen) for chosen in product(*choices)]


def _numbers(text: str, item: str) -> list[str]:
    names: list[str] = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part.strip())
        if not match or int(match[2] or match[1]) < int(match[1]):
            raise InputError("not a range of nodes", value=item)
        first, last = match[1], match[2] or match[1]
        if int(last) - int(first) >= _MOST:
            raise InputError("too many nodes in one range", value=item)
        names += [f"{number:0{len(first)}d}" for number in range(int(first), int(last) + 1)]
    return names


def compress(names: list[str]) -> str:
    """The short form, ranges of numbers with the same width together.

    >>> compress(["n1", "n2", "n3", "m08", "m09", "m10", "login"])
    'n[1-3],m[08-10],login'
    """
    keyed: list[tuple[str, int, int]] = []
    for name in names:
        match = _NUMBERED.fullmatch(name)
        if match is None:
            keyed.append((name, -1, 0))
            continue
        width = len(match[2]) if match[2][0] == "0" else 0
        if keyed and keyed[-1][:2] == (match[1], len(match[2])):  # n099, n100: as wide as the padded one before
            width = len(match[2])
        keyed.append((match[1], width, int(match[2])))
    parts = []
    for (prefix, width), group in groupby(keyed, key=lambda key: key[:2]):
        if width < 0:
            parts += [prefix for _ in group]
            continue
        runs: list[list[int]] = []
        for _, _, number in group:
            if runs and runs[-1][1] + 1 == number:
                runs[-1][1] = number
            else:
                runs.append([number, number])
        texts = [f"{first:0{width}d}" + (f"-{last:0{width}d}" if last > first else "") for first, last in runs]
        single = len(texts) == 1 and "-" not in texts[0]
        parts.append(f"{prefix}{texts[0]}" if single else f"{prefix}[{','.join(texts)}]")
    return ",".join(parts)
