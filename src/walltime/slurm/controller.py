"""The controller as a process: its folder, its start, its end, and what it said before it died."""

from __future__ import annotations

import mmap
import os
import re
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from walltime.core.errors import EngineError, InputError
from walltime.slurm import warden
from walltime.slurm.packages import Installation, find_library
from walltime.slurm.processor import Processor

START_UP = 60.0
"""Real seconds within which a controller has to say its first word."""
SLACK = 90
"""Microseconds by which a sleep is longer than asked for, as measured on Linux (50 are the kernel's timer slack).

The controller's main loop makes a second of ten sleeps, so that its beat slips against the wall clock by a millisecond
a second. Without it every job would end in the very instant of a beat, and always lose or win that race.
"""
PAGE = 4096
ALLOCATOR = ":".join(
    f"glibc.malloc.{name}={value}"
    for name, value in (*(("arena_max", 1), ("trim_threshold", 1 << 28), ("top_pad", 1 << 24)),)
)
"""Keep freed memory at hand: a backfill pass takes and gives back the same blocks again and again."""
_ROOM = 256 << 20
_TOLD = 15
_CRASH = re.compile(r"vtime:|slurmctld\(|\.so")
_NOISE = re.compile(
    r"state file|state save file|mpi/pmix|MPI: Cannot|persistent connection to host|PersistInit|DBD_SEND"
)
"""What every controller complains about that starts in an empty folder, without a database."""


class ControllerError(EngineError):
    """The controller ended or fell silent; the message carries the end of its log."""


@dataclass(frozen=True)
class Setting:
    """What a controller is started with.

    `conf` is the text of slurm.conf with the marks {folder}, {port}, {node_port} and {plugins}; `files` are other files
    beside it, `state` those of the folder in which it saves its state, by name. `people` are lines for the users and
    groups of the site. `start` is the first instant in microseconds, `cost` the virtual seconds charged for a second
    of computing, `slack` the microseconds by which every sleep is late.
    """

    conf: str
    files: dict[str, str] = field(default_factory=dict)
    state: dict[str, bytes] = field(default_factory=dict)
    people: str = ""
    start: int = 0
    timezone: str = "UTC"
    cost: float = 0.0
    port: int | None = None
    slack: int = SLACK
    virtual: bool = True


class Controller:
    """A running controller; a context manager that leaves nothing behind."""

    def __init__(self, installation: Installation, setting: Setting) -> None:
        self.installation = installation
        self.setting = setting
        self.folder = Path(tempfile.mkdtemp(prefix="walltime-slurm-", dir=_choose_base()))
        self.process = 0
        self.control: socket.socket | None = None
        self._warden: subprocess.Popen[bytes] | None = None
        self._pipe: socket.socket | None = None
        self._clock: mmap.mmap | None = None
        self.processor = Processor() if setting.virtual else None
        try:
            self.nodes = _listen()
            self.port = _choose_port(setting.port)
            self._write_files()
            self._launch()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Controller:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    @property
    def node_port(self) -> int:
        """Where all the nodes listen."""
        return int(self.nodes.getsockname()[1])

    @property
    def now(self) -> int:
        """The virtual clock in microseconds."""
        assert self._clock is not None
        return int(struct.unpack_from("q", self._clock, 0)[0])

    def count(self) -> dict[str, int]:
        """The library's counters."""
        assert self._clock is not None
        names = ("idles", "messages", "switches", "advances", "threads", "asked", "known")
        return dict(zip(names, struct.unpack_from("7q", self._clock, 8), strict=True))

    def cpu_seconds(self) -> float:
        """Processor time that the controller has used."""
        try:
            fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def environment(self, user: int | None = None) -> dict[str, str]:
        """What Slurm's own commands need to speak to this controller, with its clock and its users."""
        settings = {
            **self.installation.environment(find_library()),
            "SLURM_CONF": str(self.folder / "slurm.conf"),
            "VTIME_CLOCK": str(self.folder / "clock"),
            "VTIME_PEOPLE": str(self.folder / "people"),
            "TZ": self.setting.timezone,
        }
        if user is not None:
            settings["VTIME_USER"] = str(user)
        return settings

    def log(self) -> str:
        """Everything that the controller wrote, its standard output first."""
        log, output = self._read_logs()
        return output + log

    def _read_logs(self) -> tuple[str, str]:
        """The log, and what was written to standard output and error."""
        parts = [self.folder / "slurmctld.log", self.folder / "output"]
        log, output = (part.read_text(errors="replace") if part.exists() else "" for part in parts)
        return log, output

    def fail(self, what: str) -> ControllerError:
        """The error for a controller that has ended or does not answer, with its last words.

        Those are the last lines of its log, and what it or the library wrote elsewhere when it crashed.
        """
        log, output = ([line for line in text.splitlines() if line.strip()] for text in self._read_logs())
        crash = [line for line in output if _CRASH.search(line)]
        told = "".join(f"\n  {line}" for line in [*(log or output)[-_TOLD:], *(crash if log else [])[-_TOLD:]])
        return ControllerError(f"{what}; the end of its log:{told}" if told else f"{what}; its log is empty")

    def close(self) -> None:
        """End the controller and everything it started, and remove its folder; may be called twice."""
        for thing in (self.control, getattr(self, "nodes", None), self._pipe):
            if thing is not None:
                thing.close()
        if self._warden is not None:
            try:
                self._warden.wait(10)
            except subprocess.TimeoutExpired:
                self._warden.kill()
                self._warden.wait()
        if self.processor is not None:
            self.processor.release()
        warden.remove(str(self.folder))

    def _write_files(self) -> None:
        marks = {
            "folder": str(self.folder),
            "port": str(self.port),
            "node_port": str(self.node_port),
            "plugins": str(self.installation.plugins),
        }
        for name in ("state", "spool", "bin"):
            (self.folder / name).mkdir()
        text = re.sub(r"\{(folder|port|node_port|plugins)\}", lambda match: marks[match[1]], self.setting.conf)
        (self.folder / "slurm.conf").write_text(text)
        (self.folder / "people").write_text(self.setting.people)
        (self.folder / "clock").write_bytes(bytes(PAGE))
        for name, content in self.setting.files.items():
            (self.folder / name).write_text(content)
        for name, data in self.setting.state.items():
            (self.folder / "state" / name).write_bytes(data)
        self._write_program()
        with (self.folder / "clock").open("r+b") as file:
            self._clock = mmap.mmap(file.fileno(), PAGE)

    def _write_program(self) -> None:
        """The controller under the name that it looks at, with which it also starts a helper of its own.

        A helper lives in real time: the library takes VTIME_CONTROL away from what its program starts.
        """
        path, installation = self.folder / "bin" / "slurmctld", self.installation
        if installation.loader is None:
            path.symlink_to(installation.controller)
            return
        *start, program = map(shlex.quote, installation.command(installation.controller, str(path)))
        preload = f"${{VTIME_CONTROL:+--preload {shlex.quote(str(find_library()))}}}"
        path.write_text(f'#!/bin/sh\nexec {" ".join(start)} {preload} {program} "$@"\n')
        path.chmod(0o755)

    def _launch(self) -> None:
        server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._pipe, other = socket.socketpair()
        with server, other:
            server.bind(str(self.folder / "control"))
            server.listen(1)
            command = ["/usr/bin/env", "-i", *(f"{key}={value}" for key, value in self._own_environment().items())]
            command += [str(self.folder / "bin" / "slurmctld"), "-D"]  # the environment is for it, not for the warden
            number = None if self.processor is None else self.processor.number
            command = warden.command(str(self.folder), other.fileno(), command, number)
            self._warden = subprocess.Popen(command, pass_fds=[other.fileno()], stdin=subprocess.DEVNULL)
            other.close()
            self.process = int(self._pipe.recv(32).split()[0])
            if self.setting.virtual:
                self.control = self._accept(server)

    def _accept(self, server: socket.socket) -> socket.socket:
        server.settimeout(START_UP)
        try:
            return server.accept()[0]
        except TimeoutError:
            raise self.fail("the controller did not start") from None

    def _own_environment(self) -> dict[str, str]:
        settings = self.environment() | {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
        settings["GLIBC_TUNABLES"] = ALLOCATOR
        if self.setting.virtual:
            settings["VTIME_CONTROL"] = str(self.folder / "control")
            settings["VTIME_START"] = str(self.setting.start)
            settings["VTIME_SLACK"] = str(self.setting.slack)
            settings |= _choose_answers(self.installation.product)
            if self.setting.cost:
                settings["VTIME_COST"] = repr(self.setting.cost)
        else:
            settings.pop("LD_PRELOAD", None)
        return settings


def is_telling(line: str) -> bool:
    """Whether a line of the log may say what went wrong."""
    return bool(re.search(r"fatal|error|vtime:|slurmctld\(|\.so", line)) and not _NOISE.search(line)


def _choose_answers(release: str) -> dict[str, str]:
    """Whether the library keeps answers of the selection plug-in: it does, unless $WALLTIME_SLURM_ANSWERS says `ask`
    (never), or `check`: each is asked for again, and compared."""
    how = os.environ.get("WALLTIME_SLURM_ANSWERS", "keep")
    if how not in (choices := ("keep", "ask", "check")):
        raise InputError("$WALLTIME_SLURM_ANSWERS is none of its values", value=how, choices=choices)
    return {} if how == "ask" else {"VTIME_RELEASE": release, **({"VTIME_CHECK": "1"} if how == "check" else {})}


def _choose_base() -> str | None:
    """$WALLTIME_RUNS; else memory rather than a disk, where there is room: the state is saved every few seconds."""
    if given := os.environ.get("WALLTIME_RUNS"):
        return given
    memory = "/dev/shm"
    if os.access(memory, os.W_OK | os.X_OK) and shutil.disk_usage(memory).free > _ROOM:
        return memory
    return None


def _listen() -> socket.socket:
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen(4096)
    server.setblocking(False)
    return server


def _choose_port(wanted: int | None) -> int:
    """A free port of the loopback; raises InputError where the one that is wanted is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", wanted or 0))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"the controller's port cannot be used ({reason})", value=wanted) from None
        return int(probe.getsockname()[1])


def stop_on_termination() -> None:
    """Turn SIGTERM and SIGHUP into an orderly end, as Ctrl-C is."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
