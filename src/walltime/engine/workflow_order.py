"""An order in which all tasks of a workflow-aware workflow have one priority: that of their workflow as one job."""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.jobs import JobTable
from walltime.policy.api import Estimate, Order

NEVER = cython.declare(cython.longlong, _NEVER)

if not cython.compiled:
    JobFields = object  # a copy of a job's fields, in C

FIELDS = (
    *("cores", "nodes", "memory", "gpus", "requested", "run_time", "submit", "user", "group", "account", "qos"),
    *("priority", "deadline"),
)
"""What of a job an order may look at and a workflow has, in the columns of its table."""


def order_as_workflows(order, estimate, flows):
    """The order, asked about the workflows of tasks that are ordered so; itself where there are none, or no order."""
    return order if order is None or flows is None else WorkflowOrder(order, estimate, flows)


@cython.cclass
class WorkflowOrder(Order):
    """Asks another order about a task as if it were its whole workflow, and of everything else as it is.

    While it asks, the task's fields are the workflow's; `estimate` says how long the workflow is believed to run. Among
    many jobs it asks once for each workflow.
    """

    def __init__(self, order: Order, estimate: Estimate, flows) -> None:
        Order.__init__(self)
        self.order = order
        self.estimate = estimate
        self.dynamic = order.dynamic
        self.periodic = order.periodic
        self.charges = order.charges
        self.joint = order.joint
        self.of = np.ascontiguousarray(flows.of, np.int64)
        self.queue = np.full(len(flows.columns["submit"]), -1, np.int64)  # in which the first of its tasks has waited
        self.asked = 0  # how often keys were asked for
        self.stamp = np.zeros(len(self.queue), np.int64)  # by workflow: when it was asked about last
        self.known = np.zeros(len(self.queue), np.int64)  # by workflow: the key it got then
        self.table = np.ascontiguousarray(np.column_stack([flows.columns[name] for name in FIELDS]), np.int64)

    def attach(self, surroundings):
        return self.order.attach(surroundings)

    def set_time(self, now):
        return self.order.set_time(now)

    def renew(self, now):
        return self.order.renew(now)

    def started(self, jobs: JobTable, slot, now, cores):
        return self.order.started(jobs, slot, now, cores)

    def stopped(self, jobs: JobTable, slot, now):
        return self.order.stopped(jobs, slot, now)

    def history(self):
        return self.order.history()

    def flow(self, jobs: JobTable, slot):
        """The number of the job's workflow; negative for a job that is ordered by itself."""
        row: cython.longlong = jobs.at[slot].row
        return self.of[row] if 0 <= row < len(self.of) else -1

    def stand_in(self, jobs: JobTable, slot, flow):
        """Give the job the fields of its workflow; the caller keeps what it was."""
        jobs.at[slot].cores = self.table[flow, 0]
        jobs.at[slot].nodes = self.table[flow, 1]
        jobs.at[slot].memory = self.table[flow, 2]
        jobs.at[slot].gpus = self.table[flow, 3]
        jobs.at[slot].requested = self.table[flow, 4]
        if jobs.at[slot].limit < NEVER:
            jobs.at[slot].limit = self.table[flow, 4]
        jobs.at[slot].run_time = self.table[flow, 5]
        jobs.at[slot].submit = self.table[flow, 6]
        jobs.at[slot].eligible = self.table[flow, 6]
        jobs.at[slot].user = self.table[flow, 7]
        jobs.at[slot].group = self.table[flow, 8]
        jobs.at[slot].account = self.table[flow, 9]
        jobs.at[slot].qos = self.table[flow, 10]
        jobs.at[slot].priority = self.table[flow, 11]
        jobs.at[slot].deadline = self.table[flow, 12]
        if self.queue[flow] < 0:
            self.queue[flow] = jobs.at[slot].queue
        jobs.at[slot].queue = self.queue[flow]
        jobs.at[slot].estimate = self.estimate.estimate(jobs, slot)
        return 0

    def key(self, jobs: JobTable, slot):
        flow: cython.Py_ssize_t = self.flow(jobs, slot)
        found: cython.longlong = self.order.key(jobs, slot)  # also a task's own person begins to count
        if flow < 0:
            return found
        kept: JobFields = jobs.at[slot]
        try:
            self.stand_in(jobs, slot, flow)
            found = self.order.key(jobs, slot)
        finally:
            jobs.at[slot] = kept
        return found

    def keys(self, jobs: JobTable, slots, now, keys):
        i: cython.Py_ssize_t
        flow: cython.Py_ssize_t
        kept: JobFields
        self.order.keys(jobs, slots, now, keys)
        if self.order.remembers:  # in `key` it was shown the workflow
            return 0
        self.asked += 1
        for i in range(len(slots)):
            flow = self.flow(jobs, slots[i])
            if flow < 0:
                continue
            if self.stamp[flow] == self.asked:
                keys[i] = self.known[flow]
                continue
            kept = jobs.at[slots[i]]
            try:
                self.stand_in(jobs, slots[i], flow)
                self.order.keys(jobs, slots[i : i + 1], now, keys[i : i + 1])
            finally:
                jobs.at[slots[i]] = kept
            self.stamp[flow] = self.asked
            self.known[flow] = keys[i]
        return 0

    def parts(self, jobs: JobTable, slot, now):
        flow: cython.Py_ssize_t = self.flow(jobs, slot)
        if flow < 0:
            return self.order.parts(jobs, slot, now)
        kept: JobFields = jobs.at[slot]
        try:
            self.stand_in(jobs, slot, flow)
            return self.order.parts(jobs, slot, now)
        finally:
            jobs.at[slot] = kept
