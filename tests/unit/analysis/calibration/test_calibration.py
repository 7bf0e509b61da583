"""A replay beside its log, worked by hand."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import walltime
from walltime.analysis.calibration.agreement import bound_trust, judge, measure_trust
from walltime.analysis.calibration.file import find_trust, place_of, tell_calibration, write_calibration
from walltime.analysis.report.words import describe
from walltime.calibration import calibrate, count_failed
from walltime.core.errors import InputError
from walltime.core.workload import Workload
from walltime.experiments.answers import sides, trust
from walltime.experiments.store import Store
from walltime.scenario import parse

HOUR = 3600


def make_log(waits: list[float], **columns) -> Workload:
    """Jobs of 4 cores for an hour, a day apart, so that none waits in the replay."""
    count = len(waits)
    told = {
        "submit": [86_400 * number for number in range(count)],
        "run_time": [HOUR] * count,
        "requested_time": [HOUR] * count,
        "cores": [4] * count,
        "recorded_wait": waits,
        "account": ["slow" if wait else "quick" for wait in waits],
    }
    return Workload.from_columns(**told | columns)


def scenario_of(log: Workload, **cluster):
    return parse({"workload": {"table": log}, "cluster": {"name": "site", "cores": 8} | cluster})


def test_a_log_that_is_reproduced_is_trusted_in_full() -> None:
    jobs = {"submit": [0] * 40, "run_time": [60] * 40, "requested_time": [60] * 40, "cores": [8] * 40}
    log = Workload.from_columns(**jobs, recorded_wait=[60 * number for number in range(40)])
    found = calibrate(scenario_of(log))
    assert found.trust == found.trust_by_job == 1.0
    assert found.trust_bounds == (0.0, 1.0)  # all in one hour: nothing is known of others
    assert set(found.groups["size"]["verdict"]) == {"reproduced"}
    assert found.reasons == ()


def test_waits_that_the_replay_lacks_are_put_down_to_a_limit_where_there_was_room() -> None:
    found = calibrate(scenario_of(make_log([2 * HOUR] * 20 + [0] * 20)))
    assert found.overall()["recorded"]["mean"] == HOUR
    assert found.overall()["replayed"]["mean"] == 0
    assert found.trust == 0
    verdicts = {row["account"]: row["verdict"] for row in found.groups["account"].rows(named=True)}
    assert verdicts == {"slow": "too short", "quick": "reproduced"}
    limits = next(one for one in found.reasons if one.kind == "limits")
    assert (limits.jobs, limits.seconds, limits.share) == (20, 40 * HOUR, 1.0)
    assert "by account slow 100 %" in limits.text
    assert "down" in {one.kind for one in found.reasons}


def test_a_job_held_by_its_user_is_compared_since_it_was_eligible() -> None:
    """All of the wait of each is a hold: since submission both wait two hours, since eligibility none does."""
    begin = [86_400 * number + 2 * HOUR for number in range(30)]
    found = calibrate(scenario_of(make_log([2 * HOUR] * 30, begin=begin)))
    overall = found.overall()
    assert overall["recorded_all"]["mean"] == overall["replayed_all"]["mean"] == 2 * HOUR
    assert overall["recorded"]["mean"] == overall["replayed"]["mean"] == 0
    assert found.trust == 1
    assert [one.kind for one in found.reasons] == ["held"]


def test_trust_is_what_both_have_in_common() -> None:
    import polars as pl

    cells = {"queue": ["a", "a", "b"], "size": ["1"] * 3, "hour": [0] * 3}
    waits = pl.DataFrame(cells | {"recorded": [10.0, 30.0, 40.0], "replayed": [30.0, 10.0, 10.0]})
    assert measure_trust(waits) == pytest.approx((2 * 20 + 10) / (2 * 20 + 40))
    assert measure_trust(waits, ()) == pytest.approx((10 + 10 + 10) / (30 + 30 + 40))


@pytest.mark.parametrize(
    ("jobs", "log", "replay", "verdict"),
    [
        (19, 100.0, 0.0, "few jobs"),
        (20, 100.0, 41.0, "reproduced"),
        (20, 1000.0, 799.0, "too short"),
        (20, 1000.0, 1200.0, "reproduced"),
        (20, 1000.0, 1201.0, "too long"),
    ],
)
def test_verdicts(jobs: int, log: float, replay: float, verdict: str) -> None:
    assert judge(jobs, log, replay) == verdict


def test_a_log_without_waits_is_refused() -> None:
    log = Workload.from_columns(submit=[0], run_time=[1], requested_time=[1], cores=[1])
    with pytest.raises(InputError, match="does not tell how long"):
        calibrate(scenario_of(log))


def test_the_figure_is_kept_beside_the_scenario_and_stands_on_what_follows(tmp_path) -> None:
    walltime.write_workload(make_log([2 * HOUR] * 30), tmp_path / "log.parquet")
    base = "workload: {trace: log.parquet}\ncluster: {name: site, cores: %d}\n"
    (tmp_path / "now.yaml").write_text(base % 8)
    (tmp_path / "larger.yaml").write_text(base % 16)
    (tmp_path / "other.yaml").write_text(base.replace("site", "elsewhere") % 16)
    told = calibrate(tmp_path / "now.yaml")
    write_calibration(place_of(tmp_path / "now.yaml"), told.as_data())
    for name in ("now", "larger"):
        found = walltime.simulate(tmp_path / f"{name}.yaml").summary["facts"]
        assert found["calibration"]["trust"] == 0
        assert tell_calibration(found).startswith("Trust 0 % (0 to 0 %): a replay of log.parquet")
    other = walltime.simulate(tmp_path / "other.yaml")
    assert "calibration" not in other.summary["facts"]
    larger = walltime.simulate(tmp_path / "larger.yaml")
    for shown in ([larger, other], [other, larger], [larger, larger]):  # the first may be older than the calibration
        assert sum(line.startswith("Trust 0 %") for line in describe(shown)) == 1
    with Store(tmp_path / "store", create=True) as store:
        cells = sides.run_scenario(store, tmp_path / "larger.yaml", 1, workers=1)
        others = sides.run_scenario(store, tmp_path / "other.yaml", 1, workers=1)
    assert trust.find_trust(tmp_path / "store", [*others, *cells]) == found["calibration"]
    assert trust.find_trust(tmp_path / "store", others) is None
    assert trust.find_trust(tmp_path / "nowhere", sides.group_results([other, larger])) == found["calibration"]
    (tmp_path / "now.calibration.json").write_text(json.dumps({"kind": "walltime calibration", "trust": 2}))
    with pytest.raises(InputError, match="trust"):
        find_trust(tmp_path / "now.yaml")


def test_jobs_that_a_node_ended_are_counted_in_a_log_of_sacct(tmp_path) -> None:
    lines = ["JobID|State|NNodes", "1|COMPLETED|1", "2|NODE_FAIL|1", "2.batch|NODE_FAIL|1", "3|NODE_FAIL|2"]
    (tmp_path / "log").write_text("\n".join(lines) + "\n")
    assert count_failed(tmp_path / "log") == 2
    (tmp_path / "swf").write_text("; Version: 2\n1 0 0 1 1\n")
    assert count_failed(tmp_path / "swf") == 0


def test_the_interval_of_trust_holds_it_and_is_wider_for_a_shorter_log():
    """Every hour a job waits as in the log and another does not, by chance; more hours, a narrower interval."""
    widths = []
    for hours in (20, 180):
        draw = np.random.default_rng(1)
        waits = pl.DataFrame(
            {
                "submit": np.repeat(np.arange(hours) * 3600.0, 2),
                "queue": ["a", "b"] * hours,
                "size": ["1"] * (2 * hours),
                "hour": [0] * (2 * hours),
                "recorded": draw.exponential(600, 2 * hours),
                "replayed": draw.exponential(300, 2 * hours),
            }
        )
        low, high = bound_trust(waits)
        assert 0 <= low <= measure_trust(waits) <= high <= 1
        assert bound_trust(waits) == (low, high)
        widths.append(high - low)
    assert widths[1] < widths[0]


def test_a_log_of_a_single_hour_has_no_interval_that_is_narrower_than_all():
    log = make_log([600.0] * 4, submit=[0, 600, 1200, 1800])
    told = calibrate(scenario_of(log))
    assert 0 < told.trust < 1
    assert told.trust_bounds == (0.0, 1.0)


def test_the_interval_of_trust_holds_it_where_cells_have_few_jobs_each():
    """What is drawn has fewer of them than the log, so that all draws may be below the figure."""
    draw = np.random.default_rng(7)
    jobs = 1200
    waits = pl.DataFrame(
        {
            "submit": np.repeat(np.arange(300) * 3600.0, 4),
            "queue": [str(cell) for cell in draw.integers(0, 300, jobs)],
            "size": ["1"] * jobs,
            "hour": [0] * jobs,
            "recorded": draw.exponential(600, jobs),
            "replayed": draw.exponential(600, jobs),
        }
    )
    low, high = bound_trust(waits)
    assert low < measure_trust(waits) < high
    assert high - low < 0.1


@pytest.mark.parametrize("rhythm", ["instant", "slurm"])
def test_a_limit_that_is_too_strict_is_named(rhythm) -> None:
    """In the log all jobs ran at once; the scenario lets a user run one after the other."""
    columns = {"submit": [0] * 24, "cores": [1] * 24, "user": ["ann"] * 24, "account": ["bio"] * 24}
    log = make_log([0] * 24, **columns)
    limits = [{"user": "ann", "running_jobs": 1}]
    site = {"cores": None, "nodes": "8x8", "limits": limits, "scheduler": {"rhythm": rhythm}}
    found = calibrate(scenario_of(log, **site))
    strict = next(one for one in found.reasons if one.kind == "strict")
    assert strict.text.startswith("limits hold jobs in the replay (user ann 27")
    assert strict.jobs == 23
