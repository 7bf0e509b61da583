"""What of the machine itself stands in a waiting job's way: nodes that are down, and reservations.

It is found by taking the one or the other away for a moment and asking whether the job could start then, so that
nothing is blamed that made no difference. Everything is put back as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from walltime.engine.disruptions.outages import Outage, OutageState, ReservationWindow
from walltime.kernel.ledger.trial import Trial
from walltime.policy.views import judge

FAILURES = ("failure",)
RESERVATIONS = ("reservation", "maintenance")
BLOCKED = "resources"
DELAYED = "reservation"


def find_obstacle(
    machine: OutageState, domain: int, view: Any, slot: int, verdict: str
) -> tuple[str, dict[str, Any]] | None:
    """What makes the machine refuse the job at this instant: ("outage" | "reserved", details), or None where it is
    other jobs that have what it needs. `verdict` is that of the domain's view."""
    window = next((window for window in machine.reserved if window.domain == domain), None)
    if window is not None:
        return _ask_window(window, verdict)
    now = int(machine.simulation.now)
    if verdict == BLOCKED:
        for kind, sorts in (("outage", FAILURES), ("reserved", RESERVATIONS), ("outage", FAILURES + RESERVATIONS)):
            found = [outage for _, outage in machine.shut_now if outage.kind in sorts]
            drained = _drained(machine) if FAILURES[0] in sorts else []
            if not found and not drained:
                continue
            with _lifted(machine, sorts, drained):
                helps = judge(view, slot, now)[0] != BLOCKED
            if helps:
                return kind, _describe(found, drained)
    elif verdict == DELAYED and machine.coming:
        with _forgotten(machine):
            helps = judge(view, slot, now)[0] == ""
        if helps:
            return "reserved", _describe_coming(machine)
    return None


def _ask_window(window: ReservationWindow, verdict: str) -> tuple[str, dict[str, Any]] | None:
    """Of a job that runs in a reservation: it has not begun, or is over too soon for the job."""
    if window.inside and verdict != DELAYED:
        return None
    details: dict[str, Any] = {"who": window.name, "own": True}
    if window.inside:
        details["ends"] = window.coming[0][1]
    elif window.coming:
        details["begins"] = window.coming[0][0]
    return "reserved", details


def _drained(machine: OutageState) -> list[int]:
    return sorted(node for node, count in machine.draining.items() if count > 0)


def _describe(found: list[Outage], drained: list[int]) -> dict[str, Any]:
    names = list(dict.fromkeys(outage.name for outage in found if outage.name))
    nodes = {int(node) for outage in found if outage.nodes is not None for node in outage.nodes}
    return {
        "who": ", ".join(names) if names else None,
        "cores": sum(outage.cores for outage in found),
        "nodes": sorted(nodes),
        "draining": drained,
    }


def _describe_coming(machine: OutageState) -> dict[str, Any]:
    """The first that is to come."""
    start, end, name, _ = min(machine.coming.values(), key=lambda one: one[:2])
    return {"who": name, "begins": start, "ends": end}


@contextmanager
def _lifted(machine: OutageState, sorts: tuple[str, ...], drained: list[int]) -> Iterator[None]:
    """For a moment these outages are over, and those nodes take jobs."""
    with ExitStack() as trials:
        for ledger in machine.ledgers():
            trial = trials.enter_context(_tried(ledger))
            for blockers, outage in machine.shut_now:
                for whose, blocker in blockers if outage.kind in sorts else ():
                    if whose is ledger:
                        trial.take_away(blocker)
            if drained:
                trial.open_up(drained)
        yield


@contextmanager
def _forgotten(machine: OutageState) -> Iterator[None]:
    """For a moment no reservation is to come."""
    with _tried(machine.ledger) as trial:
        for blocker, (start, end, _, nodes) in sorted(machine.coming.items(), key=lambda one: one[1][:2]):
            trial.lift(blocker, nodes, start, end)
        yield


@contextmanager
def _tried(ledger: Any) -> Iterator[Trial]:
    trial = Trial()
    trial.begin(ledger)
    try:
        yield trial
    finally:
        trial.end()


def name_interruption(machine: OutageState | None, domain: int, nodes: set[int], now: int) -> dict[str, Any] | None:
    """What of the machine made a job leave its nodes (empty: those of a machine without nodes) at this instant."""
    if machine is None:
        return None
    for outage in reversed(machine.outages):
        if outage.start != now:
            break
        touched = sorted(nodes & {int(node) for node in outage.nodes}) if outage.nodes is not None else []
        if touched or outage.nodes is None:
            return {"how": outage.kind, "who": outage.name or None, "nodes": touched}
    window = next((window for window in machine.reserved if window.domain == domain and not window.inside), None)
    return {"how": "reservation ended", "who": window.name} if window is not None else None
