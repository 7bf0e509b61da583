"""Large tables of events, CSV or a JSON object a line, read in blocks: never more than one is held."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.reading import Reading, describe, reading

if TYPE_CHECKING:
    import polars as pl

BLOCK = 16 << 20
"""Bytes of a block."""
_LONGEST = 1 << 20
_QUOTED = re.compile(rb'"[^"]*"')


class Block:
    """Some rows of a file, as texts in the columns that were asked for; `line` is that of the first row."""

    def __init__(self, path: str | Path, table: pl.DataFrame, line: int) -> None:
        self.path, self.table, self.line = path, table, line

    def __len__(self) -> int:
        return len(self.table)

    def texts(self, name: str) -> pl.Series:
        """A column as it stands, nulls where it is absent."""
        import polars as pl

        if name not in self.table.columns:
            return pl.Series(name, [None] * len(self.table), dtype=pl.String)
        return self.table[name]

    def whole(self, name: str) -> pl.Series:
        """A column of whole numbers; an empty cell is null, a word an error with its line."""
        import polars as pl

        return self._cast(name, pl.Int64, "a whole number")

    def numbers(self, name: str) -> pl.Series:
        """A column of numbers, likewise; infinities and NaN are errors."""
        import polars as pl

        found = self._cast(name, pl.Float64, "a number")
        if bool((~found.is_finite()).any()):
            row = int(np.argmax((~found.is_finite()).fill_null(False).to_numpy()))
            raise self.wrong(f"{name} is not a finite number", row, self.texts(name)[row])
        return found

    def wrong(self, what: str, row: int, value: Any = None) -> InputError:
        """An error in this row of the block."""
        return InputError(what, value=value, file=self.path, line=self.line + row)

    def _cast(self, name: str, kind: Any, what: str) -> pl.Series:
        text = self.texts(name)
        found = text.cast(kind, strict=False)
        if found.null_count() > text.null_count():
            lost = found.is_null() & text.is_not_null() & (text.str.strip_chars() != "")
            if bool(lost.any()):
                row = int(np.argmax(lost.to_numpy()))
                raise self.wrong(f"{name} is not {what}", row, text[row])
        return found


def read_blocks(path: str | Path, columns: Sequence[str], *, header: bool = True) -> Iterator[Block]:
    """The rows of a file, block by block. `columns` are those of a file without a header, which may have one all the
    same; with `header` the file names them, and a file of JSON objects does."""
    with reading(path) as file:
        rest, line = b"", 1
        names: list[str] | None = None
        as_json = False
        while True:
            more = file.stream.read(BLOCK)
            raw = rest + more
            cut = len(raw) if not more else raw.rfind(b"\n") + 1
            if more and cut == 0 and len(raw) > _LONGEST:
                raise InputError("a line is too long", file=path, line=line)
            part, rest = raw[:cut], raw[cut:]
            if names is None and part:
                part = part.removeprefix(b"\xef\xbb\xbf")
                as_json = part.lstrip()[:1] == b"{"
                names, part, line = ([], part, line) if as_json else _head(path, part, columns, header)
            if part.strip():
                table = _parse_json(path, part, line, columns) if as_json else _parse_csv(path, part, line, names or [])
                yield Block(path, table, line)
            line += part.count(b"\n")
            if not more:
                break
        if names is None:
            raise InputError("the file is empty", file=path)


def _head(path: str | Path, part: bytes, columns: Sequence[str], header: bool) -> tuple[list[str], bytes, int]:
    """The names of the columns, and what comes after the line that tells them."""
    first, _, rest = part.partition(b"\n")
    words = [word.strip().strip('"') for word in first.decode("utf-8").rstrip("\r").split(",")]
    if not header:
        if set(words) <= set(columns):
            return words, rest, 2
        return list(columns), part, 1
    if twice := [word for word in words if words.count(word) > 1]:
        raise InputError("a column stands twice in the header", value=twice[0], file=path, line=1)
    return words, rest, 2


def _parse_csv(path: str | Path, part: bytes, line: int, names: list[str]) -> pl.DataFrame:
    import polars as pl

    try:
        table = Reading.rows(part, names)
    except pl.exceptions.PolarsError as error:
        raise InputError(f"not a table ({describe(error)})", file=path, line=_odd_line(part, line, names)) from None
    if len(table.columns) != len(names) or bool(table[names[-1]].is_null().any()):
        odd = _odd_line(part, line, names)  # a short line is filled up with nulls
        if odd is not None:
            raise InputError(f"a line has not as many fields as there are columns: {len(names)}", file=path, line=odd)
    return table


def _odd_line(part: bytes, line: int, names: list[str]) -> int | None:
    """The first line that has not as many fields as there are names; commas inside quotes are not counted."""
    for number, text in enumerate(part.split(b"\n"), line):
        if text.strip() and _QUOTED.sub(b"", text).count(b",") + 1 != len(names):
            return number
    return None


def _parse_json(path: str | Path, part: bytes, line: int, columns: Sequence[str]) -> pl.DataFrame:
    """The objects of the lines; `a.b` is a value inside another."""
    import polars as pl

    schema: dict[str, Any] = {}
    for name in columns:
        outer, _, inner = name.partition(".")
        if inner:
            fields = dict(schema.get(outer, pl.Struct({})).to_schema()) | {inner: pl.String}
            schema[outer] = pl.Struct(fields)
        else:
            schema[name] = pl.String
    try:
        table = pl.read_ndjson(io.BytesIO(part), schema=schema)
    except pl.exceptions.PolarsError as error:
        raise InputError(f"not a JSON object in each line ({describe(error)})", file=path, line=line) from None
    return table.select(
        pl.col(name.partition(".")[0]).struct.field(name.partition(".")[2]).alias(name) if "." in name else pl.col(name)
        for name in columns
    )
