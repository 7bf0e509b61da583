"""Genuine nodes for a controller in real time: Debian's `slurmd`, one process for each node, all on this machine.

Jobs are scripts that sleep. The hardware is what slurm.conf says (`config_overrides`); nothing is confined, because
there is nothing to confine. The processes have a warden as their parent, as the controller has one: whatever happens,
none is left behind.
"""

from __future__ import annotations

import os
import random
import re
import socket
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from walltime.core.errors import InputError
from walltime.core.time import SECOND
from walltime.slurm import warden
from walltime.slurm.controller import Controller
from walltime.slurm.packages import cache_folder, fetch
from walltime.slurm.site import Site
from walltime.slurm.translate.submission import TraceJob

PORTS = range(20_000, 32_000)
"""Where nodes listen: below what the system gives to callers."""
READY = 60.0
"""Seconds within which all nodes have to report."""
OWN = {
    "TreeWidth": "50",
    "SlurmdSpoolDir": "{folder}/nodes/%n",
    "SlurmdPidFile": "{folder}/nodes/%n.pid",
    "SlurmdLogFile": "{folder}/nodes/%n.log",
    "SlurmdParameters": "config_overrides",
    "SlurmdTimeout": "300",
}
"""What a controller with genuine nodes is told otherwise."""
FILES = {"cgroup.conf": "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n"}
_STARTED = re.compile(r"^\[(\S+)\] sched(?:/backfill: _start_job: Started|: Allocate) JobId=(\d+)", re.MULTILINE)
_BEGUN = re.compile(r"^\[(\S+)\] Running as primary controller", re.MULTILINE)
_ENDED = re.compile(r"^\[(\S+)\] _job_complete: JobId=(\d+) WEXITSTATUS", re.MULTILINE)


def find_slurmd() -> Path:
    """The folder with Debian's slurmd and slurmstepd of the usual release; fetched into the cache where it lacks."""
    folder = cache_folder().with_name("slurm-nodes")
    if not (folder / "usr/sbin/slurmd-wlm").exists():
        fetch(("slurmd", "libnuma1", "libpam0g"), folder)
    return folder / "usr/sbin"


def rewrite(text: str, site: Site, first: int) -> str:
    """The text of slurm.conf with what genuine nodes need; their ports are those from `first` on."""
    lines = [line for line in text.splitlines() if line.partition("=")[0] not in OWN]
    ports = f"Port=[{first}-{first + len(site.nodes) - 1}]"
    lines = [re.sub(r"NodeAddr=127\.0\.0\.1", rf"\g<0> {ports}", line) for line in lines]
    return "\n".join([*(f"{key}={value}" for key, value in OWN.items()), *lines, ""])


def choose_ports(count: int) -> int:
    """The first of so many free ports in a row."""
    draw = random.Random()
    for _ in range(100):
        first = draw.randrange(PORTS.start, PORTS.stop - count)
        probes = [socket.socket() for _ in range(count)]
        try:
            for place, probe in enumerate(probes):
                probe.bind(("127.0.0.1", first + place))
            return first
        except OSError:
            continue
        finally:
            for probe in probes:
                probe.close()
    raise InputError("no free ports in a row for nodes", value=count)


class Slurmds:
    """The nodes of a running controller; a context manager that leaves none behind."""

    def __init__(self, controller: Controller, site: Site, sleepers: Path) -> None:
        self.controller, self.site, self.sleepers = controller, site, sleepers

    def __enter__(self) -> Slurmds:
        folder = self.controller.folder / "nodes"
        for node in self.site.nodes:
            (folder / node.name).mkdir(parents=True)
        programs = self.controller.folder / "bin"
        for name in ("slurmd", "slurmstepd"):
            (programs / name).symlink_to(self.sleepers / f"{name}-wlm")
        each = "".join(f"{programs}/slurmd -D -N {node.name} -d {programs}/slurmstepd & " for node in self.site.nodes)
        self._pipe, other = socket.socketpair()
        words = ["/usr/bin/env", "-i", *(f"{key}={value}" for key, value in self._environment().items())]
        command = warden.command(str(folder), other.fileno(), [*words, "/bin/sh", "-c", f"{each}wait"])
        with other:
            self._warden = subprocess.Popen(command, pass_fds=[other.fileno()], stdin=subprocess.DEVNULL)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._pipe.close()
        self._warden.wait(30)

    @property
    def process(self) -> int:
        return self._warden.pid

    def await_all(self) -> None:
        """Until every node is idle; raises InputError with what they said where one does not come."""
        began = time.monotonic()
        while time.monotonic() - began < READY:
            asked = [*self.controller.installation.command(self.controller.installation.clients / "sinfo")]
            told = subprocess.run([*asked, "-h", "-t", "idle", "-o", "%D"], env=self._environment(),
                                  capture_output=True, text=True).stdout.split()  # fmt: skip
            if sum(map(int, told)) == len(self.site.nodes):
                return
            time.sleep(0.5)
        output = self.controller.folder / "nodes" / "output"
        raise InputError(f"nodes did not report: {output.read_text()[-2000:]}")

    def _environment(self) -> dict[str, str]:
        settings = self.controller.environment() | {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
        libraries = f"{self.sleepers.parent / 'lib/x86_64-linux-gnu'}:{settings['LD_LIBRARY_PATH']}"
        return {key: settings[key] for key in ("SLURM_CONF", "TZ", "PATH", "LANG")} | {"LD_LIBRARY_PATH": libraries}


def give_scripts(jobs: list[TraceJob]) -> None:
    """Have each job sleep for its run time. They are ours: a genuine node has to know the user of a job."""
    for job in jobs:
        assert job.run is not None
        job.request |= {
            "user": os.getuid(),
            "group": os.getgid(),
            "script": f"#!/bin/sh\nexec sleep {job.run / SECOND}\n",
        }


def read_times(log: str, ended: bool = False) -> dict[int, int]:
    """When the controller says that it started each job, or heard of its end, in microseconds since 1970."""
    return {int(number): _read_stamp(stamp) for stamp, number in (_ENDED if ended else _STARTED).findall(log)}


def read_begin(log: str) -> int:
    """When the controller says that it has come up, from which on its threads beat; microseconds since 1970."""
    return _read_stamp(_BEGUN.findall(log)[0])


def _read_stamp(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * SECOND)
