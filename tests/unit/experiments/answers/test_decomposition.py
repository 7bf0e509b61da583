"""The scheduler's part and the users' part of a difference."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from walltime import api, decompose
from walltime.analysis.compare import distinct_labels
from walltime.analysis.headline import find_remarks
from walltime.cli.app import app
from walltime.core.errors import InputError
from walltime.core.random import stream
from walltime.core.workload import Workload
from walltime.scenario import parse
from walltime.workload.formats import write


def log(users: int = 8, jobs: int = 30) -> Workload:
    """Users who wait for each job, and think for some minutes; the machine of the log was never full."""
    columns: dict[str, list] = {"user": [], "submit": [], "run_time": []}
    random = stream(3, "decomposition")
    for user in range(users):
        now = 0.0
        for think, run in zip(random.exponential(600, jobs), random.exponential(1800, jobs) + 60, strict=True):
            now += round(float(think) + 20, 3)
            columns["user"].append(f"u{user}")
            columns["submit"].append(round(now, 3))
            columns["run_time"].append(round(float(run), 3))
            now += round(float(run), 3)
    requested = [2 * run for run in columns["run_time"]]
    return Workload.from_columns(**columns, requested_time=requested, recorded_wait=[0.0] * len(requested))


def scenario(cores: int, **users):
    return parse(
        {
            "workload": {"table": log()},
            "cluster": {"cores": cores},
            "users": {"mode": "feedback", "hours": "any", **users},
        }
    )


def test_the_parts_add_up_in_both_orders_and_have_the_signs_of_a_throttle():
    """Twice the machine: the scheduler's part shortens the wait, the users come more often for it."""
    wait, span = decompose(scenario(3), scenario(6), ("mean_wait", "makespan"))
    for one in (wait, span):
        assert one.scheduler.mean + one.users.mean == pytest.approx(one.difference.mean)
        assert one.users_first.mean + one.scheduler_last.mean == pytest.approx(one.difference.mean)
        assert one.difference.mean == pytest.approx(one.after.mean - one.before.mean)
    assert wait.scheduler.mean < 0 < wait.users.mean
    assert wait.users_first.mean > 0 > wait.scheduler_last.mean
    assert span.users.mean < 0
    assert "by the scheduler and" in wait.tell()


def test_a_change_that_changes_nothing_has_no_parts():
    (wait,) = decompose(scenario(3), scenario(3), ("mean_wait",))
    assert wait.before.mean > 0
    for part in (wait.difference, wait.scheduler, wait.users, wait.users_first, wait.scheduler_last):
        assert part.mean == 0


def test_over_seeds_the_parts_are_paired():
    (wait,) = decompose(scenario(3, think="drawn"), scenario(6, think="drawn"), ("mean_wait",), range(6))
    assert wait.difference.low < wait.difference.mean < wait.difference.high < 0
    assert wait.scheduler.high - wait.scheduler.low > 0


def test_users_have_to_react_in_both():
    with pytest.raises(InputError, match="react in both"):
        decompose(scenario(3), scenario(3, mode="replay"))
    with pytest.raises(InputError, match="value of this figure"):
        decompose(scenario(3), scenario(6), ("nonsense",))


def test_the_command(tmp_path):
    write(log(), tmp_path / "log.csv")
    for name, cores in (("a", 3), ("b", 6)):
        text = f"workload: log.csv\ncluster: {{cores: {cores}}}\nusers: {{mode: feedback, hours: any}}\n"
        (tmp_path / f"{name}.yaml").write_text(text)
    given = ["whatif", str(tmp_path / "a.yaml"), str(tmp_path / "b.yaml")]
    shown = CliRunner().invoke(app, given)
    assert shown.exit_code == 0, shown.output
    assert "users first:" in shown.output
    found = json.loads(CliRunner().invoke(app, [*given, "--json", "--figure", "mean_wait"]).output)
    assert [one["figure"] for one in found] == ["mean_wait"]
    assert found[0]["scheduler"]["mean"] < 0


def test_a_comparison_of_an_open_with_a_closed_run_is_told():
    open_, closed = api.simulate(scenario(3, mode="replay")), api.simulate(scenario(3))
    (told,) = [remark for remark in find_remarks([open_, closed]) if "open" in remark]
    assert told.index(distinct_labels([open_, closed])[0]) < told.index("is open")
    (told,) = [remark for remark in find_remarks([closed, open_]) if "open" in remark]
    assert "closed: users react in one of them alone" in told
    assert any("react to" in remark for remark in find_remarks([closed, api.simulate(scenario(6))]))
    assert not find_remarks([open_, open_])


@pytest.mark.parametrize(
    "part", [{"name": "split", "time": 900}, {"name": "ask-for-less", "jobs": 2}, {"name": "split", "cores": 1}]
)
def test_on_the_same_machine_all_of_it_is_the_users(part):
    """What users of one system asked for is what the other one gets: the machine is the same, and has no part in it."""
    (wait,) = decompose(scenario(3), scenario(3, reactions=[part]), ("mean_wait",))
    assert wait.scheduler.mean == wait.scheduler_last.mean == 0
    assert wait.users.mean == wait.difference.mean
