"""The network, the disks and the components outside of a cluster, for jobs that are programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from walltime.cluster import network as plain
from walltime.cluster import storage
from walltime.cluster.graph import read_plan
from walltime.core.errors import InputError
from walltime.core.time import parse_duration
from walltime.scenario.values import Count, File, Flag, Model, Name, Size, read_size


def _bandwidth(value: Any) -> float:
    """Bytes a second: a number, or `125M`, `1.25G`; the units are those of memory."""
    if isinstance(value, str):
        value = number if (number := _plain_number(value)) is not None else read_size(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e100:
        raise ValueError("must be bytes a second, above 0 (1e9, 125M, 1.25G)")
    return float(value)


def _latency(value: Any) -> float:
    """Seconds, also parts of a microsecond; or a duration in words."""
    if isinstance(value, str):
        value = number if (number := _plain_number(value)) is not None else _seconds(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e100:
        raise ValueError("must be seconds, 0 or more")
    return float(value)


def _plain_number(text: str) -> float | None:
    """The number that a text is, such as 1e9, which YAML takes for a text."""
    try:
        return float(text)
    except ValueError:
        return None


def _seconds(text: str) -> float:
    try:
        return parse_duration(text) / 1e6
    except InputError:
        raise ValueError("must be seconds, 0 or more") from None


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise ValueError("must be a number above 0 and at most 1")
    return float(value)


Bandwidth = Annotated[float, BeforeValidator(_bandwidth)]
Latency = Annotated[float, BeforeValidator(_latency)]
Share = Annotated[float, BeforeValidator(_share)]


class Link(Model):
    """A link: `{bandwidth: 12.5e9, latency: 1e-6}`."""

    bandwidth: Bandwidth = Field(description="Bytes a second: a number, or `125M`, `1.25G`.")
    latency: Latency = Field(default=0.0, description="Seconds before the first byte comes.")
    duplex: Flag = Field(default=True, description="Both directions have the bandwidth, or else share it.")

    def plain(self) -> plain.Link:
        return plain.Link(self.bandwidth, self.latency, self.duplex)


class Level(Link):
    """A level of a tree: so many of those below share a switch, each by a link of this kind."""

    size: Count = Field(description="How many nodes, or switches of the level below, one switch has.")


class Network(Model):
    """How the nodes are connected. Each `type` has keys of its own."""

    type: Literal["constant", "shared", "star", "tree", "fat-tree", "graph"] = Field(
        description="`constant`: no contention; `shared`: one medium; `star`: every node has a link to one switch; "
        "`tree`: switches in levels; `fat-tree`: two levels of switches, each of the first linked to each of the "
        "second; `graph`: any links, from a file."
    )
    link: Link | None = Field(default=None, description="Of `constant`, `shared` and `star`: the link, or medium.")
    local: Link | None = Field(default=None, description="Traffic inside a node; without limit where absent.")
    switch: Link | None = Field(
        default=None, description="What one switch passes on in all; without limit where absent."
    )
    levels: tuple[Level, ...] | None = Field(default=None, description="Of `tree`: its levels, from the nodes up.")
    downlink: Link | None = Field(default=None, description="Of `fat-tree`: between a node and its switch.")
    uplink: Link | None = Field(
        default=None, description="Of `fat-tree`: between a switch of the first level and one of the second."
    )
    l1_switch_count: Count | None = Field(default=None, description="Of `fat-tree`: switches of the first level.")
    l2_switch_count: Count | None = Field(default=None, description="Of `fat-tree`: switches of the second level.")
    file: File | None = Field(default=None, description="Of `graph`: a YAML file of `links` and `routes`.")

    @model_validator(mode="after")
    def _has_its_keys(self) -> Self:
        needed, optional = _KEYS[self.type]
        for key in type(self).model_fields:
            if key == "type" or (getattr(self, key) is None) != (key in needed):
                continue
            if key in needed:
                raise PydanticCustomError("network", f"{self.type} needs {key}")
            if key not in optional:
                raise PydanticCustomError("network", f"{self.type} does not take {key}")
        return self

    def build(self, names: Sequence[str], components: Sequence[storage.Component]) -> plain.Network:
        """The network between nodes of these names, and the components; raises InputError."""
        nodes, outside = len(names), [component.link for component in components]
        local, switch, link = (None if one is None else one.plain() for one in (self.local, self.switch, self.link))
        if self.type == "graph" and self.file is not None:
            ends = [*names, *(component.name for component in components)]
            return plain.Graph(nodes, ends, read_plan(self.file), local)
        if self.levels is not None:
            levels = [(level.size, level.plain()) for level in self.levels]
            return plain.Tree(nodes, levels, outside, switch, local)
        if self.downlink is not None and self.uplink is not None:
            counts = min(self.l1_switch_count or 1, nodes), self.l2_switch_count or 1
            return plain.FatTree(nodes, *counts, self.downlink.plain(), self.uplink.plain(), outside, switch, local)
        assert link is not None
        if self.type == "star":
            return plain.Star(nodes, link, outside, switch, local)
        return plain.Constant(nodes, link, local) if self.type == "constant" else plain.Shared(nodes, link, local)


_KEYS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "constant": (("link",), ("local",)),
    "shared": (("link",), ("local",)),
    "star": (("link",), ("local", "switch")),
    "tree": (("levels",), ("local", "switch")),
    "fat-tree": (("downlink", "uplink", "l1_switch_count", "l2_switch_count"), ("local", "switch")),
    "graph": (("file",), ("local",)),
}
"""What each type of network needs, and what it may have."""


class Disk(Model):
    """A disk: `{capacity: 1T, read: 500M, write: 300M}`."""

    capacity: Size | None = Field(default=None, description="Bytes; without limit where absent.")
    read: Bandwidth = Field(description="Bytes a second, shared by all that read.")
    write: Bandwidth = Field(description="Bytes a second, shared by all that write.")
    falling: tuple[Share, ...] = Field(
        default=(),
        description="What share of the bandwidth 1, 2, 3 ... operations of a kind have together; the last for more.",
    )
    operations: Count | None = Field(
        default=None, description="So many operations at a time; others wait in the order in which they came."
    )

    def plain(self) -> storage.Disk:
        capacity = math.inf if self.capacity is None else float(self.capacity)
        return storage.Disk(capacity, self.read, self.write, self.falling, self.operations)


class Component(Link):
    """Something outside the nodes that jobs send to, or read from: a storage, a service, at the end of a link."""

    disk: Disk | None = Field(default=None, description="What it stores on; what jobs write stays there.")

    def component(self, name: Name) -> storage.Component:
        return storage.Component(name, self.plain(), None if self.disk is None else self.disk.plain())
