"""Files that describe several clusters: a YAML file of `clusters`, a table of resources, or Alea's `.machines`.

The table is a CSV file with a line for each group of equal resources: the `cluster` that they belong to, how many
there are (`count`), and what each is like, by the keys of a scenario's `nodes`: `cores`, `speed`, `memory` and so on.
An empty field is the key's default; lines that begin with # are remarks.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from walltime.core.errors import InputError
from walltime.core.reading import Reading, boundary, reader, reading
from walltime.core.source import SourceData, parse_value, read_source
from walltime.scenario.cluster import Cluster, Nodes
from walltime.scenario.model import Scenario
from walltime.scenario.reading.alea import is_alea, read_data_set
from walltime.scenario.reading.problems import explain

TABLE = ".csv"
COLUMNS = ("cluster", *Nodes.model_fields)
_TEXTS = ("name",)
_LISTS = ("features",)


@reader
def read_clusters(path: str | Path) -> dict[str, Any] | None:
    """`clusters`, and `broker` where the file has one, as a scenario writes them; None for a file of a single cluster.

    Raises InputError with the line of what is wrong.
    """
    if is_alea(path):
        data_set = read_data_set(path)
        return data_set.scenario if data_set.several else None
    if Path(path).suffix.lower() == TABLE:
        return {"clusters": _read_table(Path(path))}
    source = read_source(path)
    if not isinstance(source.data, dict) or "clusters" not in source.data:
        return None
    strange = [key for key in source.data if key not in ("walltime", "clusters", "broker")]
    if strange:
        raise InputError(
            "unknown key in a file of clusters",
            value=strange[0],
            choices=("clusters", "broker"),
            file=source.file,
            line=source.line((strange[0],)),
        )
    _check(source)
    return {key: value for key, value in source.data.items() if key != "walltime"}


def _check(source: SourceData) -> None:
    """Raise InputError for a mistake in the clusters themselves, with the line of this file."""
    probe = {**source.data, "workload": {"generate": {"jobs": 1, "cores": 1}}}
    try:
        Scenario.model_validate(probe)
    except ValidationError as error:
        raise explain(error, SourceData(probe, source.file, source.lines)) from None


def _read_table(path: Path) -> list[dict[str, Any]]:
    with reading(path) as file:
        lines = [(number, line) for number, line in file.lines() if _says_something(line)]
    rows = [(number, next(csv.reader([line], skipinitialspace=True))) for number, line in lines]
    if not rows:
        raise InputError("a table of resources has no lines; its first names the columns", file=path, line=1)
    header = [name.strip() for name in rows[0][1]]
    for name in header:
        if name not in COLUMNS:
            raise InputError(
                "unknown column of a table of resources", value=name, choices=COLUMNS, file=path, line=rows[0][0]
            )
    if "cluster" not in header:
        raise InputError("a table of resources needs the column cluster", file=path, line=rows[0][0])
    clusters: dict[str, list[dict[str, Any]]] = {}
    for number, fields in rows[1:]:
        if len(fields) != len(header):
            raise InputError(f"{len(fields)} fields where the header has {len(header)}", file=path, line=number)
        given = {name: field.strip() for name, field in zip(header, fields, strict=True) if field.strip()}
        name = given.pop("cluster", "")
        if not name:
            raise InputError("a line without the name of a cluster", file=path, line=number)
        clusters.setdefault(name, []).append(_read_group(given, path, number))
    if not clusters:
        raise InputError("a table of resources without a resource", file=path, line=rows[0][0])
    return [{"name": name, "nodes": groups} for name, groups in clusters.items()]


def _says_something(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _read_group(given: dict[str, str], path: Path, line: int) -> dict[str, Any]:
    """One line as the mapping of a group of nodes."""
    group: dict[str, Any] = {"count": 1, "cores": 1}
    place = Reading(path)
    place.line = line
    with boundary(path, place):
        for key, text in given.items():
            group[key] = text if key in _TEXTS else text.split() if key in _LISTS else parse_value(text)
    try:
        Nodes.model_validate(group)
    except ValidationError as error:
        lines: dict[tuple[str | int, ...], int] = {(): line}
        raise explain(error, SourceData(group, str(path), lines), Nodes) from None
    return group


def write_table(clusters: Iterable[Cluster]) -> str:
    """The table of the clusters' nodes; raises InputError for a cluster that has none. What else a cluster has (queues,
    a scheduler) is not in a table of resources."""
    rows: list[dict[str, Any]] = []
    for cluster in clusters:
        if cluster.nodes is None:
            raise InputError("a table of resources has nodes; this cluster is a number of cores", value=cluster.name)
        for group in cluster.nodes:
            given = group.model_dump(exclude_defaults=True)
            if given.get("resources"):
                raise InputError("a table of resources has no column for it", value=next(iter(given["resources"])))
            given = {key: " ".join(value) if isinstance(value, tuple) else value for key, value in given.items()}
            rows.append({"cluster": cluster.name} | {key: value for key, value in given.items() if value != {}})
    columns = [name for name in COLUMNS if any(name in row for row in rows)]
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
