"""A compiled scanner over the lines of `sacct --parsable2`: splits them into fields, applies the rules, fills columns.

It knows nothing of files and headers: `sacct.py` tells it which column has which role, feeds it blocks of complete
lines and takes batches of columns from it. Fields and C signatures are declared in scan.pxd.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.errors import InputError
from walltime.core.time import SECOND
from walltime.core.workload import UNLIMITED
from walltime.workload.formats.sacct.fields import Fields, RecordVerdict, Role, parse_licences, read_licences

if not cython.compiled:
    # fmt: off
    (
        JOB, JOB_RAW, USER, GROUP, ACCOUNT, PARTITION, QOS, SUBMIT, ELIGIBLE, START, END, ELAPSED, ELAPSED_RAW,
        LIMIT, LIMIT_RAW, STATE, ALLOCATED_CPUS, REQUESTED_CPUS, ALLOCATED_NODES, REQUESTED_NODES, MEMORY,
        REQUESTED_TRES, ALLOCATED_TRES, REQUESTED_GRES, ALLOCATED_GRES,
    ) = Role
    (
        BAD, UNKNOWN, PENDING, RUNNING, PARTIAL, NO_SUBMIT, NO_RUN, NO_CORES, NO_LIMIT, ARRAY, MALFORMED, ENDED,
        CANCELLED,
    ) = RecordVerdict
    # fmt: on

REASONS = (
    "still pending",
    "still running",
    "requeued or resized (another record counts)",
    "submit time unknown",
    "run time unknown or zero",
    "cores unknown or zero",
    "cancelled before its start, without a time limit or an end",
    "tasks of an array that never started",
    "malformed line",
)
"""Why a record is dropped, in the order of RecordVerdict."""

_TIMES_AND_INTEGERS = ("job_id", "submit", "run_time", "requested_time", "cores", "nodes", "memory", "gpus",
                       "begin", "cancel", "recorded_wait")  # fmt: skip
_LABELS = ("user", "group", "account", "queue", "qos", "licences")
_REQUIRED = ("job_id", "submit", "run_time", "cores")
_SECOND = cython.declare(cython.longlong, 1_000_000)
_A_YEAR = cython.declare(cython.longlong, UNLIMITED // SECOND)
_SHOWN = 20  # malformed lines that are told one by one


@cython.cclass
class Scanner(Fields):
    """Lines to columns, `capacity` jobs at a time; lines that cannot be read are dropped, counted and told.

    Times are on the clock that begins at the first job's local midnight, `zero`.
    """

    def __init__(self, file, capacity, delimiter, roles, free_text, texts_apart, offset, ordered_only=False) -> None:
        i: cython.int
        Fields.__init__(self, delimiter, roles, free_text, texts_apart, offset)
        self.file = file
        self.capacity = capacity
        self.ordered_only = ordered_only
        self.line = 1
        self.records = 0
        self.steps = 0
        self.in_order = True
        self.problems = []
        self.zero = -1
        self.previous_submit = 0
        self.codes = [{} for _ in _LABELS]
        self.names = [[] for _ in _LABELS]
        for i in range(6):
            self.label_length[i] = -1
        self.dropped_at = [[] for _ in REASONS]
        self.reset_counts()
        self.allocate()

    def allocate(self):
        """New columns; those handed out by `take` belong to their new owner."""
        arrays = {name: np.empty(self.capacity, np.int64) for name in _TIMES_AND_INTEGERS}
        arrays.update({name: np.empty(self.capacity, np.intc) for name in _LABELS})
        self.arrays = arrays
        self.texts = []
        self.named = False
        self.rows = 0
        self.job_id = arrays["job_id"]
        self.submit = arrays["submit"]
        self.run_time = arrays["run_time"]
        self.requested_time = arrays["requested_time"]
        self.cores = arrays["cores"]
        self.nodes = arrays["nodes"]
        self.memory = arrays["memory"]
        self.gpus = arrays["gpus"]
        self.begin = arrays["begin"]
        self.cancel = arrays["cancel"]
        self.recorded_wait = arrays["recorded_wait"]
        self.user = arrays["user"]
        self.group = arrays["group"]
        self.account = arrays["account"]
        self.queue = arrays["queue"]
        self.qos = arrays["qos"]
        self.licences = arrays["licences"]
        return 0

    def reset_counts(self):
        i: cython.int
        for i in range(16):
            self.dropped[i] = 0
        self.batch_records = 0
        self.batch_steps = 0
        self.overlong = 0
        self.missing_request = 0
        self.delayed = 0
        self.delimiters_in_text = 0
        return 0

    def scan(self, data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t):
        """Reads the lines in data[start:end], whose last byte is a newline; returns where it stopped.

        Stops before `end` only where the columns have no room left: `take`, then go on from there.
        """
        view: cython.const[cython.uchar][::1] = data
        self.block = data  # slices of bytes are cheaper than slices of views
        at: cython.Py_ssize_t = start
        begin: cython.Py_ssize_t
        i: cython.int
        for i in range(6):
            self.label_length[i] = -1  # positions mean nothing in another block
        while at < end:
            if self.rows == self.capacity:
                return at
            begin = at
            if view[at] == 10 or (view[at] == 13 and view[at + 1] == 10):
                at += 1 if view[at] == 10 else 2
            else:
                at = self.split(view, at)
                if at < 0:  # a step: its job has a record of its own
                    at = begin
                    while view[at] != 10:
                        at += 1
                    at += 1
                    self.steps += 1
                    self.batch_steps += 1
                else:
                    self.keep(view, begin)
            self.line += 1
        return end

    def keep(self, data, begin):
        """Stores, or drops and counts, the record whose fields were just found."""
        state: cython.int
        submit: cython.longlong
        run: cython.longlong
        self.records += 1
        self.batch_records += 1
        if self.first[JOB] < 0:  # `split` says so that the line has another number of fields
            apart = ", and where its texts end cannot be told" if self.texts_apart is not None else ""
            self.tell(data, begin, f"the line has {-self.first[JOB]} fields, the header {self.columns}{apart}", -1)
            return 0
        state = self.read_state(data)
        if state < 10:
            return self.drop(state, self.read_time(data, SUBMIT))
        submit = self.read_time(data, SUBMIT)
        run = self.read_span(data, ELAPSED_RAW if self.present[ELAPSED_RAW] else ELAPSED)
        if run == UNKNOWN and self.present[START] and self.present[END]:
            start = self.read_time(data, START)
            end = self.read_time(data, END)
            if start > 0 and end >= start:
                run = end - start
        if submit == BAD or run == BAD:
            self.tell(data, begin, "a time cannot be read", submit)
            return 0
        if submit < 0:
            return self.drop(NO_SUBMIT, -1)
        if state == ENDED and run <= 0:
            return self.drop(NO_RUN, submit)
        return self.store(data, begin, state, submit, run)

    def drop(self, reason, submit):
        """Counts a record as left out, and keeps its submission (below 0: not known) where the whole log is read."""
        self.dropped[reason] += 1
        if not self.ordered_only:
            self.dropped_at[reason].append(submit)
        return 0

    def tell(self, data, begin, problem, submit):
        """Counts a malformed line, and remembers the first ones with their place."""
        end: cython.Py_ssize_t = begin
        self.drop(MALFORMED, submit)
        if len(self.problems) < _SHOWN:
            while data[end] != 10 and end < begin + 60:
                end += 1
            text = self.block[begin:end].decode("utf-8", "replace")
            self.problems.append((self.line, problem, text))
        return 0

    def store(self, data, begin, state, submit, run):
        """The rest of a record that is worth it."""
        row: cython.Py_ssize_t = self.rows
        cores: cython.longlong = self.read_cores(data)
        nodes: cython.longlong = self.read_whole(data, ALLOCATED_NODES)
        limit: cython.longlong = self.read_limit(data)
        start: cython.longlong = self.read_time(data, START)
        eligible: cython.longlong = self.read_time(data, ELIGIBLE)
        end: cython.longlong = -1
        job: cython.longlong = self.read_id(data)
        withdrawn: cython.bint = state == CANCELLED and run <= 0
        if nodes <= 0:
            nodes = self.read_whole(data, REQUESTED_NODES)
        if job == BAD or cores == BAD or limit == BAD or nodes == BAD:
            self.tell(data, begin, "a field cannot be read", submit)
            return 0
        if job == -1:
            return self.drop(ARRAY, submit)
        if cores <= 0:
            return self.drop(NO_CORES, submit)
        if withdrawn:
            end = self.read_time(data, END)
            if limit < 0 or end < submit:
                return self.drop(NO_LIMIT, submit)
            start = -1
        if self.zero < 0:
            shift: cython.longlong = self.offset(submit // 900)
            self.zero = (submit + shift) // 86400 * 86400 - shift
        if submit * _SECOND < self.previous_submit:
            self.in_order = False
            if self.ordered_only:
                raise InputError(
                    "this job is submitted before the one above it; a log that is not in order of submission "
                    "cannot be streamed, only read as a whole",
                    file=self.file,
                    line=self.line,
                )
        self.previous_submit = submit * _SECOND
        if 0 < start < submit <= start + 3600:
            start += 3600  # the hour that a clock shows twice in autumn
        if limit >= _A_YEAR and run > limit:
            limit = run
        if limit < 0:
            self.missing_request += 1
        elif run > limit:
            self.overlong += 1
        self.keep_name()
        self.job_id[row] = job
        self.submit[row] = submit
        self.run_time[row] = -1 if withdrawn else run * _SECOND
        self.requested_time[row] = limit * _SECOND if limit > 0 else -1
        self.cores[row] = cores
        self.nodes[row] = nodes if 0 < nodes <= cores else -1
        self.memory[row] = self.read_memory(data, cores, nodes)
        self.gpus[row] = self.read_gpus(data)
        self.begin[row] = eligible if eligible > submit else -1
        self.delayed += eligible > submit
        self.cancel[row] = end
        self.recorded_wait[row] = (start - submit) * _SECOND if start >= submit else -1
        self.user[row] = self.encode(data, 0, USER)
        self.group[row] = self.encode(data, 1, GROUP)
        self.account[row] = self.encode(data, 2, ACCOUNT)
        self.queue[row] = self.encode(data, 3, PARTITION)
        self.qos[row] = self.encode(data, 4, QOS)
        self.licences[row] = self.encode_licences(data)
        self.rows = row + 1
        return 0

    def keep_name(self):
        """Keeps names such as 12_3; a list only once there is one."""
        if not self.plain and not self.named:
            self.named = True
            self.texts = [""] * self.rows
        if self.named:
            name = "" if self.plain else self.block[self.first[JOB] : self.last[JOB]].decode("utf-8", "replace")
            self.texts.append(name)
        return 0

    def read_id(self, data):
        """The job's number; `plain` says whether its name says no more. -1 for a bracket of waiting array tasks."""
        at: cython.Py_ssize_t = self.first[JOB]
        end: cython.Py_ssize_t = self.last[JOB]
        number: cython.longlong = 0
        c: cython.int
        plain: cython.bint = True
        if at >= end or not 48 <= data[at] <= 57:
            return BAD
        while at < end:
            c = data[at]
            if not 48 <= c <= 57:
                plain = False
                break
            number = number * 10 + (c - 48)
            if number > 1_000_000_000_000:
                return BAD
            at += 1
        self.plain = plain
        while at < end:
            if data[at] == 91:  # 12_[5-9%2]
                return -1
            at += 1
        if self.present[JOB_RAW]:
            raw: cython.longlong = self.read_whole(data, JOB_RAW)
            if raw >= 0:
                return raw
        return number

    def encode(self, data, column, role):
        """The code of a label, in order of first appearance; -1 where it is empty."""
        at: cython.Py_ssize_t = self.first[role]
        length: cython.Py_ssize_t = self.last[role] - at
        before: cython.Py_ssize_t = self.label_first[column]
        i: cython.Py_ssize_t
        if not self.present[role] or length <= 0:
            return -1
        if length == self.label_length[column]:  # often the same as in the line above
            i = 0
            while i < length and data[at + i] == data[before + i]:
                i += 1
            if i == length:
                return self.label_code[column]
        text = self.block[at : at + length]
        code = self.codes[column].get(text)
        if code is None:
            code = len(self.names[column])
            self.names[column].append(text.decode("utf-8", "replace"))
            self.codes[column][text] = code
        self.label_first[column] = at
        self.label_length[column] = length
        self.label_code[column] = code
        return code

    def encode_licences(self, data):
        """The code of the licences that the job held, else of those that it asked for; -1 for none."""
        role: cython.int
        at: cython.Py_ssize_t
        end: cython.Py_ssize_t
        for role in (ALLOCATED_TRES, REQUESTED_TRES):
            at = self.first[role]
            end = self.last[role]
            while self.present[role] and at + 8 < end:
                if data[at] == 108 and data[at + 7] == 47:  # license/matlab=2
                    return self.add_licences([read_licences(self.block[at:end])])
                while at < end and data[at] != 44:
                    at += 1
                at += 1
        return -1

    def add_licences(self, listed):
        """The code of the licences in several mappings together; -1 for none."""
        total: dict = {}
        for licences in listed:
            for name, count in licences.items():
                total[name] = total.get(name, 0) + count
        text = ",".join(f"{name}:{count}" for name, count in total.items() if count)
        if not text:
            return -1
        code = self.codes[5].get(text)
        if code is None:
            code = len(self.names[5])
            self.names[5].append(text)
            self.codes[5][text] = code
        return code

    def join_licences(self, codes):
        """The code of what the parts of a job hold together, of whose licences these are the codes."""
        return self.add_licences([parse_licences(self.names[5][code]) for code in codes if code >= 0])

    def labels(self):
        """The names behind the codes of the label columns so far, by column."""
        return {name: list(self.names[i]) for i, name in enumerate(_LABELS)}

    def take(self):
        """The jobs since the last call as (columns, notes); columns without any value are left out."""
        rows = self.rows
        columns = {}
        for name, values in self.arrays.items():
            values = values if rows == self.capacity else values[:rows]
            empty = 0 if name == "gpus" else -1
            if name in _REQUIRED or bool((values != empty).any()):
                columns[name] = values
        for name in ("submit", "begin", "cancel"):
            if name in columns:
                known = columns[name] >= 0
                columns[name] = np.where(known, (columns[name] - max(self.zero, 0)) * 1_000_000, -1)
        if self.named:
            columns["name"] = self.texts
        notes = {
            "lines": self.batch_records,
            "steps": self.batch_steps,
            "skipped": {REASONS[i]: self.dropped[i] for i in range(len(REASONS)) if self.dropped[i]},
            "overlong": self.overlong,
            "missing_request": self.missing_request,
            "eligible_later": self.delayed,
            "delimiters_in_text": self.delimiters_in_text,
        }
        self.reset_counts()
        self.allocate()
        return columns, notes

    def skipped_at(self):
        """When the records that were left out were submitted, by reason, on the clock of the columns; -1: not known."""
        zero = max(self.zero, 0)
        found = {}
        for reason, times in zip(REASONS, self.dropped_at, strict=True):
            if times:
                seconds = np.array(times, np.int64)
                found[reason] = np.where(seconds >= 0, (seconds - zero) * 1_000_000, -1)
        return found

    def start_of_clock(self):
        """Seconds since 1970 UTC at which the trace's clock begins: the first job's local midnight."""
        return max(self.zero, 0)
