"""What a watcher saw, in words: why a job waited, and why it had to leave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from walltime.analysis.explain.explanation import RunInterval, tell_moment
from walltime.core.time import SECOND

MEANINGS = {
    "reservation": "it would have delayed a job that has a reservation",
    "depth": "it fitted, but the backfill pass did not look so far",
    "rhythm": "it fitted, and waited for the next pass",
    "policy": "it fitted, and the policy left it",
    "cluster": "it had not been sent to a cluster yet",
    "suspended": "it was suspended",
    "paused": "it was put back, and could not start again yet (requeue_delay)",
}
"""Of the causes about which there is nothing more to say."""
LEFT = {"waiting": "it had to wait again", "suspended": "it was suspended", "cancelled": "it was killed"}
NAMED = 4
"""Nodes that a text names."""


class Wording:
    """Makes sentences; `jobs` are the names of jobs by number (those that have one), `nodes` the names of nodes,
    `origin` tells when time zero was."""

    def __init__(self, jobs: dict[int, str], nodes: list[str], origin: Mapping[str, Any]) -> None:
        self.jobs, self.nodes, self.origin = jobs, nodes, origin

    def when(self, seconds: float) -> str:
        """A moment for a person."""
        return tell_moment(seconds, self.origin)

    def cause(self, one: Any) -> str:
        """Why the job did not run, a Reason of the watcher, for a person."""
        if one.kind == "limit":
            return str(one.detail["text"])
        told = getattr(self, f"_tell_{one.kind}", None)
        return (told(one.detail) if told is not None else None) or MEANINGS[one.kind]

    def job(self, number: Any) -> str:
        return f"job {self.jobs.get(number, number)}"

    def _places(self, numbers: list[int], verb: str) -> str:
        names = [self.nodes[number] for number in numbers]
        more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
        return f"node{'s' if len(names) > 1 else ''} {', '.join(names[:NAMED])}{more} {verb}"

    def _tell_resources(self, detail: dict[str, Any]) -> str:
        free, most, needs = detail["free"], detail["most_free"], detail["needs"]
        amount = f"{free:,}" if free == most else f"{free:,} to {most:,}"
        text = f"it needs {needs:,} core{'' if needs == 1 else 's'}; {amount} were free"
        text += ", but not where and as it needs them" if most >= needs else ""
        if "room_by" in detail:
            text += f"; others were told to make room by {self.when(detail['room_by'] / SECOND)}"
        return text

    def _tell_outage(self, detail: dict[str, Any]) -> str:
        down = detail["nodes"]
        parts = []
        if down:
            parts.append(self._places(down, "down"))
        elif detail["cores"]:
            parts.append(f"{detail['cores']:,} core{'' if detail['cores'] == 1 else 's'} down")
        if detail["draining"]:
            parts.append(self._places(detail["draining"], "about to fail"))
        if detail["who"]:
            parts.append(f"reservation {detail['who']}")
        return f"it would have had its place but for {', '.join(parts)}"

    def _tell_reserved(self, detail: dict[str, Any]) -> str:
        who, begins, ends = detail["who"], detail.get("begins"), detail.get("ends")
        if detail.get("own"):
            if ends is not None:
                return f"its reservation {who} ends at {self.when(ends / SECOND)}, before it could"
            when = "does not come any more" if begins is None else f"begins at {self.when(begins / SECOND)}"
            return f"it runs in reservation {who}, which {when}"
        if begins is not None:
            return f"it could not end before reservation {who} begins at {self.when(begins / SECOND)}"
        return f"reservation {who} has what it needs"

    def _tell_reservation(self, detail: dict[str, Any]) -> str | None:
        who = detail.get("who")
        return None if who is None else f"it would have delayed {self.job(who)}, which has a reservation"

    def _tell_priority(self, detail: dict[str, Any]) -> str:
        others = f" and {detail['ahead'] - 1:,} more" if detail["ahead"] > 1 else ""
        return f"it fitted, but stood behind {self.job(detail['who'])}{others}, and no job is overtaken"

    def _tell_suspended(self, detail: dict[str, Any]) -> str | None:
        who = detail.get("who")
        return None if who is None else f"{self.job(who)} displaced it; it keeps its place and its progress"

    def run(self, stay: Any) -> RunInterval:
        """A Stay of the watcher, with what ended it where that was not the job itself."""
        cause = stay.cause
        facts = {name: value for name, value in cause.items() if value}
        end = None if stay.end < 0 else stay.end / SECOND
        return RunInterval(stay.start / SECOND, end, stay.state, self._why(stay) if cause else "", facts)

    def _why(self, stay: Any) -> str:
        how, who = stay.cause["how"], stay.cause.get("who")
        nodes = stay.cause.get("nodes")
        after = LEFT.get(stay.state, f"it {stay.state}")
        if how == "displaced" and who is None:
            return after
        if how == "displaced":
            return f"displaced by {self.job(who)}: {after}"
        if how == "failure":
            return f"{self._places(nodes, 'failed') if nodes else 'some of its cores failed'}: {after}"
        if how == "reservation ended":
            return f"its reservation {who} ended: {after}"
        if how == "policy":
            return f"the policy took its place away: {after}"
        return f"reservation {who} began: {after}"
