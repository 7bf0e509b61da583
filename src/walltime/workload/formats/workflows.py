"""Files of workflows, told apart by their contents, and graphs of networkx: all become a `Workflow`.

- ScSF's manifest (JSON): `tasks` with `id`, `number_of_cores` (or `cores`), `runtime_sim` (or `rtime`),
  `runtime_limit`, `deps`; or the dependencies as a graph in the language of dot, `dot_dag`.
- WfCommons' WfFormat (JSON), from version 1.3: `workflow.specification` with `workflow.execution`, or `workflow.tasks`.
- Pegasus' DAX (XML): `job` elements, and `child` elements with their parents.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from walltime.core.errors import InputError
from walltime.core.files import replacing
from walltime.core.reading import reader, reading
from walltime.workload.workflow import Task, Workflow

_EDGES = re.compile(r'"?([^"\s;{}\[\]>]+)"?((?:\s*->\s*"?[^"\s;{}\[\]>]+"?)+)')
_COMMA = re.compile(r"[-+]?\d+,\d+")
_MOST_BYTES = 1 << 53
_ENTITY = re.compile(rb"<!(DOCTYPE|ENTITY)", re.IGNORECASE)


@reader
def read_workflow(path: str | Path) -> Workflow:
    """The workflow in a file; raises InputError naming the file, and the task where one is wrong."""
    with reading(path) as file:
        raw = file.content()
    start = raw.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start == b"<":
        return _read_dax(path, raw)
    if start != b"{":
        raise InputError("this is no workflow: neither JSON (ScSF's manifest, WfFormat) nor XML (DAX)", file=path)
    with reading(path) as file:
        data = file.json()
    if "workflow" in data:
        return _read_wfformat(path, data)
    if "tasks" in data:
        return _read_manifest(path, data)
    raise InputError("this JSON is no workflow: it has neither tasks nor workflow", file=path)


def write_manifest(workflow: Workflow, path: str | Path) -> None:
    """Writes the workflow as ScSF's manifest, all or nothing; what has no place there, memory, is left out."""
    tasks = []
    for key, task in workflow.tasks.items():
        row: dict[str, Any] = {"id": key, "number_of_cores": task.cores, "runtime_sim": task.run_time}
        if task.requested_time is not None:
            row["runtime_limit"] = task.requested_time
        if task.needs:
            row["deps"] = list(task.needs)
        tasks.append(row)
    text = ",\n".join(f"  {json.dumps(row)}" for row in tasks)
    with replacing(path) as draft:
        draft.write_text(f'{{"tasks": [\n{text}\n]}}\n', encoding="utf-8")


def from_networkx(graph: Any, name: str = "workflow") -> Workflow:
    """The workflow of a directed graph: nodes with `cores`, `run_time` and perhaps `requested_time`, `memory`, `name`;
    an edge from a task to each that needs it. Any graph with `nodes` and `predecessors` will do."""
    tasks = []
    for node, data in graph.nodes(data=True):
        where = f"workflow {name}: task {node}"
        tasks.append(
            Task(
                id=str(node),
                cores=_whole(data.get("cores", 1), f"{where}: cores", None),
                run_time=_number(data.get("run_time"), f"{where}: run_time", None),
                requested_time=_optional(data.get("requested_time"), f"{where}: requested_time", None),
                needs=tuple(str(needed) for needed in graph.predecessors(node)),
                name=str(data.get("name", "")),
                memory=data.get("memory"),
            )
        )
    return Workflow.of(name, tasks)


def _read_manifest(path: str | Path, data: dict[str, Any]) -> Workflow:
    name = _name(path)
    listed = data["tasks"]
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        raise InputError("tasks has to be a list of mappings", file=path)
    needs: dict[str, list[str]] = {}
    known = []
    for index, item in enumerate(listed, 1):
        key = item.get("id", item.get("name"))
        if key is None:
            raise InputError(f"workflow {name}: task {index} of the list has no id", file=path)
        known.append(str(key))
        needs[str(key)] = [str(needed) for needed in _list(item, "deps", f"workflow {name}: task {key}")]
    for before, after in _parse_dot(str(data.get("dot_dag") or "")):
        for end in (before, after):
            if end not in known:
                raise InputError(f"workflow {name}: dot_dag names a task that is not there", value=end, file=path,
                                 choices=known)  # fmt: skip
        needs[after].append(before)
    tasks = [_manifest_task(path, name, key, item, needs[key]) for key, item in zip(known, listed, strict=True)]
    return Workflow.of(name, tasks, str(path))


def _manifest_task(path: str | Path, name: str, key: str, item: dict[str, Any], needs: list[str]) -> Task:
    where = f"workflow {name}: task {key}"
    limit = _optional(item.get("runtime_limit"), f"{where}: runtime_limit", path)
    run = item.get("runtime_sim", item.get("rtime", item.get("runtime", limit)))
    return Task(
        id=key,
        cores=_whole(item.get("number_of_cores", item.get("cores", 1)), f"{where}: number_of_cores", path),
        run_time=_number(run, f"{where}: runtime_sim", path),
        requested_time=limit,
        needs=tuple(dict.fromkeys(needs)),
        name=str(item.get("name", "")),
    )


def _parse_dot(text: str) -> list[tuple[str, str]]:
    """The edges of a graph in the language of dot; chains a -> b -> c are two edges."""
    edges = []
    for match in _EDGES.finditer(text.partition("{")[2]):
        names = [match[1], *(part.strip().strip('"') for part in match[2].split("->")[1:])]
        edges += list(itertools.pairwise(names))
    return edges


def _read_wfformat(path: str | Path, data: dict[str, Any]) -> Workflow:
    name = str(data.get("name") or _name(path))
    flow = data["workflow"]
    listed = _dig(flow, "specification", "tasks") or _dig(flow, "tasks")
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        raise InputError("workflow has no list of tasks", file=path)
    execution = flow.get("execution")
    executed = execution.get("tasks", []) if isinstance(execution, dict) else []
    if not isinstance(executed, list) or not all(isinstance(item, dict) for item in executed):
        raise InputError("the tasks of workflow.execution have to be a list of mappings", file=path)
    ran = {str(item.get("id")): item for item in executed}
    ids = {str(item.get("name")): str(item.get("id", item.get("name"))) for item in listed}  # older files use names
    tasks = []
    for item in listed:
        key = str(item.get("id", item.get("name")))
        merged = item | ran.get(key, {})
        where = f"workflow {name}: task {key}"
        run = merged.get("runtimeInSeconds", merged.get("runtime"))
        memory = merged.get("memoryInBytes", merged.get("memory"))
        tasks.append(
            Task(
                id=key,
                cores=max(
                    1, round(_amount(merged.get("coreCount", merged.get("cores", 1)), f"{where}: coreCount", path))
                ),
                run_time=max(_amount(run, f"{where}: runtimeInSeconds", path), 1e-6),
                needs=tuple(
                    dict.fromkeys(ids.get(str(parent), str(parent)) for parent in _list(item, "parents", where))
                ),
                name=str(item.get("name", "")),
                memory=_bytes(memory),
            )
        )
    return Workflow.of(name, tasks, str(path))


def _dig(data: Any, *keys: str) -> Any:
    """The value below these keys; None where one of them is not there."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _list(item: dict[str, Any], key: str, where: str) -> list[Any]:
    found = item.get(key, [])
    if not isinstance(found, list):
        raise InputError(f"{where}: {key} has to be a list", value=found)
    return found


def _bytes(memory: Any) -> int | None:
    if isinstance(memory, bool) or not isinstance(memory, int | float):
        return None
    if not 0 <= memory < _MOST_BYTES:
        raise InputError("an amount of memory out of range", value=memory)
    return int(memory)


def _read_dax(path: str | Path, raw: bytes) -> Workflow:
    if _ENTITY.search(raw):
        raise InputError("a DAX file with entities of its own is not read", file=path)
    try:
        root = ElementTree.fromstring(raw)
    except ElementTree.ParseError as error:
        raise InputError("not valid XML", file=path, line=error.position[0]) from None
    if _tag(root) != "adag":
        raise InputError("this XML is no DAX: its root is not adag but", value=_tag(root), file=path)
    name = root.get("name") or _name(path)
    needs: dict[str, list[str]] = {}
    for child in (item for item in root if _tag(item) == "child"):
        parents = [str(parent.get("ref")) for parent in child if _tag(parent) == "parent"]
        needs.setdefault(str(child.get("ref")), []).extend(parents)
    jobs = {str(item.get("id")): item for item in root if _tag(item) == "job"}
    for key in needs:
        if key not in jobs:
            raise InputError(f"workflow {name}: a child element names a task that is not there", value=key, file=path)
    tasks = []
    for key, item in jobs.items():
        where = f"workflow {name}: task {key}"
        profiles = {str(part.get("key")).lower(): part.text for part in item if _tag(part) == "profile"}
        tasks.append(
            Task(
                id=key,
                cores=_whole(_point(item.get("cores") or profiles.get("cores") or 1), f"{where}: cores", path),
                run_time=_number(_point(item.get("runtime") or profiles.get("runtime")), f"{where}: runtime", path),
                needs=tuple(dict.fromkeys(needs.get(key, ()))),
                name=item.get("name") or "",
            )
        )
    return Workflow.of(name, tasks, str(path))


def _point(text: Any) -> Any:
    """A number with a decimal comma, as generators write it in some languages (`12,5`), with a point."""
    return text.replace(",", ".") if isinstance(text, str) and _COMMA.fullmatch(text.strip()) else text


def _tag(element: ElementTree.Element) -> str:
    """The element's name without its namespace."""
    return element.tag.rpartition("}")[2]


def _name(path: str | Path) -> str:
    return Path(path).name.partition(".")[0]


def _number(value: Any, what: str, path: str | Path | None) -> float:
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        number = float(value)
        if not math.isfinite(number):
            raise ValueError
        return number
    except (ValueError, OverflowError):
        raise InputError(f"{what} is not a number", value=value, file=path) from None


def _amount(value: Any, what: str, path: str | Path | None) -> float:
    """A number that is not negative; what is measured may be zero."""
    number = _number(value, what, path)
    if number < 0:
        raise InputError(f"{what} is negative", value=value, file=path)
    return number


def _optional(value: Any, what: str, path: str | Path | None) -> float | None:
    return None if value is None else _number(value, what, path)


def _whole(value: Any, what: str, path: str | Path | None) -> int:
    number = _number(value, what, path)
    if number != int(number):
        raise InputError(f"{what} is not a whole number", value=value, file=path)
    return int(number)
