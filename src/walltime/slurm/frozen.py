"""A controller frozen at a simulated instant, to be asked with Slurm's own commands."""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from walltime.core.errors import InputError
from walltime.core.reading import reader, reading
from walltime.core.time import SECOND, format_duration, microseconds, parse_duration, seconds
from walltime.slurm import remote
from walltime.slurm.engine import Run
from walltime.slurm.packages import CLIENTS, find_library

COMMANDS = (*CLIENTS, "salloc", "sacctmgr", "sstat")
EVENTS = {
    "scontrol": ("update", "create", "delete", "hold", "uhold", "release", "requeue", "requeuehold", "suspend",
                 "resume", "top", "reconfigure", "show"),
    "scancel": (),
}  # fmt: skip
"""What a file of events may have done, by the second word: nothing that runs a program here, or writes a file."""


class Frozen:
    """A run at an instant, with a folder of commands that speak to it; a person is user `user` (None: themselves)."""

    def __init__(self, run: Run, user: str | None = None, folder: str = "commands") -> None:
        self.run = run
        self.user = None if user is None else _find_user(run, user)
        self.commands = run.controller.folder / folder
        self.commands.mkdir()
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(str(self.commands / "requests"))
        self.server.listen(8)
        self._write_commands()

    def instant(self) -> str:
        """The simulated time, as seconds since the trace's zero for a person."""
        return format_duration((self.run.simulation.link.now - self.run.base) / SECOND)

    def environment(self) -> dict[str, str]:
        """What a shell needs so that squeue and the others ask this controller."""
        return dict(
            os.environ,
            PATH=f"{self.commands}{os.pathsep}{os.environ.get('PATH', '')}",
            SLURM_CONF=str(self.run.controller.folder / "slurm.conf"),
            WALLTIME_REQUESTS=str(self.commands / "requests"),
            TZ=self.run.controller.setting.timezone,
        )

    def enter(self, command: list[str]) -> int:
        """Run a command (a shell, say) beside the frozen controller, and serve it; returns its exit code."""
        process = subprocess.Popen(command, env=self.environment())
        ended = os.pidfd_open(process.pid)
        link = self.run.simulation.link
        try:
            while process.poll() is None:
                link.attend(self.server, ended)
                if process.poll() is None:
                    self._serve()
        finally:
            os.close(ended)
            if process.poll() is None:
                process.terminate()
                process.wait()
        return process.returncode

    def ask(self, command: str) -> str:
        """What one Slurm command prints at this instant."""
        self.execute(command, {})
        return (self.run.controller.folder / "said").read_text(errors="replace")

    def execute(self, command: str, place: dict[str, Any]) -> None:
        """One Slurm command at this instant, as an administrator would type it; raises InputError if it fails."""
        words = shlex.split(command)
        with open(self.run.controller.folder / "said", "w+") as said:
            process = subprocess.Popen([str(self.commands / words[0]), *words[1:]], stdout=said, stderr=said,
                                       stdin=subprocess.DEVNULL, env=self.environment())  # fmt: skip
            ended = os.pidfd_open(process.pid)
            try:
                self.run.simulation.link.attend(ended)
            finally:
                os.close(ended)
            if process.wait():
                said.seek(0)
                raise InputError(f"the command failed ({said.read().strip()})", value=command, **place)

    def close(self) -> None:
        self.server.close()

    def _serve(self) -> None:
        """One request of the `advance` command: a duration, or a time after the trace's zero as `@12h`."""
        self.server.setblocking(False)
        try:
            connection, _ = self.server.accept()
        except BlockingIOError:
            return
        finally:
            self.server.setblocking(True)
        with connection:
            asked = connection.recv(256).decode(errors="replace").strip()
            try:
                answer = self._advance(asked)
            except InputError as error:
                answer = f"Error: {error}"
            connection.sendall(answer.encode())

    def _advance(self, asked: str) -> str:
        simulation = self.run.simulation
        at = self.run.base if asked.startswith("@") else simulation.link.now
        until = at + parse_duration(asked.lstrip("@") or "0")
        if until < simulation.link.now:
            raise InputError("time does not go back", value=asked)
        simulation.run(until, stay=True)
        return f"{self.instant()}: {simulation.running} jobs run, {self.count_waiting()} wait"

    def count_waiting(self) -> int:
        """Jobs in the controller's queue, those that were submitted by hand among them."""
        return len(self.ask("squeue -h -r -t PD -o %i").split())

    def _path(self, name: str) -> Path:
        return self.run.controller.installation.clients / name

    def _write_commands(self) -> None:
        settings = self.run.controller.environment(self.user)
        given = " ".join(f"{key}={shlex.quote(value)}" for key, value in settings.items())
        for name in COMMANDS:
            if self._path(name).exists():
                words = self.run.controller.installation.command(self._path(name), preload=find_library())
                self._write(name, f'exec env {given} {" ".join(map(shlex.quote, words))} "$@"')
        clock = f"{given} LD_PRELOAD={shlex.quote(str(find_library()))}"
        self._write("date", f'exec env {clock} /usr/bin/date "$@"')
        self._write("advance", f'exec {shlex.quote(sys.executable)} -I {shlex.quote(remote.__file__)} "$@"')

    def _write(self, name: str, line: str) -> None:
        path = self.commands / name
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)


def ask_reasons(run: Run) -> None:
    """Note of every job that waits for ever why it does, in the controller's own word."""
    asker = Frozen(run, folder="reasons")
    try:
        answer = asker.ask("squeue -h -r -t PD -o '%i %r'")
    finally:
        asker.close()
    told = dict(line.split(None, 1) for line in answer.splitlines() if line)
    for job in run.jobs:
        if job.state == "waiting" and job.handle in told:
            job.reason = told[job.handle].strip().strip("()")


def _find_user(run: Run, name: str) -> int:
    numbers = run.people.numbers
    if name not in numbers:
        raise InputError("neither the trace nor the site has such a user", value=name, choices=list(numbers)[:50])
    return numbers[name]


def find_reservations(events: Iterable[tuple[int, str, int]]) -> dict[str, str]:
    """The reservations that are made in the course of events: jobs of the trace that name one are bound to it."""
    made = (re.search(r"\bcreate\b.*\breservation(?:name)?=(\S+)", command, re.IGNORECASE) for _, command, _ in events)
    return {match[1]: match[1] for match in made if match}


@reader
def read_events(path: str | Path) -> list[tuple[int, str, int]]:
    """(microseconds after the trace's zero, command, line) from lines such as `2h scontrol update ...`."""
    with reading(path) as file:
        return _parse_events(list(file.lines()), path)


def _parse_events(lines: list[tuple[int, str]], path: str | Path) -> list[tuple[int, str, int]]:
    events = []
    for number, line in lines:
        text = re.sub(r"(^|\s)#.*", "", line).strip()
        if not text:
            continue
        when, _, command = text.partition(" ")
        try:
            events.append((microseconds(seconds(parse_duration(when))), command.strip(), number))
        except InputError as error:
            raise InputError(error.what, value=when, file=path, line=number) from None
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise InputError(f"not a command ({error})", value=command, file=path, line=number) from None
        if not words or words[0] not in EVENTS:
            what = "an event is a time and a command of an administrator"
            raise InputError(what, value=command, file=path, line=number, choices=EVENTS)
        verbs = EVENTS[words[0]]
        if verbs and (len(words) < 2 or words[1].lower() not in verbs):
            what = f"not what {words[0]} may be told by a file"
            raise InputError(what, value=" ".join(words[1:2]), file=path, line=number, choices=verbs)
    return events
