"""The weighted sum of factors, each worked out by hand."""

import pytest

import walltime
from walltime.core.errors import InputError
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.kernel.source import Observer
from walltime.policies.order.multifactor import Multifactor


class Notes(Observer):
    """The parts of every job's priority whenever a job starts, and once at the end of each one's wait."""

    def __init__(self, order):
        self.order = order
        self.parts = {}

    def moved(self, engine, slot, before, after):
        if after == 3:  # running: what it had when it was chosen
            job = int(engine.jobs.job_id[slot])
            self.parts[job] = self.order.parts(engine.jobs, slot, engine.now)
        return 0


def parts_of(order, cluster, **columns):
    """The parts of each job's priority as it starts."""
    from walltime.engine import native
    from walltime.scenario import parse

    count = len(next(iter(columns.values())))
    columns = {"submit": [0] * count, "run_time": [10] * count, "requested_time": [600] * count} | columns
    jobs = Workload.from_columns(**columns)
    scenario = parse(
        {"workload": {"table": jobs}, "cluster": cluster | {"scheduler": {"order": order, "backfill": "easy"}}}
    )
    notes = Notes(order)
    native.run(scenario, jobs, observers=[notes])
    return notes.parts


def test_age_grows_to_its_maximum():
    order = Multifactor(weights={"age": 1000}, max_age=100, interval=10)
    parts = parts_of(order, {"cores": 1}, run_time=[50, 100, 10], cores=[1, 1, 1])
    assert [parts[job]["age.factor"] for job in (1, 2, 3)] == [0.0, 0.5, 1.0]
    assert [parts[job]["priority"] for job in (1, 2, 3)] == [1.0, 500.0, 1000.0]


def test_age_is_that_of_the_last_renewal_and_counts_from_eligibility():
    order = Multifactor(weights={"age": 1000}, max_age=100, interval=20)
    parts = parts_of(order, {"cores": 1}, run_time=[55, 5], cores=[1, 1], begin=[0, 10])
    assert parts[2]["age"] == 300.0  # it starts at 55 s, by the factors of 40 s, eligible since 10 s
    order = Multifactor(weights={"age": 1000}, max_age=100, interval=20, accrue_always=True)
    parts = parts_of(order, {"cores": 1}, run_time=[55, 5], cores=[1, 1], begin=[0, 10])
    assert parts[2]["age"] == 400.0


@pytest.mark.parametrize(
    ("small", "relative", "cluster", "expected"),
    [
        (False, False, {"nodes": "10x4"}, (2 / 10 + 8 / 40) / 2),
        (True, False, {"nodes": "10x4"}, (8 / 10 + 32 / 40) / 2),
        (False, True, {"nodes": "10x4"}, 8 / 10 / 40),  # ten minutes
        (True, True, {"nodes": "10x4"}, 1 - 8 / 10 / 40),
        (False, False, {"cores": 40}, 8 / 40),
        (True, False, {"cores": 40}, 32 / 40),
    ],
)
def test_job_size(small, relative, cluster, expected):
    order = Multifactor(weights={"job_size": 1000}, favor_small=small, relative_to_time=relative)
    parts = parts_of(order, cluster, cores=[8], nodes=[2])
    assert parts[1]["job_size.factor"] == pytest.approx(expected)
    assert parts[1]["priority"] == int(1000 * parts[1]["job_size.factor"])


def test_partition_qos_association_tres_site_and_nice():
    order = Multifactor(
        weights={"partition": 100, "qos": 1000, "association": 10},
        qos={"high": 40, "low": 10},
        tres={"cpu": 500, "node": 20},
        site="cores * 2",
        nice=7,
    )
    cluster = {
        "nodes": "10x4",
        "queues": {"a": {"job_factor": 1}, "b": {"job_factor": 4}},
        "accounts": {"root": {"priority": 3}, "lab": {"parent": "root"}, "club": {"priority": 6, "users": ["bob"]}},
    }
    parts = parts_of(
        order,
        cluster,
        cores=[8, 4],
        nodes=[2, 1],
        queue=["a", "b"],
        qos=["high", "low"],
        account=["lab", None],
        user=["ann", "bob"],
    )
    first = {name: value for name, value in parts[1].items() if "." not in name or name.startswith("tres")}
    assert first["partition"] == 25
    assert first["qos"] == 1000
    assert first["association"] == 5  # of the account above it, over the largest
    assert first["tres.cpu"] == 500 * 8 / 40
    assert first["tres.node"] == 20 * 2 / 10
    assert first["site"] == 16
    assert first["nice"] == -7
    assert first["priority"] == 25 + 1000 + 5 + 100 + 4 + 16 - 7
    assert parts[2]["partition"] == 100
    assert parts[2]["qos"] == 250
    assert parts[2]["association"] == 10


def test_fair_share_is_a_factor_over_time():
    order = Multifactor(
        weights={"fairshare": 10_000}, interval=100, fairshare={"formula": "classic", "half_life": 0, "dampening": 2}
    )
    parts = parts_of(
        order, {"cores": 4}, run_time=[100] * 4, cores=[4] * 4, user=["ann", "ann", "bob", "bob"], submit=[0] * 4
    )
    # 1: ann at 0 s; nobody has used anything. At 100 s ann has used all: 2^-(1 / 0.5 / 2); bob goes first, with 1.
    assert parts[1]["fairshare.factor"] == 1
    assert parts[3]["fairshare.factor"] == 1
    # At 200 s both have used the same; ann's second job came first.
    assert parts[2]["fairshare.factor"] == pytest.approx(2**-0.5, rel=1e-11)
    assert parts[4]["fairshare.factor"] == pytest.approx(2 ** -(1 / 3 / 0.5 / 2), rel=1e-11)
    assert parts[4]["priority"] == int(10_000 * 2 ** -(1 / 3))
    assert parts[4]["fairshare.weight"] == 10_000


def test_weights_decide_who_is_first():
    jobs = Workload.from_columns(
        submit=[0, 0, 0, 0], run_time=[10] * 4, requested_time=[10] * 4, cores=[4, 3, 4, 2], user=["a", "b", "c", "d"]
    )
    starts = {}
    for small in (True, False):
        order = {"name": "multifactor", "weights": {"job_size": 1000}, "favor_small": small}
        result = walltime.simulate(jobs, cores=4, policy={"order": order, "backfill": "none"})
        starts[small] = result.jobs.sort("start")["cores"].to_list()
    assert starts == {True: [2, 3, 4, 4], False: [4, 4, 3, 2]}


def test_a_priority_is_cut_to_a_whole_number():
    order = Multifactor(weights={"age": 1}, max_age=100, interval=10)
    parts = parts_of(order, {"cores": 1}, run_time=[50, 10], cores=[1, 1])
    assert parts[2]["priority"] == 1.0  # 0.5, and none is below 1: equal ones are first come, first served


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"weights": {"aeg": 1}}, "weights has no such name"),
        ({"weights": {"age": 0.5}}, "must be a whole number"),
        ({"weights": 3}, "weights is a mapping"),
        ({"tres": {"fpga": 1}}, "tres has no such name"),
        ({"max_age": 0}, "max_age must be longer than zero"),
        ({"site": "cores +"}, "not a formula"),
        ({"site": "wait"}, "unknown name"),
        ({"favor_small": "yes"}, "must be true or false"),
        ({"fairshare": {"interval": 3}}, "the interval is one for all factors"),
        ({"fairshare": {"decay": 0.5}}, "decay belongs to the formula alea"),
    ],
)
def test_wrong_parameters(given, words):
    with pytest.raises(InputError, match=words):
        Multifactor(**given)


def test_seconds_are_seconds():
    assert Multifactor(max_age="2d").max_age == 2 * 86_400 * SECOND
