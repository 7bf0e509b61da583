"""EASY that backfills the shortest job first.

The head of the queue has its reservation, as in EASY; among those that may overtake it, the one with the shortest
estimate goes first (SJBF in D. Tsafrir, Y. Etsion, D. Feitelson, "Backfilling using system-generated predictions rather
than user runtime estimates", IEEE TPDS 18(6), 2007).

    walltime run log.swf --policy easy,shortest_backfill:ShortestBackfill
"""

from __future__ import annotations

from walltime import Policy


class ShortestBackfill(Policy):
    """EASY whose candidates are taken by estimate, the shortest first."""

    def schedule(self, p) -> None:
        p.release()
        head = p.start_heads()
        if head < 0:
            return
        p.reserve(head)
        for candidate in sorted(self.find_candidates(p), key=p.estimate):
            if p.fits(candidate):  # those before it may have taken its room
                p.start(candidate)

    def find_candidates(self, p) -> list[int]:
        """Every waiting job that could start now, in queue order: compiled code skips the others."""
        found = []
        slot = p.candidate()
        while slot >= 0:
            found.append(slot)
            slot = p.candidate(slot)
        return found
