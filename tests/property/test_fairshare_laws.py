"""What must hold of fair share whatever the shares and the use."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from walltime.core.time import SECOND
from walltime.kernel.usage import HalfLife, SteppedUsage
from walltime.policies.fairshare.tree import ShareTree

ALEA, CLASSIC, FAIR_TREE = range(3)
SHARES = st.integers(1, 9).map(float)
USES = st.one_of(st.just(0.0), st.integers(1, 50).map(float), st.floats(1e-3, 1e9))


def grow(accounts):
    """A tree of accounts with users as [(shares, [(shares, use), ...]), ...]; users by account, and the ledger."""
    usage, tree, people = HalfLife(0), ShareTree(1), []
    for shares, users in accounts:
        account = tree.add(0, shares, -1)
        people.append([])
        for mine, use in users:
            leaf = usage.add()
            usage.load(leaf, 0, use)
            people[-1].append(tree.add(account, mine, leaf))
    return tree, usage, people


ACCOUNTS = st.lists(
    st.tuples(SHARES, st.lists(st.tuples(SHARES, USES), min_size=1, max_size=5)), min_size=1, max_size=5
)


@given(ACCOUNTS, st.sampled_from([ALEA, CLASSIC, FAIR_TREE]))
@settings(max_examples=80, deadline=None)
def test_shares_add_up_and_factors_are_factors(accounts, formula):
    tree, usage, people = grow(accounts)
    tree.calculate(usage, 0, formula, 1.0)
    leaves = [leaf for group in people for leaf in group]
    assert abs(sum(tree.share[leaf] for leaf in leaves) - 1) < 1e-12
    assert all(0 <= tree.factor[leaf] <= 1 for leaf in leaves)
    uses = [use for _, users in accounts for _, use in users]
    assert abs(tree.use[0] - sum(uses)) <= 1e-9 * sum(uses)


@given(st.lists(st.tuples(SHARES, USES), min_size=2, max_size=8), st.sampled_from([ALEA, CLASSIC, FAIR_TREE]))
@settings(max_examples=80, deadline=None)
def test_who_is_below_target_stands_before_who_is_above(users, formula):
    usage, tree = HalfLife(0), ShareTree(1)
    for shares, use in users:
        leaf = usage.add()
        usage.load(leaf, 0, use)
        tree.add(0, shares, leaf)
    tree.calculate(usage, 0, formula, 1.0)
    total = sum(use for _, use in users)
    for node, (_, use) in enumerate(users, 1):
        for other, (_, more) in enumerate(users, 1):
            if total and use / total < tree.share[node] * 0.999999 and more / total > tree.share[other] * 1.000001:
                assert tree.standing[node] < tree.standing[other]
                assert tree.factor[node] > tree.factor[other] or tree.factor[node] == 0


@given(ACCOUNTS)
@settings(max_examples=80, deadline=None)
def test_fair_tree_has_all_of_the_better_account_first(accounts):
    tree, usage, people = grow(accounts)
    tree.calculate(usage, 0, FAIR_TREE, 1.0)
    levels = [tree.level[tree.parent[group[0]]] for group in people]
    for level, group in zip(levels, people, strict=True):
        for other, others in zip(levels, people, strict=True):
            if level > other:
                assert min(tree.factor[leaf] for leaf in group) > max(tree.factor[leaf] for leaf in others)
    factors = sorted((tree.factor[leaf] for group in people for leaf in group), reverse=True)
    assert factors[0] == 1.0
    count = len(factors)
    for place, factor in enumerate(factors):  # equal ones have the rank of the first of them
        assert factor == (count - factors.index(factor)) / count or place > factors.index(factor)


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 60), st.integers(1, 9)), min_size=2, max_size=8),
    st.integers(101, 10_000),
    st.booleans(),
)
@settings(max_examples=80, deadline=None)
def test_decay_alone_changes_no_order(jobs, later, smooth):
    usage = HalfLife(50 * SECOND) if smooth else SteppedUsage(0.75, 30 * SECOND)
    events = []
    for who, (start, length, rate) in enumerate(jobs):
        usage.add()
        events += [(start, 1, who, rate), (start + length, 0, who, start)]
    for time, begins, who, value in sorted(events, key=lambda event: (event[0], event[1])):
        if begins:
            usage.set_charge(0, float(value))
            usage.start(who, who, 100 * SECOND, time * SECOND)
        else:
            usage.stop(who, value * SECOND, time * SECOND)
    now, then = ([usage.read(who, 0, time * SECOND) for who in range(len(jobs))] for time in (101, later))
    for a in range(len(jobs)):
        for b in range(len(jobs)):
            if now[a] < now[b] * (1 - 1e-9):
                assert then[a] < then[b] or then[b] < 1e-300
