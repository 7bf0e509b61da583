"""Policies and rhythms change jobs, ledger and queue through the pass alone; a rhythm knows no policy by its class."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import walltime.policies
from walltime.policies.backfill.aggressive import Aggressive
from walltime.policies.backfill.conservative import Conservative
from walltime.policies.backfill.depth import Depth
from walltime.policies.backfill.easy import Easy
from walltime.policies.backfill.lookahead import Lookahead
from walltime.policies.backfill.none import NoBackfill
from walltime.policy.api import FunctionPolicy, InOrder

ROOT = Path(walltime.policies.__file__).parent
FILES = sorted((ROOT / "backfill").glob("*.py")) + sorted((ROOT / "rhythm").glob("*.py"))
LOOKING = {
    "raw_ledger": {"units", "free", "extra", "window", "foresee", "promises", "next_promise", "due", "size", "early",
                   "track", "begin_moves", "mover"},  # the last three keep the index of promises
    "raw_queue": {"head", "next", "behind", "leading", "ordered", "fresh", "known", "quiet", "size", "fixed",
                  "moves"},
    "lines": {"opening", "choices", "choosers", "tiers"},
    "quotas": {"refuser", "full", "timed"},
}  # fmt: skip
"""What may be asked of the things that a pass is made of: nothing that changes them."""


def find_writes(text: str) -> Iterator[str]:
    """The places where something of a pass is written, or called that may change it."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (ast.unparse(target) for target in targets if _is_of_pass(target))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
            known = LOOKING.get(node.value.attr)
            if known is not None and ast.unparse(node.value.value) == "p" and node.attr not in known:
                yield ast.unparse(node)


def _is_of_pass(target: ast.expr) -> bool:
    """Whether an assignment's target is an attribute, or a part of one, of `p`."""
    while isinstance(target, ast.Attribute | ast.Subscript):
        target = target.value
        if isinstance(target, ast.Name) and target.id == "p":
            return True
    return False


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_nothing_is_changed_behind_the_back_of_the_pass(file):
    assert list(find_writes(file.read_text())) == []


@pytest.mark.parametrize(
    "line",
    ["p.jobs.at[slot].promise = -1", "p.causes |= 4", "p.raw_ledger.hold(slot, time)", "p.lines.park(slot, 3)"],
)
def test_a_write_would_be_found(line):
    assert len(list(find_writes(f"def schedule(self, p):\n    {line}\n"))) == 1


CHANGING = {"take", "give", "give_node", "put_back", "hold", "unhold", "release_holds", "keep_shut", "shut", "drain",
            "prolong", "advance", "set_time", "push", "remove", "park", "unpark", "reorder", "rekey"}  # fmt: skip
"""What changes a ledger or a queue, by whatever name a policy has them."""


def find_changes(text: str) -> Iterator[str]:
    """The calls of these that are not the pass's own."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
            what = ast.unparse(node.func.value)
            if what != "p" and re.search(r"ledger|queue|jobs|plan\b", what):
                yield ast.unparse(node.func)


@pytest.mark.parametrize("file", sorted(ROOT.rglob("*.py")), ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_no_part_changes_a_ledger_or_a_queue_under_another_name(file):
    assert list(find_changes(file.read_text())) == []


@pytest.mark.parametrize("line", ["ledger.hold(slot, 3)", "self.parts.ledger.take(slot)", "line.queue.remove(slot)"])
def test_a_change_under_another_name_would_be_found(line):
    assert len(list(find_changes(f"def schedule(self, p):\n    {line}\n"))) == 1


def test_a_rhythm_imports_no_policy():
    for file in sorted((ROOT / "rhythm").glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and "backfill" in (node.module or ""):
                assert node.module == "walltime.policies.backfill.candidates", file


def test_policies_declare_their_rule():
    assert NoBackfill().rule == InOrder(0, overtakes=False)
    assert Aggressive().rule == InOrder(0)
    assert Easy().rule == InOrder(1)
    assert Easy(alpha=0.5).rule == InOrder(1, lasting="alpha")
    assert Depth(4).rule == InOrder(4)
    assert Conservative().rule.reservations > 10**15
    assert Lookahead().rule is None
    assert FunctionPolicy(print).rule is None
    ranked = Easy(candidates="sjf")
    assert ranked.rule.candidates is ranked.candidates
