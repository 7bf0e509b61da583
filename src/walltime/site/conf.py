"""slurm.conf as Slurm reads it: settings, and lines that describe one thing with several words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from walltime.core.errors import InputError
from walltime.core.reading import reader
from walltime.site.associations import read_text
from walltime.site.options import WORDS, ReleaseWords

_PAIR = re.compile(r"\s*([A-Za-z0-9_]+)\s*=\s*((?:\"[^\"]*\"|[^\s\"])+)")
_NESTED = 20


@dataclass(frozen=True)
class ConfLine:
    """One logical line: its words in order, and where it stands."""

    pairs: tuple[tuple[str, str], ...]
    file: str
    number: int

    @property
    def kind(self) -> str:
        return self.pairs[0][0].lower()

    @property
    def name(self) -> str:
        """What the line describes."""
        return self.pairs[0][1]

    @property
    def is_default(self) -> bool:
        """Whether it describes what later lines of its kind begin with."""
        return self.name.upper() == "DEFAULT"

    def get(self, *names: str) -> str | None:
        """The value of the first of the names that the line has."""
        values = {key.lower(): value for key, value in self.pairs}
        return next((values[name.lower()] for name in names if name.lower() in values), None)


@dataclass
class Conf:
    """A whole configuration: single settings by name, and the lines for nodes, partitions and the like."""

    file: str
    words: ReleaseWords
    settings: dict[str, tuple[str, ConfLine]] = field(default_factory=dict)
    lines: list[ConfLine] = field(default_factory=list)
    unknown: list[tuple[str, ConfLine]] = field(default_factory=list)
    gres: str | None = None
    """The gres.conf, where it is not the one beside the file."""

    def of_kind(self, kind: str) -> Iterator[ConfLine]:
        """The lines of a kind, in order."""
        return (line for line in self.lines if line.kind == kind)

    def resolve(self, kind: str) -> Iterator[tuple[ConfLine, dict[str, str]]]:
        """The lines of a kind with their words by name, in small letters, and those of DEFAULT lines before them."""
        usual: dict[str, str] = {}
        for line in self.of_kind(kind):
            given = {key.lower(): value for key, value in line.pairs[1:]}
            if line.is_default:
                usual |= given
            else:
                yield line, usual | given


@contextmanager
def of_line(line: ConfLine) -> Iterator[None]:
    """What a line's words can cause inside the block comes out as an InputError with its place."""
    try:
        yield
    except InputError as error:
        if error.file is not None:
            raise
        raise InputError(error.what, value=error.value, file=line.file, line=line.number) from error
    except ValueError as error:
        what = f"cannot be read: {error}"
        raise InputError(what, file=line.file, line=line.number) from error


@reader
def read_conf(path: str | Path, words: ReleaseWords = WORDS["22.05"]) -> Conf:
    """The configuration of a file and of those it includes; raises InputError with file and line."""
    conf = Conf(str(path), words)
    for line in read_lines(Path(path)):
        _add(conf, line)
    if not any(conf.of_kind("nodename")):
        raise InputError("describes no nodes (NodeName=...)", file=path)
    if not any(conf.of_kind("partitionname")):
        raise InputError("describes no partition (PartitionName=...)", file=path)
    return conf


def _add(conf: Conf, line: ConfLine) -> None:
    if line.kind in conf.words.lines:
        known = {name.lower() for name in conf.words.lines[line.kind]}
        conf.unknown += [(key, line) for key, _ in line.pairs if key.lower() not in known]
        conf.lines.append(
            ConfLine(tuple(pair for pair in line.pairs if pair[0].lower() in known), line.file, line.number)
        )
        return
    for key, value in line.pairs:
        name = conf.words.known.get(key.lower())
        if name is None:
            conf.unknown.append((key, line))
        else:
            conf.settings[name] = (value, line)


def read_lines(path: Path, depth: int = 0) -> Iterator[ConfLine]:
    """Logical lines: comments gone, continued lines joined, included files in their place."""
    if depth > _NESTED:
        raise InputError("files include each other without end", file=path)
    joined, begin = "", 0
    for number, raw in enumerate(read_text(path).splitlines(), 1):
        text = re.sub(r"(?<!\\)#.*", "", raw).replace("\\#", "#").rstrip()
        begin = begin or number
        if text.endswith("\\"):
            joined += text[:-1]
            continue
        whole, at = (joined + text).strip(), begin
        joined, begin = "", 0
        if not whole:
            continue
        include = re.fullmatch(r"include\s+(\S+)", whole, re.IGNORECASE)
        if include:
            yield from read_lines(_find_included(include[1], path, at), depth + 1)
        else:
            yield ConfLine(tuple(_read_pairs(whole, path, at)), str(path), at)


def _find_included(name: str, path: Path, number: int) -> Path:
    """The file that another one includes, beside it: of `/etc/slurm/parts/nodes.conf` as well that of a copy of the
    folder, for what is there on this machine may be of another site."""
    parts = Path(name).parts
    beside = [path.parent.joinpath(*parts[first:]) for first in range(1, len(parts))]
    places = [*beside, Path(name)] if Path(name).is_absolute() else [path.parent / name]
    for place in places:
        if place.is_file():
            return place
    raise InputError("includes a file that is not there", value=name, file=path, line=number)


def read_licences(text: str) -> dict[str, int]:
    """`matlab:20,ansys@server:4` by name; one that tells no number is there once."""
    parts = (part.strip().rpartition(":") for part in re.split(r"[,;]", text) if part.strip())
    return {name or rest: int(rest) if name and rest.isdigit() else 1 for name, _, rest in parts}


def _read_pairs(text: str, path: Path, number: int) -> Iterator[tuple[str, str]]:
    place = 0
    while place < len(text):
        match = _PAIR.match(text, place)
        if not match:
            raise InputError("not Key=Value", value=text[place:].strip(), file=path, line=number)
        yield match[1], match[2].replace('"', "")
        place = match.end()
