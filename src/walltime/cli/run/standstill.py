"""A run that a loop in somebody's own code holds up says so, with the line, while it stands."""

from __future__ import annotations

import sys
import sysconfig
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from walltime.cli.terminal.console import remark
from walltime.core.time import format_duration
from walltime.programs.errors import ProfileError, is_ours

STILL = 10.0
"""Real seconds without a step of the simulation that are worth a word."""


@contextmanager
def watch_for_standstill(name: str, count_steps: Any) -> Iterator[None]:
    """While the block runs, say once if `count_steps()` stays what it is because code that is not ours runs on."""
    over = threading.Event()
    thread = threading.Thread(target=_watch, args=(name, count_steps, threading.get_ident(), over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _watch(name: str, count_steps: Any, watched: int, over: threading.Event) -> None:
    steps = count_steps()
    while not over.wait(STILL):
        before, steps = steps, count_steps()
        frame = sys._current_frames().get(watched) if steps == before else None
        if frame is not None and (told := describe_standstill(frame)) is not None:
            remark(f"{name}: nothing has moved for {format_duration(round(STILL))}. {told} Ctrl-C ends the run.")
            return


def describe_standstill(frame: FrameType | None) -> str | None:
    """Where a person's own code runs, and for which job if it is a program; None where there is none."""
    while frame is not None and is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    while frame is not None and _is_installed(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None or is_ours(frame.f_code.co_filename):
        return None
    program = find_program()
    where = "" if program is None else f", job {program.label}, profile {program.profile}"
    return f"{frame.f_code.co_filename}:{frame.f_lineno}: `{frame.f_code.co_name}` is still at work{where}."


def _is_installed(file: str) -> bool:
    """Python's own library and installed packages are at work for the code that calls them."""
    return file.startswith(("<", sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")))


def find_program() -> Any:
    """The program whose code runs, if any does."""
    programs = sys.modules.get("walltime.programs.program")  # not loaded where no job is a program
    try:
        return None if programs is None else programs.current()
    except ProfileError:
        return None
