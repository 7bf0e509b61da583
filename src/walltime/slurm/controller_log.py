"""What only the controller's own files tell: which jobs were requeued and why, which left without a word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from walltime.core.time import SECOND
from walltime.slurm.controller import Controller, is_telling

_JOB = r"JobId=(?:\d+_\d+\()?(\d+)"
_RETURNED = re.compile(rf"requeue job {_JOB}\)? due to failure")
_BACKFILLED = re.compile(rf"backfill: _start_job: Started {_JOB}")
_PREEMPTED = re.compile(rf"^\[([^]]+)\] preempted {_JOB}\)? has been (?:requeued|killed)", re.MULTILINE)
_STAMP = re.compile(r"\[([\d:T.-]+)\]")
_ERROR = re.compile(r"\berror: (.*)")
_FINISHED = re.compile(r"^JobId=(\d+) .*?JobState=(\w+)", re.MULTILINE)


class ControllerLog:
    """The log of a controller and its record of finished jobs, each read on from where it was left."""

    def __init__(self, controller: Controller) -> None:
        self.controller = controller
        self.returned: dict[int, int] = {}
        """How often each job, by its number, was put back because a node failed."""
        self._read: dict[str, int] = {}

    def count_returns(self, number: int) -> int:
        """How often a failing node has put the job back into the queue by now."""
        for match in _RETURNED.finditer(self._go_on("slurmctld.log")):
            self.returned[int(match[1])] = self.returned.get(int(match[1]), 0) + 1
        return self.returned.get(number, 0)

    def read_finished(self) -> Iterator[tuple[int, str]]:
        """(number, state) of every attempt that has ended since the last time, in order."""
        for match in _FINISHED.finditer(self._go_on("jobs")):
            yield int(match[1]), match[2]

    def find_backfilled(self) -> set[int]:
        """Numbers of all jobs that the backfill scheduler has started."""
        return {int(match[1]) for match in _BACKFILLED.finditer(self.controller.log())}

    def find_preempted(self) -> Iterator[tuple[int, int]]:
        """(number, microseconds since 1970) of every job that had to go for another."""
        zone = ZoneInfo(self.controller.setting.timezone)
        for match in _PREEMPTED.finditer(self.controller.log()):
            at = datetime.fromisoformat(match[1]).replace(tzinfo=zone).astimezone(UTC)
            yield int(match[2]), round(at.timestamp() * SECOND)

    def find_errors(self, before: int) -> list[str]:
        """What the controller called an error before an instant, each once; not what empty folders make it say."""
        zone = ZoneInfo(self.controller.setting.timezone)
        found: dict[str, None] = {}
        for line in (self.controller.folder / "slurmctld.log").read_text(errors="replace").splitlines():
            stamp = _STAMP.match(line)
            if stamp and datetime.fromisoformat(stamp[1]).replace(tzinfo=zone).timestamp() * SECOND >= before:
                break
            match = _ERROR.search(line)
            if match and is_telling(line):
                found[match[1]] = None
        return list(found)

    def _go_on(self, name: str) -> str:
        """What has been added to one of the controller's files, in whole lines."""
        path: Path = self.controller.folder / name
        if not path.exists():
            return ""
        with path.open("rb") as file:
            file.seek(self._read.get(name, 0))
            data = file.read()
        data = data[: data.rfind(b"\n") + 1]
        self._read[name] = self._read.get(name, 0) + len(data)
        return data.decode(errors="replace")
