"""An explanation is true: checked against the schedule that it explains, job by job."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import walltime
from walltime.core.time import microseconds

LIMITS = [{"per": "user", "running_jobs": 12}, {"per": "user", "running_cores": 160}]
SCHEDULERS = {
    "easy by age and size": {"order": "wfp3", "backfill": "easy"},
    "fair share": {"order": "fairshare", "backfill": "easy"},
    "none": {"order": "fcfs", "backfill": "none"},
    "conservative": {"order": "fcfs", "backfill": "conservative"},
    "Slurm's rhythm": {"order": "expansion", "backfill": {"name": "depth", "depth": 20}, "rhythm": "periodic"},
}
EXPLAINED = 12


@pytest.fixture(scope="module", params=SCHEDULERS)
def result(request, external):
    trace = str(external("traces/hpc2n-3k.swf"))
    cluster = {"cores": 240, "limits": LIMITS, "scheduler": SCHEDULERS[request.param]}
    return walltime.simulate({"workload": {"trace": trace}, "cluster": cluster})


@pytest.fixture(scope="module")
def explained(result):
    """Jobs over the whole range of waits, the longest among them."""
    waited = result.jobs.filter(result.jobs["wait"] > 0).sort("wait")["job_id"].to_list()
    chosen = [waited[int(place)] for place in np.linspace(0, len(waited) - 1, EXPLAINED)]
    return [walltime.explain(result, job) for job in dict.fromkeys(chosen)]


def row_of(result, told):
    return result.jobs.filter(result.jobs["job_id"] == int(told.job)).row(0, named=True)


def used_at(result, times):
    """Cores in use at each of the times."""
    start, end = result.allocations["start"].to_numpy(), result.allocations["end"].to_numpy()
    cores = result.allocations["cores"].to_numpy()
    return np.array([cores[(start <= time) & (time < end)].sum() for time in times])


def test_watching_changes_nothing(explained):
    assert not [note for told in explained for note in told.notes if "another" in note]


def test_the_causes_cover_the_wait_without_a_gap(result, explained):
    for told in explained:
        row = row_of(result, told)
        edges = [microseconds(cause.start) for cause in told.causes] + [microseconds(told.causes[-1].end)]
        assert edges[0] == microseconds(row["eligible"])
        assert edges[-1] == microseconds(row["start"])
        assert [microseconds(cause.end) for cause in told.causes] == edges[1:]
        assert all(first < second for first, second in pairwise(edges))
        assert sum(told.totals().values()) == pytest.approx(row["start"] - row["eligible"], abs=1e-5)


def test_blocked_for_resources_fewer_cores_were_free_than_needed(result, explained):
    changes = np.unique(np.concatenate([result.allocations["start"].to_numpy(), result.allocations["end"].to_numpy()]))
    seen = 0
    for told in explained:
        for cause in told.causes:
            if cause.kind != "resources":
                continue
            inside = changes[(changes > cause.start) & (changes < cause.end)]
            free = 240 - used_at(result, [cause.start, *inside[:200]])
            assert (free < cause.facts["needs"]).all(), (told.job, cause)
            assert cause.facts["free"] <= free[0] <= cause.facts["most_free"]
            seen += 1
    assert seen


def test_blocked_by_a_limit_the_user_was_at_it(result, explained):
    jobs = result.jobs
    for told in explained:
        row = row_of(result, told)
        for cause in told.causes:
            if cause.kind != "limit":
                continue
            mine = jobs.filter((jobs["user"] == row["user"]) & jobs["start"].is_not_null())
            running = mine.filter((mine["start"] <= cause.start) & (mine["end"] > cause.start))
            assert running.height >= 12 or running["cores"].sum() + row["cores"] > 160


def test_otherwise_it_would_have_fitted(result, explained):
    for told in explained:
        row = row_of(result, told)
        for cause in told.causes:
            if cause.kind in ("reservation", "priority", "rhythm", "depth"):
                assert 240 - used_at(result, [cause.start])[0] >= row["cores"], (told.job, cause)


def test_overtakers_started_while_it_waited(result, explained):
    starts = dict(result.jobs.select("job_id", "start").rows())
    submits = dict(result.jobs.select("job_id", "submit").rows())
    for told in explained:
        row = row_of(result, told)
        for one in told.overtakers:
            assert one.time == starts[int(one.job)]
            assert row["eligible"] <= one.time <= row["start"]
            assert one.behind or one.later
            if one.later:
                assert submits[int(one.job)] >= row["submit"]
        meanwhile = result.jobs.filter(
            (result.jobs["submit"] > row["submit"])
            & (result.jobs["start"] >= row["eligible"])
            & (result.jobs["start"] < row["start"])
        )
        assert set(meanwhile["job_id"].to_list()) <= {int(one.job) for one in told.overtakers}


def test_what_was_foreseen_was_foreseen_in_time(result, explained):
    for told in explained:
        assert told.foreseen
        row = row_of(result, told)
        assert all(row["eligible"] <= one.time <= row["start"] for one in told.foreseen)
        assert all(one.start >= one.time for one in told.foreseen)
