"""A small machine on which tests run programs without an engine."""

import math

from walltime.cluster.network import Link, Star
from walltime.programs.errors import tell
from walltime.programs.platform import Platform
from walltime.programs.profiles import Profile
from walltime.programs.program import Program
from walltime.programs.speedup import linear

END = 1e15


def make_platform(nodes=4, cores=2, speed=1e9, network=None, **options):
    network = Star(nodes, Link(100.0, 0.0)) if network is None else network
    return Platform([cores] * nodes, [speed] * nodes, network, **options)


class Runner:
    """Runs programs, and notes when each is over and how."""

    def __init__(self, platform=None, speedup=linear):
        self.platform = make_platform() if platform is None else platform
        self.speedup = speedup
        self.ends, self.errors = {}, {}

    def add(self, label, profile, nodes=((0, 1),)):
        program = Program(self.platform, nodes, self.speedup, label, "test", self.note)
        program.start(profile if hasattr(profile, "run") else Plain(profile))
        return program

    def note(self, program):
        self.ends[program.label] = self.platform.activities.now / 1e6
        if program.error is not None:
            self.errors[program.label] = tell(program)

    def run(self, until=math.inf):
        self.platform.activities.advance(END if until == math.inf else until * 1e6)
        return self


class Plain(Profile):
    """A profile of one coroutine function."""

    def __init__(self, function):
        self.function = function

    async def run(self, processes):
        await self.function(processes)


def run(profile, nodes=((0, 1),), platform=None, speedup=linear):
    """When a program that is alone ends; raises AssertionError with its error."""
    runner = Runner(platform, speedup)
    runner.add(1, profile, nodes)
    runner.run()
    assert not runner.errors, runner.errors
    assert runner.platform.activities.live == 0
    return runner.ends[1]
