"""What goes wrong in a program: told with the job, the profile and the line."""

from __future__ import annotations

import traceback
from pathlib import Path
from types import FrameType
from typing import Any

from walltime.core.errors import WalltimeError

_OURS = (
    str(Path(__file__).parents[1]),
    "src/walltime/",
    "walltime/",
    str(Path(traceback.__file__).with_name("asyncio")),
)
"""Whose lines are never to blame; compiled modules know their names as they stand in the sources."""


class ProfileError(WalltimeError):
    """A program that cannot go on. `file` and `line` are where it stands in a file of profiles; `frame`, in code."""

    def __init__(
        self, what: str, *, file: str | None = None, line: int | None = None, frame: FrameType | None = None
    ) -> None:
        super().__init__(what)
        self.file = frame.f_code.co_filename if frame is not None else file
        self.line = frame.f_lineno if frame is not None else line


class StorageError(OSError):
    """A disk cannot take or give what a process asks for. Programs may catch it."""


def tell(program: Any) -> str:
    """What ended the program, for a person: where, which job, which profile, what."""
    error = program.error
    file, line = _place(error)
    where = "" if file is None else f"{file}: " if line is None else f"{file}:{line}: "
    kind = "" if isinstance(error, ProfileError | StorageError) else f"{type(error).__name__}: "
    return f"{where}job {program.label}, profile {program.profile}: {kind}{error}"


def _place(error: BaseException) -> tuple[str | None, int | None]:
    """The file and line that are to blame: what the error says itself, or the innermost line that is not ours."""
    if getattr(error, "line", None) is not None:
        return getattr(error, "file", None), error.line  # type: ignore[attr-defined]
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not is_ours(frame.filename)]
    return (theirs[-1].filename, theirs[-1].lineno) if theirs else (None, None)


def is_ours(file: str) -> bool:
    """Whether code of this file is Walltime's, by the name that a frame has for it."""
    return file.startswith(_OURS)
