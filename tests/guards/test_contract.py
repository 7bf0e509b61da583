"""What others build on is still there."""

from __future__ import annotations

import re
from pathlib import Path

import contract
from regenerate import CONTRACT, read_lines

import walltime

ROOT = Path(__file__).parents[2]


def test_nothing_has_vanished():
    vanished = sorted(set(read_lines(CONTRACT)) - set(contract.lines()))
    assert not vanished, f"{vanished}: keep them, or run `make guards REASON='why they went'`"


def test_the_contract_covers_every_kind_of_thing():
    found = {line.split()[0] for line in read_lines(CONTRACT)}
    assert found == {
        "command", "entry", "exit", "experiment", "part", "policy", "provenance", "python", "result", "scenario",
        "store", "summary", "workload",
    }  # fmt: skip
    assert "scenario clusters.scheduler.backfill" in read_lines(CONTRACT)
    assert "command walltime run --policy" in read_lines(CONTRACT)
    assert "policy api.Pass.start(slot)" in read_lines(CONTRACT)


def test_what_the_documents_import_is_in_the_contract():
    known = {f"python {module}.{name}" for module, names in contract.TAUGHT.items() for name in names}
    known |= {f"python walltime.{name}" for name in walltime.__all__}
    known |= {line.replace("policy ", "python walltime.policy.") for line in contract.policy_interface()}
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.py")]
    imported = {
        f"python {module}.{name.strip()}"
        for page in pages
        for module, names in re.findall(r"^ *from (walltime[.\w]*) import ([\w, ]+)$", page.read_text("utf-8"), re.M)
        for name in names.split(",")
    }
    assert len(imported) > 20
    assert not imported - known
