import enum

class Role(enum.IntEnum):
    JOB = 0
    JOB_RAW = 1
    USER = 2
    GROUP = 3
    ACCOUNT = 4
    PARTITION = 5
    QOS = 6
    SUBMIT = 7
    ELIGIBLE = 8
    START = 9
    END = 10
    ELAPSED = 11
    ELAPSED_RAW = 12
    LIMIT = 13
    LIMIT_RAW = 14
    STATE = 15
    ALLOCATED_CPUS = 16
    REQUESTED_CPUS = 17
    ALLOCATED_NODES = 18
    REQUESTED_NODES = 19
    MEMORY = 20
    REQUESTED_TRES = 21
    ALLOCATED_TRES = 22
    REQUESTED_GRES = 23
    ALLOCATED_GRES = 24

ROLES: dict[str, int]

def count_gpus(text: bytes) -> int: ...
def read_licences(text: bytes) -> dict[str, int]: ...
def parse_licences(text: str) -> dict[str, int]: ...
