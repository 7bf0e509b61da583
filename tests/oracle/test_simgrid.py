"""Flows and computations end when SimGrid says, on the same platforms, within a thousandth."""

import functools
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from walltime.programs.activities import Activities, Waiter

SCRIPT = Path(__file__).with_name("simgrid_runs.py")
DEBIAN = "/usr/lib/python3/dist-packages"  # where Debian's python3-simgrid is
CASES = 12
pytestmark = pytest.mark.service


@functools.cache
def has_simgrid():
    look = "import sys; sys.path += sys.argv[1:]; import simgrid"
    return subprocess.run([sys.executable, "-c", look, DEBIAN], capture_output=True, check=False).returncode == 0


def draw(case):
    """Hosts in pairs over random links of one latency, so that routes of equal length share bandwidth evenly."""
    rng = np.random.default_rng([31, case])
    count = int(rng.integers(2, 7))
    hops = int(rng.integers(1, 4))
    links = [(float(rng.uniform(1e7, 1e9)), 1e-3) for _ in range(hops + int(rng.integers(0, 5)))]
    routes = []
    for source in range(count):
        for target in range(count):
            if source != target:
                routes.append((source, target, [int(x) for x in rng.choice(len(links), hops, replace=False)]))
    flows = []
    for _ in range(int(rng.integers(1, 15))):
        source, target, _ = routes[int(rng.integers(len(routes)))]
        flows.append((float(rng.choice([0.0, rng.uniform(0, 5)])), source, target, int(rng.integers(1e6, 1e9))))
    hosts = [(float(rng.uniform(1e9, 4e9)), int(rng.integers(1, 4))) for _ in range(count)]
    computations = [
        (float(rng.choice([0.0, rng.uniform(0, 5)])), int(rng.integers(count)), float(rng.uniform(1e8, 2e10)))
        for _ in range(int(rng.integers(1, 15)))
    ]
    return {"hosts": hosts, "links": links, "routes": routes, "flows": flows, "computations": computations}


class Ends(Waiter):
    """Notes when activities end."""

    def __init__(self, activities):
        self.activities, self.name, self.ends = activities, {}, {}

    def wake(self, a):
        self.ends[self.name.pop(a)] = self.activities.now / 1e6
        return 0


def play(platform):
    """The same in Walltime: links and processors are resources, a computation has one core at most."""
    activities = Activities()
    ends = Ends(activities)
    shares = activities.shares
    links = [shares.add_resource(bandwidth) for bandwidth, _ in platform["links"]]
    cores = [shares.add_resource(float(count)) for _, count in platform["hosts"]]
    routes = {(source, target): over for source, target, over in platform["routes"]}
    begun = []
    for number, (begin, source, target, size) in enumerate(platform["flows"]):
        over = routes[source, target]
        latency = math.fsum(platform["links"][link][1] for link in over)
        begun.append((begin, f"flow{number}", size, latency, math.inf, [links[link] for link in over]))
    for number, (begin, host, flops) in enumerate(platform["computations"]):
        work = flops / platform["hosts"][host][0]
        begun.append((begin, f"computation{number}", work, 0.0, 1.0, [cores[host]]))
    for begin, name, amount, delay, bound, resources in sorted(begun):
        activities.advance(begin * 1e6)
        a = activities.open(amount, delay, 1.0, bound, ends)
        ends.name[a] = name
        for resource in resources:
            activities.use_resource(a, resource, 1.0)
        activities.go(a)
    activities.advance(1e15)
    return ends.ends


@pytest.mark.parametrize("case", range(CASES))
def test_ends_are_those_of_simgrid(case):
    if not has_simgrid():
        pytest.skip("SimGrid is not installed (Debian's python3-simgrid)")
    platform = draw(case)
    text = json.dumps(platform | {"path": [DEBIAN]})
    run = subprocess.run([sys.executable, SCRIPT], input=text, capture_output=True, text=True, check=True)
    theirs = json.loads(run.stdout.splitlines()[-1])
    assert play(platform) == pytest.approx(theirs, rel=1e-3)
