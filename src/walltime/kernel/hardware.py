"""What a ledger of nodes is told of them, once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from walltime.kernel.ledger.place import Place


@dataclass(frozen=True)
class Hardware:
    """The nodes of a cluster, and what places jobs on them.

    `capacity` has a row for each node, a column for each resource, cores first; `resources` are their names. `whole`: a
    node is given to one job at a time. `pace` is each node's speed in millionths, `switches` the switch that it is on,
    `licences` how many of each there are. `named`: a hold keeps certain nodes, also where a number would do.
    """

    capacity: Any
    place: Place
    whole: bool = False
    pace: Any = None
    switches: Any = None
    licences: Sequence[int] = ()
    seed: int = 0
    resources: Sequence[str] = ("cores",)
    named: bool = False
