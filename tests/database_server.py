"""A PostgreSQL server for the tests: Debian's own, in a folder of its own, on the loopback interface."""

from __future__ import annotations

import importlib.util
import itertools
import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path


class Server:
    """A server that can be stopped and started again."""

    def __init__(self, programs: Path) -> None:
        self.programs = programs
        self.folder = Path(tempfile.mkdtemp(prefix="walltime-postgres-", dir="/tmp"))
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._names = itertools.count()
        if os.geteuid() == 0:  # it refuses to run as root
            shutil.chown(self.folder, "postgres")
        self._run("initdb", "-D", self.folder / "data", "-U", "walltime", "-A", "trust", "-N")

    @classmethod
    def find(cls) -> Server | None:
        """A server that was not started yet; None where Debian's package or psycopg is missing."""
        programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
        if not programs or importlib.util.find_spec("psycopg") is None:
            return None
        return cls(programs[-1])

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -k {self.folder} -c fsync=off"
        self._run("pg_ctl", "-D", self.folder / "data", "-w", "-l", self.folder / "log", "-o", options, "start")

    def stop(self) -> None:
        """At once: whoever is connected is thrown out."""
        self._run("pg_ctl", "-D", self.folder / "data", "-w", "-m", "immediate", "stop")

    def end(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def new_database(self) -> str:
        """The URL of an empty database."""
        name = f"store{next(self._names)}"
        self._run("createdb", "-h", "127.0.0.1", "-p", self.port, "-U", "walltime", name)
        return f"postgresql://walltime@127.0.0.1:{self.port}/{name}"

    def _run(self, program: str, *arguments: object) -> None:
        user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        command = [*user, str(self.programs / program), *map(str, arguments)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")
