"""Generic resources of nodes: `Gres=` in slurm.conf, and gres.conf, which tells the cores beside each of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from walltime.cluster.hostlist import expand
from walltime.core.errors import InputError

MOST_FILES = 1024
"""More units than this are an amount, such as bytes of a disk, and no devices."""
_COUNT = re.compile(r"(\d+)([KkMmGgTt]?)")
_SCALES = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}


@dataclass(frozen=True)
class Gres:
    """Some units of one kind on a node; `cores` are those beside them, as `0-3,8` (None: all).

    `files` says whether each is a device of its own, so that the controller counts which of them are in use. What is
    not `consumed` every job may have in full, whatever others have.
    """

    name: str
    type: str | None
    count: int
    cores: str | None = None
    files: bool = True
    consumed: bool = True


def read_gres(text: str) -> Iterator[Gres]:
    """`gpu:a100:4(S:0-1),fpga:1`, as a NodeName line has it."""
    for item in re.split(r",(?![^(]*\))", text):
        name, *parts = re.sub(r"\(.*?\)", "", item).strip().split(":")
        if not name:
            continue
        consumed = "no_consume" not in parts
        parts = [part for part in parts if part != "no_consume"]
        count = parts.pop() if parts and _COUNT.fullmatch(parts[-1]) else "1"
        number = read_count(count)
        yield Gres(name, parts[0] if parts else None, number, files=number <= MOST_FILES, consumed=consumed)


def read_count(text: str) -> int:
    """A number with Slurm's binary prefixes; raises InputError for what is none."""
    match = _COUNT.fullmatch(text.strip())
    if not match:
        raise InputError("not a number of generic resources", value=text)
    return int(match[1]) * _SCALES[match[2].lower()]


def detail(
    gres: tuple[Gres, ...], told: Iterable[Mapping[str, str]], cores: int, node: str
) -> tuple[tuple[Gres, ...], list[str]]:
    """What a node reports when gres.conf describes it by the lines `told`, and what is wrong with it.

    slurm.conf says how many there are; gres.conf may tell more of them. Where it tells fewer, a real node would be
    taken out of service, and here slurm.conf is right.
    """
    found: dict[tuple[str, str | None], list[Gres]] = {}
    for words in told:
        if "name" not in words or not any(one.name == words["name"] for one in gres):
            continue
        one = _read_line(words, cores)
        kinds = [other.type for other in gres if other.name == one.name]
        if one.type is None and len(set(kinds)) == 1:
            one = replace(one, type=kinds[0])
        found.setdefault((one.name, one.type), []).append(one)
    reported, problems = [], []
    for one in gres:
        parts = found.get((one.name, one.type)) or found.get((one.name, None)) or [one]
        total = sum(part.count for part in parts)
        if total != one.count:
            label = one.name if one.type is None else f"{one.name}:{one.type}"
            problems.append(f"{node}: gres.conf tells {total} of {label}, slurm.conf {one.count}, which is used")
            parts = [one]
        reported += [replace(part, type=one.type, consumed=one.consumed) for part in parts]
    return tuple(reported), problems


def _read_line(words: Mapping[str, str], cores: int) -> Gres:
    devices = words.get("file", words.get("files"))
    count = read_count(words["count"]) if "count" in words else len(expand(devices)) if devices else 1
    beside = words.get("cores", words.get("cpus"))
    if beside is not None:
        _check_cores(beside, cores)
    return Gres(words["name"], words.get("type"), count, beside, bool(devices) or "multiplefiles" in words)


def _check_cores(text: str, cores: int) -> None:
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", text):
        raise InputError("not a list of cores", value=text)
    if max(int(number) for number in re.findall(r"\d+", text)) >= cores:
        raise InputError(f"the node has {cores} cores, counted from 0", value=text)
