"""Writes LONGEST.md from the file that `pytest --cpu FILE` made: `make longest`."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

MOST = 20
PAGE = Path(__file__).with_name("LONGEST.md")


def main(path: str) -> None:
    """The sum, the folders and the longest tests, in CPU seconds."""
    found: Counter[str] = Counter()
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        seconds, _, test = line.partition(" ")
        found[test] += float(seconds)  # type: ignore[assignment]
    folders: Counter[str] = Counter()
    for test, seconds in found.items():
        folders["/".join(test.split("/")[:2])] += seconds
    lines = [
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
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
