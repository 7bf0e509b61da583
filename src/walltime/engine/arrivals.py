"""Jobs of a workload arrive at their submission times, from a table or from a stream of tables."""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.errors import InputError
from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND
from walltime.core.workload import COLUMNS, Workload
from walltime.engine.loop import Simulation
from walltime.engine.sources import Cancellations, Expiries
from walltime.kernel.jobs import JobTable
from walltime.kernel.source import Engine, Source
from walltime.policy.users import GAVE_UP
from walltime.rules.site import refuse_unknown_reservations

NEVER = cython.declare(cython.longlong, _NEVER)

SOON = cython.declare(cython.int, 8)  # cache lines ahead, of eight jobs each, in which the columns are fetched

if not cython.compiled:
    from walltime.kernel.prefetch import prefetch_line

OPTIONAL = (
    "priority",
    "nodes",
    "cores_per_node",
    "deadline",
    "begin",
    "cancel",
    "patience",
    "user",
    "group",
    "account",
    "queue",
    "qos",
)
"""What a job may have besides its times and its cores, and the engine asks for."""
LABELS = ("user", "group", "account", "queue", "qos", "profile")


@cython.cclass
class Arrivals(Source):
    """`workloads` is an iterable of Workloads in order of submission; one batch is open at a time.

    `batches` keeps what the result needs of each; `codes` maps the names of each label column to the numbers that the
    job table uses, the same over all batches. `site` has the rules of the only cluster, `admission` those of several.
    Users who withdraw their jobs, or give up waiting, are sources of their own. `live_jobs` were submitted in the run.
    """

    def __init__(self, workloads, site=None, admission=None) -> None:
        Source.__init__(self)
        self.site = site
        self.admission = admission
        self.ruled = site is not None
        self.lined = site is not None and site.lined
        self.stream = iter(workloads)
        self.batches = []
        self.codes = {name: {} for name in LABELS}
        self.i = self.n = 0
        self.first_row = 0
        self.last = 0
        self.cancellations = Cancellations()
        self.impatience = Expiries(GAVE_UP)
        self.live_jobs = []
        self.asked = None  # the open batch as it was before the rules put its jobs into queues
        self.gives_up = -1  # when the user of the next job does so, where the workload does not tell

    def attach(self, engine: Engine):
        self.engine = engine
        return self.load()

    def load(self):
        """Open the next batch that has jobs."""
        self.first_row += self.n
        self.i = self.n = 0
        self.next = NEVER
        for batch in self.stream:
            if len(batch) == 0:
                continue
            if batch.columns["submit"][0] < self.last:
                raise InputError("a stream of jobs is not in order of submission", value=batch.source or None)
            batch = self.recode(batch)
            self.asked = batch
            if self.site is not None:
                ruled = self.site.apply(batch, brief=True)
                batch = ruled.batch
                self.take_rules(ruled)
            elif self.admission is None:
                refuse_unknown_reservations(batch, [])
            if self.admission is not None:
                self.admission.add(batch)
            self.batches.append(batch)
            self.n = len(batch)
            self.job_id = batch.column("job_id")
            self.submit = batch.column("submit")
            self.run_time = batch.column("run_time")
            self.requested = batch.column("requested_time")
            self.cores = batch.column("cores")
            self.priority = batch.column("priority") if batch.has("priority") else None
            self.nodes = batch.column("nodes") if batch.has("nodes") else None
            self.per_node = batch.column("cores_per_node") if batch.has("cores_per_node") else None
            self.deadline = batch.column("deadline") if batch.has("deadline") else None
            self.begin = batch.column("begin") if batch.has("begin") else None
            self.cancel = batch.column("cancel") if batch.has("cancel") else None
            self.patience = batch.column("patience") if batch.has("patience") else None
            self.user = batch.column("user") if batch.has("user") else None
            self.group = batch.column("group") if batch.has("group") else None
            self.account = batch.column("account") if batch.has("account") else None
            self.queue = batch.column("queue") if batch.has("queue") else None
            self.qos = batch.column("qos") if batch.has("qos") else None
            self.bare = not any(batch.has(name) for name in OPTIONAL)
            if self.ruled and self.more:
                self.bare = False
            self.next = self.submit[0]
            self.last = self.submit[self.n - 1]
            break
        return 0

    def take_rules(self, ruled):
        self.lane = ruled.lane
        self.domain = ruled.domain
        self.ruled_queue = ruled.queue
        self.rules = ruled.rules
        self.shape = ruled.shape
        self.choice = ruled.choice
        self.more = ruled.more
        self.plain = not self.more or (not ruled.memory.any() and not ruled.gpus.any())
        self.memory = ruled.memory
        self.gpus = ruled.gpus
        self.refused = ruled.refused
        return 0

    def describe(self, jobs: JobTable, slot, i):
        """What the rules make of the batch's i-th job."""
        jobs.at[slot].shape = self.shape[i]
        if not self.lined and self.plain:
            return 0
        jobs.at[slot].lane = self.lane[i]
        jobs.at[slot].domain = self.domain[i]
        jobs.at[slot].queue = self.ruled_queue[i]
        jobs.at[slot].rules = self.rules[i]
        jobs.at[slot].choice = self.choice[i]
        jobs.at[slot].memory = self.memory[i]
        jobs.at[slot].gpus = self.gpus[i]
        return 0

    def submit_live(self, description, row=-1):
        """A job that is submitted now, by its columns, and `cluster` where its user chooses one; its slot. It takes the
        place of a `row`, if one is told."""
        sim: Simulation = self.engine
        jobs: JobTable = sim.jobs
        now: cython.longlong = sim.now
        slot: cython.Py_ssize_t
        for name in ("dependencies", "array"):
            if description.get(name):
                raise InputError(f"a job that is submitted during the run cannot have {name}", value=description[name])
        cluster = description.pop("cluster", None)
        run: cython.longlong = description.get("run_time", -1)
        slot = jobs.enter(now, run, description["requested_time"], description.get("cores", 1))
        self.live_jobs.append(description)
        jobs.at[slot].row = -len(self.live_jobs)
        jobs.at[slot].job_id = description.setdefault("job_id", jobs.entered)
        description["submit"] = now
        jobs.at[slot].priority = description.get("priority", 0)
        if row >= 0:
            self.resemble(slot, row)
            jobs.at[slot].deadline = description.get("deadline", -1)
            jobs.at[slot].nodes = description.get("nodes", -1)
            jobs.at[slot].per_node = description.get("cores_per_node", -1)
        if self.site is not None or self.admission is not None:
            reason = self.describe_live(slot, description, cluster)
            if reason is not None:
                sim.reject(slot, reason)
                return slot
        if description.get("patience", -1) >= 0:
            self.impatience.plan(slot, now + description["patience"])
        self.cancellations.tell(description.get("cancel", -1))
        sim.enter(slot, description.get("begin", -1))
        return slot

    def resemble(self, slot, row):
        """The job has of the row what a plain cluster looks at, and the description does not change."""
        jobs: JobTable = self.engine.jobs
        if self.user is not None:
            jobs.at[slot].user = self.user[row]
        if self.group is not None:
            jobs.at[slot].group = self.group[row]
        if self.account is not None:
            jobs.at[slot].account = self.account[row]
        if self.qos is not None:
            jobs.at[slot].qos = self.qos[row]
        return 0

    def describe_live(self, slot, description, cluster=None):
        """What the rules make of a job that is submitted now, by its columns, to a cluster if its user chooses one; why
        they turn it away, or None."""
        jobs: JobTable = self.engine.jobs
        i: cython.Py_ssize_t = slot
        columns = {"run_time": [None]}
        for name, value in description.items():
            columns[name] = [value / SECOND if COLUMNS[name].kind == "time" and value is not None else value]
        batch = self.recode(Workload.from_columns(**columns))
        for kind in ("user", "group", "account", "qos"):
            jobs.table[kind][i] = batch.column(kind)[0]
        if self.admission is not None:
            self.admission.add_live(jobs.table["row"][i], batch, cluster)
        if self.site is None:
            return None
        ruled = self.site.apply(batch, brief=True)
        jobs.table["shape"][i] = ruled.shape[0]
        if not ruled.more:
            return None
        for field in ("lane", "domain", "queue", "rules", "choice", "memory", "gpus"):
            jobs.table[field][i] = getattr(ruled, field)[0]
        if ruled.batch.column("queue")[0] >= 0:
            description["queue"] = ruled.batch.label_names("queue")[int(ruled.batch.column("queue")[0])]
        return self.site.reasons[int(ruled.refused[0])] if ruled.refused[0] >= 0 else None

    def recode(self, batch: Workload) -> Workload:
        """The batch with labels numbered as in `codes`."""
        columns = dict(batch.columns)
        labels = dict(batch.labels)
        for name in LABELS:
            if name not in columns:
                continue
            codes = self.codes[name]
            numbers = [codes.setdefault(label, len(codes)) for label in batch.label_names(name)]
            if numbers != list(range(len(numbers))):
                columns[name] = np.array([*numbers, -1], np.int32)[columns[name]]
            labels[name] = list(codes)
        return batch.replace(columns, labels=labels)

    def fetch(self):
        """Have the columns of jobs that come soon on their way to the cache: too much else is read in between for the
        machine to see by itself that they will be wanted."""
        i: cython.Py_ssize_t = self.i
        prefetch_line(cython.address(self.submit[i]), SOON)
        prefetch_line(cython.address(self.run_time[i]), SOON)
        prefetch_line(cython.address(self.requested[i]), SOON)
        prefetch_line(cython.address(self.cores[i]), SOON)
        prefetch_line(cython.address(self.job_id[i]), SOON)
        if self.ruled:
            prefetch_line(cython.address(self.shape[i]), SOON)
        return 0

    def fire(self, now):
        sim: Simulation = self.engine
        while self.next <= now:
            if self.i & 7 == 0:
                self.fetch()
            self.enter(self.i, self.submit[self.i])
            self.i += 1
            if self.i < self.n:
                self.next = self.submit[self.i]
            else:
                self.load()
            if sim.per_event:
                break
        return 0

    @cython.final
    def enter(self, i, time):
        """The batch's i-th job is submitted, at `time`; its own times keep their distance from the submission."""
        sim: Simulation = self.engine
        jobs: JobTable = sim.jobs
        later: cython.longlong
        slot: cython.Py_ssize_t = jobs.enter(time, self.run_time[i], self.requested[i], self.cores[i])
        jobs.at[slot].row = self.first_row + i
        jobs.at[slot].job_id = self.job_id[i]
        if self.bare and self.gives_up < 0:
            if self.ruled:
                jobs.at[slot].shape = self.shape[i]
            return sim.enter(slot, -1)
        later = time - self.submit[i]
        if self.user is not None:
            jobs.at[slot].user = self.user[i]
        if self.group is not None:
            jobs.at[slot].group = self.group[i]
        if self.account is not None:
            jobs.at[slot].account = self.account[i]
        if self.queue is not None:
            jobs.at[slot].queue = self.queue[i]
        if self.priority is not None:
            jobs.at[slot].priority = self.priority[i]
        if self.nodes is not None:
            jobs.at[slot].nodes = self.nodes[i]
        if self.per_node is not None:
            jobs.at[slot].per_node = self.per_node[i]
        if self.deadline is not None:
            jobs.at[slot].deadline = shifted(self.deadline, i, later)
        if self.qos is not None:
            jobs.at[slot].qos = self.qos[i]
        if self.gives_up >= 0:
            self.impatience.plan(slot, time + self.gives_up)
        elif self.patience is not None and self.patience[i] >= 0:
            self.impatience.plan(slot, time + self.patience[i])
        if self.ruled:
            self.describe(jobs, slot, i)
        if self.ruled and self.more and self.refused[i] >= 0:
            sim.reject(slot, self.site.reasons[self.refused[i]])
        else:
            if self.cancel is not None:
                self.cancellations.tell(shifted(self.cancel, i, later))
            sim.enter(slot, -1 if self.begin is None else shifted(self.begin, i, later))
        return 0

    def submissions(self):
        """When each row of the workload was submitted, -1 where it was not; None: as the workload says."""
        return None


def shifted(times, i, later):
    """The i-th of some times, so much later; a negative number where there is none."""
    if times is None:
        return -1
    return times[i] + later if times[i] >= 0 else times[i]
