"""Plans on nodes with any resources: legal at every change, never worse, the same again, and best gaps as the twin."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from disruption_scenarios import draw_disrupted
from site_runs import fast_rows, slow_rows
from site_scenarios import draw_site
from test_many_holds import few_holds

from walltime import api
from walltime.core.errors import InputError
from walltime.core.time import NEVER
from walltime.core.workload import Workload, encode_labels
from walltime.kernel.drafts import draft_nodes
from walltime.policy.optimise import Operator
from walltime.scenario import parse

NEVER_TABLED, TABLED_AT_ONCE = 0, 1 << 30
BEST_GAP = {"name": "plan", "build": "best-gap"}
OPTIMISERS = ("gap-search", "annealing", "neighbourhoods", "tabu")


@contextmanager
def tables(after: int) -> Iterator[None]:
    """Drafts of nodes that are made here look at tables after so many of their jobs, or never."""
    before = draft_nodes.TABLED_AFTER
    draft_nodes.TABLED_AFTER = after
    try:
        yield
    finally:
        draft_nodes.TABLED_AFTER = before


class OnNodes(Operator):
    """Moves a job as `gap` does, to another of its queues if it has one, and looks at every node for which something is
    planned whenever it has done so."""

    looks = moves = tabled = 0

    def apply(self, draft: Any, random: Any, job: int) -> None:
        before = draft.start_of(job)
        others = draft.other_options(job)
        draft.take_out(job)
        if others and random.below(2):
            draft.move_to(job, random.below(others))
            OnNodes.moves += 1
            before = draft.earliest(job)
        start = draft.earliest(job, draft.now + random.below(1 + draft.end_of_plan() - draft.now))
        if (start if start < NEVER else before) < NEVER:
            draft.put(job, before if start == NEVER else start)
        else:
            draft.undo()  # a queue whose nodes are away
        if hasattr(draft, "ledger"):  # its jobs have nodes by name
            OnNodes.looks += 1
            OnNodes.tabled += draft.tabled
            assert not list(taken_twice(draft))


def taken_twice(draft: Any) -> Any:
    """Where more is taken than there is while a job of the plan has its nodes, as (job, node, resource, time)."""
    ledger = draft.ledger
    nodes, kinds = int(ledger.n), int(ledger.timelines.kinds)
    capacity = ledger.timelines.amounts()
    kept = [(start, end, node, amounts) for _, start, end, taken in planned(draft) for node, amounts in taken]
    for job, start, end, taken in planned(draft):
        for node, _ in taken:
            if node >= nodes:
                continue  # a licence
            others = running_on(draft, node)
            for time in {start} | {begin for begin, _, where, _ in kept if where == node and start < begin < end}:
                for kind in range(kinds):
                    used = sum(all_of[kind] for until, all_of in others if until > time)
                    used += sum(all_of[kind] for s, e, where, all_of in kept if where == node and s <= time < e)
                    if used > capacity[node][kind] and time > draft.now:
                        yield job, node, kind, time


def planned(draft: Any) -> list[tuple[int, int, int, Any]]:
    """The jobs of the draft as (number, start, end, what is kept where)."""
    starts = draft.starts().tolist()
    slots = draft.slots()
    lengths = [max(int(draft.jobs.estimate[slot]), 1) for slot in slots]
    return [(i, starts[i], starts[i] + lengths[i], draft.kept_for(i)) for i in range(draft.size) if starts[i] >= 0]


def running_on(draft: Any, node: int) -> list[tuple[int, list[int]]]:
    """Jobs that run on the node as (expected end, amounts): cores that they have, of the rest what they asked for."""
    found = []
    for slot in draft.ledger.timelines.slots_on(node):
        cores = dict(draft.ledger.shares_of(slot)).get(node, 0)
        if draft.jobs.seq[slot] < 0:  # a failure, or a reservation
            found.append((int(draft.jobs.expected_end[slot]), [cores] + [0] * (draft.ledger.timelines.kinds - 1)))
            continue
        count, each = draft.ledger.wants(slot)
        rest = [amount * (1 if count else cores) for amount in each[1:]]
        found.append((int(draft.jobs.expected_end[slot]), [cores, *rest]))
    return found


def name_several(workload: Any, queues: list[str]) -> Any:
    """The jobs, every other of which names all queues."""
    if len(queues) < 2:
        return workload
    names = workload.label_names("queue")
    given = [names[code] if code >= 0 else None for code in workload.column("queue")]
    codes, labels = encode_labels([",".join(queues) if k % 2 else label for k, label in enumerate(given)])
    return Workload(dict(workload.columns) | {"queue": codes}, dict(workload.labels) | {"queue": labels})


def draw(seed: int, kind: str, name: str, dress: Any = None) -> dict[str, Any]:
    """A site with all rules under a plan that is improved at every event; its jobs name several queues, or are dressed
    as told."""
    optimise: dict[str, Any] = {"name": name, "rounds": 12, "every": 7, "on": ["arrivals", "ends"]}
    optimise |= {"reach": None, "most": None}
    if name != "neighbourhoods":
        optimise["operators"] = {OnNodes: 3, "swap": 1, "sequence": 1, "user": 1, "earliest": 1, "queue": 1}
    scenario, workload = draw_site(seed, kind) if seed % 2 == 0 else draw_disrupted(seed, kind)
    queues = list(scenario["cluster"].get("queues", ()))
    scenario["workload"] = {"table": name_several(workload, queues) if dress is None else dress(workload)}
    backfill = {"name": "plan", "optimise": optimise, "build": "best-gap" if seed % 3 == 0 else "earliest"}
    scenario["cluster"]["scheduler"]["backfill"] = backfill
    return scenario


@pytest.mark.parametrize("kind", ["plain", "vectors"])
def test_every_plan_of_nodes_is_legal_at_every_change(kind: str) -> None:
    """With queues, limits, dependencies, reservations, maintenance, failures and preemption."""
    OnNodes.looks = OnNodes.moves = ran = 0
    for seed in range(24):
        with few_holds((0, 2, 16)[seed % 3]), tables((NEVER_TABLED, TABLED_AT_ONCE)[seed // 4 % 2]):
            try:
                result = api.simulate(draw(seed, kind, OPTIMISERS[seed % 4]))
            except InputError:
                continue
            if seed % 4 == 3:
                assert api.simulate(draw(seed, kind, OPTIMISERS[3])).digest == result.digest, f"scenario {seed}"
        ran += 1
        violations = result.audit()
        assert not violations, f"scenario {seed}: {violations[:3]}"
    assert ran > 12
    assert OnNodes.looks > 100
    assert OnNodes.moves > 10


def test_a_table_of_nodes_changes_no_schedule() -> None:
    """The ledger, asked for each gap, is the slow form of it."""
    ran = OnNodes.tabled = 0
    for seed in range(32):
        digests = []
        for after in (TABLED_AT_ONCE, NEVER_TABLED):
            with tables(after):
                try:
                    digests.append(api.simulate(draw(seed, "vectors", OPTIMISERS[seed % 4], with_shapes)).digest)
                except InputError:
                    break
        assert len(set(digests)) < 2, f"scenario {seed}"
        ran += len(digests) == 2
    assert ran > 16
    assert OnNodes.tabled > 100


def with_shapes(workload: Any) -> Any:
    """The jobs, with a number of nodes where they had none: so that tables serve."""
    columns = dict(workload.columns)
    given = columns.get("nodes", np.zeros(len(workload), np.int64))
    columns["nodes"] = np.where(given > 0, given, 1 + np.arange(len(workload)) % 2)
    columns["cores"] = np.maximum(columns["cores"], columns["nodes"])
    return Workload(columns, workload.labels)


def test_best_gaps_on_nodes_agree_with_the_twin() -> None:
    ran = different = 0
    for seed in range(40):
        schedules = []
        for backfill in (BEST_GAP, "conservative"):
            site, workload = draw_site(seed, ("plain", "vectors")[seed % 2])
            site["cluster"]["scheduler"]["backfill"] = backfill
            try:
                with few_holds((0, 2, 16)[seed % 3]):
                    schedules.append(fast_rows(parse(site | {"workload": {"table": workload}})))
            except InputError:
                break
            if backfill is BEST_GAP:
                assert schedules[0] == slow_rows(parse(site | {"workload": {"table": workload}})), f"scenario {seed}"
        ran += len(schedules) == 2
        different += len(schedules) == 2 and schedules[0] != schedules[1]
    assert ran > 20
    assert different > 1
