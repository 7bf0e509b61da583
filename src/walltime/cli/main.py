"""The command `walltime`: turns every end into an exit code.

0 done, 1 our fault, 2 bad input or nowhere to write, 3 some runs failed or a schedule is illegal, 130 interrupted.
Nothing is imported before `main` runs but what every Python has loaded, so that Ctrl-C is heard from the first moment.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import traceback

INTERRUPTED = 130
REPORT = (
    "This is a fault of Walltime, not of your input. Please report it with the command and the trace of calls, "
    "which WALLTIME_DEBUG=1 shows."
)
OBJECTS = 250_000
"""New objects between two looks for garbage. Start-up makes half as many, which stay, and Python would look every 700:
a fifth of the time until the work begins."""
LIBRARIES = {"OPENBLAS_NUM_THREADS": "1", "NUMPY_MADVISE_HUGEPAGE": "0", "PYDANTIC_DISABLE_PLUGINS": "__all__"}
"""What NumPy and Pydantic read when they are imported, unless the user says otherwise: threads that we have no work for
would turn in circles, huge pages are sought for and cleared whole, which takes longer than the small ones, and plug-ins
that look on while models are checked are sought for among all that is installed."""
COLUMN, KEPT = 32 << 20, 256 << 20
"""Bytes: arrays up to the first the C library takes from what was freed before, of which it keeps up to the second. The
system clears each page that it gives again. Longer arrays go back to it at once, as their holes would add up."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt(3)
PLUGIN = "The policy's own code failed; WALLTIME_DEBUG=1 shows the trace of calls."


def main() -> None:
    """Run the command line and exit with its code; never returns."""
    try:
        gc.set_threshold(OBJECTS)
        for setting, value in LIBRARIES.items():
            os.environ.setdefault(setting, value)
        _keep_memory()
        from walltime.cli.terminal.streams import settle

        settle()
        code = _end(_run())
        _leave(code)
    except KeyboardInterrupt:  # before the work, or after it
        code = INTERRUPTED
    sys.exit(code)


def _keep_memory() -> None:
    """Tell the C library what to keep, where it is GNU's and the user has said nothing of it."""
    if sys.platform != "linux" or any(name.startswith("MALLOC_") for name in os.environ):
        return
    import ctypes

    tell = getattr(ctypes.CDLL(None), "mallopt", None)
    if tell is not None:
        tell(_MMAP_THRESHOLD, COLUMN)
        tell(_TRIM_THRESHOLD, KEPT)


def _leave(code: int) -> None:
    """End the process at once, where nothing else runs in it and nothing watches it: Python would give back all that it
    holds piece by piece, which takes a quarter of a second, and the system does it in one."""
    threads = sys.modules.get("threading")
    if sys.gettrace() or sys.getprofile() or (threads is not None and threads.active_count() > 1):
        return
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _run() -> int:
    try:
        from walltime.cli.app import app, narrow

        narrow(app, sys.argv[1:])
        app(prog_name="walltime")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except MemoryError:
        return _tell("out of memory", 1)
    except Exception as error:
        return _tell_error(error)
    return 0


def _end(code: int) -> int:
    """The exit code, after a word about an answer that could not be printed."""
    from walltime.cli.terminal.streams import unwritten

    if reason := unwritten():
        return _tell(f"standard output cannot be written: {reason}", code or 2)
    return code


def _tell_error(error: Exception) -> int:
    from walltime.core.errors import WalltimeError

    if isinstance(error, WalltimeError):
        return _tell(error, error.exit_code)
    if isinstance(error, OSError) and error.filename is not None and not _find_foreign(error):
        return _tell(f"{os.fsdecode(error.filename)!r}: {error.strerror}", 2)  # the system's word, not our fault
    return _tell_fault(error)


def _tell(error: object, code: int) -> int:
    if isinstance(error, BaseException) and os.environ.get("WALLTIME_DEBUG"):
        import traceback

        traceback.print_exception(error)
    from walltime.cli.terminal.streams import harmless

    if sys.stderr.isatty():
        from walltime.cli.terminal.console import err

        err().print("Error: ", style="bold red", end="")
        err().print(str(error), soft_wrap=True)
    else:
        print(harmless(f"Error: {error}"), file=sys.stderr)
    return code


def _tell_fault(error: Exception) -> int:
    """An unexpected exception: short for a user, in full for a developer.

    Where a plug-in's own code raised it, that file and line are named, and the user is not asked to report it to us.
    """
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    foreign = _find_foreign(error)
    place = foreign[-1] if foreign else frames[-1] if frames else None
    where = "" if place is None else f"{os.path.basename(place.filename)}:{place.lineno}: "
    advice = PLUGIN if foreign else REPORT
    text = f"{where}{type(error).__name__}: {error}\n{advice}"
    if os.environ.get("WALLTIME_DEBUG"):
        traceback.print_exception(error)
    return _tell(text, 1)


def _find_foreign(error: Exception) -> list[traceback.FrameSummary]:
    """The calls in code that is neither ours nor a library's."""
    import traceback

    return [frame for frame in traceback.extract_tb(error.__traceback__) if _is_foreign(frame.filename)]


def _is_foreign(file: str) -> bool:
    """Whether a file of code is neither ours nor a library's: a policy that a user is writing."""
    import sysconfig

    if not os.path.exists(file):  # compiled modules name their sources by a path of the machine that built them
        return False
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    libraries = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    return not any(os.path.abspath(file).startswith(folder + os.sep) for folder in (ours, *libraries))
