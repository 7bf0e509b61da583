"""The one boundary between files and data: whatever a file's contents can cause becomes an InputError that names it.

Every reader opens its file with `reading`, and every function that turns a file into data is a `reader`. Both stand on
`boundary`, which tells what is the file's fault from what is ours by the kind of the exception:

- a *value* that cannot be had (ValueError, a number out of range, text that is not UTF-8, brackets nested too deeply, a
  size beyond the memory, what a library for tables or archives says, its panics too) is the file's;
- a *program* that is wrong (TypeError, AttributeError, KeyError, IndexError, NameError, AssertionError, ...) is ours,
  and comes through as it is. So a reader looks at the type of what a file holds before it uses it.

The first cause stays attached to the InputError; WALLTIME_DEBUG=1 shows it.
"""

from __future__ import annotations

import csv
import functools
import gzip
import io
import json
import os
import re
import stat
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Concatenate, ParamSpec, TypeVar

from walltime.core.errors import InputError
from walltime.core.parquet import check_parquet

if TYPE_CHECKING:
    import polars as pl

LARGEST = 1 << 30
"""The most bytes of a file that is read as a whole, after unpacking; traces are read in pieces."""

_GZIP = b"\x1f\x8b"
_MARK = b"\xef\xbb\xbf"
_VALUES = (
    *(OSError, ValueError, ArithmeticError, EOFError, RecursionError, MemoryError),
    *(csv.Error, struct.error, zlib.error),
)
_TABLES = ("polars", "pyo3_runtime", "pyarrow")
_LONGEST_REASON = 120
_MOST_CELLS = 1 << 27
_CELLS_OF_A_BYTE = 200  # far beyond what a column of jobs can be packed to
_TWICE = re.compile(r"(.*)_duplicated_\d+")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

Given = ParamSpec("Given")
Read = TypeVar("Read")
File = TypeVar("File", bound="str | Path")


class Reading:
    """A file while it is read: its bytes, unpacked, and the line that the reader has come to."""

    def __init__(self, path: str | Path, advice: str = "") -> None:
        self.path = path
        self.advice = advice
        self.line: int | None = None
        self.stream: BinaryIO

    def read(self, size: int = -1) -> bytes:
        """The next bytes; all of them without a size, unless the file is too large for that."""
        return self.stream.read(size) if size >= 0 else self.content()

    def content(self, most: int = LARGEST) -> bytes:
        """All bytes of a file that may have at most so many."""
        raw = self.stream.read(most + 1)
        if len(raw) > most:
            raise InputError(f"the file is too large (more than {most >> 20} MB)", file=self.path)
        return raw

    def text(self, most: int = LARGEST, *, errors: str = "strict") -> str:
        """The whole file as text in UTF-8; the line of a byte that is none is told."""
        raw = self.content(most).removeprefix(_MARK)
        try:
            return raw.decode("utf-8", errors)
        except UnicodeDecodeError as error:
            self.line = raw.count(b"\n", 0, error.start) + 1
            raise

    def lines(self, *, errors: str = "strict") -> Iterator[tuple[int, str]]:
        """The lines of a text with their numbers; an error while one is looked at tells its number."""
        for number, text in enumerate(self.text(errors=errors).splitlines(), 1):
            self.line = number
            yield number, text
        self.line = None

    def __iter__(self) -> Iterator[bytes]:
        """The lines as bytes, read one by one."""
        for number, raw in enumerate(self.stream, 1):
            self.line = number
            yield raw
        self.line = None

    def json(self, what: str = "not valid JSON") -> Any:
        """The value of a JSON file; `what` is said of one that holds none."""
        try:
            text = self.text()
            value = json.loads(text)
            if _SURROGATE.search(text):
                _refuse_surrogates(value)
        except json.JSONDecodeError as error:
            raise InputError(f"{what} ({error.msg}){self.advice}", file=self.path, line=error.lineno) from None
        except (ValueError, RecursionError) as error:
            reason = f"({describe(error)}){self.advice}"
            raise InputError(f"{what} {reason}", file=self.path, line=self.line) from error
        return value

    def table(self, **options: Any) -> pl.DataFrame:
        """The table of a Parquet file, or of a CSV file by its suffix; `options` are those of reading CSV."""
        import polars as pl

        if str(self.path).lower().endswith(".csv"):
            table = pl.read_csv(self.path, **options)
            self._check_lines(table)
            return table
        self.scan()
        return pl.read_parquet(self.path)

    def scan(self) -> pl.LazyFrame:
        """The table of a Parquet file, of which nothing is read yet but how large it is."""
        import polars as pl

        with _open(self.path) as raw:
            check_parquet(raw, self.path)
        table = pl.scan_parquet(self.path)
        self._check_size(table)
        return table

    def _check_lines(self, table: pl.DataFrame) -> None:
        """Refuses a CSV file that names a column twice, or with a line of fewer fields, which was filled up."""
        names = table.columns
        renamed = [match[1] for name in names if (match := _TWICE.fullmatch(name)) and match[1] in names]
        if renamed:
            raise InputError("a column stands twice in the header", value=renamed[0], file=self.path, line=1)
        if not names or not table[names[-1]].null_count():
            return
        lines = csv.reader(raw.decode("utf-8", "replace") for raw in self)
        for fields in lines:
            if 0 < len(fields) < len(names):
                what = f"a line has not as many fields as there are columns: {len(names)}"
                raise InputError(what, file=self.path, line=lines.line_num)

    @staticmethod
    def rows(part: bytes, names: list[str]) -> pl.DataFrame:
        """Some lines of a CSV file, of which no header is among them, all of them as texts."""
        import polars as pl

        return pl.read_csv(io.BytesIO(part), has_header=False, infer_schema=False, new_columns=names)

    def _check_size(self, table: pl.LazyFrame) -> None:
        """Refuses a Parquet file of a few bytes that says it holds gigabytes."""
        import polars as pl

        cells = table.select(pl.len()).collect().item() * max(1, len(table.collect_schema()))
        if cells > _MOST_CELLS and cells > _CELLS_OF_A_BYTE * os.path.getsize(self.path):
            raise InputError("the file is damaged: it has not the size for as many rows as it tells", file=self.path)


@contextmanager
def boundary(path: str | Path, place: Reading | None = None) -> Iterator[None]:
    """What the contents of the file cause inside the block comes out as an InputError with the file, and the line that
    `place` has come to; an InputError that names no file gets these too."""
    try:
        yield
    except InputError as error:
        if error.file is not None or type(error) is not InputError:
            raise
        line = error.line if error.line is not None or place is None else place.line
        raise InputError(error.what, value=error.value, file=path, line=line, choices=error.choices) from error
    except BaseException as error:
        if not _is_of_file(error):
            raise
        line = None if place is None else place.line
        what = "no such file" if isinstance(error, FileNotFoundError) else f"cannot be read: {describe(error)}"
        raise InputError(what + ("" if place is None else place.advice), file=path, line=line) from error


@contextmanager
def reading(path: str | Path, advice: str = "", *, packed: bool = False) -> Iterator[Reading]:
    """A file that is read inside the block, unpacked where its bytes are gzip's (by content, not by name) unless
    it is wanted `packed`.

    Only a regular file is: a pipe or a device can be read once, or without end. `advice` is said after a reason.
    """
    place = Reading(path, advice)
    with boundary(path, place), _open(path) as raw:
        if not packed and raw.peek(2)[:2] == _GZIP:  # type: ignore[attr-defined]
            with gzip.open(raw) as unpacked:
                place.stream = unpacked  # type: ignore[assignment]
                yield place
        else:
            place.stream = raw
            yield place


def reader(
    function: Callable[Concatenate[File, Given], Read],
) -> Callable[Concatenate[File, Given], Read]:
    """A function that makes data of the file at its first argument: what the file causes is told as its fault."""

    @functools.wraps(function)
    def read(path: File, /, *given: Given.args, **named: Given.kwargs) -> Read:
        with boundary(path):
            return function(path, *given, **named)

    return read


def check_path(path: str | Path) -> None:
    """Raises InputError for a path that no file can have, or whose name no text file could mention."""
    text = os.fspath(path)
    if "\0" in text:
        raise InputError("a path cannot hold the character NUL", file=path)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError("a path has to be text in UTF-8", file=path) from None


def describe(error: BaseException) -> str:
    """The reason of an exception, in a few words for a person."""
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, MemoryError):
        return "it asks for more memory than there is"
    if isinstance(error, EOFError | zlib.error | gzip.BadGzipFile):
        return f"damaged gzip file ({error})"
    if isinstance(error, UnicodeDecodeError):
        return "not text in UTF-8"
    if isinstance(error, UnicodeEncodeError):
        return "it holds half a character (a lone surrogate)"
    if isinstance(error, OverflowError):
        return "a number is out of range"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = (str(error).strip().splitlines() or [type(error).__name__])[0]
    if "integer string conversion" in text:
        return "a number has too many digits"
    return text if len(text) <= _LONGEST_REASON else f"{text[: _LONGEST_REASON - 1]}…"


def _open(path: str | Path) -> BinaryIO:
    check_path(path)
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe without a writer does not hold us up
    kind = os.fstat(handle).st_mode
    if not stat.S_ISREG(kind):
        os.close(handle)
        what = "a folder" if stat.S_ISDIR(kind) else "a pipe" if stat.S_ISFIFO(kind) else "a device"
        raise InputError(f"this is {what}, not a file", file=path)
    return open(handle, "rb")


def _is_of_file(error: BaseException) -> bool:
    module = type(error).__module__.partition(".")[0]
    return isinstance(error, _VALUES) or module in _TABLES or type(error).__name__ == "PanicException"


def _refuse_surrogates(value: Any) -> None:
    """Raises UnicodeEncodeError for half a character, which JSON can say and no file of ours can hold."""
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, dict | list):
        for item in value:
            _refuse_surrogates(item)
        for item in value.values() if isinstance(value, dict) else ():
            _refuse_surrogates(item)
