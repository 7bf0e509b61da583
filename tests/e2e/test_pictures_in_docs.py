"""The pictures in the documents: every kind has one, every one is shown, and all of them are there."""

from __future__ import annotations

import re
from pathlib import Path

from walltime.analysis.charts import KINDS

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
IMAGE = re.compile(r"!\[[^\]\n]+\]\((?P<target>[^)\s]+)\)")


def shown() -> set[Path]:
    """Every picture that a document shows, with words for who cannot see it."""
    found = set()
    for document in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for match in IMAGE.finditer(document.read_text(encoding="utf-8")):
            found.add((document.parent / match["target"]).resolve())
    return found


def test_every_picture_that_is_shown_exists_and_none_is_left_over() -> None:
    assert shown() == {path.resolve() for path in PICTURES.iterdir()}


def test_every_kind_of_plot_is_described_with_a_picture() -> None:
    guide = (ROOT / "docs" / "guides" / "seeing.md").read_text(encoding="utf-8")
    for kind in KINDS:
        assert f"`{kind}`" in guide
        assert f"../pictures/{kind}.png)" in guide
