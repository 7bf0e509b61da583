"""Writes LONGEST.md from what `make test` noted of both builds (`pytest --cpu FILE`): `make longest`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

MOST = 20
PAGE = Path(__file__).with_name("LONGEST.md")
BUILDS = ("fast", "checked")


def make_page(builds: Mapping[str, Iterable[str]]) -> list[str]:
    """The sums, the folders and the longest tests of each build, from lines of CPU seconds and a test."""
    found: Counter[tuple[str, str]] = Counter()
    folders: dict[str, Counter[str]] = {}
    for build, lines in builds.items():
        for line in lines:
            seconds, _, test = line.partition(" ")
            found[test, build] += float(seconds)
            folders.setdefault("/".join(test.split("/")[:2]), Counter())[build] += float(seconds)
    totals = {build: [seconds for (_, by), seconds in found.items() if by == build] for build in builds}
    ranked = sorted(folders.items(), key=lambda item: -item[1].total())
    return [
        "# The longest tests and documents",
        "",
        "CPU seconds in `make test`, processes that a test starts included: "
        + "; ".join(f"{len(all_)} tests on the {build} build, {sum(all_):,.0f} s" for build, all_ in totals.items())
        + ". `make longest` writes this page from the last `make test`.",
        "",
        f"| folder | {' | '.join(builds)} |",
        f"|---|{'---:|' * len(builds)}",
        *(f"| `{name}` | {' | '.join(f'{by[build]:,.0f}' for build in builds)} |" for name, by in ranked),
        "",
        "| seconds | test | build |",
        "|---:|---|---|",
        *(
            f"| {seconds:,.1f} | `{test.removeprefix('tests/')}` | {build} |"
            for (test, build), seconds in found.most_common(MOST)
        ),
    ]


if __name__ == "__main__":
    files = [Path(name).read_text(encoding="utf-8").splitlines() for name in sys.argv[1:]]
    page = make_page(dict(zip(BUILDS, files, strict=True)))
    PAGE.write_text("\n".join(page) + "\n", encoding="utf-8")
