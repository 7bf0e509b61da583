"""Codes of labels, against NumPy's way."""

from __future__ import annotations

import numpy as np
import pytest

from walltime.core.codes import find_first, translate


@pytest.mark.parametrize("count", [1, 3, 40, 2000])
def test_codes_are_found_in_the_order_of_their_first_appearance(count):
    codes = np.random.default_rng(count).integers(0, count, 500).astype(np.uint32)
    assert find_first(codes, count).tolist() == list(dict.fromkeys(codes.tolist()))
    assert find_first(codes[:0], count).tolist() == []


@pytest.mark.parametrize("kind", [np.int64, np.uint32])
def test_a_translated_code_is_what_the_table_says(kind):
    chance = np.random.default_rng(1)
    table, codes = chance.integers(0, 1 << 31, 70).astype(kind), chance.integers(0, 70, 500).astype(np.uint32)
    made = translate(codes, table)
    assert made.dtype == kind
    assert made.tolist() == table[codes].tolist()
