"""A compiled scanner over the lines of `sacct --parsable2`: splits them, reads their notations, applies the rules.

It knows nothing of files and headers: `sacct.py` tells it which column has which role, feeds it blocks of complete
lines and takes batches of columns from it. Fields and C signatures are declared in sacct_scan.pxd.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.errors import InputError
from walltime.core.time import LATEST

# Roles of columns. Where two say the same, the one that a job may lack comes second.
_JOB = cython.declare(cython.int, 0)
_JOB_RAW = cython.declare(cython.int, 1)
_USER = cython.declare(cython.int, 2)
_GROUP = cython.declare(cython.int, 3)
_ACCOUNT = cython.declare(cython.int, 4)
_PARTITION = cython.declare(cython.int, 5)
_QOS = cython.declare(cython.int, 6)
_SUBMIT = cython.declare(cython.int, 7)
_ELIGIBLE = cython.declare(cython.int, 8)
_START = cython.declare(cython.int, 9)
_END = cython.declare(cython.int, 10)
_ELAPSED = cython.declare(cython.int, 11)
_ELAPSED_RAW = cython.declare(cython.int, 12)
_LIMIT = cython.declare(cython.int, 13)
_LIMIT_RAW = cython.declare(cython.int, 14)
_STATE = cython.declare(cython.int, 15)
_ALLOCATED_CPUS = cython.declare(cython.int, 16)
_REQUESTED_CPUS = cython.declare(cython.int, 17)
_ALLOCATED_NODES = cython.declare(cython.int, 18)
_REQUESTED_NODES = cython.declare(cython.int, 19)
_MEMORY = cython.declare(cython.int, 20)
_REQUESTED_TRES = cython.declare(cython.int, 21)
_ALLOCATED_TRES = cython.declare(cython.int, 22)
_REQUESTED_GRES = cython.declare(cython.int, 23)
_ALLOCATED_GRES = cython.declare(cython.int, 24)

ROLES = {
    "jobid": 0, "jobidraw": 1, "user": 2, "uid": 2, "group": 3, "gid": 3, "account": 4, "partition": 5, "qos": 6,
    "submit": 7, "eligible": 8, "start": 9, "end": 10, "elapsed": 11, "elapsedraw": 12, "timelimit": 13,
    "timelimitraw": 14, "state": 15, "alloccpus": 16, "ncpus": 16, "reqcpus": 17, "allocnodes": 18, "nnodes": 18,
    "reqnodes": 19, "reqmem": 20, "reqtres": 21, "alloctres": 22, "reqgres": 23, "allocgres": 24,
}  # fmt: skip
"""The columns that mean something to us, by their names in small letters."""

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
_PENDING = cython.declare(cython.int, 0)
_RUNNING = cython.declare(cython.int, 1)
_PARTIAL = cython.declare(cython.int, 2)
_NO_SUBMIT = cython.declare(cython.int, 3)
_NO_RUN = cython.declare(cython.int, 4)
_NO_CORES = cython.declare(cython.int, 5)
_NO_LIMIT = cython.declare(cython.int, 6)
_ARRAY = cython.declare(cython.int, 7)
_MALFORMED = cython.declare(cython.int, 8)
# What a record's state means to us: ended, cancelled, or one of the reasons above.
_ENDED = cython.declare(cython.int, 10)
_CANCELLED = cython.declare(cython.int, 11)

_TIMES_AND_INTEGERS = ("job_id", "submit", "run_time", "requested_time", "cores", "nodes", "memory", "gpus",
                       "begin", "cancel", "recorded_wait")  # fmt: skip
_LABELS = ("user", "group", "account", "queue", "qos")
_REQUIRED = ("job_id", "submit", "run_time", "cores")
_UNKNOWN = cython.declare(cython.longlong, -1)
_BAD = cython.declare(cython.longlong, -2)
_LATEST = cython.declare(cython.longlong, LATEST)
_SECOND = cython.declare(cython.longlong, 1_000_000)
_SHOWN = 20  # malformed lines that are told one by one


class Scanner:
    """Lines to columns, `capacity` jobs at a time; lines that cannot be read are dropped, counted and told.

    `columns` is the number of fields of a line, `roles` the role of each (-1: none), `free_text` the only column that
    may hold the delimiter itself (-1: none). `offset` gives the seconds by which a local time, as whole quarters of an
    hour since 1970, is ahead of UTC. Times are on the clock that begins at the first job's midnight, `zero`.
    """

    def __init__(self, file, capacity, delimiter, roles, free_text, offset, ordered_only=False) -> None:
        i: cython.int
        self.file = file
        self.capacity = capacity
        self.delimiter = delimiter
        self.columns = len(roles)
        self.free_text = free_text
        self.offset = offset
        self.offsets = {}
        self.last_quarter = -1
        self.last_offset = 0
        self.ordered_only = ordered_only
        self.line = 1
        self.records = 0
        self.steps = 0
        self.in_order = True
        self.problems = []
        self.zero = -1
        self.previous_submit = 0
        for i in range(40):
            self.present[i] = False
            self.first[i] = 0
            self.last[i] = 0
        for i in range(self.columns):
            self.role_of[i] = roles[i]
            if roles[i] >= 0:
                self.present[roles[i]] = True
        self.codes = [{} for _ in _LABELS]
        self.names = [[] for _ in _LABELS]
        for i in range(5):
            self.label_length[i] = -1
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
        for i in range(5):
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

    def split(self, data, at):
        """Finds the fields of the line at `at`; returns the position after its newline, -1 for a step."""
        column: cython.int = 0
        role: cython.int
        begin: cython.Py_ssize_t = at
        c: cython.int
        i: cython.Py_ssize_t
        spare: cython.int
        fields: cython.int = 1
        if self.free_text >= 0:  # only then is it worth counting first
            i = at
            while data[i] != 10:
                fields += data[i] == self.delimiter
                i += 1
            if i > at and data[i - 1] == self.delimiter:  # --parsable ends its lines so
                fields -= 1
        spare = fields - self.columns if self.free_text >= 0 else 0
        if spare > 0:
            self.delimiters_in_text += 1
        while True:
            c = data[at]
            if c == self.delimiter and spare > 0 and column == self.free_text:
                spare -= 1
            elif c == self.delimiter or c == 10:
                if column < self.columns:
                    role = self.role_of[column]
                    if role >= 0:
                        self.close(data, role, begin, at)
                        if role == 0:
                            i = begin
                            while i < at:
                                if data[i] == 46:
                                    return -1
                                i += 1
                column += 1
                begin = at + 1
                if c == 10:
                    break
            at += 1
        if column == self.columns + 1 and data[at - 1] == self.delimiter:
            column -= 1
        if column != self.columns:
            self.first[0] = self.last[0] = -column
        return at + 1

    def close(self, data, role, begin, end):
        """Notes where a field stands, without the blanks around it."""
        while begin < end and data[begin] <= 32:
            begin += 1
        while end > begin and data[end - 1] <= 32:
            end -= 1
        self.first[role] = begin
        self.last[role] = end
        return 0

    def keep(self, data, begin):
        """Stores, or drops and counts, the record whose fields were just found."""
        state: cython.int
        submit: cython.longlong
        run: cython.longlong
        self.records += 1
        self.batch_records += 1
        if self.first[0] <= 0 and self.last[0] == self.first[0] and self.first[0] < 0:
            count = -self.first[0]
            self.tell(data, begin, f"the line has {count} fields, the header {self.columns}")
            return 0
        state = self.read_state(data)
        if state < 10:
            return self.drop(state)
        submit = self.read_time(data, _SUBMIT)
        run = self.read_span(data, _ELAPSED_RAW if self.present[_ELAPSED_RAW] else _ELAPSED)
        if run == _UNKNOWN and self.present[_START] and self.present[_END]:
            start = self.read_time(data, _START)
            end = self.read_time(data, _END)
            if start > 0 and end >= start:
                run = end - start
        if submit == _BAD or run == _BAD:
            self.tell(data, begin, "a time cannot be read")
            return 0
        if submit < 0:
            return self.drop(_NO_SUBMIT)
        if state == _ENDED and run <= 0:
            return self.drop(_NO_RUN)
        return self.store(data, begin, state, submit, run)

    def drop(self, reason):
        self.dropped[reason] += 1
        return 0

    def tell(self, data, begin, problem):
        """Counts a malformed line, and remembers the first ones with their place."""
        end: cython.Py_ssize_t = begin
        self.dropped[_MALFORMED] += 1
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
        nodes: cython.longlong = self.read_whole(data, _ALLOCATED_NODES)
        limit: cython.longlong
        start: cython.longlong = self.read_time(data, _START)
        eligible: cython.longlong = self.read_time(data, _ELIGIBLE)
        end: cython.longlong = -1
        job: cython.longlong = self.read_id(data)
        withdrawn: cython.bint = state == _CANCELLED and run <= 0
        if self.present[_LIMIT_RAW]:
            limit = self.read_whole(data, _LIMIT_RAW)
            limit = limit * 60 if limit > 0 else limit
        else:
            limit = self.read_span(data, _LIMIT)
        if limit == 0:
            limit = _UNKNOWN
        if nodes <= 0:
            nodes = self.read_whole(data, _REQUESTED_NODES)
        if job == _BAD or cores == _BAD or limit == _BAD or nodes == _BAD:
            self.tell(data, begin, "a field cannot be read")
            return 0
        if job == -1:
            return self.drop(_ARRAY)
        if cores <= 0:
            return self.drop(_NO_CORES)
        if withdrawn:
            end = self.read_time(data, _END)
            if limit < 0 or end < submit:
                return self.drop(_NO_LIMIT)
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
        if limit < 0:
            self.missing_request += 1
        elif run > limit:
            self.overlong += 1
        self.keep_name(data)
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
        self.user[row] = self.encode(data, 0, _USER)
        self.group[row] = self.encode(data, 1, _GROUP)
        self.account[row] = self.encode(data, 2, _ACCOUNT)
        self.queue[row] = self.encode(data, 3, _PARTITION)
        self.qos[row] = self.encode(data, 4, _QOS)
        self.rows = row + 1
        return 0

    def read_state(self, data):
        """Ended, cancelled, or a reason not to count the record; short and long names of Slurm's states."""
        at: cython.Py_ssize_t = self.first[_STATE]
        length: cython.Py_ssize_t = self.last[_STATE] - at
        a: cython.int
        b: cython.int
        c: cython.int
        if not self.present[_STATE] or length <= 0:
            return _ENDED
        a = data[at]
        b = data[at + 1] if length > 1 else 0
        c = data[at + 2] if length > 2 else 0
        if a == 67 and b == 65:  # CANCELLED, CA
            return _CANCELLED
        if a == 67 and ((b == 79 and c == 78) or b == 71 or (b == 70 and length == 2)):  # CONFIGURING, CG, CF
            return _RUNNING
        if a == 67 and length > 8 and data[at + 7] == 73:  # COMPLETING
            return _RUNNING
        if a == 80 and (b == 69 or b == 68):  # PENDING, PD
            return _PENDING
        if a == 82 and (b == 85 or length == 1):  # RUNNING, R
            return _RUNNING
        if a == 82:  # REQUEUED, RESIZING, REVOKED, RQ, RS, RV
            return _PARTIAL
        if a == 83:  # SUSPENDED, STOPPED, STAGE_OUT, SIGNALING
            return _RUNNING
        return _ENDED

    def keep_name(self, data):
        """Keeps names such as 12_3; a list only once there is one."""
        if not self.plain and not self.named:
            self.named = True
            self.texts = [""] * self.rows
        if self.named:
            name = "" if self.plain else self.block[self.first[_JOB] : self.last[_JOB]].decode("utf-8", "replace")
            self.texts.append(name)
        return 0

    def read_id(self, data):
        """The job's number; `plain` says whether its name says no more. -1 for a bracket of waiting array tasks."""
        at: cython.Py_ssize_t = self.first[_JOB]
        end: cython.Py_ssize_t = self.last[_JOB]
        number: cython.longlong = 0
        c: cython.int
        plain: cython.bint = True
        if at >= end or not 48 <= data[at] <= 57:
            return _BAD
        while at < end:
            c = data[at]
            if not 48 <= c <= 57:
                plain = False
                break
            number = number * 10 + (c - 48)
            if number > 1_000_000_000_000:
                return _BAD
            at += 1
        self.plain = plain
        while at < end:
            if data[at] == 91:  # 12_[5-9%2]
                return -1
            at += 1
        if self.present[_JOB_RAW]:
            raw: cython.longlong = self.read_whole(data, _JOB_RAW)
            if raw >= 0:
                return raw
        return number

    def read_time(self, data, role):
        """Seconds since 1970 UTC from 2024-03-01T12:34:56, with or without a zone, or a plain number of seconds."""
        at: cython.Py_ssize_t = self.first[role]
        end: cython.Py_ssize_t = self.last[role]
        year: cython.longlong
        month: cython.longlong
        day: cython.longlong
        era: cython.longlong
        naive: cython.longlong
        i: cython.Py_ssize_t
        d: cython.int
        hour: cython.longlong
        minute: cython.longlong
        second: cython.longlong
        if not self.present[role] or end - at < 4 or not 48 <= data[at] <= 57:
            return _UNKNOWN  # Unknown, None, N/A, empty
        if end - at < 19 or data[at + 4] != 45:
            return self.read_whole(data, role)
        for i in range(19):
            d = data[at + i]
            if i == 4 or i == 7:
                if d != 45:
                    return _BAD
            elif i == 10:
                if d != 84 and d != 32:
                    return _BAD
            elif i == 13 or i == 16:
                if d != 58:
                    return _BAD
            elif not 48 <= d <= 57:
                return _BAD
        year = (data[at] - 48) * 1000 + (data[at + 1] - 48) * 100 + (data[at + 2] - 48) * 10 + data[at + 3] - 48
        month = (data[at + 5] - 48) * 10 + data[at + 6] - 48
        day = (data[at + 8] - 48) * 10 + data[at + 9] - 48
        hour = (data[at + 11] - 48) * 10 + data[at + 12] - 48
        minute = (data[at + 14] - 48) * 10 + data[at + 15] - 48
        second = (data[at + 17] - 48) * 10 + data[at + 18] - 48
        if not (
            1970 <= year <= 2200 and 1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second < 61
        ):
            return _BAD
        if month <= 2:  # days since 1970-01-01, in years that begin in March
            year -= 1
        era = year - 1600
        naive = 365 * era + era // 4 - era // 100 + era // 400 + (153 * ((month + 9) % 12) + 2) // 5 + day - 1
        naive = (naive - 135080) * 86400 + hour * 3600 + minute * 60 + second
        at += 19
        while at < end and (data[at] == 46 or 48 <= data[at] <= 57):
            at += 1
        if at < end:
            shift: cython.longlong = self.read_offset(data, at, end)
            return _BAD if shift == -99999999 else naive - shift
        return self.to_utc(naive)

    def read_offset(self, data, at, end):
        """Seconds ahead of UTC from Z, +01, +0100 or +01:00; -99999999 where it is none of them."""
        sign: cython.int = 1
        digits: cython.longlong = 0
        count: cython.int = 0
        if data[at] == 90 and end - at == 1:
            return 0
        if data[at] != 43 and data[at] != 45:
            return -99999999
        sign = 1 if data[at] == 43 else -1
        at += 1
        while at < end:
            if data[at] != 58:
                if not 48 <= data[at] <= 57:
                    return -99999999
                digits = digits * 10 + data[at] - 48
                count += 1
            at += 1
        if count == 2:
            return sign * digits * 3600
        return sign * (digits // 100 * 3600 + digits % 100 * 60) if count == 4 else -99999999

    def to_utc(self, naive):
        quarter: cython.longlong = naive // 900
        if quarter != self.last_quarter:
            found = self.offsets.get(quarter)
            if found is None:
                found = self.offset(quarter)
                self.offsets[quarter] = found
            self.last_offset = found
            self.last_quarter = quarter
        return naive - self.last_offset

    def read_span(self, data, role):
        """Seconds from D-HH:MM:SS, HH:MM:SS, MM:SS or a plain number; -1 for UNLIMITED and the like."""
        at: cython.Py_ssize_t = self.first[role]
        end: cython.Py_ssize_t = self.last[role]
        value: cython.longlong = 0
        days: cython.longlong = 0
        total: cython.longlong = 0
        c: cython.int
        parts: cython.int = 0
        if not self.present[role] or at >= end or not 48 <= data[at] <= 57:
            return _UNKNOWN
        while at < end:
            c = data[at]
            if 48 <= c <= 57:
                value = value * 10 + (c - 48)
                if value > 10_000_000_000:
                    return _BAD
            elif c == 45 and parts == 0:
                days = value
                value = 0
                parts = 10
            elif c == 58:
                total = (total + value) * 60
                value = 0
                parts += 1
            elif c == 46:
                break  # fractions of a second
            else:
                return _BAD
            at += 1
        total += value
        if parts == 10:  # D-HH
            total *= 3600
        elif parts == 11:  # D-HH:MM
            total *= 60
        elif parts % 10 > 2:
            return _BAD
        total += days * 86400
        return total if total <= _LATEST // _SECOND else _BAD

    def read_whole(self, data, role):
        """A whole number, also as 1K or 2.5M; -1 where the field is empty or a word."""
        at: cython.Py_ssize_t = self.first[role]
        end: cython.Py_ssize_t = self.last[role]
        value: cython.longlong = 0
        if not self.present[role] or at >= end or not 48 <= data[at] <= 57:
            return _UNKNOWN
        while at < end and 48 <= data[at] <= 57:
            value = value * 10 + (data[at] - 48)
            if value > 1_000_000_000_000_000:
                return _BAD
            at += 1
        if at < end:
            amount: cython.double = self.read_amount(data, self.first[role], end)
            return _BAD if amount < 0 or amount > 1e15 else cython.cast(cython.longlong, amount)
        return value

    def read_cores(self, data):
        """What the job held, where it held something; otherwise what it asked for."""
        cores: cython.longlong = self.read_whole(data, _ALLOCATED_CPUS)
        amount: cython.double
        if cores <= 0:
            amount = self.find_tres(data, _ALLOCATED_TRES, b"cpu=", 4)
            cores = cython.cast(cython.longlong, amount) if amount > 0 else cores
        if cores <= 0:
            cores = self.read_whole(data, _REQUESTED_CPUS)
        if cores <= 0:
            amount = self.find_tres(data, _REQUESTED_TRES, b"cpu=", 4)
            cores = cython.cast(cython.longlong, amount) if amount > 0 else cores
        return cores if cores <= 0x7FFFFFFF else _BAD

    def read_memory(self, data, cores, nodes):
        """Bytes for the whole job: ReqMem (n: per node, c: per core, nothing: for the job), else what the TRES say."""
        at: cython.Py_ssize_t = self.first[_MEMORY]
        end: cython.Py_ssize_t = self.last[_MEMORY]
        amount: cython.double = -1
        times: cython.double = 1
        if self.present[_MEMORY] and at < end:
            if data[end - 1] == 110:
                times = nodes if nodes > 0 else 1
                end -= 1
            elif data[end - 1] == 99:
                times = cores
                end -= 1
            amount = self.read_amount(data, at, end)
            if amount > 0 and (48 <= data[end - 1] <= 57):
                amount *= 1048576.0  # a number alone is in megabytes
            amount *= times
        if amount <= 0:
            amount = self.find_tres(data, _REQUESTED_TRES, b"mem=", 4)
        if amount <= 0:
            amount = self.find_tres(data, _ALLOCATED_TRES, b"mem=", 4)
        return cython.cast(cython.longlong, amount) if 0 < amount < 1e18 else _UNKNOWN

    def read_amount(self, data, at, end):
        """A number with decimals and a unit of K, M, G, T or P (powers of 1,024); -1 where it is none."""
        whole: cython.double = 0
        scale: cython.double = 1
        c: cython.int
        point: cython.bint = False
        if at >= end or not 48 <= data[at] <= 57:
            return -1
        while at < end:
            c = data[at]
            if 48 <= c <= 57:
                whole = whole * 10 + (c - 48)
                if point:
                    scale *= 10
            elif c == 46 and not point:
                point = True
            else:
                break
            at += 1
        whole /= scale
        if at == end:
            return whole
        c = data[at] & 0xDF
        if c == 75:
            whole *= 1024.0
        elif c == 77:
            whole *= 1048576.0
        elif c == 71:
            whole *= 1073741824.0
        elif c == 84:
            whole *= 1099511627776.0
        elif c == 80:
            whole *= 1125899906842624.0
        elif c != 66:
            return -1
        return whole

    def find_tres(self, data, role, key, size):
        """The amount behind `key` in a list such as cpu=4,mem=16G,gres/gpu=2; -1 where it is not in it."""
        at: cython.Py_ssize_t = self.first[role]
        end: cython.Py_ssize_t = self.last[role]
        i: cython.Py_ssize_t
        stop: cython.Py_ssize_t
        if not self.present[role]:
            return -1
        while at + size < end:
            i = 0
            while i < size and data[at + i] == key[i]:
                i += 1
            stop = at
            while stop < end and data[stop] != 44:
                stop += 1
            if i == size:
                return self.read_amount(data, at + size, stop)
            at = stop + 1
        return -1

    def read_gpus(self, data):
        """GPUs of the whole job, from its TRES, or from the older GRES texts."""
        amount: cython.double = self.find_tres(data, _ALLOCATED_TRES, b"gres/gpu=", 9)
        role: cython.int
        if amount < 0:
            amount = self.find_tres(data, _REQUESTED_TRES, b"gres/gpu=", 9)
        if amount >= 0:
            return cython.cast(cython.longlong, amount)
        for role in (_ALLOCATED_TRES, _REQUESTED_TRES, _ALLOCATED_GRES, _REQUESTED_GRES):
            if self.present[role] and self.last[role] > self.first[role]:
                total = count_gpus(self.block[self.first[role] : self.last[role]])
                if total > 0:
                    return total
        return 0

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

    def start_of_clock(self):
        """Seconds since 1970 UTC at which the trace's clock begins: the first job's local midnight."""
        return max(self.zero, 0)


def count_gpus(text):
    """GPUs in a text such as gres/gpu:a100=2,gres/gpu:v100=1, gpu:2 or gpu:tesla:4(S:0-1)."""
    total = 0
    for item in text.decode("utf-8", "replace").split(","):
        words = item.split("(")[0].replace("=", ":").split(":")
        if words[0] in ("gres/gpu", "gpu") or words[:2] == ["gres", "gpu"]:
            last = words.pop()
            total += int(last) if last.isdigit() else 1
    return total
