"""Writes LONGEST.md from the file that `pytest --cpu FILE` made: `make longest`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

MOST = 20
PAGE = Path(__file__).with_name("LONGEST.md")


def make_page(lines: Iterable[str]) -> list[str]:
    """The sum, the folders and the longest tests, from lines of CPU seconds and a test."""
    found: Counter[str] = Counter()
    folders: Counter[str] = Counter()
    for line in lines:
        seconds, _, test = line.partition(" ")
        found[test] += float(seconds)
        folders["/".join(test.split("/")[:2])] += float(seconds)
    return [
        "# The longest tests and documents",
        "",
        f"CPU seconds on the fast build, processes that a test starts included; {len(found)} tests, "
        f"{sum(found.values()):,.0f} s in all. `make longest` measures them.",
        "",
        "| seconds | folder |",
        "|---:|---|",
        *(f"| {seconds:,.0f} | `{folder}` |" for folder, seconds in folders.most_common()),
        "",
        "| seconds | test |",
        "|---:|---|",
        *(f"| {seconds:,.1f} | `{test.removeprefix('tests/')}` |" for test, seconds in found.most_common(MOST)),
    ]


if __name__ == "__main__":
    page = make_page(Path(sys.argv[1]).read_text(encoding="utf-8").splitlines())
    PAGE.write_text("\n".join(page) + "\n", encoding="utf-8")
