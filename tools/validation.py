"""Makes `docs/background/validation.md` and its pictures: the simulator against queueing theory.

    .venv/bin/python tools/validation.py        # or: make validation

The systems, and how they are broken on purpose, are those of `tests/validation`.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "validation"))

import matplotlib  # noqa: E402

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from systems import Interval, System, arrivals, make_systems  # noqa: E402

from walltime.analysis.charts.palette import LIGHT  # noqa: E402
from walltime.analysis.plots.style import settings  # noqa: E402
from walltime.analysis.queueing import response_mmc  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
PAGE = ROOT / "docs" / "background" / "validation.md"
RATES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
RUNS, JOBS = 16, 4000  # as many as in the paper


def main() -> None:
    """The page, from the systems and from a text that stays."""
    rows = []
    for system in make_systems():
        found = system.estimate()
        broken = system.estimate(min(system.runs, 10), settings=system.broken)
        rows.append((system, found, broken))
        print(f"{system.name}: {found.mean:.4g}, theory {system.theory:.4g}")
    draw_rates(measure_rates())
    draw_systems(rows)
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else "<!-- table -->\n<!-- end -->\n"
    before, _, rest = text.partition("<!-- table -->\n")
    after = rest.partition("<!-- end -->\n")[2]
    PAGE.write_text(f"{before}<!-- table -->\n{write_table(rows)}<!-- end -->\n{after}", encoding="utf-8")


def measure_rates() -> list[tuple[float, Interval]]:
    """The paper's Fig. 2: M/M/4 with a mean service of four, as the ratio to theory; the same seeds at every rate."""
    found = []
    for rate in RATES:
        scenario = {
            "workload": arrivals(rate, {"name": "exponential", "mean": 4.0}, JOBS),
            "cluster": {"cores": 4},
        }
        expected = response_mmc(rate, 4, 4)
        system = System("M/M/4", scenario, expected, {})
        values = [system.measure(system.run(seed)) / expected for seed in range(1, RUNS + 1)]
        found.append((rate, Interval.of(values)))
    return found


def draw_rates(found: list[tuple[float, Interval]]) -> None:
    with plt.rc_context(settings(LIGHT)):
        figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
        rates, ratios, halves = [x for x, _ in found], [y.mean for _, y in found], [y.half for _, y in found]
        axes.axhline(1, color=LIGHT.ink, linewidth=0.8)
        axes.errorbar(rates, ratios, halves, fmt="o", markersize=4, capsize=3, color=LIGHT.categories[0])
        axes.set_xlabel("arrivals a unit of time (mean service 4, 4 servers)")
        axes.set_ylabel("response, simulated / theory")
        axes.set_title(f"M/M/4: {RUNS} runs of {JOBS:,} jobs, 99.9 % intervals")
        figure.savefig(PICTURES / "validation-mm4.png", dpi=150)


def draw_systems(rows: list[tuple[System, Interval, Interval]]) -> None:
    with plt.rc_context(settings(LIGHT)):
        figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
        places = range(len(rows), 0, -1)
        axes.axvline(1, color=LIGHT.ink, linewidth=0.8)
        for place, (system, found, broken) in zip(places, rows, strict=True):
            for value, colour, shift in ((found, 0, 0.12), (broken, 1, -0.12)):
                axes.errorbar(
                    min(value.mean / system.theory, 1.3),
                    place + shift,
                    xerr=value.half / system.theory,
                    fmt="o",
                    markersize=4,
                    capsize=2,
                    color=LIGHT.categories[colour],
                    label=("as it should be", "broken on purpose")[colour] if place == len(rows) else None,
                )
        axes.set_yticks(list(places), [system.name for system, _, _ in rows])
        axes.set_xlabel("simulated / theory, 99.9 % intervals (what is beyond 1.3 is drawn there)")
        axes.set_xlim(0.6, 1.35)
        figure.legend(loc="outside upper right", ncols=2)  # not over a point
        figure.savefig(PICTURES / "validation-systems.png", dpi=150)


def write_table(rows: list[tuple[System, Interval, Interval]]) -> str:
    lines = ["| system | quantity | theory | simulated | ± (99.9 %) | broken on purpose |", "|---|---|---|---|---|---|"]
    for system, found, broken in rows:
        lines.append(
            f"| {system.name} | {system.quantity} | {system.theory:.4f} | {found.mean:.4f} | "
            f"{100 * found.half / system.theory:.2f} % | {broken.mean:.4f} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
