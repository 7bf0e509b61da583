"""8,000 files, scenarios, schedulers and policies made wrong: each is understood or refused in words, none is a fault.

`make soak` runs a million with the seed of the day; see CONTRIBUTING.md.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from cases import find_cases
from files import find_kinds
from harness import Outcomes, run_case, run_cases

SEED = 1
CHUNK = 1000


@pytest.mark.parametrize("first", range(0, 8 * CHUNK, CHUNK))
def test_no_case_is_a_fault_of_ours(first):
    *_, outcomes = run_cases(find_cases(), SEED, first, CHUNK)
    assert not outcomes.faults, "\n".join(outcomes.faults.values())
    assert outcomes.cases == CHUNK
    assert outcomes.understood > CHUNK // 20  # the changes are small enough to reach what lies behind the parser
    assert outcomes.refused > CHUNK // 4


def test_every_file_is_valid_before_it_is_changed(tmp_path):
    for kind in find_kinds().values():
        (tmp_path / kind.name).write_bytes(kind.raw)
        kind.read(tmp_path / kind.name)


def test_a_fault_is_found(tmp_path):
    outcomes = Outcomes()
    for number, fault in enumerate((KeyError("x"), TypeError("y"), AssertionError("z"))):

        def case(dice, folder, fault=fault):
            raise fault

        run_case("broken", case, SEED, number, tmp_path, outcomes)
    assert len(outcomes.faults) == 3
    assert "broken, seed 1, case 0" in "".join(outcomes.faults.values())
