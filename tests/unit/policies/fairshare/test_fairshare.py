"""Fair share against its formulas, worked out by hand, and over time."""

import math
import random

import numpy as np
import pytest

import walltime
from walltime.core.errors import InputError
from walltime.core.time import SECOND
from walltime.core.workload import Origin, Workload
from walltime.kernel.usage import HalfLife, SteppedUsage, blunt
from walltime.policies.fairshare.resets import next_reset
from walltime.policies.fairshare.samples import round_to_digits
from walltime.policies.fairshare.settings import read_settings
from walltime.policies.fairshare.tree import ShareTree
from walltime.policies.order.fairshare import FairShareOrder

HOUR = 3600 * SECOND
ALEA, CLASSIC, FAIR_TREE = range(3)


def run(usage, who, slot, rate, start, end, limit=0):
    usage.set_charge(0, rate)
    usage.start(who, slot, limit, start)
    if end is not None:
        usage.stop(slot, start, end)


# ---- usage


def test_use_halves_with_each_half_life():
    usage = HalfLife(100 * SECOND)
    who = usage.add()
    run(usage, who, 0, 4.0, 0, 100 * SECOND)
    moments = np.arange(0, 100, 0.001) + 0.0005
    expected = (4.0 * 0.001 * 2 ** (-(100 - moments) / 100)).sum()  # each millisecond by its own age
    assert usage.read(who, 0, 100 * SECOND) == pytest.approx(expected, rel=1e-6)
    assert usage.read(who, 0, 200 * SECOND) == pytest.approx(expected / 2, rel=1e-6)
    assert usage.read(who, 0, 1100 * SECOND) == pytest.approx(expected / 1024, rel=1e-6)


def test_use_of_a_running_job_grows_to_what_decay_allows():
    usage = HalfLife(100 * SECOND)
    who = usage.add()
    run(usage, who, 0, 2.0, 0, None)
    assert usage.read(who, 0, 0) == 0
    limit = 2.0 * 100 / math.log(2)  # as much is used as is forgotten
    assert usage.read(who, 0, 10_000 * SECOND) == pytest.approx(limit)


def test_it_does_not_matter_how_often_use_is_looked_at():
    often, once = HalfLife(50 * SECOND), HalfLife(50 * SECOND)
    for usage in (often, once):
        usage.add()
        run(usage, 0, 0, 3.0, 0, None)
    for second in range(1, 100):
        run(often, 0, 1, 1.0, second * SECOND, second * SECOND)  # no length: no use, but a settlement
    assert blunt(often.read(0, 0, 100 * SECOND)) == blunt(once.read(0, 0, 100 * SECOND))


def test_without_a_half_life_nothing_is_forgotten_until_a_reset():
    usage = HalfLife(0)
    who = usage.add()
    run(usage, who, 0, 4.0, 0, 100 * SECOND)
    run(usage, who, 1, 1.0, 100 * SECOND, None)
    assert usage.read(who, 0, 10**6 * SECOND) == 400 + 1.0 * (10**6 - 100)
    usage.reset_at(500 * SECOND)
    assert usage.read(who, 0, 600 * SECOND) == 100  # what still runs is charged from the reset on


def test_alea_forgets_in_steps_and_charges_in_advance():
    usage = SteppedUsage(0.75, 48 * HOUR, True)
    who = usage.add()
    run(usage, who, 0, 10.0, 0, None, limit=3600 * SECOND)
    assert usage.read(who, 0, 0) == 36_000  # all that it may use, at once
    usage.stop(0, 0, 600 * SECOND)
    assert usage.read(who, 0, 600 * SECOND) == 6_000  # what it did use
    assert usage.read(who, 0, 48 * HOUR - 1) == 6_000
    assert usage.read(who, 0, 48 * HOUR) == 4_500
    assert usage.read(who, 0, 96 * HOUR) == 6_000 * 0.75**2


@pytest.mark.parametrize("order", ["stop, start", "start, stop"])
def test_an_end_takes_a_brief_charge_away_but_not_that_of_a_start_at_its_instant(order):
    """Job 0 starts at 0, job 1 at 10 as job 0 ends: 10 and 2 core-seconds are used by 12, and 50 more may be."""
    usage = SteppedUsage(0.5, HOUR, False, 1, 5 * SECOND)
    usage.add()
    run(usage, 0, 0, 1.0, 0, None, limit=100 * SECOND)
    assert usage.read(0, 0, 2 * SECOND) == 102
    for what in order.split(", "):
        if what == "stop":
            usage.stop(0, 0, 10 * SECOND)
        else:
            run(usage, 0, 1, 1.0, 10 * SECOND, None, limit=50 * SECOND)
    assert usage.read(0, 0, 12 * SECOND) == 62
    assert usage.read(0, 0, 16 * SECOND) == 16


def test_a_job_of_no_length_leaves_no_brief_charge():
    """Job 0 starts and ends at 10, beside job 1, which starts then, too: 50 core-seconds may be used, and 2 are."""
    usage = SteppedUsage(0.5, HOUR, False, 1, 5 * SECOND)
    usage.add()
    run(usage, 0, 0, 1.0, 10 * SECOND, None, limit=100 * SECOND)
    run(usage, 0, 1, 1.0, 10 * SECOND, None, limit=50 * SECOND)
    assert usage.read(0, 0, 10 * SECOND) == 150
    usage.stop(0, 10 * SECOND, 10 * SECOND)
    assert usage.read(0, 0, 12 * SECOND) == 52


def test_alea_without_temporary_charges_counts_what_has_been_used_so_far():
    usage = SteppedUsage(0.5, 48 * HOUR, False)
    who = usage.add()
    run(usage, who, 0, 10.0, 0, None, limit=3600 * SECOND)
    run(usage, who, 1, 1.0, 100 * SECOND, 300 * SECOND, limit=3600 * SECOND)
    assert usage.read(who, 0, 50 * SECOND + 250 * SECOND) == 3_200
    assert usage.read(who, 0, 400 * SECOND) == 4_200


def test_alea_with_a_brief_charge_adds_what_may_be_used_for_a_while_after_a_start():
    usage = SteppedUsage(0.5, 48 * HOUR, False, brief=SECOND)
    who, other = usage.add(), usage.add()
    run(usage, who, 0, 10.0, 0, None, limit=3600 * SECOND)
    assert usage.read(who, 0, 0) == 36_000
    assert usage.read(who, 0, SECOND) == 36_000 + 10
    assert usage.read(who, 0, SECOND + 1) == pytest.approx(10, abs=1e-3)  # what it has used so far
    run(usage, who, 1, 1.0, 100 * SECOND, None, limit=60 * SECOND)
    assert usage.read(who, 0, 100 * SECOND) == 1_000 + 60
    run(usage, who, 2, 1.0, 101 * SECOND, None, limit=60 * SECOND)  # within a second: both count, for a second more
    assert usage.read(who, 0, 102 * SECOND) == 1_020 + 2 + 1 + 120
    usage.stop(1, 100 * SECOND, 102 * SECOND)  # an end puts an end to it
    assert usage.read(who, 0, 102 * SECOND) == 1_020 + 2 + 1
    assert usage.read(other, 0, 102 * SECOND) == 0


def test_sums_of_rates_come_back_to_nothing():
    usage = HalfLife(100 * SECOND)
    who = usage.add()
    for slot in range(1000):
        run(usage, who, slot, 0.1 + slot / 7, 0, None)
    for slot in range(1000):
        usage.stop(slot, 0, SECOND)
    before = usage.read(who, 0, 2 * SECOND)
    assert usage.read(who, 0, 102 * SECOND) == pytest.approx(before / 2, rel=1e-12)


# ---- the formulas


def tree_of(shares, uses):
    """A tree from {name: (parent, shares)} and a ledger with the uses of its leaves, by name."""
    usage, tree, nodes = HalfLife(0), ShareTree(1), {None: 0}
    for name, (parent, given) in shares.items():
        leaf = usage.add() if name in uses else -1
        nodes[name] = tree.add(nodes[parent], given, leaf)
        if leaf >= 0:
            usage.load(leaf, 0, uses[name])
    return tree, usage, nodes


SITE = {"A": (None, 40), "B": (None, 60), "a1": ("A", 30), "a2": ("A", 10), "b1": ("B", 1), "b2": ("B", 1)}
USES = {"a1": 100.0, "a2": 200.0, "b1": 50.0, "b2": 50.0}


def test_shares_of_the_whole():
    tree, usage, nodes = tree_of(SITE, USES)
    tree.calculate(usage, 0, ALEA, 1.0)
    shares = {name: tree.share[node] for name, node in nodes.items()}
    assert shares == {None: 1, "A": 0.4, "B": 0.6, "a1": 0.4 * 0.75, "a2": 0.4 * 0.25, "b1": 0.3, "b2": 0.3}


def test_aleas_factor():
    tree, usage, nodes = tree_of(SITE, USES)
    tree.calculate(usage, 0, ALEA, 1.0)
    for name, share in (("a1", 0.3), ("a2", 0.1), ("b1", 0.3)):
        assert tree.factor[nodes[name]] == pytest.approx(2 ** -(USES[name] / 400 / share), rel=1e-11)


@pytest.mark.parametrize("users", [3, 24, 25, 90])
def test_the_ranks_of_many_siblings_are_those_of_their_shares_over_their_use(users):
    dice = random.Random(users)
    site = {"A": (None, 3), "B": (None, 3), "C": (None, 1)}
    site |= {f"{name}{k}": (name, dice.choice((1, 2, 5))) for name in "ABC" for k in range(users)}
    uses = {name: float(dice.choice((0, 10, 20, 30, 70))) for name in site if len(name) > 1}
    tree, usage, nodes = tree_of(site, uses)
    tree.calculate(usage, 0, FAIR_TREE, 1.0)
    level = {name: tree.level[node] for name, node in nodes.items()}
    places = {name: (-level[name[0]], -level[name]) for name in uses}
    for name, place in places.items():
        better = sum(other < place for other in places.values())
        assert tree.factor[nodes[name]] == pytest.approx((len(uses) - better) / len(uses))


def test_slurms_classic_factor():
    tree, usage, nodes = tree_of(SITE, USES)
    tree.calculate(usage, 0, CLASSIC, 3.0)
    of_a, of_b = 300 / 400, 100 / 400  # the accounts' effective usage is their usage
    a1 = 0.25 + (of_a - 0.25) * 30 / 40
    b1 = 0.125 + (of_b - 0.125) * 1 / 2
    assert tree.effective[nodes["a1"]] == pytest.approx(a1)
    assert tree.factor[nodes["a1"]] == pytest.approx(2 ** -(a1 / 0.3 / 3), rel=1e-11)
    assert tree.factor[nodes["b1"]] == pytest.approx(2 ** -(b1 / 0.3 / 3), rel=1e-11)
    assert tree.factor[nodes["A"]] == pytest.approx(2 ** -(of_a / 0.4 / 3), rel=1e-11)


def test_who_has_no_share_has_the_worst_factor():
    tree, usage, nodes = tree_of({"x": (None, 0), "y": (None, 1)}, {"x": 0.0, "y": 10.0})
    for formula in (ALEA, CLASSIC):
        tree.calculate(usage, 0, formula, 1.0)
        assert tree.factor[nodes["x"]] == 0
    tree.calculate(usage, 0, FAIR_TREE, 1.0)
    assert tree.factor[nodes["x"]] == 0.5


def test_fair_tree_ranks_by_level():
    # Level fair share: A = 0.4 / 0.75, B = 0.6 / 0.25, so all of B are before all of A; b1 and b2 are equal.
    tree, usage, nodes = tree_of(SITE, USES)
    tree.calculate(usage, 0, FAIR_TREE, 1.0)
    factors = {name: tree.factor[nodes[name]] for name in USES}
    assert factors == {"b1": 1.0, "b2": 1.0, "a1": 0.5, "a2": 0.25}
    assert tree.level[nodes["B"]] == pytest.approx(0.6 / 0.25)
    assert tree.level[nodes["a1"]] == pytest.approx(0.75 / (100 / 300))


def test_fair_tree_looks_at_equal_accounts_as_one():
    shares = {"A": (None, 1), "B": (None, 1), "a1": ("A", 1), "a2": ("A", 1), "b1": ("B", 1), "b2": ("B", 1)}
    tree, usage, nodes = tree_of(shares, {"a1": 10.0, "a2": 30.0, "b1": 15.0, "b2": 25.0})
    tree.calculate(usage, 0, FAIR_TREE, 1.0)
    ranked = sorted(("a1", "a2", "b1", "b2"), key=lambda name: -tree.factor[nodes[name]])
    assert ranked == ["a1", "b1", "b2", "a2"]
    assert [tree.factor[nodes[name]] for name in ranked] == [1.0, 0.75, 0.5, 0.25]


def test_fair_tree_a_user_equal_to_an_account_has_the_rank_of_its_best():
    shares = {"u": (None, 1), "A": (None, 1), "a1": ("A", 1), "a2": ("A", 1)}
    tree, usage, nodes = tree_of(shares, {"u": 10.0, "a1": 4.0, "a2": 6.0})
    tree.calculate(usage, 0, FAIR_TREE, 1.0)
    assert [tree.factor[nodes[name]] for name in ("u", "a1", "a2")] == [1.0, 1.0, pytest.approx(1 / 3)]


# ---- a schedule, over time


def two_users(count=6, run=100, cores=4):
    return Workload.from_columns(
        submit=[0] * (2 * count),
        run_time=[run] * (2 * count),
        requested_time=[run] * (2 * count),
        cores=[cores] * (2 * count),
        user=["ann"] * count + ["bob"] * count,
    )


def simulate(order, cluster=None, jobs=None, backfill="none"):
    scenario = {
        "workload": {"table": jobs or two_users()},
        "cluster": {"cores": 4, **(cluster or {}), "scheduler": {"order": order, "backfill": backfill}},
    }
    return walltime.simulate(scenario)


def starters(result):
    return "".join(name[0] for name in result.jobs.sort("start")["user"].to_list())


@pytest.mark.parametrize("formula", ["alea", "classic", "fair-tree"])
def test_equal_users_take_turns(formula):
    assert starters(simulate({"name": "fairshare", "formula": formula, "interval": 0})) == "abababababab"


@pytest.mark.parametrize("formula", ["alea", "classic", "fair-tree"])
def test_shares_are_what_users_get(formula):
    order = {"name": "fairshare", "formula": formula, "interval": 0, **({} if formula == "alea" else {"half_life": 0})}
    turns = starters(simulate(order, {"shares": {"ann": 2, "bob": 1}}))
    assert turns[:9].count("a") == 6


def test_the_queue_is_put_in_order_only_so_often():
    # Jobs start every 100 s, the order is that of 0, 250, 500, 750 and 1000 s; in jobs that count, ann and bob had
    # 0 : 0 (equal: ann came first), 3 : 0 (two ended, one charged in advance), 3 : 2, 3 : 5, and 5 : 5.
    turns = starters(simulate({"name": "fairshare", "interval": 250}))
    assert turns == "aaa" + "bb" + "bbb" + "aa" + "a" + "b"


def test_the_series_tell_factors_and_use():
    order = FairShareOrder(interval=100, temporary=False)
    result = simulate(order, jobs=two_users(2))
    rows = {(row[1], row[2], row[0]): row[3] for row in result.series.rows()}
    # ann runs 0-100 and 200-300, bob 100-200 and 300-400, on 4 cores
    assert rows["usage", "ann", 100.0] == 400
    assert rows["usage", "ann", 200.0] == 400
    assert rows["usage", "bob", 200.0] == 400
    assert rows["fair_share_factor", "ann", 100.0] == pytest.approx(2**-2)  # all of the use, half of the shares
    assert rows["fair_share_factor", "bob", 100.0] == 1
    assert rows["fair_share_factor", "ann", 300.0] == pytest.approx(2 ** -(2 / 3 / 0.5), rel=1e-9)


def test_earlier_use_counts():
    order = {"name": "fairshare", "formula": "classic", "half_life": "1h", "usage": {"ann": 4 * 3600}}
    assert starters(simulate(order)).startswith("b")
    order["usage"] = {"physics/ann": 4 * 3600}  # as sshare tells it; without accounts the user counts
    assert starters(simulate(order)).startswith("b")


def test_by_account_and_by_group():
    jobs = Workload.from_columns(
        submit=[0] * 6,
        run_time=[100] * 6,
        requested_time=[100] * 6,
        cores=[4] * 6,
        user=["ann", "ada", "amy", "bob", "ben", "bea"],
        account=["x", "x", "x", "y", "y", "y"],
        group=["x", "x", "x", "y", "y", "y"],
    )
    for by in ("account", "group"):
        assert starters(simulate({"name": "fairshare", "by": by, "interval": 0}, jobs=jobs)) == "ababab"
    tree = {"accounts": {"x": {}, "y": {"shares": 2}}}
    turns = starters(simulate({"name": "fairshare", "by": "account", "interval": 0}, tree, jobs=jobs))
    assert turns.startswith("abb")


def test_a_user_of_two_accounts_is_two():
    jobs = Workload.from_columns(
        submit=[0] * 4,
        run_time=[100] * 4,
        requested_time=[100] * 4,
        cores=[4] * 4,
        user=["ann"] * 4,
        account=["x", "x", "y", "y"],
    )
    result = simulate({"name": "fairshare", "interval": 0}, {"accounts": {"x": {}, "y": {}}}, jobs=jobs)
    assert result.jobs.sort("start")["account"].to_list() == ["x", "y", "x", "y"]
    assert set(result.series.filter(series="usage")["entity"].unique()) == {"x", "y", "x/ann", "y/ann"}


@pytest.mark.parametrize(
    ("charge", "rate"),
    [
        ("cpu", 8),
        ("max", 64 * 0.5),
        ("root", 64 * (1 - math.sqrt((1 - 8 / 64) * (1 - 0.5)))),
        ("product", 64 * (8 / 64) * 0.5),
        ("dominant", 64 * 0.75),
    ],
)
def test_charges(charge, rate):
    """A job with an eighth of the cores, half of the memory and three quarters of the GPUs, for 100 s."""
    jobs = Workload.from_columns(
        submit=[0, 0],
        run_time=[100, 250],
        requested_time=[100, 250],
        cores=[8, 1],
        nodes=[4, 1],
        memory=[4 * 32, 0],
        gpus=[6, 0],
        user=["ann", "bob"],
    )
    cluster = {"cores": None, "nodes": [{"count": 4, "cores": 16, "memory": 64, "gpus": 2}]}
    order = FairShareOrder(formula="classic", half_life=0, charge=charge, interval=100)
    later = Workload.from_columns(
        **{name: [*jobs.column(name).tolist(), 1] for name in ("cores", "nodes")},
        memory=[128, 0, 0],
        gpus=[6, 0, 0],
        submit=[0, 0, 200],
        run_time=[100, 250, 10],
        requested_time=[100, 250, 10],
        user=["ann", "bob", "bob"],
    )
    simulate(order, cluster, later, "easy")
    used = {row["name"]: row["usage"] for row in order.share.table()}
    assert used["ann"] == pytest.approx(100 * rate, rel=1e-6)


def test_whole_nodes_are_charged_whole():
    jobs = Workload.from_columns(
        submit=[0, 200], run_time=[100, 1], requested_time=[100, 1], cores=[3, 1], user=["ann", "bob"]
    )
    order = FairShareOrder(formula="classic", half_life=0, interval=0)
    simulate(order, {"cores": None, "nodes": "4x8", "sharing": "whole"}, jobs)
    assert {row["name"]: row["usage"] for row in order.share.table()}["ann"] == 800


# ---- the calendar


@pytest.mark.parametrize(
    ("period", "expected"),
    [
        ("daily", "2024-02-15"),
        ("weekly", "2024-02-18"),
        ("monthly", "2024-03-01"),
        ("quarterly", "2024-04-01"),
        ("yearly", "2025-01-01"),
    ],
)
def test_resets_are_at_midnight_of_the_site(period, expected):
    from datetime import datetime
    from zoneinfo import ZoneInfo

    zone = ZoneInfo("Europe/Prague")
    origin = Origin(datetime(2024, 2, 14, 15, 30, tzinfo=zone).timestamp(), "Europe/Prague")  # a Wednesday
    moment = next_reset(period, 0, origin) / SECOND + origin.epoch
    assert datetime.fromtimestamp(moment, zone).isoformat() == f"{expected}T00:00:00" + (
        "+02:00" if period == "quarterly" else "+01:00"
    )


def test_a_reset_forgets():
    order = FairShareOrder(formula="classic", half_life=0, reset="daily", interval=3600)
    jobs = Workload.from_columns(
        submit=[0, 80_000, 100_000],
        run_time=[50_000, 10_000, 1],
        requested_time=[50_000, 10_000, 1],
        cores=[4, 4, 4],
        user=["ann", "bob", "cy"],
    )
    simulate(order, jobs=jobs)
    used = {row["name"]: row["usage"] for row in order.share.table()}
    assert used["ann"] == 0
    assert used["bob"] == pytest.approx(4 * (90_000 - 86_400))


# ---- parameters


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"formula": "alea", "half_life": "7d"}, "half_life belongs to the formulas classic and fair-tree"),
        ({"formula": "classic", "decay": 0.5}, "decay belongs to the formula alea"),
        ({"formula": "fare"}, "formula is none of the choices"),
        ({"interval": "soon"}, "interval is not a duration"),
        ({"decay": 2}, "decay must be a number from 0 to 1"),
        ({"charge": "cpus"}, "charge is none of the choices"),
        ({"by": "queue"}, "by is none of the choices"),
        ({"usage": [1]}, "usage is a mapping"),
        ({"formula": "classic", "dampening": 0}, "dampening must be a number above 0"),
        ({"colour": 1}, "no such parameter"),
    ],
)
def test_wrong_parameters(given, words):
    with pytest.raises(InputError, match=words):
        read_settings(given)


def test_a_charge_by_memory_needs_memory():
    with pytest.raises(InputError, match="needs the memory"):
        simulate({"name": "fairshare", "charge": "max"})


def test_it_is_no_order_of_candidates():
    with pytest.raises(InputError, match="candidates takes no order"):
        simulate("fcfs", backfill={"name": "easy", "candidates": "fairshare"})


@pytest.mark.parametrize("step", [0, 0.5])
@pytest.mark.parametrize("exponent", range(-34, 26, 3))
def test_figures_have_ten_digits_as_python_writes_them(exponent, step):
    """Also those in the middle between two, powers of ten and their neighbours."""
    random = np.random.default_rng(exponent + 50)
    values = (random.integers(10**9, 10**10, 500) + step) * 10.0**exponent
    values = np.concatenate([values, -values, values * random.random(500), 10.0**exponent * np.arange(0, 20), [np.inf]])
    values = np.concatenate([values, np.nextafter(values, 0), np.nextafter(values, np.inf)])
    assert round_to_digits(values).tolist() == [float(f"{value:.10g}") for value in values.tolist()]
