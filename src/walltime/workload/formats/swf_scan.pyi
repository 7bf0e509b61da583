from typing import Any

import numpy as np

FIELDS: tuple[str, ...]
REASONS: tuple[str, ...]

class Scanner:
    file: str
    line: int
    in_order: bool
    comments: list[bytes]
    records: int
    skipped_at: list[list[int]]
    def __init__(self, file: str, capacity: int, ordered_only: bool = False) -> None: ...
    def scan(self, data: bytes, start: int, end: int) -> int: ...
    def labels(self) -> dict[str, list[str]]: ...
    def take(self) -> tuple[dict[str, np.ndarray], dict[str, Any], list[tuple[int, int, bytes]]]: ...

def looks_binary(line: bytes) -> bool: ...
