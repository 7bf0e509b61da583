"""The drawings in the guides are what the simulator does."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TOOL = runpy.run_path(str(ROOT / "tools" / "schedules.py"))


@pytest.mark.parametrize("guide", TOOL["GUIDES"])
def test_drawings_are_up_to_date(guide):
    page = (ROOT / "docs" / "guides" / f"{guide}.md").read_text(encoding="utf-8")
    assert page.count("<!-- schedule ") == len(TOOL["PLACE"].findall(page)) > 2
    assert TOOL["fill"](page) == page, "run: python tools/schedules.py"


def test_every_drawing_is_shown():
    pages = "".join((ROOT / "docs" / "guides" / f"{guide}.md").read_text(encoding="utf-8") for guide in TOOL["GUIDES"])
    for name in TOOL["SCHEDULES"]:
        assert f"<!-- schedule {name} -->" in pages


def test_a_drawing_shows_waits_and_runs():
    text = TOOL["draw"]({"A": (0, 2, 3), "B": (1, 1, 2)}, 2, {"backfill": "none"})
    assert text.splitlines()[1:] == [f"{'A: 2 x 3 s':22}AAA", f"{'B: 1 x 2 s':22} ..BB", "mean wait 1.0 s"]
