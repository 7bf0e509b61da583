"""Sums by cell against the slow way, NumPy's."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from walltime.analysis.cells import find_longest, locate, sum_steps, weigh_held
from walltime.analysis.intervals import find_jobs
from walltime.core.tables import Record, is_label, label_codes


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weighed", ["not", "whole", "real"])
def test_sums_are_those_of_numpy_to_the_last_bit(seed, weighed):
    chance = np.random.default_rng(seed)
    times, codes = chance.integers(-50, 2000, 3000), chance.integers(-1, 3, 3000)
    amounts = {"not": None, "whole": chance.integers(0, 99, 3000), "real": chance.random(3000) * 1e6}[weighed]
    _, (level, partial) = sum_steps(times, codes, [None, amounts], 100, 70, 20, 3)
    cells, rests = locate(times, 100, 70, 20, codes)
    weights, chosen = np.ones(3000) if amounts is None else amounts, codes >= 0
    assert level.tobytes() == np.bincount(cells[chosen], weights[chosen], 63).tobytes()
    assert partial.tobytes() == np.bincount(cells[chosen], (rests * weights)[chosen], 63).tobytes()


@pytest.mark.parametrize("seed", range(5))
def test_core_time_by_group_is_that_of_numpy_to_the_last_bit(seed):
    chance = np.random.default_rng(seed)
    start, end, cores = (chance.integers(0, most, 3000) for most in (1 << 40, 1 << 40, 1 << 20))
    codes = chance.integers(-1, 3, 3000)
    amounts, known = np.maximum(end - start, 0) * cores, codes >= 0
    expected = np.bincount(codes[known], amounts[known], 4)
    assert weigh_held(start, end, cores, codes, 4).tobytes() == expected.tobytes()


@pytest.mark.parametrize("offset", [-1, 0, 1])
def test_times_at_the_edges_of_long_intervals_fall_on_the_right_side(offset):
    length = 3 * 7 * 86_400 * 1_000_000 + 1
    times = np.arange(1, 2000) * length + offset
    cells, rests = locate(times, 0, length, 2001, np.zeros(1999, np.int64))
    ((level, partial),) = sum_steps(times, np.zeros(1999, np.int64), [None], 0, length, 2001, 1)
    assert level.tolist() == np.bincount(cells, minlength=2002).tolist()
    assert partial.tobytes() == np.bincount(cells, rests, 2002).tobytes()


@pytest.mark.parametrize("seed", range(5))
def test_the_longest_of_each_class_is_the_first_one_that_numpy_finds(seed):
    chance = np.random.default_rng(seed)
    times, amounts, least = chance.integers(0, 40, 300), chance.integers(0, 30, 300), np.array([1, 8, 20, 64])
    classes = np.maximum(np.searchsorted(least, amounts, side="right") - 1, 0)
    members = [np.flatnonzero(classes == number) for number in range(4)]
    expected = [int(rows[np.argmax(times[rows])]) if len(rows) else -1 for rows in members]
    assert expected[3] == -1
    assert find_longest(times, amounts, least).tolist() == expected


@pytest.mark.parametrize("seed", range(5))
def test_places_are_those_of_numpy(seed):
    chance = np.random.default_rng(seed)
    times, codes = chance.integers(-50, 2000, 500), chance.integers(0, 3, 500)
    since = np.maximum(times - 100, 0)
    expected = np.minimum(since // 70, 20)
    place, rest = locate(times, 100, 70, 20)
    assert place.tolist() == expected.tolist()
    assert rest.tobytes() == ((70 - (since - expected * 70)) / 70).tobytes()
    assert locate(times, 100, 70, 20, codes)[0].tolist() == (expected + codes * 21).tolist()


@pytest.mark.parametrize("ids", [[5, 6, 7], [7, 5, 9], [5], []])
def test_jobs_of_allocations_are_found_in_any_order(ids):
    owners = [4, 9, 5, 7, 5, 8]
    jobs, allocations = (pl.DataFrame({"job_id": pl.Series(values, dtype=pl.Int64)}) for values in (ids, owners))
    expected = [ids.index(owner) if owner in ids else -1 for owner in owners]
    assert find_jobs(Record(jobs, allocations)).tolist() == expected


@pytest.mark.parametrize("cells", [["b", None, "a", "b"], ["c"], [None, None], []])
def test_labels_are_numbered_alike_as_texts_and_as_codes(cells):
    texts = pl.Series(cells, dtype=pl.String)
    coded = texts.cast(pl.Enum(["a", "b", "c"]))
    for series in (texts, coded):
        codes, names = label_codes(series)
        assert [names[code] for code in codes] == cells
        assert names == list(dict.fromkeys(cells))
        assert is_label(series, "a", "c").tolist() == [cell in ("a", "c") for cell in cells]
