"""A controller frozen at a simulated instant, to be asked with Slurm's own commands."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from walltime.core.errors import InputError
from walltime.core.time import SECOND, format_duration, parse_duration
from walltime.slurm import accounting, remote
from walltime.slurm.engine import ControllerRun
from walltime.slurm.events import ANY
from walltime.slurm.packages import CLIENTS, find_library

COMMANDS = (*CLIENTS, "salloc", "sstat")
ANSWERED = ("advance", "sacct", "sacctmgr")
"""Commands that we answer ourselves."""


class Frozen:
    """A run at an instant, with a folder of commands that speak to it; a person is user `user` (None: themselves)."""

    def __init__(self, run: ControllerRun, user: str | None = None, folder: str = "commands") -> None:
        self.run = run
        self.name = user
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
        self._attend(process, may_advance=True)
        return process.returncode

    def _attend(self, process: subprocess.Popen[Any], may_advance: bool) -> None:
        """Stay at this instant and serve a program until it ends."""
        ended = os.pidfd_open(process.pid)
        try:
            while process.poll() is None:
                self.run.simulation.link.attend(self.server, ended)
                if process.poll() is None:
                    self._serve(may_advance)
        finally:
            os.close(ended)
            if process.poll() is None:
                process.terminate()
                process.wait()

    def ask(self, command: str) -> str:
        """What one Slurm command prints at this instant."""
        self.execute(command, {}, "answer")
        return (self.run.controller.folder / "answer").read_text(errors="replace")

    def execute(self, command: str, where: dict[str, Any], said: str = "said") -> str:
        """One command at this instant, as an administrator would type it; raises InputError if it fails.

        It is one of Slurm's, or `sh` and any other. What it prints comes back, and goes to the file `said` of the run's
        folder.
        """
        words = shlex.split(command)
        program = [str(self.commands / words[0]), *words[1:]]
        if words[0] == ANY:
            program = ["/bin/sh", "-c", command.strip().removeprefix(ANY)]
        with open(self.run.controller.folder / said, "w+", encoding="utf-8", errors="replace") as file:
            process = subprocess.Popen(program, stdout=file, stderr=file, stdin=subprocess.DEVNULL,
                                       env=self.environment())  # fmt: skip
            self._attend(process, may_advance=False)
            failed = process.wait()
            file.seek(0)
            printed = file.read()
        if failed:
            raise InputError(f"the command failed ({printed.strip()})", value=command, **where)
        return printed

    def close(self) -> None:
        self.server.close()

    def _serve(self, may_advance: bool) -> None:
        """One request of a command that we answer ourselves."""
        self.server.setblocking(False)
        try:
            connection, _ = self.server.accept()
        except BlockingIOError:
            return
        finally:
            self.server.setblocking(True)
        with connection, connection.makefile("rw", encoding="utf-8", errors="replace") as file:
            try:
                name, *arguments = json.loads(file.readline())
                if name == "advance" and not may_advance:
                    raise InputError("time does not pass inside an event")
                answer, code = self._answer(name, arguments), 0
            except InputError as error:
                answer, code = f"Error: {error}\n", 2
            with contextlib.suppress(OSError):  # the one who asked may have gone
                json.dump([code, answer], file)
                file.flush()

    def _answer(self, name: str, arguments: list[str]) -> str:
        if name == "advance":
            return f"{self._advance(arguments[0])}\n"
        if name == "sacctmgr":
            return accounting.answer_sacctmgr(arguments, self.run.site)
        controller, simulation = self.run.controller, self.run.simulation
        now = accounting.read_clock(simulation.link.now, controller.setting.timezone)
        handles = {str(number): job.handle or str(number) for number, job in simulation.numbered.items()}
        record = controller.folder / "jobs"
        text = record.read_text(errors="replace") if record.exists() else ""
        rows = accounting.read_jobs(text, self.ask("scontrol -o show job"), handles, now)
        return accounting.answer_sacct(arguments, rows, now, self.name)

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
        for name in ANSWERED:
            self._write(name, f'exec {shlex.quote(sys.executable)} -I {shlex.quote(remote.__file__)} {name} "$@"')

    def _write(self, name: str, line: str) -> None:
        path = self.commands / name
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)


def ask_reasons(run: ControllerRun, asker: Frozen) -> None:
    """Note of every job that waits for ever why it does, in the controller's own word."""
    answer = asker.ask("squeue -h -r -t PD -o '%i %r'")
    told = dict(line.split(None, 1) for line in answer.splitlines() if line)
    for job in run.jobs:
        if job.state == "waiting" and job.handle in told:
            job.reason = told[job.handle].strip().strip("()")


def _find_user(run: ControllerRun, name: str) -> int:
    numbers = run.people.numbers
    if name not in numbers:
        raise InputError("neither the trace nor the site has such a user", value=name, choices=list(numbers)[:50])
    return numbers[name]
