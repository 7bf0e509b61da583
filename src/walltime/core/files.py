"""Single files that appear whole or not at all, and what the system says when they cannot."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from walltime.core.errors import InputError, WalltimeError
from walltime.core.reading import check_path, describe, reading

if TYPE_CHECKING:
    import polars as pl

_LONGEST_NAME = 255 - len(".partial-") - 9
"""Bytes of a name, so that what is written beside it for a while has a name too."""
_BLOCK = 1 << 20
_CODE = re.compile(r"\(os error (\d+)\)")


def check_file(target: Path, *, force: bool) -> Path:
    """The path, if a file may be written there; raises InputError."""
    check_name(target)
    if target.is_dir():
        raise InputError("this is a folder; a file is to be written", file=target)
    if target.exists() and not force:
        raise InputError("this file is already there; --force replaces it", file=target)
    if not target.absolute().parent.is_dir():
        raise InputError("there is no such folder to write into", file=target.absolute().parent)
    return target


def check_name(target: str | Path) -> None:
    """Raises InputError for a path that nothing can be written to: each of its names has at most 230 bytes or so."""
    check_path(target)
    for name in Path(target).parts:
        if len(name.encode()) > _LONGEST_NAME:
            raise InputError(f"a name has at most {_LONGEST_NAME} bytes; this one has {len(name.encode())}", file=name)


def sync(path: Path) -> None:
    """Wait until the file, or what the folder says of its files, is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def checksum(file: Path) -> str:
    """SHA-256 of the file as it is, in hexadecimal; raises InputError where it cannot be read."""
    made = hashlib.sha256()
    with reading(file, packed=True) as opened:
        while block := opened.read(_BLOCK):
            made.update(block)
    return made.hexdigest()


def write_whole(target: Path, data: bytes) -> Path:
    """Writes the file so that all of it is seen or nothing; raises InputError."""
    with replacing(target) as draft:
        draft.write_bytes(data)
    return target


def write_parquet(table: pl.DataFrame, file: Path, **options: Any) -> None:
    """Writes the table; what the system says is raised, also where polars forgets it, as in a footer."""
    with open(file, "wb", buffering=0) as opened:
        made = _Remembering(opened)
        try:
            table.write_parquet(made, **{"compression_level": 1} | options)  # type: ignore[arg-type]
        finally:  # zstd at this level is faster than at its default, and no larger
            if made.error is not None:
                raise made.error


class _Remembering:
    """A file as polars writes to one, with the first error that the system told."""

    def __init__(self, file: io.FileIO) -> None:
        self.file = file
        self.error: OSError | None = None

    def write(self, data: bytes) -> int:
        """All of the bytes, or OSError."""
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self.file.write(rest) :]
        except OSError as error:
            self.error = self.error or error
            raise
        return len(data)

    def flush(self) -> None:
        """Nothing is kept back."""


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary path beside `path`, which takes its place when the block ends well and vanishes when it does not."""
    target = Path(path)
    check_name(target)
    if target.is_dir():
        raise InputError("this is a folder, not a file", file=path)
    draft = target.with_name(f".{target.name}.partial-{os.getpid()}")
    try:
        with writing(path):
            draft.touch(exist_ok=False)
            yield draft
            os.replace(draft, target)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


@contextmanager
def writing(path: str | Path, what: str = "cannot be written") -> Iterator[None]:
    """A disk that takes no more, in our words: InputError for what the system says inside the block, and for what a
    library says in its stead. Another error of a library is our fault, and comes through."""
    try:
        yield
    except WalltimeError:
        raise
    except UnicodeEncodeError as error:
        raise InputError(f"{what} ({describe(error)})", file=path) from error
    except BaseException as error:
        reason = _system_error(error)
        if reason is None:
            raise
        raise InputError(f"{what} ({reason})", file=path) from error


def _system_error(error: BaseException) -> str | None:
    """What the system said, also where a library has put it into an error of its own; None for any other error."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if code := _CODE.search(text):
        return os.strerror(int(code[1]))
    known = (os.strerror(code) for code in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG))
    said = next((words for words in known if words in text), None)
    return text if said is None and isinstance(error, OSError) else said
