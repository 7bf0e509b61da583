"""What a queue makes of its jobs' requests, whatever they say themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from walltime.scenario import Cluster


@dataclass(frozen=True)
class Terms:
    """The terms of a queue, or of a cluster without queues."""

    whole: bool = False
    """Its jobs have nodes of their own."""

    def ask(self, told: dict[str, list[Any]], count: int) -> dict[str, list[Any]]:
        """The columns of so many requests, as they are asked for on these terms."""
        return told | {"exclusive": [1] * count} if self.whole else told


USUAL = Terms()


def find_terms(cluster: Cluster) -> list[Terms]:
    """Those of each queue."""
    return [Terms(whole=queue.sharing == "whole") for queue in cluster.queues.values()]
