"""A processor for each controller."""

import os

from walltime.site.nodes import Node
from walltime.slurm import processor
from walltime.slurm.controller import Controller, Setting
from walltime.slurm.site import Site
from walltime.slurm.translate.writing import write_conf

SITE = Site(
    "t",
    (
        "NodeName=n1 NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN",
        "PartitionName=batch Nodes=ALL Default=YES State=UP",
    ),
    (Node("n1", 1),),
)


def test_controllers_beside_each_other_have_a_processor_each(slurm, monkeypatch):
    monkeypatch.setattr(processor, "NAME", f"walltime-test-{os.getpid()}")
    own = os.sched_getaffinity(0)
    setting = Setting(conf=write_conf(SITE, slurm.dialect.version))
    taken = []
    try:
        for _ in range(len(own) + 1):
            taken.append(Controller(slurm, setting))
        found = [os.sched_getaffinity(one.process) for one in taken]
    finally:
        for one in taken:
            one.close()
    if len(own) > 1:
        assert sorted(found[:-1], key=min) == [{number} for number in sorted(own)]
    assert found[-1] == own  # more than there are processors: wherever there is room
    with Controller(slurm, setting) as again:
        assert again.processor.number == (min(own) if len(own) > 1 else None)


def test_a_processor_is_free_when_its_taker_has_gone(monkeypatch):
    monkeypatch.setattr(processor, "NAME", f"walltime-test-{os.getpid()}-b")
    first, second = processor.Processor(), processor.Processor()
    assert first.number is None or first.number != second.number
    first.release()
    first.release()
    assert processor.Processor().number == first.number
