"""The machine as programs use it: processors, disks and links, each a resource that is shared fairly."""

from __future__ import annotations

import cython
import numpy as np

from walltime.programs.activities import Activities

MOST_ROUTES = cython.declare(cython.Py_ssize_t, 200_000)
"""Routes that are kept; all are forgotten where there are more."""


@cython.final
@cython.cclass
class DiskState:
    """A disk in use: its resources, and how full it is. On a `scratch` disk a job's data goes with the job."""

    def __init__(self, activities: Activities, disk, scratch) -> None:
        curve = disk.falling or None
        self.reader = activities.shares.add_resource(disk.read, curve)
        self.writer = activities.shares.add_resource(disk.write, curve)
        self.gate = -1 if disk.operations is None else activities.add_gate(disk.operations)
        self.capacity = disk.capacity
        self.used = 0.0
        self.scratch = scratch


@cython.final
@cython.cclass
class Platform:
    """Nodes and outside components. Ends are numbered: first the nodes, then the components.

    `cores` and `speed` (operations a second of one core) by node; `disks` by node, None where it has none; `names` of
    the nodes. With `crowded` the jobs on a node may together want more cores than it has, and share them.
    """

    def __init__(self, cores, speed, network, disks=(), components=(), names=(), crowded=False) -> None:
        self.activities = Activities()
        self.network = network
        self.cores = np.asarray(cores, np.int64)
        self.speed = np.asarray(speed, np.float64)
        self.names = list(names) or [f"n{number}" for number in range(len(self.cores))]
        shares = self.activities.shares
        self.first_link = shares.size
        for link in network.links:
            shares.add_resource(link.bandwidth)
        taken = [shares.add_resource(float(count)) if crowded else -1 for count in self.cores]
        self.processor = np.asarray(taken, np.int64)
        self.disks = [None if disk is None else DiskState(self.activities, disk, True) for disk in disks]
        self.disks += [None] * (len(self.cores) - len(self.disks))
        self.outside = {component.name: len(self.cores) + index for index, component in enumerate(components)}
        for component in components:
            self.disks.append(None if component.disk is None else DiskState(self.activities, component.disk, False))
        self.ends = len(self.disks)
        self.routes = {}
        self.lent = []
        self.meters = None

    def measure(self, meters) -> None:
        """From now on what programs move is noted in the meters."""
        self.meters = meters
        self.activities.spans = meters.spans

    def route(self, source, target):
        """(resources, latency, bound) of the way from one end to another."""
        found = self.routes.get(source * self.ends + target)
        if found is None:
            way = self.network.route(source, target)
            found = (tuple([self.first_link + link for link in way.links]), way.latency, way.bound)
            if len(self.routes) >= MOST_ROUTES:
                self.routes.clear()
            self.routes[source * self.ends + target] = found
        return found

    def lend(self, cores):
        """A resource of so many cores, for one process."""
        r: cython.Py_ssize_t
        if not self.lent:
            return self.activities.shares.add_resource(cores)
        r = self.lent.pop()
        self.activities.shares.set_capacity(r, cores)
        return r

    def give_back(self, r) -> None:
        """A process needs its cores no more."""
        self.lent.append(r)

    def disk_of(self, end):
        """The disk of a node or a component; None where it has none."""
        return self.disks[end]
