"""What programs move over time: bytes read, written, sent and received at each end, as spans of constant rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from walltime.core.tables import Traffic

if TYPE_CHECKING:
    from walltime.cluster.machine import Machine

KINDS = ("read", "write", "sent", "received")
"""What is measured at an end: a node, or a component outside."""

Use = tuple[int, str, float]
"""An end, a kind, and how many bytes go there for each unit of an activity's amount."""


class Meters:
    """Kinds of activities by what they use; `spans` are (number of such a kind, from, to in microseconds, rate)."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[Use, ...], int] = {}
        self.spans: list[tuple[int, float, float, float]] = []

    def find(self, uses: tuple[Use, ...]) -> int:
        """The number of what uses this."""
        return self.numbers.setdefault(uses, len(self.numbers))

    def of_transfer(self, source: int, target: int) -> int:
        """The number of transfers from one end to another; inside an end nothing is measured."""
        return self.find(() if source == target else ((source, "sent", 1.0), (target, "received", 1.0)))

    def of_disk(self, node: int, end: int, writes: bool) -> int:
        """The number of what a node writes on, or reads from, the disk of an end; bytes pass the network between."""
        use: Use = (end, "write" if writes else "read", 1.0)
        if node == end:
            return self.find((use,))
        source, target = (node, end) if writes else (end, node)
        return self.find((use, (source, "sent", 1.0), (target, "received", 1.0)))

    def of_task(self, sizes: dict[tuple[int, str], float], amount: float) -> int:
        """The number of a parallel task that moves so many bytes at its ends."""
        return self.find(tuple((end, kind, size / amount) for (end, kind), size in sizes.items()))


def measure(meters: Meters, machine: Machine) -> Traffic:
    """All that was moved in a cluster, and how much each end could have."""
    owner: list[int] = []
    kind: list[int] = []
    factor: list[float] = []
    first: list[int] = []
    for uses in meters.numbers:
        first.append(len(owner))
        owner += [end for end, _, _ in uses]
        kind += [KINDS.index(name) for _, name, _ in uses]
        factor += [times for _, _, times in uses]
    ends = machine.layout.count + len(machine.components)
    links = [machine.network.interface(end, ends) for end in range(ends)]
    spans = np.array(meters.spans, np.float64).reshape(-1, 4)
    number = spans[:, 0].astype(np.int64)
    count = np.diff([*first, len(owner)])[number] if len(number) else number
    of = np.repeat(np.arange(len(number)), count)
    index = np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)
    use = np.array(first, np.int64)[number[of]] + index if len(of) else of
    of_kind, of_end = np.array(kind, np.int64)[use], np.array(owner, np.int64)[use]
    one_way = np.array([not link.duplex for link in links])  # what is sent and received shares the same bandwidth
    return Traffic(
        start=np.rint(spans[of, 1]).astype(np.int64),
        end=np.rint(spans[of, 2]).astype(np.int64),
        owner=of_end,
        kind=np.where((of_kind == KINDS.index("received")) & one_way[of_end], KINDS.index("sent"), of_kind),
        rate=spans[of, 3] * np.array(factor)[use],
        capacity=_find_capacity(machine, [link.bandwidth for link in links]),
        names=[*machine.layout.names(), *(component.name for component in machine.components)],
    )


def _find_capacity(machine: Machine, links: list[float]) -> np.ndarray:
    """Bytes a second of each kind (rows) at each end; 0 where there is no disk, or no bound."""
    missing = [None] * (machine.layout.count - len(machine.disks))
    disks = [*machine.disks, *missing, *(component.disk for component in machine.components)]
    read, write = ([0.0 if disk is None else getattr(disk, name) for disk in disks] for name in ("read", "write"))
    found = np.array([read, write, links, links], np.float64)
    return np.where(np.isfinite(found), found, 0.0)
