"""The fields of a line of sacct's output, and how their notations are read; compiled, for `scan.py`.

Times, lengths of time, amounts of memory and lists of resources are read from the bytes where they stand. UNKNOWN (-1)
stands for what a field does not tell, BAD (-2) for what cannot be read. Declarations are in fields.pxd.
"""

from __future__ import annotations

import enum

import cython

from walltime.core.time import LATEST, SECOND
from walltime.core.workload import UNLIMITED


class Role(enum.IntEnum):
    """What a column means to us. Where two say the same, the one that a job may lack comes second."""

    JOB = 0
    JOB_RAW = 1
    USER = 2
    GROUP = 3
    ACCOUNT = 4
    PARTITION = 5
    QOS = 6
    SUBMIT = 7
    ELIGIBLE = 8
    START = 9
    END = 10
    ELAPSED = 11
    ELAPSED_RAW = 12
    LIMIT = 13
    LIMIT_RAW = 14
    STATE = 15
    ALLOCATED_CPUS = 16
    REQUESTED_CPUS = 17
    ALLOCATED_NODES = 18
    REQUESTED_NODES = 19
    MEMORY = 20
    REQUESTED_TRES = 21
    ALLOCATED_TRES = 22
    REQUESTED_GRES = 23
    ALLOCATED_GRES = 24


class RecordVerdict(enum.IntEnum):
    """What becomes of a record: a reason not to count it, or how its job ended; and two answers of a reader."""

    BAD = -2
    UNKNOWN = -1
    PENDING = 0
    RUNNING = 1
    PARTIAL = 2
    NO_SUBMIT = 3
    NO_RUN = 4
    NO_CORES = 5
    NO_LIMIT = 6
    ARRAY = 7
    MALFORMED = 8
    ENDED = 10
    CANCELLED = 11


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

ROLES = {
    "jobid": 0, "jobidraw": 1, "user": 2, "uid": 2, "group": 3, "gid": 3, "account": 4, "partition": 5, "qos": 6,
    "submit": 7, "eligible": 8, "start": 9, "end": 10, "elapsed": 11, "elapsedraw": 12, "timelimit": 13,
    "timelimitraw": 14, "state": 15, "alloccpus": 16, "ncpus": 16, "reqcpus": 17, "allocnodes": 18, "nnodes": 18,
    "reqnodes": 19, "reqmem": 20, "reqtres": 21, "alloctres": 22, "reqgres": 23, "allocgres": 24,
}  # fmt: skip
"""The role of each column that means something to us, by its name in small letters."""

_NO_ZONE = cython.declare(cython.longlong, -99999999)
_LONGEST = cython.declare(cython.longlong, LATEST // SECOND)
_A_YEAR = cython.declare(cython.longlong, UNLIMITED // SECOND)


class Fields:
    """Where the fields of the line at hand stand, and what they say.

    `roles` is the role of each column (-1: none), `free_text` the only column that may hold the delimiter itself (-1:
    none). Where several may, `texts_apart` (a `texts.Texts`) finds out which pieces belong together. `offset`
    gives the seconds by which a local time, as whole quarters of an hour since 1970, is ahead of UTC.
    """

    def __init__(self, delimiter, roles, free_text, texts_apart, offset) -> None:
        i: cython.int
        self.delimiter = delimiter
        self.columns = len(roles)
        self.free_text = free_text
        self.texts_apart = texts_apart
        self.offset = offset
        self.offsets = {}
        self.last_quarter = -1
        self.last_offset = 0
        self.delimiters_in_text = 0
        self.block = b""
        for i in range(40):
            self.present[i] = False
            self.first[i] = 0
            self.last[i] = 0
        for i in range(self.columns):
            self.role_of[i] = roles[i]
            if roles[i] >= 0:
                self.present[roles[i]] = True

    def split(self, data, at):
        """Finds the fields of the line at `at`; returns the position after its newline, -1 for a step."""
        column: cython.int = 0
        role: cython.int
        begin: cython.Py_ssize_t = at
        c: cython.int
        i: cython.Py_ssize_t
        spare: cython.int
        fields: cython.int = 1
        if self.free_text >= 0 or self.texts_apart is not None:  # only then is it worth counting first
            i = at
            while data[i] != 10:
                fields += data[i] == self.delimiter
                i += 1
            if i > at and data[i - 1] == self.delimiter:  # --parsable ends its lines so
                fields -= 1
        if fields > self.columns and self.texts_apart is not None:
            return self.split_apart(data, at)
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

    def split_apart(self, data, at):
        """As `split`, for a line with more pieces than columns, several of which are texts."""
        end: cython.Py_ssize_t = at
        column: cython.int
        while data[end] != 10:
            end += 1
        pieces = self.block[at:end].split(bytes([self.delimiter]))
        ends = self.texts_apart.divide(pieces)
        if ends is None:
            self.first[0] = self.last[0] = -len(pieces)
            return end + 1
        self.delimiters_in_text += 1
        begin: cython.Py_ssize_t = at
        taken: cython.Py_ssize_t = 0
        stop: cython.Py_ssize_t
        for column in range(self.columns):
            stop = begin - 1
            while taken < ends[column]:
                stop += len(pieces[taken]) + 1
                taken += 1
            if self.role_of[column] >= 0:
                self.close(data, self.role_of[column], begin, stop)
            begin = stop + 1
        return -1 if b"." in self.block[self.first[0] : self.last[0]] else end + 1

    def close(self, data, role, begin, end):
        """Notes where a field stands, without the blanks around it."""
        while begin < end and data[begin] <= 32:
            begin += 1
        while end > begin and data[end - 1] <= 32:
            end -= 1
        self.first[role] = begin
        self.last[role] = end
        return 0

    def read_state(self, data):
        """Ended, cancelled, or a reason not to count the record; short and long names of Slurm's states."""
        at: cython.Py_ssize_t = self.first[STATE]
        length: cython.Py_ssize_t = self.last[STATE] - at
        a: cython.int
        b: cython.int
        c: cython.int
        if not self.present[STATE] or length <= 0:
            return ENDED
        a = data[at]
        b = data[at + 1] if length > 1 else 0
        c = data[at + 2] if length > 2 else 0
        if a == 67 and b == 65:  # CANCELLED, CA
            return CANCELLED
        if a == 67 and ((b == 79 and c == 78) or b == 71 or (b == 70 and length == 2)):  # CONFIGURING, CG, CF
            return RUNNING
        if a == 67 and length > 8 and data[at + 7] == 73:  # COMPLETING
            return RUNNING
        if a == 80 and (b == 69 or b == 68):  # PENDING, PD
            return PENDING
        if a == 82 and (b == 85 or length == 1):  # RUNNING, R
            return RUNNING
        if a == 82:  # REQUEUED, RESIZING, REVOKED, RQ, RS, RV
            return PARTIAL
        if a == 83:  # SUSPENDED, STOPPED, STAGE_OUT, SIGNALING
            return RUNNING
        return ENDED

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
            return UNKNOWN  # Unknown, None, N/A, empty
        if end - at < 19 or data[at + 4] != 45:
            return self.read_whole(data, role)
        for i in range(19):
            d = data[at + i]
            if i == 4 or i == 7:
                if d != 45:
                    return BAD
            elif i == 10:
                if d != 84 and d != 32:
                    return BAD
            elif i == 13 or i == 16:
                if d != 58:
                    return BAD
            elif not 48 <= d <= 57:
                return BAD
        year = (data[at] - 48) * 1000 + (data[at + 1] - 48) * 100 + (data[at + 2] - 48) * 10 + data[at + 3] - 48
        month = (data[at + 5] - 48) * 10 + data[at + 6] - 48
        day = (data[at + 8] - 48) * 10 + data[at + 9] - 48
        hour = (data[at + 11] - 48) * 10 + data[at + 12] - 48
        minute = (data[at + 14] - 48) * 10 + data[at + 15] - 48
        second = (data[at + 17] - 48) * 10 + data[at + 18] - 48
        if not (
            1970 <= year <= 2200 and 1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second < 61
        ):
            return BAD
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
            return BAD if shift == _NO_ZONE else naive - shift
        return self.to_utc(naive)

    def read_offset(self, data, at, end):
        """Seconds ahead of UTC from Z, +01, +0100 or +01:00; the constant _NO_ZONE where it is none of them."""
        sign: cython.int = 1
        digits: cython.longlong = 0
        count: cython.int = 0
        if data[at] == 90 and end - at == 1:
            return 0
        if data[at] != 43 and data[at] != 45:
            return _NO_ZONE
        sign = 1 if data[at] == 43 else -1
        at += 1
        while at < end:
            if data[at] != 58:
                if not 48 <= data[at] <= 57:
                    return _NO_ZONE
                digits = digits * 10 + data[at] - 48
                count += 1
            at += 1
        if count == 2:
            return sign * digits * 3600
        return sign * (digits // 100 * 3600 + digits % 100 * 60) if count == 4 else _NO_ZONE

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
            return UNKNOWN
        while at < end:
            c = data[at]
            if 48 <= c <= 57:
                value = value * 10 + (c - 48)
                if value > 10_000_000_000:
                    return BAD
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
                return BAD
            at += 1
        total += value
        if parts == 10:  # D-HH
            total *= 3600
        elif parts == 11:  # D-HH:MM
            total *= 60
        elif parts % 10 > 2:
            return BAD
        total += days * 86400
        return total if total <= _LONGEST else BAD

    def read_limit(self, data):
        """Seconds that the job asked for: a year for UNLIMITED, -1 where its partition's counts or none is told."""
        role: cython.int = LIMIT_RAW if self.present[LIMIT_RAW] else LIMIT
        at: cython.Py_ssize_t = self.first[role]
        limit: cython.longlong
        if self.present[role] and self.last[role] - at >= 9 and data[at] == 85 and data[at + 2] == 76:
            return _A_YEAR
        limit = self.read_whole(data, role) if role == LIMIT_RAW else self.read_span(data, role)
        if limit > _LONGEST:
            return BAD
        if limit > 0 and role == LIMIT_RAW:
            limit *= 60
        return UNKNOWN if limit == 0 else limit

    def read_whole(self, data, role):
        """A whole number, also as 1K or 2.5M; -1 where the field is empty or a word."""
        at: cython.Py_ssize_t = self.first[role]
        end: cython.Py_ssize_t = self.last[role]
        value: cython.longlong = 0
        if not self.present[role] or at >= end or not 48 <= data[at] <= 57:
            return UNKNOWN
        while at < end and 48 <= data[at] <= 57:
            value = value * 10 + (data[at] - 48)
            if value > 1_000_000_000_000_000:
                return BAD
            at += 1
        if at < end:
            amount: cython.double = self.read_amount(data, self.first[role], end)
            return BAD if amount < 0 or amount > 1e15 else cython.cast(cython.longlong, amount)
        return value

    def read_cores(self, data):
        """What the job held, where it held something; otherwise what it asked for."""
        cores: cython.longlong = self.read_whole(data, ALLOCATED_CPUS)
        amount: cython.double
        if cores <= 0:
            amount = self.find_tres(data, ALLOCATED_TRES, b"cpu=", 4)
            cores = cython.cast(cython.longlong, amount) if amount > 0 else cores
        if cores <= 0:
            cores = self.read_whole(data, REQUESTED_CPUS)
        if cores <= 0:
            amount = self.find_tres(data, REQUESTED_TRES, b"cpu=", 4)
            cores = cython.cast(cython.longlong, amount) if amount > 0 else cores
        return cores if cores <= 0x7FFFFFFF else BAD

    def read_memory(self, data, cores, nodes):
        """Bytes for the whole job: ReqMem (n: per node, c: per core, nothing: for the job), else what the TRES say."""
        at: cython.Py_ssize_t = self.first[MEMORY]
        end: cython.Py_ssize_t = self.last[MEMORY]
        amount: cython.double = -1
        times: cython.double = 1
        if self.present[MEMORY] and at < end:
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
            amount = self.find_tres(data, REQUESTED_TRES, b"mem=", 4)
        if amount <= 0:
            amount = self.find_tres(data, ALLOCATED_TRES, b"mem=", 4)
        return cython.cast(cython.longlong, amount) if 0 < amount < 1e18 else UNKNOWN

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
        amount: cython.double = self.find_tres(data, ALLOCATED_TRES, b"gres/gpu=", 9)
        role: cython.int
        if amount < 0:
            amount = self.find_tres(data, REQUESTED_TRES, b"gres/gpu=", 9)
        if amount >= 0:
            return cython.cast(cython.longlong, amount)
        for role in (ALLOCATED_TRES, REQUESTED_TRES, ALLOCATED_GRES, REQUESTED_GRES):
            if self.present[role] and self.last[role] > self.first[role]:
                total = count_gpus(self.block[self.first[role] : self.last[role]])
                if total > 0:
                    return total
        return 0


def count_gpus(text):
    """GPUs in a text such as gres/gpu:a100=2,gres/gpu:v100=1, gpu:2 or gpu:tesla:4(S:0-1)."""
    total = 0
    for item in text.decode("utf-8", "replace").split(","):
        words = item.split("(")[0].replace("=", ":").split(":")
        if words[0] in ("gres/gpu", "gpu") or words[:2] == ["gres", "gpu"]:
            last = words.pop()
            total += int(last) if last.isdigit() else 1
    return total


def read_licences(text):
    """Licences by name in a list of TRES such as cpu=4,license/matlab=2,license/ansys@server=1."""
    found: dict = {}
    for item in text.decode("utf-8", "replace").split(","):
        name, _, amount = item.strip().partition("=")
        if len(name) > 8 and name.startswith("license/") and amount.isascii() and amount.isdigit() and len(amount) < 10:
            name = name[8:].replace("@", "_").replace(":", "_")
            found[name] = found.get(name, 0) + int(amount)
    return found


def parse_licences(text):
    """The same of a column's text such as matlab:2,ansys_server:1."""
    return {name: int(count) for name, _, count in (item.rpartition(":") for item in text.split(","))}
