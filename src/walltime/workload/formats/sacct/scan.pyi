from collections.abc import Callable, Sequence
from typing import Any

REASONS: tuple[str, ...]

class Scanner:
    file: str
    line: int
    records: int
    steps: int
    in_order: bool
    problems: list[tuple[int, str, str]]
    def __init__(
        self,
        file: str,
        capacity: int,
        delimiter: int,
        roles: Sequence[int],
        free_text: int,
        texts_apart: Any,
        offset: Callable[[int], int],
        ordered_only: bool = False,
    ) -> None: ...
    def scan(self, data: bytes, start: int, end: int) -> int: ...
    def labels(self) -> dict[str, list[str]]: ...
    def join_licences(self, codes: Sequence[int]) -> int: ...
    def take(self) -> tuple[dict[str, Any], dict[str, Any]]: ...
    def skipped_at(self) -> dict[str, Any]: ...
    def start_of_clock(self) -> int: ...
