"""The sections of a site: partitions, accounts, qualities of service, GPUs; a table each, and pictures below it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from walltime.analysis.charts.chart import clean
from walltime.analysis.charts.quantities import Shown
from walltime.analysis.compare import distinct_labels
from walltime.analysis.headline import percent
from walltime.analysis.metrics import by
from walltime.analysis.report.shell import fill
from walltime.analysis.resources import CORES, name_resource, use_by
from walltime.core.time import format_duration

Draw = Callable[[str, dict[str, Any]], str]
"""Makes a figure of a kind of picture and its options; nothing where the results have none."""
MOST = 12
"""Groups that a table has, those that use most; the tables at the end of the report have all."""


@dataclass(frozen=True)
class Topic:
    """A section: its anchor on the page, its title, what jobs are told apart by, and its pictures."""

    anchor: str
    title: str
    key: str
    pictures: tuple[tuple[str, dict[str, Any]], ...]


TOPICS = (
    Topic("partitions", "Partitions", "queue", (("resources", {"by": "queue"}), ("boxes", {"by": "queue"}))),
    Topic("accounts", "Accounts", "account", (("resources", {"by": "account"}), ("boxes", {"by": "account"}))),
    Topic("qos", "Qualities of service", "qos", (("resources", {"by": "qos"}), ("boxes", {"by": "qos"}))),
    Topic(
        "gpus",
        "GPUs",
        "resource",
        (
            ("resources", {"of": "gpus"}),
            ("resources", {"of": "gpus", "by": "queue"}),
            ("resources", {"of": "gpus", "by": "account"}),
            ("boxes", {"by": "resource"}),
        ),
    ),
)


def write_topics(results: Sequence[Shown], draw: Draw) -> list[tuple[str, str, str]]:
    """Place, title and HTML of each section that the results have something for."""
    found = []
    for topic in TOPICS:
        if not _applies(topic, results):
            continue
        pictures = fill([draw(kind, options) for kind, options in topic.pictures])
        below = f"<details class=fold><summary>Pictures</summary><div class=grid>{pictures}</div></details>"
        table = _write_table(topic, results)
        found.append((topic.anchor, topic.title, f"{table}{below if pictures else ''}"))
    return found


def _applies(topic: Topic, results: Sequence[Shown]) -> bool:
    if topic.key == "resource":
        return any((result.summary.get("resources") or {}).get("gpus", {}).get("seconds") for result in results)
    return any(result.record.jobs[topic.key].n_unique() > 1 for result in results)


def _write_table(topic: Topic, results: Sequence[Shown]) -> str:
    """Jobs, waits and the use of each resource by group; several results have a row each, so that it fits a window."""
    key, several = topic.key, len(results) > 1
    waits = [{row[key]: row for row in by(result.record, key).iter_rows(named=True)} for result in results]
    uses = [{(row[0], row[1]): row[5] for row in _find_use(result, key).rows()} for result in results]
    held = [name for name in _find_resources(results) if topic.key != "resource" or name != "memory"]
    columns = ["mean wait", "median", "95 %", *(f"{name_resource(name)} used" for name in held)]
    told = "<th scope=col class=result>result</th>" if several else ""
    heads = f"<th scope=col>{escape(key)}</th><th scope=col>jobs</th>{told}"
    heads += "".join(f"<th scope=col>{escape(text)}</th>" for text in columns)
    labels = [f"<th scope=row><bdi>{escape(clean(label))}</bdi></th>" for label in distinct_labels(results)]
    scope = f"rowgroup rowspan={len(results)}" if several else "row"
    bodies = []
    for name in list(waits[0])[:MOST]:
        group = escape("(none)" if name is None else clean(str(name)[:200]))
        begin = f"<th scope={scope}><bdi>{group}</bdi></th>"
        begin += f"<td rowspan={len(results)}>{waits[0][name]['jobs']:,}</td>"
        lines = [
            (labels[number] if several else "")
            + _write_cells(waits[number].get(name), [uses[number].get((name, one)) for one in held])
            for number in range(len(results))
        ]
        bodies.append(f"<tbody><tr>{begin}{'</tr><tr>'.join(lines)}</tr></tbody>")
    where = "of its own nodes" if key == "queue" else "of all nodes"
    left = f" {MOST} of {len(waits[0]):,}, those that use most." if len(waits[0]) > MOST else ""
    note = f"<p class=note>Used: the share {where} in the observation window.{left}</p>"
    table = f"<table class=groups><thead><tr>{heads}</tr></thead>{''.join(bodies)}</table>"
    return f"<div class=scroll tabindex=0>{table}</div>{note}"


def _find_use(result: Shown, key: str) -> Any:
    window = result.summary["window"]
    return use_by(result.record, key, (window["start"], window["end"]))


def _find_resources(results: Sequence[Shown]) -> list[str]:
    """Cores, and what else jobs of some result hold."""
    told = [name for one in results for name, use in (one.summary.get("resources") or {}).items() if use["seconds"]]
    return list(dict.fromkeys([CORES, *told]))


def _write_cells(row: dict[str, Any] | None, shares: Sequence[float | None]) -> str:
    waits = [format_duration(None if row is None else row[name]) for name in ("mean_wait", "median_wait", "p95_wait")]
    return "".join(f"<td>{escape(text)}</td>" for text in (*waits, *map(percent, shares)))
