"""Limits and quotas as counters: what is in use of each, and whether a job may start beside that."""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import aligned, doubled, integers
from walltime.kernel.jobs import JobTable
from walltime.kernel.queue.choices import Choices

NEVER = cython.declare(cython.longlong, _NEVER)
LARGEST = cython.declare(cython.longlong, 1 << 60)
MINUTE = cython.declare(cython.longlong, 60_000_000)

FIELDS = (
    "jobs",
    "cores",
    "gpus",
    "memory",
    "most_jobs",
    "most_cores",
    "most_gpus",
    "most_memory",
    "work",
    "work_time",
    "most_work",
    "submitted",
    "most_submitted",
    "held",
    "held_since",
    "held_time",
)
"""As in CounterFields of quotas.pxd, in its order."""


@cython.final
@cython.cclass
class Quotas:
    """Counters, each of an entity (a user, a group, a queue, ...) with its caps; and which of them a job counts at.

    A job counts at the counters of its set, `rules`: `define` gives a set of counters its number. `work` is the sum,
    over running jobs, of cores times the time that they may still run; it falls as time goes by. A job with a choice of
    queues asks for what `choices` tell of the queue in which it is.
    """

    def __init__(self, jobs: JobTable) -> None:
        self.jobs = jobs
        self.choices = Choices()
        self.now = 0
        self.size = 0
        self.timed = False
        self.pressing = False
        self.bounded = False
        self.titles = []
        self.kind_titles = []
        self.set_table(self.make_table(64))
        self.counter_sets = 0
        self.first = integers(64)
        self.member = integers(64)
        self.members = 0
        self.known = {}
        self.changes = 0
        self.changed = integers(64)
        self.newest = integers(64)
        self.asked = integers(64)

    # ---- making them

    def add(self, title, caps, kind=None) -> int:
        """A new counter; `caps` by the scenario's names, `title` for a person: `group atlas`, `kind` for one of many:
        `a group`."""
        c: cython.Py_ssize_t = self.size
        if c == len(self.at):
            larger = self.make_table(2 * len(self.table))
            larger[: len(self.table)] = self.table
            self.set_table(larger)
        self.titles.append(title)
        self.kind_titles.append(kind or title)
        self.at[c].most_jobs = caps.get("running_jobs", NEVER)
        self.at[c].most_cores = caps.get("running_cores", NEVER)
        self.at[c].most_gpus = caps.get("running_gpus", NEVER)
        self.at[c].most_memory = caps.get("running_memory", NEVER)
        self.at[c].most_work = caps.get("running_core_minutes", NEVER)
        self.at[c].most_submitted = caps.get("submitted_jobs", NEVER)
        if "running_core_minutes" in caps:
            self.at[c].most_work *= MINUTE
            self.timed = True
        self.bounded = self.bounded or "submitted_jobs" in caps
        self.size += 1
        while self.size > len(self.changed):
            self.changed = doubled(self.changed)
        return c

    def make_table(self, size):
        """So many rows of zeros; what is mostly asked of a counter is one line of the cache."""
        return aligned(size * len(FIELDS), 0).view([(name, np.int64) for name in FIELDS])

    def set_table(self, table):
        self.table = table if cython.compiled else table.view(np.recarray)
        self.at = self.table

    def define(self, counters) -> int:
        """The number of the set of these counters, in this order."""
        key = tuple(counters)
        if key not in self.known:
            self.known[key] = self.counter_sets
            while self.counter_sets + 2 > len(self.first):
                self.first = doubled(self.first)
                self.newest = doubled(self.newest)
                self.asked = doubled(self.asked)
            while self.members + len(key) > len(self.member):
                self.member = doubled(self.member)
            for c in key:
                self.member[self.members] = c
                self.members += 1
            self.counter_sets += 1
            self.first[self.counter_sets] = self.members
        return self.known[key]

    # ---- asking

    def work_of(self, slot):
        """Cores times the requested time, without what it has used of it before it was interrupted or suspended; beyond
        any cap where that is a number too large to count with."""
        cores: cython.longlong = self.jobs.at[slot].cores
        left: cython.longlong = max(self.jobs.at[slot].requested - self.jobs.at[slot].used, 0)
        return cores * left if left < LARGEST // cores else LARGEST

    def work(self, c):
        """The work in use at this moment."""
        return self.at[c].work - self.at[c].cores * (self.now - self.at[c].work_time)

    def admits(self, c, cores, gpus, memory, work):
        """Whether so much more is within the caps."""
        return (
            self.at[c].jobs < self.at[c].most_jobs
            and self.at[c].cores + cores <= self.at[c].most_cores
            and self.at[c].gpus + gpus <= self.at[c].most_gpus
            and self.at[c].memory + memory <= self.at[c].most_memory
            and (not self.timed or self.at[c].most_work >= NEVER or self.work(c) + work <= self.at[c].most_work)
        )

    def full(self, slot):
        """Whether a counter of the job has as many jobs as it may."""
        k: cython.Py_ssize_t
        counter_set: cython.longlong = self.jobs.at[slot].rules
        if counter_set < 0:
            return False
        for k in range(self.first[counter_set], self.first[counter_set + 1]):
            if self.at[self.member[k]].jobs >= self.at[self.member[k]].most_jobs:
                return True
        return False

    def gpus_of(self, slot):
        """GPUs that the job asks for in all, in the queue in which it is."""
        if self.jobs.at[slot].choice < 0:
            return self.jobs.at[slot].gpus
        return self.choices.gpus[self.choices.entry_of(self.jobs, slot)]

    def memory_of(self, slot):
        """The same of memory."""
        if self.jobs.at[slot].choice < 0:
            return self.jobs.at[slot].memory
        return self.choices.memory[self.choices.entry_of(self.jobs, slot)]

    def refuser(self, slot):
        """The first counter that does not let the job start now, or -1."""
        return self.refuser_as(slot, self.jobs.at[slot].rules, self.gpus_of(slot), self.memory_of(slot))

    def refuser_in(self, slot, entry):
        """The same for the job in that one of the queues that it may choose from."""
        return self.refuser_as(slot, self.choices.rules[entry], self.choices.gpus[entry], self.choices.memory[entry])

    def refuser_as(self, slot, counter_set, gpus, memory):
        """The same for the job as if it counted at this set and asked for so much."""
        k: cython.Py_ssize_t
        cores: cython.longlong = self.jobs.at[slot].cores
        work: cython.longlong = self.work_of(slot) if self.timed else 0
        if counter_set < 0:
            return -1
        for k in range(self.first[counter_set], self.first[counter_set + 1]):
            if not self.admits(self.member[k], cores, gpus, memory, work):
                self.pressing |= self.timed and self.work(self.member[k]) + work > self.at[self.member[k]].most_work
                return self.member[k]
        return -1

    def too_small(self, slot, counter_set):
        """The first counter whose caps the job exceeds alone, or -1."""
        k: cython.Py_ssize_t
        c: cython.Py_ssize_t
        cores: cython.longlong = self.jobs.at[slot].cores
        if counter_set < 0:
            return -1
        for k in range(self.first[counter_set], self.first[counter_set + 1]):
            c = self.member[k]
            if (
                cores > self.at[c].most_cores
                or self.jobs.at[slot].gpus > self.at[c].most_gpus
                or self.jobs.at[slot].memory > self.at[c].most_memory
                or (self.timed and self.at[c].most_work < NEVER and self.work_of(slot) > self.at[c].most_work)
            ):
                return c
        return -1

    def room(self, c):
        """Cores that the counter has left; none where it has no job left."""
        if self.at[c].jobs >= self.at[c].most_jobs:
            return 0
        return NEVER if self.at[c].most_cores >= NEVER else self.at[c].most_cores - self.at[c].cores

    def opens(self, slot):
        """When the passing of time alone will let the job in; NEVER where it does not, or where nothing refuses it."""
        return self.opens_as(slot, self.jobs.at[slot].rules, self.gpus_of(slot), self.memory_of(slot))

    def opens_in(self, slot, entry):
        """The same for the job in that one of the queues that it may choose from."""
        return self.opens_as(slot, self.choices.rules[entry], self.choices.gpus[entry], self.choices.memory[entry])

    def opens_as(self, slot, counter_set, gpus, memory):
        """The same for the job as if it counted at this set and asked for so much."""
        k: cython.Py_ssize_t
        c: cython.Py_ssize_t
        cores: cython.longlong = self.jobs.at[slot].cores
        work: cython.longlong = self.work_of(slot)
        over: cython.longlong
        last: cython.longlong = -1
        if counter_set < 0:
            return NEVER
        for k in range(self.first[counter_set], self.first[counter_set + 1]):
            c = self.member[k]
            if self.admits(c, cores, gpus, memory, work):
                continue
            over = self.work(c) + work - self.at[c].most_work
            if self.at[c].cores <= 0 or not self.admits(c, cores, gpus, memory, work - over):
                return NEVER
            last = max(last, self.now + (over + self.at[c].cores - 1) // self.at[c].cores)
        return NEVER if last < 0 else last

    def lets_in(self, slot, running):
        """From when on the counters of the job will let it in if the jobs that run, listed by their expected ends, end
        then, and no other starts; NEVER where they will not."""
        k: cython.Py_ssize_t
        counter_set: cython.longlong = self.jobs.at[slot].rules
        last: cython.longlong = self.now
        if counter_set < 0:
            return last
        for k in range(self.first[counter_set], self.first[counter_set + 1]):
            last = max(last, self.has_room(self.member[k], slot, running))
        return last

    def has_room(self, c, slot, running):
        """The same of one counter. Its work shrinks while jobs run, by their cores."""
        s: cython.Py_ssize_t
        time: cython.longlong = self.now
        end: cython.longlong
        work: cython.longlong = self.work_of(slot) if self.at[c].most_work < NEVER else 0
        kept = self.at[c]
        found: cython.longlong = NEVER
        for s in [*running, -1]:
            if s >= 0 and not self.counts(s, c):
                continue
            end = NEVER if s < 0 else max(self.jobs.at[s].expected_end, time)
            found = self.admits_until(c, slot, work, time, end)
            if found < NEVER or s < 0:
                break
            self.at[c].work = max(self.at[c].work - self.at[c].cores * (end - self.at[c].work_time), 0)
            self.at[c].work_time = end
            self.at[c].jobs -= 1
            self.at[c].cores -= self.jobs.at[s].cores
            self.at[c].gpus -= self.gpus_of(s)
            self.at[c].memory -= self.memory_of(s)
            time = end
        self.at[c] = kept
        return found

    def admits_until(self, c, slot, work, time, end):
        """When the counter lets the job in between two times, with nothing else happening; NEVER where it does not."""
        now: cython.longlong = self.now
        over: cython.longlong
        self.now = time
        over = self.work(c) + work - self.at[c].most_work if self.at[c].most_work < NEVER else 0
        if over > 0 and self.at[c].cores > 0:
            self.now = time + (over + self.at[c].cores - 1) // self.at[c].cores
        time = self.now
        if time > end or not self.admits(c, self.jobs.at[slot].cores, self.gpus_of(slot), self.memory_of(slot), work):
            time = NEVER
        self.now = now
        return time

    def counts(self, slot, c):
        """Whether the job counts there."""
        k: cython.Py_ssize_t
        counter_set: cython.longlong = self.jobs.at[slot].rules
        if counter_set >= 0:
            for k in range(self.first[counter_set], self.first[counter_set + 1]):
                if self.member[k] == c:
                    return True
        return False

    # ---- counting

    def set_time(self, now):
        """The clock moved."""
        self.now = now
        return 0

    def take(self, slot):
        """The job starts."""
        return self.count(slot, 1)

    def give(self, slot):
        """The job no longer runs."""
        return self.count(slot, -1)

    def count(self, slot, sign):
        """So much more (1) or less (-1) is in use, as the job has."""
        k: cython.Py_ssize_t
        c: cython.Py_ssize_t
        counter_set: cython.longlong = self.jobs.at[slot].rules
        cores: cython.longlong = self.jobs.at[slot].cores
        gpus: cython.longlong
        memory: cython.longlong
        left: cython.longlong = 0
        if counter_set < 0:
            return 0
        gpus = self.gpus_of(slot)
        memory = self.memory_of(slot)
        if self.timed:
            left = max(self.jobs.at[slot].requested - self.jobs.at[slot].used, 0)
        self.changes += 1
        for k in range(self.first[counter_set], self.first[counter_set + 1]):
            c = self.member[k]
            self.changed[c] = self.changes
            if self.timed and self.at[c].most_work < NEVER:
                self.at[c].work = self.work(c) + sign * cores * left
                self.at[c].work_time = self.now
            self.at[c].jobs += sign
            self.at[c].cores += sign * cores
            self.at[c].gpus += sign * gpus
            self.at[c].memory += sign * memory
        return 0

    def has_changed(self, counter_set, since):
        """Whether jobs have started or ended since so many changes that count where those of this set do."""
        k: cython.Py_ssize_t
        if self.asked[counter_set] != self.changes:
            self.asked[counter_set] = self.changes
            for k in range(self.first[counter_set], self.first[counter_set + 1]):
                self.newest[counter_set] = max(self.newest[counter_set], self.changed[self.member[k]])
        return self.newest[counter_set] > since

    def submit(self, counter_set):
        """A job enters the system: the first counter that has too many already, or -1 and it is counted."""
        k: cython.Py_ssize_t
        if counter_set < 0 or not self.bounded:
            return -1
        for k in range(self.first[counter_set], self.first[counter_set + 1]):
            if self.at[self.member[k]].submitted >= self.at[self.member[k]].most_submitted:
                return self.member[k]
        for k in range(self.first[counter_set], self.first[counter_set + 1]):
            self.at[self.member[k]].submitted += 1
        return -1

    def leave(self, counter_set):
        """A job, which was counted, leaves the system. Where no counter bounds how many there are, none is counted; a
        counter that is made later with a bound has had none of those before it."""
        k: cython.Py_ssize_t
        if counter_set < 0 or not self.bounded:
            return 0
        for k in range(self.first[counter_set], self.first[counter_set + 1]):
            self.at[self.member[k]].submitted -= 1
        return 0

    def hold(self, c, change):
        """So many more (or fewer) jobs are kept waiting by the counter."""
        self.at[c].held_time += self.at[c].held * (self.now - self.at[c].held_since)
        self.at[c].held_since = self.now
        self.at[c].held += change
        return 0

    # ---- for a person

    def why(self, c, slot) -> str:
        """In words, why the counter refuses the job."""
        i: cython.Py_ssize_t = slot
        title = self.titles[c]
        gpus, memory = self.asked_at(c, slot)
        asked = {"jobs": 1, "cores": int(self.jobs.table["cores"][i]), "gpus": gpus, "memory": memory}
        for quantity, needs in asked.items():
            most = int(self.table[f"most_{quantity}"][c])
            used = int(self.table[quantity][c])
            if used + needs > most:
                return self.tell(title, quantity, used, most, needs)
        n: cython.Py_ssize_t = c
        minutes = MINUTE
        return (
            f"{title} has {self.work(n) // minutes:,} of {self.at[n].most_work // minutes:,} core-minutes running, "
            f"and it needs {self.work_of(i) // minutes:,}"
        )

    def asked_at(self, c, slot) -> tuple:
        """GPUs and memory that the job asks for, of several queues in the first where it counts at the counter."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t = slot
        choice: cython.longlong = self.jobs.at[i].choice
        counter_set: cython.longlong
        if choice >= 0:
            for k in range(self.choices.first[choice], self.choices.first[choice + 1]):
                counter_set = self.choices.rules[k]
                if counter_set >= 0 and c in self.member[self.first[counter_set] : self.first[counter_set + 1]]:
                    return int(self.choices.gpus[k]), int(self.choices.memory[k])
        return int(self.gpus_of(i)), int(self.memory_of(i))

    def tell(self, title, quantity, used, most, needs) -> str:
        unit = {"gpus": "GPUs", "memory": "bytes of memory"}.get(quantity, quantity)
        if used >= most:
            return f"{title} is at its quota, {used:,} of {most:,} {unit}"
        return f"it needs {needs:,} {unit}, and {title} has {most - used:,} left ({used:,} of {most:,})"

    def too_many(self, c) -> str:
        """Why a job that is one too many in the system is rejected."""
        most = f"{self.at[c].most_submitted:,}"
        return f"{self.kind_titles[c]} has {most} of {most} jobs in the system"

    def beyond(self, c) -> str:
        """Why a job that exceeds a cap alone is rejected."""
        return f"more than {self.kind_titles[c]} may have at once"

    def account(self) -> list:
        """Every counter that kept jobs waiting, and for how many job-microseconds, as far as they were looked at."""
        out = []
        for c in range(self.size):
            self.hold(c, 0)
            if self.at[c].held_time > 0:
                out.append((self.titles[c], int(self.at[c].held_time)))
        return out
