"""`record: summary`: the figures without the rows, from traces that are read as they are needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import walltime
from walltime import simulate
from walltime.analysis.compare import compare
from walltime.analysis.streamed import spill
from walltime.analysis.streamed.spill import Spill, find_quantile
from walltime.core.errors import InputError
from walltime.core.workload import Workload
from walltime.pipeline import prepare
from walltime.scenario import parse
from walltime.scenario.workload import jobs as reading
from walltime.workload.formats import write
from walltime.workload.generate import generate

CORES = 64
FRACTIONS = (0.0, 0.1, 0.5, 0.95, 1.0)


@given(st.lists(st.lists(st.integers(0, 1 << 61), max_size=30), min_size=1, max_size=5), st.sampled_from([2, 1 << 20]))
def test_quantiles_are_those_of_numpy(pieces: list[list[int]], few: int) -> None:
    """Also where numbers are narrowed down to a single one."""
    whole = np.array([number for piece in pieces for number in piece], np.int64)
    before, spill._FEW = spill._FEW, few
    try:
        for fraction in FRACTIONS:
            found = find_quantile(lambda: (np.array(piece, np.int64) for piece in pieces), len(whole), fraction)
            assert found == (float(np.quantile(whole, fraction)) if len(whole) else None)
    finally:
        spill._FEW = before


def test_quantiles_of_fractions() -> None:
    values = np.random.default_rng(1).lognormal(3, 2, 5_000)
    for fraction in FRACTIONS:
        bits = values.view(np.int64)
        assert find_quantile(lambda bits=bits: [bits], 5_000, fraction, np.float64) == np.quantile(values, fraction)


def test_what_is_put_aside_comes_back() -> None:
    kept = Spill(("a", "b"))
    kept.add(a=np.arange(3), b=np.array([0.5, 1.5, 2.5]))
    kept.add(a=np.arange(0), b=np.arange(0.0))
    kept.add(a=np.array([7]), b=np.array([9.0]))
    assert [piece.tolist() for (piece,) in kept.pieces("b", dtype=np.float64)] == [[0.5, 1.5, 2.5], [9.0]]
    assert [[one.tolist() for one in piece] for piece in kept.pieces("a", "a")] == [[[0, 1, 2]] * 2, [[7]] * 2]
    assert kept.rows == 4


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(reading.Stream, "ROWS", 40)
    write(generate(400, CORES, 0.9, 3), tmp_path / "jobs.parquet")
    return tmp_path / "jobs.parquet"


def scenario(trace: Path, **keys: Any) -> dict[str, Any]:
    return {"workload": {"trace": str(trace)}, "cluster": {"cores": CORES}} | keys


@pytest.mark.parametrize("suffix", ["parquet", "swf"])
def test_a_trace_is_read_as_it_is_needed(suffix: str, trace: Path) -> None:
    write(generate(400, CORES, 0.9, 3), trace.with_suffix(f".{suffix}"))
    given = scenario(trace.with_suffix(f".{suffix}"))
    prepared = prepare(parse(given | {"record": "summary"}, []), streamed=True)
    assert prepared.stream is not None
    assert len(prepared.workload) == 40
    whole, found = simulate(given).summary, simulate(given | {"record": "summary"}).summary
    assert found["digest"] is None
    assert list(found) == list(whole)
    for key in found.keys() - {"digest", "facts"}:
        flat = key in ("window", "recorded", "longest_wait_by_size") or isinstance(whole[key], float)
        assert found[key] == (pytest.approx(whole[key]) if flat else whole[key]), key
    assert found["facts"]["skipped"] == whole["facts"]["skipped"]
    assert found["perfect_estimates"] == whole["perfect_estimates"]


def test_a_stream_can_be_gone_through_again(trace: Path) -> None:
    stream = reading.open_stream(parse(scenario(trace), []))
    assert stream is not None
    for _ in range(2):
        numbers = [number for batch in stream for number in batch.column("job_id").tolist()]
        assert len(numbers) == len(set(numbers)) == 400


@pytest.mark.parametrize(
    "keys",
    [
        {"users": {"mode": "feedback", "waits": "none"}},
        {"dependencies": {"preceding": True}},
        {"workload": {"generate": {"jobs": 50, "cores": CORES, "load": 0.5}}},
        {"record": {"keep": "summary", "by": ["node"]}},
    ],
)
def test_what_has_to_be_read_whole_is(keys: dict[str, Any], trace: Path) -> None:
    given = scenario(trace, record="summary") | keys
    assert prepare(parse(given, []), streamed=True).stream is None
    whole = simulate(given | {"record": {}}).summary
    assert simulate(given).summary["mean_wait"] == whole["mean_wait"]


def test_the_folder_has_figures_and_series_alone(trace: Path, tmp_path: Path) -> None:
    result = simulate(scenario(trace, record={"keep": "summary", "interval": 3600}))
    folder = result.save(tmp_path / "out")
    assert sorted(file.name for file in folder.iterdir()) == [
        *("provenance.json", "scenario.yaml", "series.parquet", "summary.json")
    ]
    again = walltime.load(folder)
    assert again.summary == result.summary
    assert again.series.equals(result.series)
    assert again.scenario is not None
    assert again.scenario.record.keep == "summary"
    assert "400 jobs" in repr(again)
    assert compare([result, again]).height


def test_what_asks_for_rows_is_refused(trace: Path, tmp_path: Path) -> None:
    result = simulate(scenario(trace, record="summary"))
    refused = "the run has kept no row"
    for ask in (lambda: result.jobs, lambda: result.allocations, result.audit, lambda: result.by("user")):
        with pytest.raises(InputError, match=refused):
            ask()
    with pytest.raises(InputError, match="has kept no series"):
        result.series  # noqa: B018
    folder = result.save(tmp_path / "out")
    with pytest.raises(InputError, match="another window asks for the jobs"):
        walltime.load(folder).observe(warmup=60)


def test_another_window_of_a_run_that_is_at_hand(trace: Path) -> None:
    whole = simulate(scenario(trace)).observe(warmup=600, cooldown=60).summary
    found = simulate(scenario(trace, record="summary")).observe(warmup=600, cooldown=60).summary
    assert found["window"] == pytest.approx(whole["window"])


def test_plans_are_rows(trace: Path) -> None:
    with pytest.raises(InputError, match="keeps no row of any job"):
        simulate(scenario(trace, record={"keep": "summary", "plans": True}))


def test_numbers_that_do_not_rise_are_told(trace: Path) -> None:
    columns = {"submit": [0, 1, 2], "run_time": [1, 1, 1], "requested_time": [1, 1, 1], "cores": [1, 1, 1]}
    write(Workload.from_columns(job_id=[1, 3, 2], **columns), trace)
    with pytest.raises(InputError, match="do not rise") as told:
        simulate(scenario(trace, record="summary"))
    assert told.value.value == 2
