"""The headline: the few figures that stand for a result, how they differ from another's, and whether that may be noise.

The tables of the command line, `walltime compare`, the report and `repr` all take them from here, so that they say the
same of the same figure. Utilization is that of the observation window everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from walltime.core.errors import InputError
from walltime.core.time import format_duration

if TYPE_CHECKING:
    from walltime.analysis.compare import Comparable
    from walltime.analysis.verdict import Verdict

Summary = Mapping[str, Any]


@dataclass(frozen=True)
class Figure:
    """A figure of the summary: its key, its words, how it is written, and which direction is good (0: neither)."""

    key: str
    words: str
    text: Callable[[Any], str]
    better: int = -1

    def value(self, summary: Summary) -> Any:
        """The figure in a summary, None where it has none."""
        return find_value(summary, self.key)


def find_value(summary: Summary, key: str) -> Any:
    """A value of a summary, None where it has none; the key of a nested one has dots."""
    found: Any = summary
    for name in key.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def percent(value: float | None) -> str:
    """A share as a percentage; a dash for nothing."""
    return "–" if value is None else f"{100 * value:.1f} %"


def ratio(value: float | None) -> str:
    """A number without a unit, to three or four digits."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}" if value >= 100 else f"{value:.2f}"


def percent_change(relative: float, digits: int = 1) -> str:
    """A change relative to the baseline: a percentage, or a factor where a percentage would be hard to read."""
    return f"×{1 + relative:,.0f}" if relative >= 9.5 else f"{100 * relative:+.{digits}f} %"


FIGURES = (
    Figure("mean_wait", "mean wait", format_duration),
    Figure("median_wait", "median wait", format_duration),
    Figure("p95_wait", "95 % wait", format_duration),
    Figure("max_wait", "longest wait", format_duration),
    Figure("mean_bounded_slowdown", "bounded slowdown", ratio),
    Figure("utilization_window", "utilization", percent, +1),
    Figure("makespan", "makespan", format_duration),
)
"""The headline, in this order."""
BRIEF = ("mean_wait", "p95_wait", "mean_bounded_slowdown", "utilization_window")
"""What of it stands in one line."""
WORDS = {"gpus": "GPUs"}
"""Resources that people write in another way than files do."""
SAME, SENSITIVITY = "the same", "sensitivity"
"""Outcomes of a verdict that need no sentence of their own."""
LEGEND = (
    "Waits and slowdowns are over started jobs. Bounded slowdown: mean of max(1, (end - submit) / max(run, 10 s)). "
    "Utilization: between the 10 % and 90 % quantiles of the submissions, unless --warmup and --cooldown say otherwise."
)


def find_figures(summaries: Sequence[Summary]) -> tuple[Figure, ...]:
    """The headline, and the utilization of every other resource that jobs of some result hold."""
    held = [name for one in summaries for name, told in (one.get("resources") or {}).items() if told.get("seconds")]
    others = [name for name in dict.fromkeys(held) if name != "cores"]
    found = tuple(
        Figure(f"resources.{name}.utilization_window", f"use of {WORDS.get(name, name)}", percent, +1)
        for name in others
    )
    return (*FIGURES, *found)


def write_brief(summary: Summary) -> dict[str, str]:
    """The headline of one result in a line: words and values."""
    return {figure.words: figure.text(summary.get(figure.key)) for figure in FIGURES if figure.key in BRIEF}


def find_best(figure: Figure, summaries: Sequence[Summary]) -> float | None:
    """The best value, where there is something to choose; a result that starts fewer jobs has an easy win."""
    if len({summary.get("started") or 0 for summary in summaries}) > 1:
        return None
    known: list[float] = [value for summary in summaries if (value := figure.value(summary)) is not None]
    if len(known) < 2 or not figure.better or len({figure.text(value) for value in known}) == 1:
        return None
    return max(known) if figure.better > 0 else min(known)


@dataclass(frozen=True)
class FigureChange:
    """One figure in two results; `relative` is a fraction of the first's, None where that is zero."""

    figure: Figure
    before: float
    after: float
    relative: float | None

    def tell(self) -> str:
        """`mean wait -94.1 %`; where there was none before, `mean wait 12.0 s instead of 0.0 s`."""
        if self.relative is not None:
            return f"{self.figure.words} {percent_change(self.relative)}"
        return f"{self.figure.words} {self.figure.text(self.after)} instead of {self.figure.text(self.before)}"

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return {"key": self.figure.key, "before": self.before, "after": self.after, "relative": self.relative}


@dataclass(frozen=True)
class Comparison:
    """A result against the baseline: the figures of the headline that are written differently, and jobs one by one."""

    before: str
    after: str
    changes: tuple[FigureChange, ...]
    jobs: int = 0
    """Jobs that started in both; of these, those that wait `shorter` and `longer`."""
    shorter: int = 0
    longer: int = 0
    judged: bool = False
    """Whether both are of the same jobs, so that a change can be judged week by week."""
    verdicts: tuple[Verdict, ...] = ()

    def tell_changes(self) -> str:
        """`easy against fcfs: mean wait -94.1 %, ...`, for a person."""
        parts = [one.tell() for one in self.changes]
        return f"{self.after} against {self.before}: {', '.join(parts) or 'the same figures'}."

    def tell_verdicts(self) -> str | None:
        """Which of the changes are more than chance; None where there is none to judge."""
        told = [one for one in self.verdicts if one.outcome != SAME]
        if told and all(one.outcome == SENSITIVITY for one in told):
            weeks = told[0].count
            return (
                f"This is sensitivity, not a verdict: {weeks} week{'s' * (weeks != 1)} of one trace cannot tell a "
                f"change from chance; {told[0].needed} may, or repetitions with other seeds."
            )
        return f"{'; '.join(one.sentence for one in told)}." if told else None

    def tell_jobs(self) -> str | None:
        """How many jobs wait less and how many longer."""
        if not self.jobs or not self.judged:
            return None
        if not self.shorter and not self.longer:
            return "Every job waits exactly as long as before."
        same = self.jobs - self.shorter - self.longer
        sides = f"{self.shorter:,} wait less, {self.longer:,} wait longer, {same:,} just as long"
        return f"Of {count_jobs(self.jobs)}, {sides}."

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        own = {name: getattr(self, name) for name in ("before", "after", "jobs", "shorter", "longer", "judged")}
        return own | {name: [one.as_dict() for one in getattr(self, name)] for name in ("changes", "verdicts")}


def compare_headlines(results: Sequence[Comparable]) -> list[Comparison]:
    """Each result after the first against the first, the verdicts corrected for their number."""
    from walltime.analysis.compare import distinct_labels
    from walltime.analysis.verdict import adjust

    labels = distinct_labels(results)
    found = [
        _judge(results[0], other, Comparison(labels[0], label, _find_changes(results[0].summary, other.summary)))
        for label, other in zip(labels[1:], results[1:], strict=True)
    ]
    adjusted = iter(adjust([verdict for one in found for verdict in one.verdicts]))
    return [replace(one, verdicts=tuple(next(adjusted) for _ in one.verdicts)) for one in found]


def _find_changes(before: Summary, after: Summary) -> tuple[FigureChange, ...]:
    changes = []
    for figure in find_figures([before, after]):
        old, new = figure.value(before), figure.value(after)
        if old is not None and new is not None and figure.text(old) != figure.text(new):
            relative = (new - old) / abs(old) if old else None
            changes.append(FigureChange(figure, old, new, relative))
    return tuple(changes)


def _judge(before: Comparable, after: Comparable, found: Comparison) -> Comparison:
    """The comparison with what the jobs that started in both say of its changes, week by week."""
    from walltime.analysis.weeks import judge_weeks
    from walltime.analysis.winners import pair_jobs
    from walltime.core.tables import Figures

    if isinstance(before.record, Figures) or isinstance(after.record, Figures):
        return found
    try:
        pairs = pair_jobs(before, after)
    except InputError:  # not a job in common
        return found
    if not pairs.alike or not len(pairs.waits):
        return found
    verdicts = judge_weeks((found.before, before), (found.after, after), pairs)
    shorter, longer = (int((pairs.waits * sign > 0).sum()) for sign in (-1, 1))
    return replace(found, verdicts=tuple(verdicts), jobs=len(pairs.waits), shorter=shorter, longer=longer, judged=True)


def find_remarks(results: Sequence[Comparable]) -> list[str]:
    """Why the comparison may not be fair: other jobs, another machine, jobs left out of the means; empty if it is."""
    from walltime.analysis.compare import distinct_labels

    labels, summaries = distinct_labels(results), [result.summary for result in results]
    remarks = []
    for keys, what in (
        (("jobs", "skipped"), "the results are of different workloads: their numbers of jobs differ"),
        (("clusters",), "the results are of different machines"),
        (("overrun",), "jobs that outrun their request are treated differently"),
        (("perfect_estimates",), "not all results rest on the same share of perfect estimates"),
    ):
        if len({repr([summary.get(key) for key in keys]) for summary in summaries}) > 1:
            remarks.append(what)
    if len(results) < 2:
        return remarks
    remarks += _find_behaviour(summaries)
    differing = len({summary.get("rejected") or 0 for summary in summaries}) > 1
    left = {label: _find_left(summary, differing) for label, summary in zip(labels, summaries, strict=True)}
    if any(left.values()):
        told = ", ".join(f"under {label} {text}" for label, text in left.items() if text)
        remarks.append(f"unfinished or rejected jobs are missing from the means: {told}")
    for label, other in zip(labels[1:], results[1:], strict=True):
        remarks += _find_apart(labels[0], results[0], label, other)
    return remarks


def _find_behaviour(summaries: Sequence[Summary]) -> list[str]:
    """Other time limits on the jobs of a log, to which no user reacts."""
    facts = [summary.get("facts") or {} for summary in summaries]
    if len({repr(one.get("time_limits")) for one in facts}) < 2 or any(one.get("adjusted") for one in facts):
        return []
    return ["time limits differ, and no user reacts: the jobs of the log ask for what they asked for (workload.adjust)"]


def _find_left(summary: Summary, rejections: bool) -> str:
    """What a result leaves unfinished, and, where results differ in that, the jobs that it rejects."""
    kinds = {"rejected": "were rejected"} if rejections else {}
    kinds |= {"waiting": "still wait", "running": "still run"}
    return " and ".join(f"{summary[key]:,} {words}" for key, words in kinds.items() if summary.get(key))


def _find_apart(base: str, before: Comparable, label: str, after: Comparable) -> list[str]:
    """Jobs that only one of two results has started, and jobs that are not the same in both."""
    from walltime.analysis.winners import pair_jobs
    from walltime.core.tables import Figures

    if isinstance(before.record, Figures) or isinstance(after.record, Figures):
        return []
    try:
        pairs = pair_jobs(before, after)
    except InputError:
        return [f"{base} and {label} have no job in common"]
    if modes := _find_modes(before, after):
        return [modes.format(base, label)]
    if not pairs.alike:
        return [f"jobs of the same number differ in submission or cores between {base} and {label}"]
    only = pairs.count_only()
    if not any(only):
        return []
    return [
        f"{count_jobs(only[0])} started under {base} alone and {only[1]:,} under {label} alone; "
        "changes job by job are over the others"
    ]


def _find_modes(before: Comparable, after: Comparable) -> str | None:
    """What to say of two results of which users react in at least one; None where they react in none."""
    one, other = ((result.record.facts.get("users") or {}).get("mode") for result in (before, after))
    if one is None and other is None:
        return None
    if one is not None and other is not None:
        return "users react to {} and to {}: their jobs are not submitted at the same times"
    opened, closed = ("{0}", "{1}") if one is None else ("{1}", "{0}")
    return f"{opened} is open and {closed} closed: users react in one of them alone, so waits are not of the same jobs"


def count_jobs(count: int) -> str:
    """`1 job`, `1,234 jobs`."""
    return f"{count:,} job{'' if count == 1 else 's'}"
