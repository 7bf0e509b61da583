"""Standard output and standard error that can be full, closed or of few letters, without an end to the work.

What an answer is printed to may fail at any line: a full disk behind `>`, a reader such as `head` that has gone, a
descriptor that was never open. The work goes on all the same, so that what it writes is whole and its exit code is its
own; what could not be printed is told at the end.
"""

from __future__ import annotations

import errno
import io
import os
import re
import select
import sys
from typing import Any

OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control signs but the tab and the line break, and those that turn the direction of a line."""


def harmless(text: str) -> str:
    """The text with a picture for each sign that a terminal would obey.

    >>> harmless("a\\x1b[31mb")
    'a␛[31mb'
    """
    return OBEYED.sub(_picture, text)


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(0x2400 + code) if code < 32 else "␡" if code == 127 else "\N{REPLACEMENT CHARACTER}"


class Descriptor(io.RawIOBase):
    """A file descriptor that never fails: after the first error, which it keeps, it drops what is written."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.error: OSError | None = None

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self.number

    def isatty(self) -> bool:
        return os.isatty(self.number)

    def write(self, data: Any) -> int:
        while self.error is None:
            try:
                return os.write(self.number, data)
            except BlockingIOError:
                select.select([], [self.number], [])
            except OSError as error:
                self.error = error
        return len(data)


def settle() -> None:
    """Puts such streams in the place of Python's own; called once, before anything is printed or opened.

    A descriptor that is closed is occupied, or the next file that is opened would get its number, and all that is
    printed with it. What is printed to a closed standard output then fails, as it should.
    """
    for number, mode in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # gets the lowest number that is free
    sys.stdout = _wrap(1, sys.stdout)
    sys.stderr = _wrap(2, sys.stderr)


def unwritten() -> str | None:
    """Why standard output could not be written; None where it could, or where its reader has simply gone."""
    sys.stdout.flush()
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    error = raw.error if isinstance(raw, Descriptor) else None
    if error is None or error.errno == errno.EPIPE:
        return None
    return error.strerror or str(error)


def _wrap(number: int, stream: Any) -> io.TextIOWrapper:
    """The stream with the same encoding; letters that it does not have are shown in another way."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    errors = getattr(stream, "errors", None) or "strict"
    if errors == "strict":
        errors = "backslashreplace" if is_unicode(encoding) else "replace"
    raw = Descriptor(number)
    line_buffering = number == 2 or raw.isatty()
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors, line_buffering=line_buffering)


def is_unicode(encoding: str | None) -> bool:
    """Whether an encoding has every letter."""
    return (encoding or "").lower().replace("-", "").replace("_", "").startswith("utf")
