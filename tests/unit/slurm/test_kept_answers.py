"""Answers of the selection plug-in that the library keeps: what the controller says and does is what it was without."""

import random
import re

import pytest

from walltime import Workload, simulate
from walltime.core.errors import InputError
from walltime.core.time import SECOND
from walltime.site.gres import Gres
from walltime.site.nodes import Node
from walltime.slurm import engine
from walltime.slurm.packages import find_installation
from walltime.slurm.paused import Frozen
from walltime.slurm.site import Site

pytestmark = pytest.mark.usefixtures("slurm")

SIZE = 12
BACKFILL = ("SchedulerType=sched/backfill", "SchedulerParameters=bf_continue,bf_interval=20")
QUEUES = (
    "PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP",
    "PartitionName=part Nodes=n[1-8] MaxTime=INFINITE State=UP",
)
ORDER = {
    "first come": ("PriorityType=priority/basic",),
    "by size": ("PriorityType=priority/multifactor", "PriorityWeightJobSize=1000", "PriorityCalcPeriod=1"),
}
SELECT = {
    "linear": ("SelectType=select/linear",),
    "shared": ("SelectType=select/cons_tres", "SelectTypeParameters=CR_Core_Memory", "DefMemPerCPU=10"),
    "gpus": ("SelectType=select/cons_tres", "SelectTypeParameters=CR_Core", "GresTypes=gpu"),
}
BY_HAND = [
    (700, "scontrol update jobid=40 excnodelist=n[1-6]"),
    (760, "scontrol update nodename=n2 state=drain reason=test"),
    (810, "scontrol update jobid=45 timelimit=10"),
    (1010, "scontrol update jobid=41 excnodelist=n[7-12]"),
    (1210, "scontrol update nodename=n2 state=resume"),
    (1290, "scontrol update partitionname=part nodes=n[3-10]"),
    (
        1500,
        "scontrol create reservation=r starttime=now+10minutes duration=30 nodes=n[4-5] users=root flags=ignore_jobs",
    ),
    (1830, "scontrol update partitionname=batch maxtime=3:00:00"),
    (1910, "scontrol reconfigure"),
    (2210, "scancel 50"),
    (2290, "scontrol update nodename=n7 weight=5"),
]
"""Whatever an administrator may do while jobs wait: seconds, and the command."""


def make_site(select: str, order: str) -> Site:
    gres = "Gres=gpu:4 " if select == "gpus" else ""
    cards = (Gres("gpu", None, 4),) if gres else ()
    nodes = tuple(Node(f"n{i}", 4, cores=4, memory=1000, gres=cards) for i in range(1, SIZE + 1))
    line = f"NodeName=n[1-{SIZE}] NodeAddr=127.0.0.1 CPUs=4 CoresPerSocket=4 RealMemory=1000 {gres}State=UNKNOWN"
    settings = (*SELECT[select], *ORDER[order], *BACKFILL, line, *QUEUES)
    return Site("t", settings, nodes, partitions=("batch", "part"), linear=select == "linear")


def make_jobs(select: str) -> Workload:
    """A machine that is full for ten minutes, and then frees nodes one by one; some jobs outlive their limit."""
    draw, count = random.Random(7), 70
    length = [600] * SIZE + [draw.choice([100, 300, 700, 1500, 2500]) for _ in range(count - SIZE)]
    columns = {
        "submit": [0] * SIZE + [draw.randrange(60) for _ in range(count - SIZE - 8)] + list(range(900, 2500, 200)),
        "run_time": [t + 7 * i for i, t in enumerate(length)],
        "requested_time": [60 * (draw.choice([t, t, 2 * t, 3 * t]) // 60 + 1) for t in length],
        "cores": [4] * SIZE + [draw.choice([1, 2, 4, 8, 16, 32]) for _ in range(count - SIZE)],
        "queue": [draw.choice(["batch", "batch", "part"]) for _ in range(count)],
    }
    if select == "gpus":
        columns["gpus"] = [4] * SIZE + [min(k, draw.choice([0, 1, 2, 4, 8])) for k in columns["cores"][SIZE:]]
    return Workload.from_columns(**columns)


def by_hand(run: engine.ControllerRun) -> list[tuple[int, str]]:
    """A newer controller reads its configuration again by starting anew, which virtual time does not have."""
    again = run.controller.installation.product.startswith("22.05")
    return [(at, command) for at, command in BY_HAND if again or command != "scontrol reconfigure"]


def tell(select: str, order: str, options: engine.SlurmOptions | None = None) -> tuple[list[str], dict[str, int]]:
    """What the controller says of every job at every step, and at the end of itself; and how often it was asked."""
    said = []
    run = engine.start(make_site(select, order), make_jobs(select), options=options)
    with run.controller as controller:
        frozen = Frozen(run)
        left = by_hand(run)
        for at in range(100, 4000, 190):
            while left and left[0][0] <= at:
                when, command = left.pop(0)
                run.simulation.run(run.base + when * SECOND)
                frozen.ask(command)
            run.simulation.run(run.base + at * SECOND)
            said.append(frozen.ask("squeue -h -o '%i %T %S %N %e %Q %r %P' --sort=i"))
        said += [frozen.ask("sdiag"), frozen.ask("scontrol show nodes"), (controller.folder / "jobs").read_text()]
        frozen.close()
        skipped = int.from_bytes((controller.folder / "clock").read_bytes()[64:72], "little")
        return said, controller.count() | {"skipped": skipped}


def trials_are_judged(select: str) -> bool:
    """Trials that can only fail are not made where the plug-in makes them one by one, in the release it is known of."""
    return select != "linear" and find_installation().product.startswith("22.05")


@pytest.mark.parametrize(("select", "order"), [("linear", "first come"), ("shared", "by size"), ("gpus", "first come")])
def test_what_is_known_is_what_the_plug_in_would_say(select, order, monkeypatch):
    """Every step, estimates and the counters of sdiag included, beside a run in which every answer is asked for."""
    told = {}
    for how in ("ask", "keep", "check"):
        monkeypatch.setenv("WALLTIME_SLURM_ANSWERS", how)
        told[how], count = tell(select, order)
        assert (count["known"] > 1000) == (how != "ask"), count
        assert (count["skipped"] > 100) == (how != "ask" and trials_are_judged(select)), count
    for step, expected in enumerate(told["ask"]):
        assert told["keep"][step] == expected
        assert told["check"][step] == expected
    assert re.search(r"Total backfilled jobs \(since last slurm start\): [1-9]", told["ask"][-3])


def test_where_computing_is_charged_nothing_is_known():
    assert tell("shared", "first come", engine.SlurmOptions(cost=1.0))[1]["known"] == 0


def test_a_wrong_word_is_told(monkeypatch):
    monkeypatch.setenv("WALLTIME_SLURM_ANSWERS", "never")
    with pytest.raises(InputError, match=r"WALLTIME_SLURM_ANSWERS.*'never'.*keep, ask, check"):
        simulate(Workload.from_columns(submit=[0], run_time=[10], cores=[1]), engine="slurm", nodes="1x1")
