"""A cluster as programs use it: its nodes with their disks, the network, and what is outside."""

from __future__ import annotations

from dataclasses import dataclass

from walltime.cluster.network import Network
from walltime.cluster.nodes import Layout
from walltime.cluster.storage import Component, Disk


@dataclass(frozen=True)
class Machine:
    """`disks` by node, None where it has none."""

    layout: Layout
    network: Network
    disks: tuple[Disk | None, ...]
    components: tuple[Component, ...] = ()
