"""Which promises can move is told by what has become free: no schedule is another one than with a look at each job."""

from __future__ import annotations

from pathlib import Path

import pytest
from moves import check_scenario, check_twin

TOGETHER = 60
"""Cases in one test."""


@pytest.mark.parametrize("first", range(0, 300, TOGETHER))
def test_moves_agree_with_the_twin(first: int) -> None:
    for seed in range(first, first + TOGETHER):
        check_twin(seed)


@pytest.mark.parametrize("first", range(0, 300, TOGETHER))
def test_scenarios_are_the_same_with_and_without_the_index(first: int, tmp_path: Path) -> None:
    ran = sum(check_scenario(seed, tmp_path) for seed in range(first, first + TOGETHER))
    assert ran > TOGETHER // 2
