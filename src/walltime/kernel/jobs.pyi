"""Types of the compiled job table; what each thing is, is said in jobs.py."""

import enum
from typing import Any

FIELDS: tuple[str, ...]
HIDDEN: tuple[str, ...]

class State(enum.IntEnum):
    FUTURE = 0
    HELD = 1
    WAITING = 2
    RUNNING = 3
    SUSPENDED = 4
    COMPLETED = 5
    TIMEOUT = 6
    FAILED = 7
    CANCELLED = 8
    REJECTED = 9

class Outcome(enum.IntEnum):
    REQUEUED = 10
    PREEMPTED = 11
    RESIZED = 12

class QueuePosition(enum.IntEnum):
    LINE = -2
    OUTSIDE = -1

def time_for(work: int, speed: int) -> int: ...
def seal(jobs: JobTable) -> int: ...
def writable(jobs: JobTable, name: str) -> Any: ...
def add_blocker(jobs: JobTable, cores: int) -> int: ...
def drop_blocker(jobs: JobTable, slot: int) -> int: ...
def require_job(jobs: JobTable, slot: int) -> int: ...
def require_jobs(jobs: JobTable, slots: Any, keys: Any) -> int: ...
def done_in(time: int, speed: int) -> int: ...

class JobTable:
    size: int
    live: int
    entered: int
    def __init__(self) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def add(self, submit: int, run_time: int, requested: int, cores: int) -> int: ...
    def drop(self, slot: int) -> int: ...
    def slots(self) -> list[int]: ...
