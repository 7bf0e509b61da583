"""The parent of a simulated controller: whatever happens, it leaves no process and no file behind.

A program of its own, run as `python -I -S warden.py FOLDER PIPE PROCESSOR COMMAND...`: it starts COMMAND on that
processor (`any`: wherever there is room) with its output going to FOLDER/output, and writes the process's number to
PIPE. When the command ends or the other end of PIPE is closed, which the kernel does for a process that is killed, it
ends everything that descends from it; once PIPE is closed, it removes FOLDER. Standard library only, and as little of
it as possible: this is part of the cost of every start.
"""

import contextlib
import ctypes
import os
import select
import signal
import sys

SET_CHILD_SUBREAPER = 36
NO_RANDOM_ADDRESSES = 0x0040000
ANY = "any"


def command(folder: str, pipe: int, words: list[str], processor: int | None = None) -> list[str]:
    """The words that start a warden of some words."""
    number = ANY if processor is None else str(processor)
    return [sys.executable, "-I", "-S", __file__, folder, str(pipe), number, *words]


def remove(folder: str) -> None:
    """The folder and all that is in it; what has gone already is no error."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            remove(entry.path)
        else:
            with contextlib.suppress(OSError):
                os.unlink(entry.path)
    with contextlib.suppress(OSError):
        os.rmdir(folder)


def start(folder: str, processor: str, words: list[str]) -> int:
    """The process, with the same addresses every time."""
    process = os.fork()
    if process:
        return process
    output = os.open(os.path.join(folder, "output"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    ctypes.CDLL(None).personality(NO_RANDOM_ADDRESSES)
    if processor != ANY:
        with contextlib.suppress(OSError):  # it may have been taken away from this process meanwhile
            os.sched_setaffinity(0, {int(processor)})
    try:
        os.execv(words[0], words)
    finally:
        os._exit(127)


def end_descendants() -> None:
    """Kill and reap until this process has no child; orphans of children become children of ours."""
    while True:
        with open(f"/proc/{os.getpid()}/task/{os.getpid()}/children") as file:
            children = [int(text) for text in file.read().split()]
        for child in children:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def wait_for_end(pipe: int) -> None:
    """Until the other end is closed."""
    with contextlib.suppress(OSError):
        os.read(pipe, 1)


def main() -> None:
    folder, pipe, processor, words = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]
    os.setsid()  # Ctrl-C on the terminal is for the person who waits, not for us
    ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    process = start(folder, processor, words)
    ended = os.pidfd_open(process)
    os.write(pipe, b"%d\n" % process)
    ready, _, _ = select.select([pipe, ended], [], [])
    end_descendants()
    if pipe not in ready:
        wait_for_end(pipe)  # the folder is still of use: it holds the log
    remove(folder)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    main()
