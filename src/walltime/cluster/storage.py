"""What holds data: the disks of nodes, and components outside that jobs send to and read from."""

from __future__ import annotations

import math
from dataclasses import dataclass

from walltime.cluster.network import Link


@dataclass(frozen=True)
class Disk:
    """`capacity` in bytes; `read` and `write` in bytes a second, each shared by the operations of its kind.

    With `falling`, k operations together have falling[k - 1] of it, more than are listed the last; `operations` is how
    many go on at a time, the others wait in the order in which they came.
    """

    capacity: float = math.inf
    read: float = math.inf
    write: float = math.inf
    falling: tuple[float, ...] = ()
    operations: int | None = None


@dataclass(frozen=True)
class Component:
    """Something outside the nodes, such as a storage or a service, at the end of a link of its own."""

    name: str
    link: Link
    disk: Disk | None = None
