"""A processor for each controller, so that runs beside each other do not meet on one.

The threads of a controller take turns: on one processor a turn is handed over without waking another, which halves the
cost of a quiet day. A processor is taken by a name in the kernel's abstract namespace of sockets: all processes of the
machine see it, and it is free again when its taker has gone, however it went.
"""

from __future__ import annotations

import os
import socket

NAME = "walltime-slurm-processor"


class Processor:
    """One of this process's processors that no other controller has; `number` is None where there is none, or only one
    in all."""

    def __init__(self) -> None:
        self.number: int | None = None
        self._name: socket.socket | None = None
        among = sorted(os.sched_getaffinity(0))
        for number in among if len(among) > 1 else ():
            name = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            try:
                name.bind(f"\0{NAME}-{number}")
            except OSError:
                name.close()
            else:
                self.number, self._name = number, name
                return

    def release(self) -> None:
        """Let another have it; may be called twice."""
        if self._name is not None:
            self._name.close()
