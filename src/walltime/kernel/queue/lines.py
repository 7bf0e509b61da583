"""Waiting jobs in several lines: one for each queue of the site, and one behind each limit that keeps jobs waiting."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.jobs import JobTable, QueuePosition
from walltime.kernel.ledger.interface import Ledger
from walltime.kernel.queue.choices import Choices
from walltime.kernel.queue.scan import ScanQueue
from walltime.kernel.queue.sorting import Sorter
from walltime.kernel.queue.waiting import OrderedQueue, Queue
from walltime.kernel.quotas import Quotas  # noqa: F401 - as in lines.pxd

NEVER = cython.declare(cython.longlong, _NEVER)
FEW = cython.declare(cython.Py_ssize_t, 8)  # so many go back to their queue's line when their limit moves

if not cython.compiled:
    OUTSIDE = QueuePosition.OUTSIDE


@cython.final
@cython.cclass
class Line:
    """Jobs in one order. With a counter they are those that it kept waiting when they were last looked at, and the
    least that any of them asks of it is known; the line is closed while it can admit none of them."""

    def __init__(self, queue: Queue, number, tier, tier_index, lane, node_set, local, counter, dynamic) -> None:
        self.queue = queue
        self.number = number
        self.tier = tier
        self.tier_index = tier_index  # of the tier, among the tiers
        self.lane = lane
        self.node_set = node_set
        self.local = local
        self.counter = counter
        self.dynamic = dynamic
        self.open = counter < 0
        self.renewed = -1  # the renewal that the keys of its jobs follow
        self.behind = {}  # of a lane: its jobs at a limit, by the counter
        self.cores = self.gpus = self.memory = self.work = NEVER
        self.sought = -1  # at how many moves no job was found in it, and within which bounds
        self.free = self.extra = self.window = self.longest = 0

    def is_barren(self, free, extra, window, longest):
        """Whether it is known that no job of it is within these bounds: it has the jobs that it had when none was
        within bounds that were no tighter."""
        return (
            self.sought == self.queue.moves
            and free <= self.free
            and extra <= self.extra
            and window <= self.window
            and longest <= self.longest
        )

    def set_barren(self, free, extra, window, longest):
        """No job of it is within these bounds."""
        self.sought = self.queue.moves
        self.free = free
        self.extra = extra
        self.window = window
        self.longest = longest
        return 0


@cython.cclass
class LineKeys:
    """Gives jobs new keys, where these change every so often: a line's when its order is asked for, as most lines are
    put aside by what their jobs ask for, and by limits, many times before one of their jobs can start."""

    def is_stale(self, line: Line):
        """Whether the jobs of the line have older keys than those of the last renewal."""
        raise NotImplementedError(f"{type(self).__name__}.is_stale")

    def renew(self, line: Line):
        """The jobs of the line have the keys of the last renewal."""
        raise NotImplementedError(f"{type(self).__name__}.renew")


@cython.final
@cython.cclass
class LinesQueue(Queue):
    """Lines merged by (tier, key, seq), jobs at a limit left out.

    A *lane* is a line for jobs of one tier, one order and one set of nodes, in which those stand that no limit refuses
    as far as is known. A job that is found to be refused goes to the limit line of that counter, a line of its own,
    which is looked at again only when the counter has gone down. So what waits at a limit costs nothing, and `head`,
    `next`, `find` and `ordered` tell only jobs that the limits admit at that moment; `head` and `next` also those that
    have been promised a start in this pass, which stands until its end. `size` counts the open lines, `parked` the
    closed ones. Jobs with a choice of queues are never parked: they are asked about each time. Where the lines do not
    `park`, none is, and `head` and `next` tell all jobs: the policy asks about limits itself.
    """

    def __init__(self, jobs: JobTable, ledger: Ledger, quotas, choices: Choices) -> None:
        Queue.__init__(self, jobs)
        self.ledger = ledger
        self.quotas = quotas
        self.choices = choices
        self.keys = None  # the domain that renews keys, where lines may have old ones
        self.parks = True
        self.parked = 0
        self.lines = []
        self.tiers = []
        self.crowd = integers(8)  # by tier: the jobs of its open lines, and how many of these lines are at a limit
        self.few = integers(FEW)
        self.lane_line = []  # by lane; None for one of another domain
        self.tier_of = integers(8)
        self.at_counter = []  # by counter, the lines of jobs that wait there
        self.dynamic = False
        self.opening = NEVER  # what `next_opening` said last
        self.passed = integers(8)  # by lane: whether its jobs are passed over in this pass
        self.passing = False
        self.limited = integers(8)  # where lines do not park: the jobs that have limits, in no order
        self.limited_size = 0
        self.limited_place = integers(8)  # by slot, in that list
        self.kept_by = integers(8)  # by slot, the counter that keeps the job waiting; -1: none
        self.looked = 0  # how often the quotas had counted when that was looked at
        self.choosers = {}  # the jobs here that have a choice of queues
        self.refused = []  # those of them that the limits kept out before something was given back

    def add_lane(self, lane, tier, node_set, local, dynamic) -> None:
        """A lane by its number, for jobs that need these nodes (-1: any), a single one of them where `local`; to be
        called in order of the tiers."""
        index: cython.Py_ssize_t = tier
        number: cython.Py_ssize_t = lane
        while number >= len(self.tier_of):
            self.tier_of = doubled(self.tier_of)
            self.passed = integers(2 * len(self.passed))
        self.tier_of[number] = index
        last: cython.Py_ssize_t = len(self.tiers) - 1
        if last < 0 or self.tiers[last][0].tier != tier:
            self.tiers.append([])
            last += 1
            if last == len(self.crowd):
                self.crowd = doubled(self.crowd)
        line = self.make(tier, last, lane, node_set, local, -1, dynamic)
        while len(self.lane_line) <= number:
            self.lane_line.append(None)
        self.lane_line[number] = line
        self.tiers[last].append(line)
        self.dynamic = self.dynamic or dynamic

    def make(self, tier, tier_index, lane, node_set, local, counter, dynamic):
        # at a limit jobs are sought by cores alone, also those that wait; and where a single node has to do, the most
        # that one has tells as much as parts would
        bounds = self.ledger if counter < 0 and not local else None
        size: cython.longlong = len(self.ledger.part_free) - 1 if local else self.ledger.size  # the most cores of a job
        queue: Queue = ScanQueue(self.jobs) if dynamic else OrderedQueue(self.jobs, size, bounds, node_set)
        queue.notes = False  # this one has them for all lines
        line = Line(queue, len(self.lines), tier, tier_index, lane, node_set, local, counter, dynamic)
        self.lines.append(line)
        return line

    # ---- in and out

    def push(self, slot):
        counter: cython.Py_ssize_t = self.refuser(slot) if self.parks and self.jobs.at[slot].choice < 0 else -1
        line: Line = self.home(self.jobs.at[slot].lane)
        if line.local and self.jobs.at[slot].cores >= len(self.ledger.part_free):
            raise ValueError(f"{self.jobs.at[slot].cores} cores on a single node")
        if counter >= 0:
            line = self.limit_line(line.lane, counter)
        self.stand(slot, line)
        if self.jobs.at[slot].choice >= 0:
            self.choosers[slot] = None
        if line.open:
            self.note(slot)
        if not self.parks and self.quotas is not None:
            self.begin_count(slot)
        return 0

    def stand(self, slot, line: Line):
        """The job goes to the line."""
        self.moves += 1
        line.queue.push(slot)
        self.jobs.at[slot].line = line.number
        if line.counter >= 0:
            if self.jobs.at[slot].cores < line.cores:
                line.cores = self.jobs.at[slot].cores
            if self.jobs.at[slot].gpus < line.gpus:
                line.gpus = self.jobs.at[slot].gpus
            if self.jobs.at[slot].memory < line.memory:
                line.memory = self.jobs.at[slot].memory
            if self.quotas.timed and self.quotas.work_of(slot) < line.work:
                line.work = self.quotas.work_of(slot)
        if line.open:
            self.size += 1
            self.crowd[line.tier_index] += 1
        else:
            self.parked += 1
            self.quotas.hold(line.counter, 1)
        return 0

    def remove(self, slot):
        line: Line
        if self.jobs.at[slot].position == OUTSIDE:
            raise KeyError(slot)
        line = self.line_of(slot)
        self.moves += 1
        if not self.parks and self.quotas is not None:
            self.end_count(slot)
        line.queue.remove(slot)
        if self.jobs.at[slot].choice >= 0:
            self.choosers.pop(slot, None)
        if line.open:
            self.size -= 1
            self.crowd[line.tier_index] -= 1
        else:
            self.parked -= 1
            self.quotas.hold(line.counter, -1)
        if line.counter >= 0 and line.queue.size == 0:
            line.cores = line.gpus = line.memory = line.work = NEVER
        return 0

    # ---- limits

    def refuser(self, slot):
        """The counter that does not let the job start now, or -1; of several queues to choose from one must let it."""
        k: cython.Py_ssize_t
        choice: cython.longlong = self.jobs.at[slot].choice
        found: cython.Py_ssize_t = -1
        counter: cython.Py_ssize_t
        if self.quotas is None:
            return -1
        if choice < 0:
            return self.quotas.refuser(slot)
        for k in range(self.choices.first[choice], self.choices.first[choice + 1]):
            counter = self.quotas.refuser_in(slot, k)
            if counter < 0:
                return -1
            if found < 0:
                found = counter
        return found

    def begin_count(self, slot):
        """The job has come: count for how long limits keep it waiting, if it has any."""
        while slot >= len(self.kept_by):
            self.kept_by = doubled(self.kept_by)
            self.limited_place = doubled(self.limited_place)
        self.kept_by[slot] = self.limited_place[slot] = -1
        if self.jobs.at[slot].rules < 0 and self.jobs.at[slot].choice < 0:
            return 0
        if self.limited_size == len(self.limited):
            self.limited = doubled(self.limited)
        self.limited[self.limited_size] = slot
        self.limited_place[slot] = self.limited_size
        self.limited_size += 1
        return self.look(slot)

    def end_count(self, slot):
        """The job waits no more."""
        place: cython.longlong = self.limited_place[slot]
        if place < 0:
            return 0
        if self.kept_by[slot] >= 0:
            self.quotas.hold(self.kept_by[slot], -1)
        self.limited_size -= 1
        self.limited[place] = self.limited[self.limited_size]
        self.limited_place[self.limited[place]] = place
        return 0

    def look(self, slot):
        """Which counter keeps the job waiting from now on."""
        pressing: cython.bint = self.quotas.pressing  # no policy has asked
        counter: cython.Py_ssize_t = self.refuser(slot)
        self.quotas.pressing = pressing
        if counter != self.kept_by[slot]:
            if self.kept_by[slot] >= 0:
                self.quotas.hold(self.kept_by[slot], -1)
            if counter >= 0:
                self.quotas.hold(counter, 1)
            self.kept_by[slot] = counter
        return 0

    def count_kept(self):
        """After a pass, where the lines do not park: which counters keep which jobs waiting from now on."""
        i: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        since: cython.longlong = self.looked
        if self.parks or self.quotas is None or (since == self.quotas.changes and not self.quotas.timed):
            return 0
        self.looked = self.quotas.changes
        for i in range(self.limited_size):
            slot = self.limited[i]
            if (
                self.quotas.timed
                or self.jobs.at[slot].choice >= 0
                or self.quotas.has_changed(self.jobs.at[slot].rules, since)
            ):
                self.look(slot)
        return 0

    def counted_as(self, slot):
        """The rules under which the job counts as submitted."""
        choice: cython.longlong = self.jobs.at[slot].choice
        return self.jobs.at[slot].rules if choice < 0 else self.choices.counted[choice]

    def lane_tier(self, lane) -> int:
        """The tier of a lane, for a watcher."""
        i: cython.Py_ssize_t = lane
        return self.tier_of[i]

    def home(self, lane):
        """The line of a lane's jobs that no limit refuses."""
        return cython.cast(Line, self.lane_line[lane])

    def line_of(self, slot):
        """The line in which the job stands."""
        return cython.cast(Line, self.lines[self.jobs.at[slot].line])

    def limit_line(self, lane, counter):
        """The line of a lane's jobs that wait at the counter."""
        home: Line = self.home(lane)
        line: Line = home.behind.get(counter)
        if line is None:
            line = self.make(home.tier, home.tier_index, lane, home.node_set, home.local, counter, home.dynamic)
            home.behind[counter] = line
            while len(self.at_counter) <= counter:
                self.at_counter.append([])
            self.at_counter[counter].append(line)
        return line

    def park(self, slot, counter):
        """The job was found to be refused: it waits at the counter."""
        line: Line = self.line_of(slot)
        if line.counter == counter or self.jobs.at[slot].choice >= 0 or not self.parks:
            return 0
        return self.change(slot, line, self.limit_line(line.lane, counter))

    def bring_home(self, slot):
        """A job that is promised a start stands in its lane, whatever a limit says until then."""
        line: Line = self.line_of(slot)
        return self.change(slot, line, self.home(line.lane)) if line.counter >= 0 else 0

    def change(self, slot, line: Line, other: Line):
        """The job goes from one line of its lane to another, with a key that is no older than those there."""
        if line.renewed < other.renewed:
            self.catch_up(line)
        self.remove(slot)
        return self.stand(slot, other)

    def catch_up(self, line: Line):
        """The order of the line is asked for."""
        if self.keys is not None:
            self.keys.renew(line)
        return 0

    def shut(self, line: Line):
        """Whether the counter can admit none of the jobs that wait there."""
        return not self.quotas.admits(line.counter, line.cores, line.gpus, line.memory, line.work)

    def close(self, line: Line):
        line.open = False
        self.moves += 1
        self.tiers[line.tier_index].remove(line)
        self.crowd[line.tier_index] -= line.queue.size + 1
        self.size -= line.queue.size
        self.parked += line.queue.size
        return self.quotas.hold(line.counter, line.queue.size)

    def open(self, line: Line):
        """The counter has gone down: look at its jobs again; whether one may be let in. A few are looked at at once."""
        home: Line = self.home(line.lane)
        i: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        counter: cython.Py_ssize_t
        opened: cython.bint = False
        if line.queue.size <= FEW:
            for i in range(line.queue.leading(FEW, self.few)):
                slot = self.few[i]
                counter = self.refuser(slot)
                if counter < 0:
                    self.change(slot, line, home)
                    opened = True
                else:
                    self.park(slot, counter)
            return opened
        line.open = True
        self.moves += 1
        self.tiers[line.tier_index].append(line)
        self.crowd[line.tier_index] += line.queue.size + 1
        self.size += line.queue.size
        self.parked -= line.queue.size
        self.quotas.hold(line.counter, -line.queue.size)
        return True

    def unpark(self, slot):
        """The job has given back what it counted for: open the limit lines that admit a job now; whether one was."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        c: cython.Py_ssize_t
        kind: cython.longlong = self.jobs.at[slot].rules
        lines: list
        line: Line
        opened: cython.bint = False
        if self.parked == 0 or kind < 0:
            return False
        for k in range(self.quotas.first[kind], self.quotas.first[kind + 1]):
            c = self.quotas.member[k]
            if self.quotas.at[c].held == 0 or c >= len(self.at_counter):  # those held may be another domain's
                continue
            lines = self.at_counter[c]
            for i in range(len(lines)):
                line = cython.cast(Line, lines[i])
                if not line.open and line.queue.size > 0 and not self.shut(line):
                    opened |= self.open(line)
        return opened

    def note_refused(self):
        """Something is about to be given back: note which jobs with a choice of queues the limits keep out of all."""
        slot: cython.Py_ssize_t
        if not self.choosers and not self.refused:
            return 0
        self.refused = []
        for slot in self.choosers:
            if self.refuser(slot) >= 0:
                self.refused.append(slot)
        return 0

    def lets_in(self):
        """Whether the limits admit one of those that were noted."""
        slot: cython.Py_ssize_t
        for slot in self.refused:  # noqa: SIM110 - a generator would be an object
            if self.refuser(slot) < 0:
                return True
        return False

    def refresh(self):
        """Time has gone by: limits on work may have room again without anything having happened; whether one had."""
        i: cython.Py_ssize_t
        line: Line
        opened: cython.bint = False
        if not self.parks and self.quotas is not None and self.opening <= self.quotas.now:
            self.opening = NEVER
            return True
        if self.parked > 0 and self.quotas.timed:
            for i in range(len(self.lines)):
                line = cython.cast(Line, self.lines[i])
                if line.counter >= 0 and not line.open and line.queue.size > 0 and not self.shut(line):
                    opened |= self.open(line)
        return opened

    def waits_for_time(self):
        """Whether a job may wait at a limit that the passing of time moves, and not at another cap of its counter; or
        may wait at none any more, which its line is told by the next pass."""
        i: cython.Py_ssize_t
        line: Line
        most: cython.longlong
        if self.parked == 0 or self.quotas is None or not self.quotas.timed:
            return False
        if len(self.choosers) > 0:  # which may wait at limits of several queues
            return True
        for i in range(len(self.lines)):
            line = cython.cast(Line, self.lines[i])
            if line.counter >= 0 and not line.open and line.queue.size > 0:
                most = self.quotas.at[line.counter].most_work
                if most < NEVER and (self.quotas.work(line.counter) > most - line.work or not self.shut(line)):
                    return True
        return False

    def next_opening(self):
        """When time alone will let in a job that waits at a limit on work, looked at before or not; NEVER where none
        does."""
        line: Line
        slot: cython.Py_ssize_t
        time: cython.longlong
        first: cython.longlong = NEVER
        if self.quotas is None or not self.quotas.timed:
            return NEVER
        for line in self.lines:
            for slot in line.queue.slots():
                time = self.opens(slot)
                if time < first:
                    first = time
        self.opening = first
        return first

    def opens(self, slot):
        """When time alone will let in this job, in one of its queues; NEVER where it does not, or where nothing
        refuses it."""
        k: cython.Py_ssize_t
        time: cython.longlong
        first: cython.longlong = NEVER
        choice: cython.longlong = self.jobs.at[slot].choice
        if choice < 0:
            return self.quotas.opens(slot)
        if self.refuser(slot) < 0:
            return NEVER
        for k in range(self.choices.first[choice], self.choices.first[choice + 1]):
            time = self.quotas.opens_in(slot, k)
            if time < first:
                first = time
        return first

    # ---- looking

    def tier(self, slot):
        return self.tier_of[self.jobs.at[slot].lane]

    def precedes(self, a, b):
        x: cython.longlong = self.tier(a)
        y: cython.longlong = self.tier(b)
        if x != y:
            return x < y
        return self.jobs.at[a].key < self.jobs.at[b].key or (
            self.jobs.at[a].key == self.jobs.at[b].key and self.jobs.at[a].seq < self.jobs.at[b].seq
        )

    def first_of(self, line: Line, after):
        """The first job of the line behind `after` (of this tier; -1: from the head) that the limits admit, or -1."""
        slot: cython.Py_ssize_t
        next: cython.Py_ssize_t
        counter: cython.Py_ssize_t
        if line.counter >= 0:
            return self.seek(line, self.ledger.size, self.ledger.size, NEVER, after, NEVER)
        self.catch_up(line)
        if after < 0:
            slot = line.queue.head()
        elif self.jobs.at[after].line == line.number and self.jobs.at[after].position != OUTSIDE:
            slot = line.queue.next(after)
        else:
            slot = line.queue.behind(after)
        while slot >= 0 and self.parks:
            counter = self.refuser(slot)
            if counter < 0 or self.jobs.at[slot].promise >= 0:
                return slot
            next = line.queue.next(slot)
            self.park(slot, counter)
            slot = next
        return slot

    def first_fitting(self, line: Line, after):
        """The same among those that pass the bounds which the ledger has been asked for, for the line's nodes."""
        return self.seek(
            line,
            self.ledger.most_free,
            self.ledger.most_extra,
            self.ledger.most_window,
            after,
            self.ledger.longest,
        )

    def seek(self, line: Line, free, extra, window, after, longest):
        """The same within bounds; of a limit line, only those that its counter has cores for."""
        room: cython.longlong
        slot: cython.Py_ssize_t
        next: cython.Py_ssize_t
        counter: cython.Py_ssize_t
        if line.counter >= 0:
            room = self.quotas.room(line.counter)
            if room < free:
                free = room
            if room < extra:
                extra = room
        if line.is_barren(free, extra, window, longest):
            return -1
        if self.keys is not None and self.keys.is_stale(line):
            if line.queue.find(free, extra, window, -1, longest) < 0:  # whatever its order
                return self.find_none(line, free, extra, window, longest)
            self.keys.renew(line)
        slot = line.queue.find(free, extra, window, after, longest)
        if slot < 0 and after < 0:
            return self.find_none(line, free, extra, window, longest)
        while slot >= 0:
            counter = self.refuser(slot)
            if counter < 0:
                return slot
            next = line.queue.find(free, extra, window, slot, longest)
            if self.jobs.at[slot].promise < 0:
                self.park(slot, counter)
            slot = next
        return -1

    def find_none(self, line: Line, free, extra, window, longest):
        """No job of the line is within these bounds: it remembers that where nothing else has kept its jobs out; -1."""
        if line.counter >= 0 or line.local or self.ledger.parts <= 1:
            line.set_barren(free, extra, window, longest)
        return -1

    def first(self, after, fitting):
        """The first job behind `after` (-1: of all) that the limits admit; where `fitting`, that passes the ledger's
        bounds too; -1 where there is none."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        tier: cython.Py_ssize_t
        from_here: cython.Py_ssize_t
        found: cython.Py_ssize_t
        best: cython.Py_ssize_t = -1
        node_set: cython.Py_ssize_t = -1
        focused: cython.int = -1  # whether the ledger's bounds are those of a single node of the set; -1: of no set yet
        lines: list
        line: Line
        start: cython.Py_ssize_t = self.tier_of[self.jobs.at[after].lane] if after >= 0 else -1
        if self.size == 0:
            return -1
        if after >= 0 and self.jobs.at[after].position != OUTSIDE:
            self.catch_up(self.line_of(after))
        for i in range(len(self.tiers)):
            if self.crowd[i] == 0:
                continue
            lines = self.tiers[i]
            tier = cython.cast(Line, lines[0]).tier
            if tier < start:
                continue
            from_here = after if tier == start else -1
            k = 0
            while k < len(lines):
                line = cython.cast(Line, lines[k])
                if self.passing and self.passed[line.lane]:
                    k += 1
                    continue
                if line.counter >= 0 and self.shut(line):
                    self.close(line)
                    continue
                found = -1
                if line.queue.size > 0 and not fitting:
                    found = self.first_of(line, from_here)
                elif line.queue.size > 0 and self.ledger.free > 0:
                    if focused < 0 or line.node_set != node_set or line.local != focused:
                        self.ledger.focus(line.node_set, line.local)
                        node_set = line.node_set
                        focused = line.local
                    found = self.first_fitting(line, from_here)
                if found >= 0 and (best < 0 or self.precedes(found, best)):
                    best = found
                k += 1
            if best >= 0:
                break
        return best

    def pass_over(self, lane):
        """No job of this lane is told any more, until `pass_none`."""
        self.passing = True
        self.passed[lane] = 1
        return 0

    def pass_none(self):
        if self.passing:
            self.passing = False
            self.passed[:] = 0
        return 0

    def ahead(self, slot):
        """Jobs that are passed over count too, those at a limit do not."""
        passing: cython.bint = self.passing
        first: cython.Py_ssize_t
        self.passing = False
        first = self.first(-1, False)
        while first >= 0 and not self.parks and self.refuser(first) >= 0 and self.precedes(first, slot):
            first = self.first(first, False)
        self.passing = passing
        return first >= 0 and self.precedes(first, slot)

    def head(self):
        return self.first(-1, False)

    def next(self, slot):
        return self.first(slot, False)

    def behind(self, slot):
        return self.first(slot, False)

    def find(self, free, extra, window, after, longest):
        """As the other queues', but by the bounds that the ledger has for each line's nodes; the arguments are not
        looked at."""
        return self.first(after, True)

    # ---- between passes

    def quiet(self, last):
        return not self.dynamic and Queue.quiet(self, last)

    def reorder(self):
        line: Line
        for line in self.lines:
            line.queue.reorder()
        self.shuffled = True
        self.moves += 1
        return 0

    def ordered(self):
        """Everything that waits here and that the limits admit, in order."""
        begin: cython.Py_ssize_t
        n: cython.Py_ssize_t = 0
        line: Line
        for lines in self.tiers:
            begin = n
            for line in list(lines):
                self.catch_up(line)
                n = self.write_admitted(line, n)
            if len(lines) > 1:
                self.sort_slots(begin, n)
        self.buffer[n] = -1
        return self.buffer

    def write_admitted(self, line: Line, n):
        """Put those of the line that the limits admit behind the first n of the buffer; how many there are then."""
        i: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        counter: cython.Py_ssize_t
        last: cython.Py_ssize_t = n
        slots: cython.longlong[::1] = line.queue.ordered()
        while slots[last - n] >= 0:
            if last + 1 == len(self.buffer):
                self.buffer = doubled(self.buffer)
            self.buffer[last] = slots[last - n]
            last += 1
        for i in range(n, last):
            slot = self.buffer[i]
            counter = self.refuser(slot)
            if counter < 0:
                self.buffer[n] = slot
                n += 1
            elif self.jobs.at[slot].promise < 0:
                self.park(slot, counter)
        return n

    def sort_slots(self, begin, end):
        """Put this part of the buffer in order: stretches of several lines."""
        i: cython.Py_ssize_t
        order: Sorter = self.sorter
        order.make_room(end - begin)
        for i in range(begin, end):
            order.keys[i - begin] = self.jobs.at[self.buffer[i]].key
            order.ties[i - begin] = self.jobs.at[self.buffer[i]].seq
            order.items[i - begin] = self.buffer[i]
        order.sort(end - begin)
        for i in range(begin, end):
            self.buffer[i] = order.items[i - begin]
        return 0
