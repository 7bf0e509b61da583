"""A file of links and routes: a network of any form.

```yaml
links:
  - {name: a, from: n0, to: s, bandwidth: 1e9, latency: 1e-6}
routes:
  - {from: n0, to: n1, links: [a, b]}
```
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from walltime.cluster.network import Edge, Link, NetworkPlan
from walltime.core.errors import InputError
from walltime.core.reading import reader
from walltime.core.source import KeyPath, SourceData, read_source

_LINK = ("name", "from", "to", "bandwidth", "latency", "duplex")
_ROUTE = ("from", "to", "links")


@reader
def read_plan(path: str | Path) -> NetworkPlan:
    """The links and routes of a file; raises InputError with the line of what is wrong."""
    source = read_source(path)
    if not isinstance(source.data, dict) or not isinstance(source.data.get("links"), list):
        raise InputError("a network is a mapping with links, and routes where they are told", file=path, line=1)
    _only(source, source.data, (), ("links", "routes"))
    edges = [_read_edge(source, item, ("links", number)) for number, item in enumerate(source.data["links"])]
    routes = source.data.get("routes") or []
    if not isinstance(routes, list):
        raise _wrong(source, ("routes",), "routes are a list", routes)
    told = [_read_route(source, item, ("routes", number)) for number, item in enumerate(routes)]
    return NetworkPlan(tuple(edges), tuple(told), file=str(path))


def _read_edge(source: SourceData, item: Any, key_path: KeyPath) -> Edge:
    _only(source, item, key_path, _LINK)
    first, second = _text(source, item, key_path, "from"), _text(source, item, key_path, "to")
    name = item.get("name", f"{first}-{second}")
    duplex = item.get("duplex", True)
    if not isinstance(name, str) or not isinstance(duplex, bool):
        raise _wrong(source, key_path, "a link has a name and, as true or false, duplex", item)
    bandwidth = _number(source, item.get("bandwidth"), (*key_path, "bandwidth"))
    latency = _number(source, item.get("latency", 0), (*key_path, "latency"), zero=True)
    return Edge(name, first, second, Link(bandwidth, latency, duplex))


def _read_route(source: SourceData, item: Any, key_path: KeyPath) -> tuple[str, str, tuple[str, ...]]:
    _only(source, item, key_path, _ROUTE)
    links = item.get("links")
    if not isinstance(links, list) or not links or not all(isinstance(name, str) for name in links):
        raise _wrong(source, key_path, "a route has the names of its links", links)
    return _text(source, item, key_path, "from"), _text(source, item, key_path, "to"), tuple(links)


def _only(source: SourceData, item: Any, key_path: KeyPath, keys: tuple[str, ...]) -> None:
    if not isinstance(item, dict):
        raise _wrong(source, key_path, f"must be a mapping of {', '.join(keys)}", item)
    for key in item:
        if key not in keys:
            raise InputError(
                "no such key", value=key, file=source.file, line=source.line((*key_path, key)), choices=keys
            )


def _text(source: SourceData, item: dict[Any, Any], key_path: KeyPath, key: str) -> str:
    value = item.get(key)
    if not isinstance(value, str) or not value:
        raise _wrong(source, key_path, f"needs {key}, the name of a place", value)
    return value


def _number(source: SourceData, value: Any, key_path: KeyPath, zero: bool = False) -> float:
    if isinstance(value, str):  # YAML takes 1e9 for a text
        try:
            value = float(value)
        except ValueError:
            value = None
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e100
    if not good or (value == 0 and not zero):
        raise _wrong(source, key_path, "must be a number" + ("" if zero else " above 0"), value)
    return float(value)


def _wrong(source: SourceData, key_path: KeyPath, what: str, value: Any) -> InputError:
    return InputError(what, value=value, file=source.file, line=source.line(key_path))
