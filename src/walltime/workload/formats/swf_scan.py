"""A compiled scanner over the bytes of an SWF file: reads the numbers and applies the rules for untidy records.

It knows nothing of files: `swf.py` feeds it blocks of complete lines and takes batches of columns from it. Fields and
C signatures are declared in swf_scan.pxd.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.errors import InputError
from walltime.core.time import LATEST

FIELDS = (
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average cpu time",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
)

# How a field's number is taken: 0 checked and ignored, 1 a time, 2 a whole number, 3 an amount (rounded).
_KINDS = (2, 1, 1, 1, 2, 0, 0, 2, 1, 3, 2, 2, 2, 0, 2, 0, 2, 1)
_TIMES_AND_INTEGERS = (
    "job_id",
    "submit",
    "run_time",
    "requested_time",
    "cores",
    "memory",
    "cancel",
    "recorded_wait",
    "preceding_job",
    "think_time",
)
REASONS = (
    "partial record (status 2 to 4)",
    "run time unknown or zero",
    "cores unknown or zero",
    "cancelled, without a request",
)
"""Why a record is left out, by the number that `drop` is told."""

_LABELS = ("user", "group", "queue")
_REQUIRED = ("job_id", "submit", "run_time", "cores")
_SMALL = 65536  # label numbers below this are looked up in an array, the others in a dictionary
_SMALL_LIMIT = cython.declare(cython.longlong, _SMALL)
_SHOWN = 40  # characters of a bad value that a message shows


@cython.final
@cython.cclass
class Scanner:
    """Turns complete lines into columns, `capacity` jobs at a time; every problem is an InputError with file and line.

    With `ordered_only` a submission before its predecessor's is an error; otherwise it only clears `in_order`.
    `comments` are the comment lines before the first record, `records` the number of lines that hold a job.
    """

    def __init__(self, file: str, capacity: cython.Py_ssize_t, ordered_only: cython.bint = False) -> None:
        i: cython.int
        power: cython.longlong = 1
        self.file = file
        self.capacity = capacity
        self.ordered_only = ordered_only
        self.line = 1
        self.records = 0
        self.in_order = True
        self.comments = []
        self.latest = LATEST
        self.previous_submit = 0
        for i in range(19):
            self.powers[i] = power
            if i < 18:
                power *= 10
        for i in range(18):
            self.kinds[i] = _KINDS[i]
            self.scales[i] = 1_000_000 if _KINDS[i] == 1 else 1
            self.values[i] = 0
        self.small_codes = np.full(len(_LABELS) * _SMALL, -1, np.intc)
        self.large_codes = [{} for _ in _LABELS]
        self.names = [[] for _ in _LABELS]
        self.extra_at = -1
        self.skipped_at = [[] for _ in REASONS]
        self.reset_counts()
        self.allocate()

    def allocate(self):
        """New columns; those handed out by `take` belong to their new owner."""
        arrays = {name: np.empty(self.capacity, np.int64) for name in _TIMES_AND_INTEGERS}
        arrays.update({name: np.empty(self.capacity, np.intc) for name in _LABELS})
        self.arrays = arrays
        self.extras = []
        self.rows = 0
        self.job_id = arrays["job_id"]
        self.submit = arrays["submit"]
        self.run_time = arrays["run_time"]
        self.requested_time = arrays["requested_time"]
        self.cores = arrays["cores"]
        self.memory = arrays["memory"]
        self.cancel = arrays["cancel"]
        self.recorded_wait = arrays["recorded_wait"]
        self.preceding_job = arrays["preceding_job"]
        self.think_time = arrays["think_time"]
        self.user = arrays["user"]
        self.group = arrays["group"]
        self.queue = arrays["queue"]
        return 0

    def reset_counts(self):
        i: cython.int
        self.batch_records = 0
        for i in range(4):
            self.dropped[i] = 0
        self.extra_columns = 0
        self.overlong = 0
        self.missing_request = 0
        self.unusable_memory = 0
        return 0

    def scan(self, data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t):
        """Reads the lines in data[start:end], whose last byte is a newline; returns where it stopped.

        Stops before `end` only at a job for which the columns have no room left: `take`, then go on from there.
        """
        view: cython.pointer[cython.const[cython.uchar]] = data
        at: cython.Py_ssize_t = start
        first: cython.Py_ssize_t
        row: cython.Py_ssize_t
        c: cython.int
        while at < end:
            first = at
            c = view[at]
            while c == 32 or c == 9 or c == 13 or c == 11 or c == 12:
                at += 1
                c = view[at]
            if c == 10:
                at += 1
            elif c == 59:  # a semicolon: a comment
                at = self.skip_line(view, at)
                if self.records == 0:
                    self.comments.append(data[first : at - 1])
            else:
                row = self.rows
                at = self.read_record(view, at, first)
                if self.keep() == 0:
                    return first
                if self.extra_at >= 0 and self.rows > row:
                    self.extras.append((row, self.line, data[self.extra_at : at - 1]))
            self.line += 1
        return end

    def skip_line(self, data, at):
        while data[at] != 10:
            at += 1
        return at + 1

    def read_record(self, data, at, first):
        """Fills `values` from the line that begins at `first`; returns the position after its newline."""
        field: cython.int
        c: cython.int
        begin: cython.Py_ssize_t
        digits: cython.Py_ssize_t
        number: cython.longlong
        negative: cython.bint
        for field in range(18):
            c = data[at]
            while c == 32 or c == 9 or c == 13 or c == 11 or c == 12:
                at += 1
                c = data[at]
            if c == 10:
                self.refuse(data, at, first, field, "")
            begin = at
            negative = c == 45
            if negative:
                at += 1
                c = data[at]
            digits = at
            number = 0
            while 48 <= c <= 57 and at - digits < 10:
                number = number * 10 + (c - 48)
                at += 1
                c = data[at]
            if digits < at < digits + 10 and (c == 32 or 9 <= c <= 13):  # nearly all: whole, and never out of range
                number *= self.scales[field]
                self.values[field] = -number if negative else number
            else:
                at = self.read_number(data, begin, first, field)
        self.extra_at = -1
        if data[at] != 10:
            at = self.count_extra(data, at)
        if self.values[0] < 0:
            self.refuse(data, first, first, 0, "is negative")
        if self.values[1] < 0:
            raise InputError(
                f"job {self.values[0]}: {FIELDS[1]} is negative",
                value=self.values[1] / 1_000_000,
                file=self.file,
                line=self.line,
            )
        return at + 1

    def read_number(self, data, at, first, field):
        """Reads one number into `values[field]`; returns the position of the blank or newline after it."""
        begin: cython.Py_ssize_t = at
        c: cython.int = data[at]
        negative: cython.bint = False
        seen: cython.bint = False
        mantissa: cython.longlong = 0
        digits: cython.int = 0
        exponent: cython.int = 0
        power: cython.int = 0
        falling: cython.bint = False
        if c == 45 or c == 43:
            negative = c == 45
            at += 1
            c = data[at]
        while 48 <= c <= 57:
            seen = True
            if digits < 18:
                mantissa = mantissa * 10 + (c - 48)
                digits += mantissa != 0
            elif exponent < 9999:  # digits beyond the 18th cannot change a rounded result that is in range
                exponent += 1
            at += 1
            c = data[at]
        if c == 46:
            at += 1
            c = data[at]
            while 48 <= c <= 57:
                seen = True
                if digits < 18 and exponent > -9999:
                    mantissa = mantissa * 10 + (c - 48)
                    digits += mantissa != 0
                    exponent -= 1
                at += 1
                c = data[at]
        if seen and (c == 101 or c == 69):
            at += 1
            c = data[at]
            if c == 45 or c == 43:
                falling = c == 45
                at += 1
                c = data[at]
            seen = False
            while 48 <= c <= 57:
                seen = True
                if power < 20000:
                    power = power * 10 + (c - 48)
                at += 1
                c = data[at]
            exponent += -power if falling else power
        if not seen or not (c == 32 or 9 <= c <= 13):
            self.refuse(data, begin, first, field, "is not a number")
        if self.kinds[field] == 1:
            exponent += 6
        if exponent != 0 and mantissa != 0:
            self.scale(data, begin, first, field, mantissa, exponent)
            mantissa = self.values[field]
        if self.kinds[field] == 1 and mantissa > self.latest:
            self.refuse(data, begin, first, field, "is out of range")
        self.values[field] = -mantissa if negative else mantissa
        return at

    def scale(self, data, at, first, field, mantissa, exponent):
        """Puts mantissa × 10^exponent into `values[field]`, rounded to the nearest where the kind allows a fraction."""
        power: cython.longlong
        kind: cython.int = self.kinds[field]
        if kind == 0:
            return 0
        if exponent > 0:
            if exponent > 18 or mantissa > self.powers[18] // self.powers[exponent]:
                self.refuse(data, at, first, field, "is out of range")
            self.values[field] = mantissa * self.powers[exponent]
            return 0
        power = self.powers[18 if exponent < -18 else -exponent]
        if kind == 2 and (exponent < -18 or mantissa % power != 0):
            self.refuse(data, at, first, field, "is not a whole number")
        self.values[field] = 0 if exponent < -18 else (mantissa + power // 2) // power
        return 0

    def count_extra(self, data, at):
        """Passes over what stands after the 18 fields; returns the position of the newline."""
        c: cython.int = data[at]
        extra: cython.longlong = 0
        inside: cython.bint = False
        while c != 10:
            if c == 32 or c == 9 or c == 13 or c == 11 or c == 12:
                inside = False
            elif not inside:
                inside = True
                extra += 1
                if extra == 1:
                    self.extra_at = at
            at += 1
            c = data[at]
        if extra > self.extra_columns:
            self.extra_columns = extra
        return at

    def keep(self):
        """Stores or counts the record in `values`; 0 (and nothing done) where a batch must be taken first."""
        run: cython.longlong = self.values[3]
        cores: cython.longlong = self.values[7] if self.values[7] > 0 else self.values[4]
        status: cython.longlong = self.values[10]
        partial: cython.bint = 2 <= status <= 4
        cancelled: cython.bint = status == 5 and run <= 0
        if partial:
            self.drop(0)
        elif run <= 0 and not cancelled:
            self.drop(1)
        elif cancelled and self.values[8] <= 0:
            self.drop(3)
        elif cores <= 0:
            self.drop(2)
        else:
            if self.rows == self.capacity:
                return 0
            self.store(cores, cancelled)
        self.records += 1
        self.batch_records += 1
        return 1

    def drop(self, reason):
        """Counts the record in `values` as left out, and keeps its submission where the whole trace is read."""
        self.dropped[reason] += 1
        if not self.ordered_only:
            self.skipped_at[reason].append(self.values[1])
        return 0

    def store(self, cores, cancelled):
        row: cython.Py_ssize_t = self.rows
        submit: cython.longlong = self.values[1]
        wait: cython.longlong = self.values[2] if self.values[2] >= 0 else -1
        request: cython.longlong = self.values[8] if self.values[8] > 0 else -1
        memory: cython.longlong = self.values[9]
        bytes_per_unit: cython.longlong = cores * 1024
        if cores > 0x7FFFFFFF:
            raise InputError("the number of processors is out of range", value=cores, file=self.file, line=self.line)
        if submit < self.previous_submit:
            self.in_order = False
            if self.ordered_only:
                raise InputError(
                    "this job is submitted before the one above it; a trace that is not in order of submission "
                    "cannot be streamed, only read as a whole",
                    value=submit / 1_000_000,
                    file=self.file,
                    line=self.line,
                )
        self.previous_submit = submit
        if memory <= 0:
            memory = -1
        elif memory > self.powers[18] // bytes_per_unit:  # nonsense, and not worth refusing the job for
            memory = -1
            self.unusable_memory += 1
        else:
            memory *= bytes_per_unit
        if request < 0:
            self.missing_request += 1
        elif self.values[3] > request:
            self.overlong += 1
        self.job_id[row] = self.values[0]
        self.submit[row] = submit
        self.run_time[row] = -1 if cancelled else self.values[3]
        self.requested_time[row] = request
        self.cores[row] = cores
        self.memory[row] = memory
        self.cancel[row] = submit + (wait if wait > 0 else 0) if cancelled else -1
        self.recorded_wait[row] = wait
        self.preceding_job[row] = self.values[16] if self.values[16] >= 0 else -1
        self.think_time[row] = self.values[17] if self.values[17] >= 0 else -1
        self.user[row] = self.encode(0, self.values[11])
        self.group[row] = self.encode(1, self.values[12])
        self.queue[row] = self.encode(2, self.values[14])
        self.rows = row + 1
        return 0

    def encode(self, column, number):
        """The code of a label's number, in order of first appearance; -1 where the number is negative."""
        code: cython.int
        place: cython.Py_ssize_t
        if number < 0:
            return -1
        if number < _SMALL_LIMIT:
            place = column * _SMALL_LIMIT + number
            code = self.small_codes[place]
            if code < 0:
                code = len(self.names[column])
                self.names[column].append(str(number))
                self.small_codes[place] = code
            return code
        known = self.large_codes[column].get(number)
        if known is None:
            known = len(self.names[column])
            self.names[column].append(str(number))
            self.large_codes[column][number] = known
        return known

    def refuse(self, data, at, first, field, problem):
        """Raises the InputError for the field at `at` of the line that begins at `first`; no problem: it is absent."""
        end: cython.Py_ssize_t = first
        while data[end] != 10:
            end += 1
        line = bytes(data[first:end])
        if looks_binary(line):
            raise InputError("this does not look like an SWF file (binary data)", file=self.file, line=self.line)
        if not problem:
            noun = "field" if field == 1 else "fields"
            raise InputError(f"the line has {field} {noun}, SWF has 18", file=self.file, line=self.line)
        value = bytes(data[at:end]).split()[0].decode("utf-8", "replace")
        hint = "this does not look like an SWF file: " if self.records == 0 and field == 0 else ""
        raise InputError(
            f"{hint}{FIELDS[field]} (field {field + 1}) {problem}",
            value=value if len(value) <= _SHOWN else value[: _SHOWN - 1] + "…",
            file=self.file,
            line=self.line,
        )

    def labels(self):
        """The names behind the codes of the label columns so far, by column."""
        return {name: list(self.names[i]) for i, name in enumerate(_LABELS)}

    def take(self):
        """The jobs since the last call as (columns, notes, extras); columns without any value are left out.

        Extras are (row, line, text) of the jobs that have more than the 18 fields: the text after them.
        """
        rows, extras = self.rows, self.extras
        columns = {}
        for name, values in self.arrays.items():
            values = values if rows == self.capacity else values[:rows]
            if name in _REQUIRED or bool((values != -1).any()):
                columns[name] = values
        notes = {
            "lines": self.batch_records,
            "skipped": {REASONS[i]: self.dropped[i] for i in range(len(REASONS)) if self.dropped[i]},
            "extra_columns": self.extra_columns,
            "overlong": self.overlong,
            "missing_request": self.missing_request,
            "unusable_memory": self.unusable_memory,
        }
        self.reset_counts()
        self.allocate()
        return columns, notes, extras


def looks_binary(line):
    """Whether a line holds bytes that no text has: control characters, or neither ASCII nor UTF-8."""
    if any(byte < 9 or 13 < byte < 32 or byte == 127 for byte in line):
        return True
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False
