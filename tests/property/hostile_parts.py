"""Parts that give every public thing they get every kind of wrong argument; run as a program, with a system's name."""

from __future__ import annotations

import itertools
import math
import random
import sys
from typing import Any

import numpy as np

import walltime
from walltime.core.errors import PolicyError
from walltime.policy.api import Broker, Estimate, Order, Policy
from walltime.policy.preempt import Preempt
from walltime.policy.registry import registry


class Odd:
    """What Python may ask of an object is answered wrongly, or not at all."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __index__(self) -> Any:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer

    __int__ = __float__ = __len__ = __hash__ = __bool__ = __index__

    def __lt__(self, other: Any) -> Any:
        raise ValueError("not to be compared")

    __eq__ = __gt__ = __le__ = __ge__ = __add__ = __iter__ = __lt__


NUMBERS = (-1, 0, 1, 63, 64, -(10**8), 10**8, 2**31, 2**62, 2**63 - 1, 2**63, -(2**63), 2**64, 10**30)
ODD: tuple[Any, ...] = (
    *(None, math.nan, math.inf, 1.5, "x", "0", b"x", True, [], [0], (0,), {}, object(), print, int, np.int64(3)),
    *(Odd(3), Odd(10**8), Odd(-5), Odd(2**70), Odd("x"), Odd(None), Odd(ValueError("no")), Odd(KeyboardInterrupt())),
    *(np.zeros(3, np.int64), np.zeros(0), np.zeros((2, 2)), np.array(["x"]), np.float32(2), 1j, slice(None)),
)
HOOKS = {
    "order": ("key", "keys", "set_time", "renew", "started", "stopped", "parts", "history"),
    "estimate": ("estimate", "ended"),
    "preempt": ("rank", "cost"),
    "rhythm": ("due", "next", "schedule"),
    "backfill": ("schedule",),
    "broker": ("route",),
}
DECIDES = {
    *("start", "start_on", "reserve", "reserve_best", "open_draft", "adopt", "cancel", "preempt", "advance"),
    *("start_heads", "start_candidates", "release", "wake"),
}
count = 0


def ask(call: Any, *arguments: Any) -> Any:
    """Ask, whatever comes of it; nothing but an exception may."""
    global count
    count += 1
    try:
        return call(*arguments)
    except (Exception, KeyboardInterrupt) as error:
        return error


def hostile(slots: list[int]) -> list[Any]:
    return [*NUMBERS, *ODD, *slots]


def attack(thing: Any, slots: list[int], skip: set[str] = frozenset()) -> None:
    """Every public method and attribute of the thing, with one and two wrong arguments, and with none."""
    arguments = hostile(slots)
    for name in dir(type(thing)):
        if name.startswith("_") and name not in ("__getitem__", "__len__", "__init__", "__getattr__"):
            continue
        if name in skip:
            continue
        found = ask(getattr, thing, name)
        if not callable(found) or isinstance(found, type | Exception):
            ask(setattr, thing, name, random.choice(arguments))
            continue
        ask(found)
        attack_self(type(thing), name, arguments)
        for value in arguments:
            ask(found, value)
            ask(found, value, random.choice(arguments))
        for values in itertools.islice(itertools.product(arguments, arguments), 0, None, 97):
            ask(found, *values)
        for length in (3, 4, 5):
            ask(found, *random.choices(arguments, k=length))


def attack_self(made: type, name: str, arguments: list[Any]) -> None:
    """The method as the class has it, with a self that is not of the class, and with none that was made."""
    found = getattr(made, name)
    if name in ("__init__", "__getattr__") and made.__module__ != "walltime.policy.api":
        return
    for wrong in (1, None, object(), "x", Hostile, np.zeros(3)):
        ask(found, wrong)
        ask(found, wrong, random.choice(arguments))
        ask(found, wrong, *random.choices(arguments, k=2))


def attack_parts(p: Any, slots: list[int]) -> None:
    """The hooks of every built-in part, made and not made, by a part in Python that has one of its own."""
    given = [p.jobs, None, *hostile(slots), np.array(slots, np.int64), np.full(3, 10**8), np.full(3, -7)]
    for (kind, name), entry in registry().entries.items():
        if kind not in HOOKS or not entry.target:
            continue
        made = entry.load()
        for part in (ask(made.__new__, made), ask(made, *([0.5] if name == "factor" else []))):
            if not isinstance(part, made):
                continue
            for hook in HOOKS[kind]:
                call = ask(getattr, part, hook)
                ask(call)
                for length in (1, 2, 2, 2, 2, 3, 4, 4, 4, 4):
                    for first in ([], [p.jobs]):
                        ask(call, *first, *random.choices(given, k=length - len(first)))
                for value in given:
                    ask(call, p.jobs, value)
                    ask(call, value, p.jobs)


def attack_table(jobs: Any, slots: list[int]) -> None:
    """The job table: nothing can be written, added or dropped."""
    attack(jobs, slots)
    for name in ("cores", "place", "queue", "shape", "state", "key", "domain", "run_time", "nothing"):
        column = ask(getattr, jobs, name)
        for index in (*NUMBERS, *slots):
            ask(lambda column=column, index=index: column.__setitem__(index, 10**8))
        ask(lambda column=column: column.flags.__setattr__("writeable", True))
        ask(lambda column=column: column.__setitem__(0, 10**8))
        ask(lambda column=column: column.resize(10**6))


class Hostile(Policy):
    """First come, first served, and in between everything that is wrong."""

    def __init__(self, plans: bool = False) -> None:
        super().__init__()
        self.plans = plans
        self.passes = 0
        self.kept: list[Any] = []
        self.seen: list[int] = []

    def schedule(self, p: Any) -> None:
        self.passes += 1
        self.seen = list(dict.fromkeys([*self.seen[-20:], *p.waiting()[:5]]))  # some have departed
        if self.passes % 18 == 1:
            self.kept += [p, p.queue, p.ledger, p.jobs, p.jobs.cores, p.job(self.seen[-1])] if self.seen else []
            self.look(p)
            if self.passes % 36 == 1:
                self.decide(p)
                attack_parts(p, self.seen)
        for slot in p.waiting():
            if not p.fits(slot):
                break
            p.start(slot)

    def look(self, p: Any) -> None:
        for thing in (p.queue, p.ledger):
            attack(thing, self.seen)
        attack_table(p.jobs, self.seen)
        attack(p, self.seen, DECIDES)

    def decide(self, p: Any) -> None:
        """Decisions with wrong arguments alone: right ones would be taken."""
        wrong = [value for value in hostile([]) if not (isinstance(value, int | np.integer) and 0 <= value < 10**6)]
        for name in DECIDES - {"release", "wake"}:
            for value in wrong:
                ask(getattr(p, name), value)
        for value in (*wrong, 10**18):
            ask(p.wake, value)
        running = [slot for slot in p.jobs.slots() if slot not in p.waiting()]
        for slot in running:
            ask(p.start, slot), ask(p.cancel, slot), ask(p.advance, slot)

    def after(self) -> None:
        """The run is over: what was kept is asked again."""
        for thing in self.kept[:18]:
            if not isinstance(thing, np.ndarray):  # whose methods are NumPy's
                attack(thing, self.seen)
        for name in DECIDES:
            ask(getattr(self.kept[0], name), 0)
        for made in (type(self.kept[0]), type(self.kept[1]), type(self.kept[2]), type(self.kept[3])):
            attack(ask(made.__new__, made), self.seen)
            for value in hostile([]):
                ask(made, value), ask(made, value, value, value, value, value)


class HostileOrder(Order):
    """Writes wherever it can."""

    def __init__(self, dynamic: bool = True) -> None:
        super().__init__()
        self.dynamic = dynamic
        self.calls = 0
        self.kept: list[Any] = []

    def key(self, jobs: Any, slot: int) -> Any:
        self.calls += 1
        if self.calls % 40 == 1:
            attack_table(jobs, [slot])
        return int(jobs.eligible[slot])

    def keys(self, jobs: Any, slots: Any, now: int, keys: Any) -> None:
        self.calls += 1
        order = np.asarray(jobs.eligible[np.asarray(slots)]).copy()
        if self.calls % 40 == 1:
            attack_table(jobs, [int(slots[0])])
            self.kept += [slots, keys]
        for array in self.kept:
            ask(lambda array=array: np.asarray(array).__setitem__(slice(None), 10**8))
        slots = np.asarray(slots)
        ask(lambda: slots.__setitem__(slice(None), -5))
        np.asarray(keys)[:] = order


class HostileEstimate(Estimate):
    def estimate(self, jobs: Any, slot: int) -> int:
        if slot % 30 == 0:
            attack_table(jobs, [slot])
        return int(jobs.requested[slot])


class HostilePreempt(Preempt):
    def rank(self, jobs: Any, slot: int) -> int:
        if slot % 30 == 0:
            attack_table(jobs, [slot])
        return int(jobs.priority[slot]) % 2


class HostileBroker(Broker):
    def route(self, slot: int, clusters: Any) -> int:
        if slot % 10 == 0:
            for cluster in clusters:
                attack(cluster, [slot, slot + 1], {"__init__"})
                attack(cluster.ledger, [slot])
        return random.choice(clusters).index


def make(system: str, policy: Any) -> dict[str, Any]:
    """A scenario for each kind of ledger and queue."""
    rng = random.Random(5)
    n = 160
    columns: dict[str, Any] = {
        "submit": sorted(rng.randrange(2000) for _ in range(n)),
        "run_time": [rng.randrange(1, 200) for _ in range(n)],
        "requested_time": [rng.randrange(1, 250) for _ in range(n)],
        "cores": [rng.randrange(1, 5) for _ in range(n)],
        "user": [f"u{rng.randrange(4)}" for _ in range(n)],
        "priority": [rng.randrange(3) for _ in range(n)],
        "queue": [rng.choice(["a", "b"]) for _ in range(n)],
    }
    cluster: dict[str, Any] = {"cores": 8}
    if system in ("nodes", "vectors"):
        cluster = {"nodes": {"count": 4, "cores": 4, **({"memory": "4G"} if system == "vectors" else {})}}
        columns["nodes"] = [rng.choice([-1, 1]) for _ in range(n)]
    if system == "vectors":
        columns["memory"] = [rng.randrange(1 << 31) for _ in range(n)]
    if system == "queues":
        cluster |= {
            "queues": {"a": {"default": True}, "b": {"priority": 2}},
            "limits": [{"per": "user", "running_jobs": 2}],
        }
    if system == "domains":
        cluster = {"nodes": [{"count": 2, "cores": 4, "name": "x"}, {"count": 2, "cores": 4, "name": "y"}]}
        cluster["queues"] = {"a": {"default": True, "nodes": "x"}, "b": {"nodes": "y"}}
    scheduler = {
        "backfill": policy,
        "order": HostileOrder(system not in ("plan", "nodes")),
        "estimate": HostileEstimate(),
        **({"preempt": HostilePreempt()} if system == "vectors" else {}),
    }
    workload = walltime.Workload.from_columns(**columns)
    if system == "clusters":
        clusters = [{"name": name, "cores": 6, "scheduler": scheduler} for name in "xy"]
        return {"workload": workload, "clusters": clusters, "broker": HostileBroker()}
    return {"workload": workload, "cluster": cluster | {"scheduler": scheduler}}


def main() -> None:
    system = sys.argv[1]
    policy = Hostile(plans=system == "plan")
    result = walltime.simulate(make(system, policy))
    assert not result.audit(), result.audit()[:3]
    policy.after()
    assert isinstance(ask(policy.kept[0].head), PolicyError)
    sys.stdout.write(f"{count} {policy.passes}\n")


if __name__ == "__main__":
    main()
