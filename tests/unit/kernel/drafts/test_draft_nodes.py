"""A plan of jobs with nodes by name: what is known of gaps, and what a table says, is what the ledger would say."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from walltime.cluster.requests import NodeRequest
from walltime.core.errors import PolicyError
from walltime.core.time import NEVER
from walltime.kernel.drafts import draft_nodes
from walltime.kernel.drafts.draft_nodes import NodeDraft
from walltime.kernel.hardware import Hardware
from walltime.kernel.jobs import JobTable, add_blocker
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.policies.optimise.annealing import Annealing
from walltime.policies.optimise.neighbourhoods import Neighbourhoods
from walltime.policies.optimise.search import GapSearch, RandomSearch
from walltime.policy import registry
from walltime.policy.optimise import RandomNumbers, UserTotals
from walltime.scenario import Part

NEVER_TABLED, TABLED_AT_ONCE = 0, 1 << 30


def make_draft(rng: random.Random, nodes: int, waiting: int) -> Any:
    """Nodes of 8 cores and 16 of memory; some jobs run, the others are promised their earliest starts."""
    return Site(rng, nodes, waiting, scale=1).open(NEVER_TABLED)


class Site:
    """The same, perhaps with memory in small units, jobs that want nodes alone, nodes that some jobs may not use, a
    closing to come, nodes that are shut, and jobs that are late."""

    def __init__(self, rng: random.Random, nodes: int, waiting: int, scale: int, mixed: bool = False) -> None:
        self.jobs: Any = JobTable()
        place = registry.build("place", Part(name="first-fit"))
        table = np.tile([8, 16 * scale], (nodes, 1))
        if mixed:
            table[::2] = [6, 12 * scale]
        self.ledger: Any = ResourceLedger(self.jobs, Hardware(table, place, resources=("cores", "memory")))
        sets = [0] + ([self.ledger.add_set(np.arange(nodes) % 3 > 0)] if mixed else [])
        if mixed and rng.random() < 0.5:
            self.ledger.shut(add_blocker(self.jobs, 8), [rng.randrange(nodes)], rng.randint(1, 40))
        if mixed and rng.random() < 0.7:
            some = sorted(rng.sample(range(nodes), rng.randint(1, nodes)))
            self.ledger.keep_shut(add_blocker(self.jobs, 8 * len(some)), some, 20, 35)
        self.slots: list[int] = []
        while len(self.slots) < waiting:
            self.add(rng, nodes, scale, sets, mixed)

    def add(self, rng: random.Random, nodes: int, scale: int, sets: list[int], mixed: bool) -> None:
        """One more job: it runs, or is promised a start."""
        each = (rng.randint(1, 8 - 2 * mixed), rng.randint(0, 12 * scale))
        count, length = rng.randint(1, max(1, nodes // 2) if mixed else nodes), rng.randint(1, 30)
        request = NodeRequest(each[0] * count, count, each, exclusive=mixed and rng.random() < 0.2)
        slot = self.jobs.add(0, 0, length, each[0] * count)
        self.jobs.estimate[slot], self.jobs.user[slot] = length, rng.randrange(3)
        self.jobs.shape[slot] = self.ledger.intern(request, rng.choice(sets))
        if rng.random() < 0.3 and self.ledger.fits(slot):
            self.jobs.expected_end[slot] = 0 if mixed and rng.random() < 0.2 else length
            self.ledger.take(slot)
            return
        start = self.ledger.earliest(slot, 0)
        if start < NEVER:
            self.ledger.hold(slot, start)
            self.jobs.promise[slot] = start
            self.slots.append(slot)

    def open(self, after: int, jobs: int | None = None) -> Any:
        """A draft of the first so many jobs, which looks at a table or never does."""
        before = draft_nodes.TABLED_AFTER
        draft_nodes.TABLED_AFTER = after
        draft: Any = NodeDraft()
        draft_nodes.TABLED_AFTER = before
        slots = self.slots[:jobs]
        draft.open(self.ledger, np.array(slots, np.int64), len(slots))
        return draft

    def starts(self) -> list[int]:
        """When the jobs are promised to start."""
        return [int(self.jobs.promise[slot]) for slot in self.slots]

    def has(self) -> list[Any]:
        """What the ledger keeps, and when it would have room."""
        return [(sorted(self.ledger.kept_for(slot)), self.ledger.earliest(slot, 7)) for slot in self.slots]


@pytest.mark.parametrize("seed", range(6))
def test_what_is_known_of_gaps_is_what_the_ledger_says(seed: int) -> None:
    """Jobs are moved, kept and undone; each is asked about again and again."""
    rng = random.Random(seed)
    draft = make_draft(rng, rng.choice([2, 5]), rng.choice([3, 25]))
    slots = draft.slots()
    for _ in range(120):
        some = rng.sample(range(draft.size), rng.randint(1, min(3, draft.size)))
        for i in some:
            draft.take_out(i)
        for i in some:
            for after in [0, *(rng.randint(0, draft.end_of_plan() + 5) for _ in range(3))]:
                assert draft.earliest(i, after) == draft.ledger.earliest(slots[i], after)
            start = draft.earliest(i, rng.choice([0, rng.randint(0, 200)]))
            assert start < NEVER
            draft.put(i, start)
        if rng.random() < 0.5:
            draft.keep()
        else:
            draft.undo()


def make_two(seed: int, large: bool = False) -> tuple[list[Site], list[Any]]:
    """The same site twice, and a draft of each: one with a table, one without."""
    choice = random.Random(-seed)
    nodes, waiting, scale = (
        choice.choice([3, 7, 40]) if not large else (65, 600, 1_100)[seed % 3],
        choice.choice([4, 25]) if not large else 70,
        choice.choice([1, 5_000, 1 << 30, 1_000_000_007]),
    )
    sites = [Site(random.Random(seed), nodes, waiting, scale, mixed=seed % 3 > 0) for _ in range(2)]
    jobs = waiting if seed % 2 else waiting - 2
    return sites, [sites[0].open(TABLED_AT_ONCE, jobs), sites[1].open(NEVER_TABLED, jobs)]


@pytest.mark.parametrize("seed", range(28))
def test_a_table_says_and_does_what_the_ledger_would(seed: int) -> None:
    """Two drafts of the same jobs are changed alike: by single jobs, and by placing all behind one again. The last have
    more nodes than a word has bits, and than a processor takes at once."""
    large = seed >= 24
    sites, drafts = make_two(seed, large)
    rng = random.Random(seed)
    before = [site.has() for site in sites]
    assert before[0] == before[1]
    for _ in range(6 if large else 60):
        change_both(rng, drafts)
        if rng.random() < 0.5:
            for draft in drafts:
                draft.keep()
        else:
            for draft in drafts:
                draft.undo()
    assert drafts[0].tabled
    assert not drafts[1].tabled
    if seed % 4 == 0:
        for draft in drafts:
            draft.close()
        assert [site.has() for site in sites] == before
    else:
        assert drafts[0].commit() == drafts[1].commit()
        assert sites[0].has() == sites[1].has()


@pytest.mark.parametrize("seed", range(12))
def test_a_table_knows_less_than_nothing(seed: int) -> None:
    """Jobs that run are late, where others were promised their nodes from now on."""
    sites = [Site(random.Random(seed), 4, 12, scale=1) for _ in range(2)]
    now = min(start for start in sites[0].starts() if start > 0)
    for site in sites:
        site.ledger.set_time(now)
        site.slots = [slot for slot, start in zip(site.slots, site.starts(), strict=True) if start >= now]
    drafts = [sites[0].open(TABLED_AT_ONCE), sites[1].open(NEVER_TABLED)]
    rng = random.Random(seed)
    for _ in range(30):
        change_both(rng, drafts)
        for draft in drafts:
            draft.undo()
    assert drafts[0].tabled


def change_both(rng: random.Random, drafts: list[Any]) -> None:
    """One change of both drafts, which have to answer alike."""
    size = drafts[0].size
    some = rng.sample(range(size), rng.randint(1, min(3, size)))
    for kind in rng.choice(["jobs", "all", "all, jobs", "jobs, all, all", "jobs, all, jobs"]).split(", "):
        if kind == "all" and drafts[0].is_whole():
            source, target = rng.sample(range(size), 2)
            for draft in drafts:
                draft.move_in_sequence(source, target)
        elif kind == "jobs" and drafts[0].is_whole():
            move_some(rng, drafts, some)
    assert drafts[0].starts().tolist() == drafts[1].starts().tolist()
    for i in range(size):
        assert sorted(drafts[0].kept_for(i)) == sorted(drafts[1].kept_for(i))
    assert drafts[0].steps() == drafts[1].steps()


def move_some(rng: random.Random, drafts: list[Any], some: list[int]) -> None:
    """Some jobs of both drafts go to other gaps."""
    for i in some:
        for draft in drafts:
            draft.take_out(i)
    for i in some:
        after = rng.choice([0, rng.randint(0, 200)])
        start = drafts[0].earliest(i, after)
        assert start == drafts[1].earliest(i, after)
        for draft in drafts if start < NEVER else ():
            draft.put(i, start)


def test_nothing_half_done_stays_on_the_nodes() -> None:
    """An objective that fails amid a search on a table."""
    sites, drafts = make_two(5)
    before = sites[1].has()
    calls = []

    def fails_late(plan: Any) -> float:
        calls.append(1)
        if len(calls) > 20:
            raise ValueError("late")
        return float(plan.start.sum())

    with pytest.raises(PolicyError, match="fails_late failed: ValueError: late"):
        RandomSearch({fails_late: 1}).improve(drafts[0], UserTotals())
    assert drafts[0].tabled
    drafts[0].close()
    assert sites[0].has() == before


@pytest.mark.parametrize("make", [GapSearch, RandomSearch, Annealing, Neighbourhoods])
def test_searches_find_the_same_with_a_table(make: Any) -> None:
    for seed in range(6):
        sites, drafts = make_two(seed)
        for draft in drafts:
            search = make({"wait": 1, "utilization": 1}, rounds=80)
            search.random = RandomNumbers(seed, "here")
            search.improve(draft, UserTotals())
        assert drafts[0].starts().tolist() == drafts[1].starts().tolist()
        assert drafts[0].commit() == drafts[1].commit()
        assert sites[0].has() == sites[1].has()
