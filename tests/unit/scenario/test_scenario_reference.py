"""The reference page is made from the models, and must be made anew when they change."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_reference_page_is_up_to_date() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "scenario_reference.py"))
    page = (ROOT / "docs" / "reference" / "scenario.md").read_text(encoding="utf-8")
    assert page == tool["page"](), "run: python tools/scenario_reference.py > docs/reference/scenario.md"
