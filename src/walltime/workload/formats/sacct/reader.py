"""Slurm's accounting as `sacct --parsable2` prints it: a header of field names, then a line a job and a line a step.

Any fields in any order; these are understood: JobID, JobIDRaw, User, Group, Account, Partition, QOS, Submit, Eligible,
Start, End, Elapsed(Raw), Timelimit(Raw), State, AllocCPUS, NCPUS, ReqCPUS, AllocNodes, NNodes, ReqNodes, ReqMem,
ReqTRES, AllocTRES, ReqGRES, AllocGRES. Others are passed over.

How records are read: steps (`12.batch`, `12.0`) are passed over; jobs that are pending or running, and records of
attempts that were requeued, are dropped; a job cancelled before its start is withdrawn at its end, dropped where it has
no time limit; any other job without a run time or cores is dropped. A time limit of UNLIMITED is a year. The parts of a
heterogeneous job (`12+0`, `12+1`) are one job. Cores are those that the job held, else those it
asked for. A job that became eligible after its submission has that as its `begin`. A line that cannot be read is
dropped and told with its number. All are counted in `Workload.notes`:

- `lines`: records of jobs, kept or not; `steps`: lines passed over; `skipped`: records dropped, by reason;
- `problems`: the first malformed lines as texts with file and line;
- `log_clusters`: the names of the clusters whose jobs the log has, where they are several;
- `missing_request`, `overlong`, `unsorted`, `duplicate_ids`: as for SWF; `eligible_later`: jobs with a `begin`;
- `delimiters_in_text`: lines with the delimiter inside a job's name or another text, which were put together again;
- `heterogeneous`: jobs that were put together from several parts (`12+0`, `12+1`).
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from walltime.core.dates import find_zone
from walltime.core.errors import InputError
from walltime.core.reading import reader, reading
from walltime.core.time import SECOND
from walltime.core.workload import MISSING, Origin, Workload, sort_by_submission
from walltime.workload.formats.batches import join_columns
from walltime.workload.formats.sacct.fields import ROLES
from walltime.workload.formats.sacct.hetjobs import HeterogeneousJobs, cut_last
from walltime.workload.formats.sacct.scan import Scanner
from walltime.workload.formats.sacct.texts import FREE_TEXT, Texts
from walltime.workload.numbering import number_apart

_BLOCK = 1 << 22  # bytes read at once
_LONGEST_LINE = 1 << 20
_ROWS = 1 << 16
_QUARTER = 900
_CLUSTERS = 20
"""So many are told apart."""
_DELIMITERS = "|;\t,^~"

Batch = tuple[dict[str, Any], dict[str, Any]]


def looks_like_sacct(line: str) -> bool:
    """Whether a line is a header that sacct could have printed."""
    names = [name.strip().lower() for name in line.strip().split(_find_delimiter(line))]
    return any(name in ("jobid", "jobidraw") for name in names) and sum(name in ROLES for name in names) >= 3


@reader
def read_sacct(
    path: str | Path, timezone: str | None = None, fields: Sequence[str] | None = None, delimiter: str | None = None
) -> Workload:
    """The whole log, sorted by submission; raises InputError for a file that is no output of sacct.

    `timezone` is the zone of the times that have none of their own (UTC by default: they are taken as they stand);
    `fields` are the columns where the file has no header (`sacct --noheader`).
    """
    log = _Log(path, timezone, fields, delimiter)
    parts, totals = [], Counter[str]()
    skipped = Counter[str]()
    for columns, notes in log.batches(_ROWS):
        parts.append(columns)
        skipped.update(notes.pop("skipped"))
        totals.update(notes)
    joined = log.join_parts(join_columns(parts))
    scanner = log.scanner
    notes = dict(totals) | {"skipped": dict(skipped), "unsorted": not scanner.in_order, "problems": log.problems()}
    notes |= {"heterogeneous": log.heterogeneous.count} | log.cluster_names()
    joined["job_id"], notes["duplicate_ids"] = number_apart(joined["job_id"])
    moved = _move_to_zero(joined)
    return log.workload(sort_by_submission(joined), notes, moved)


def read_sacct_batches(path: str | Path, rows: int, timezone: str | None = None) -> Iterator[Workload]:
    """The log as a stream of workloads of at most `rows` jobs, in bounded memory; it must be in order of submission.

    A heterogeneous job comes with the batch of its last part.
    """
    if rows < 1:
        raise InputError("a batch needs at least one job", value=rows)
    log = _Log(path, timezone, None, None, ordered_only=True)
    held = None
    for columns, notes in log.batches(rows):
        columns, held = cut_last(columns if held is None else join_columns([held, columns]))
        if len(columns["submit"]):
            yield log.batch(columns, notes)
    if held is not None:
        yield log.batch(held, {"lines": 0, "skipped": {}})


class _Log:
    """One file being read: its header, its scanner, and what a Workload is told of both."""

    def __init__(
        self,
        path: str | Path,
        timezone: str | None,
        fields: Sequence[str] | None,
        delimiter: str | None,
        ordered_only: bool = False,
    ) -> None:
        self.path = path
        self.timezone = timezone
        self.offset = zone_offset(timezone)
        self.fields = fields
        self.delimiter = delimiter
        self.ordered_only = ordered_only
        self.heterogeneous = HeterogeneousJobs()
        self.clusters: set[bytes] = set()
        self._cluster: re.Pattern[bytes] | None = None
        self.scanner: Scanner

    def batches(self, rows: int) -> Iterator[Batch]:
        """Batches as they fill up; the last one is yielded with the counts of all that followed it."""
        with reading(self.path) as stream:
            rest = b""
            started = False
            while block := stream.read(_BLOCK):
                data = rest + (block if started else block.removeprefix(b"\xef\xbb\xbf"))
                if not started:
                    data = self._start(data, rows)
                    started = True
                end = data.rfind(b"\n") + 1
                yield from self._scan(data, end)
                rest = data[end:]
                if len(rest) > _LONGEST_LINE:
                    raise InputError("this is no output of sacct (endless line)", file=self.path)
            if not started:
                raise InputError("the file is empty", file=self.path)
            if rest:
                yield from self._scan(rest + b"\n", len(rest) + 1)
        last = self.scanner.take()
        if not len(last[0]["submit"]):
            raise self._no_jobs(last[1])
        yield last

    def _scan(self, data: bytes, end: int) -> Iterator[Batch]:
        header = self.header
        if header and header in data:  # logs joined end to end repeat it; an empty line keeps the count
            data = (b"\n" + data[:end]).replace(b"\n" + header, b"\n\n")[1:]
            end = len(data)
        if self._cluster is not None and len(self.clusters) < _CLUSTERS:
            self.clusters.update(self._cluster.findall(data, 0, end))
        at = self.scanner.scan(data, 0, end)
        while at < end:
            yield self.scanner.take()
            at = self.scanner.scan(data, at, end)

    def _start(self, data: bytes, rows: int) -> bytes:
        """Reads the header and makes the scanner; returns the data with the header's line emptied."""
        line, _, rest = data.partition(b"\n")
        text = line.decode("utf-8", "replace").strip()
        delimiter = self.delimiter or _find_delimiter(text)
        self.header = b""
        if self.fields is None:
            names = text.rstrip(delimiter).split(delimiter)
            self._check_header(text)
            self.header = line + b"\n"
        else:
            names = list(self.fields)
        plain = [name.partition("%")[0].strip().lower() for name in names]
        roles = self._find_roles(plain)
        free = [index for index, name in enumerate(plain) if name in FREE_TEXT]
        if "cluster" in plain and plain.index("cluster") < min(free, default=len(plain)):
            self._cluster = find_cell(plain.index("cluster"), delimiter)
        one = free[0] if len(free) == 1 else -1
        apart = Texts(plain, text.endswith(delimiter)) if len(free) > 1 else None
        self.scanner = Scanner(
            str(self.path), rows, ord(delimiter), roles, one, apart, self.offset, ordered_only=self.ordered_only
        )
        return b"\n" + rest if self.fields is None else data

    def _check_header(self, text: str) -> None:
        if looks_like_sacct(text):
            return
        what = "this is no output of sacct: its first line has no field names such as JobID|User|Submit"
        if " " in text and "JobID" in text:
            what = "this is a table for people; sacct --parsable2 prints one for programs"
        raise InputError(what, value=text[:60], file=self.path, line=1)

    def _find_roles(self, names: list[str]) -> list[int]:
        """The role of each column, -1 where it has none."""
        if len(names) > 255:
            raise InputError("too many fields", value=len(names), file=self.path, line=1)
        roles: list[int] = []
        for name in names:
            role = ROLES.get(name, -1)
            roles.append(-1 if role in roles else role)
        for wanted in (("jobid",), ("submit",), ("elapsed", "elapsedraw", "end"), ("alloccpus", "ncpus", "reqcpus",
                       "alloctres", "reqtres")):  # fmt: skip
            if not any(ROLES[name] in roles for name in wanted):
                choices = " or ".join(wanted)
                raise InputError(f"sacct has to print the field {choices}; it printed", value=", ".join(names),
                                 file=self.path, line=1)  # fmt: skip
        return roles

    def join_parts(self, columns: dict[str, Any]) -> dict[str, Any]:
        """The columns with one row for each heterogeneous job."""
        return self.heterogeneous.join(columns, self.scanner.labels()["queue"], self.scanner.join_licences)

    def batch(self, columns: dict[str, Any], notes: dict[str, Any]) -> Workload:
        """A batch of a stream, with what was found in it."""
        before = self.heterogeneous.count
        joined = self.join_parts(columns)
        notes = notes | {"unsorted": False, "problems": self.problems()} | self.cluster_names()
        return self.workload(joined, notes | {"heterogeneous": self.heterogeneous.count - before})

    def cluster_names(self) -> dict[str, list[str]]:
        """The note on the clusters whose jobs these are, where they are several; steps tell theirs, too."""
        names = sorted(name.decode("utf-8", "replace") for name in self.clusters if name)
        return {"log_clusters": names} if len(names) > 1 else {}

    def problems(self) -> list[str]:
        """The first malformed lines, each as one sentence with its place."""
        return [f"{self.path}:{line}: {problem}: {text!r}" for line, problem, text in self.scanner.problems]

    def _no_jobs(self, notes: dict[str, Any]) -> InputError:
        if not self.scanner.records:
            return InputError("there are no jobs in this file", file=self.path)
        reasons = ", ".join(f"{count} × {reason}" for reason, count in notes["skipped"].items())
        first = f"; the first problem: {self.problems()[0]}" if self.scanner.problems else ""
        return InputError(
            f"none of the {self.scanner.records} records is a job that can be simulated: {reasons}{first}",
            file=self.path,
        )

    def workload(self, columns: dict[str, Any], notes: dict[str, Any], moved: int = 0) -> Workload:
        """The batch as a Workload; its clock begins `moved` seconds before the first job's midnight."""
        labels = self.scanner.labels() | {"parts": list(self.heterogeneous.names)}
        return Workload(
            columns,
            labels={name: names for name, names in labels.items() if name in columns},
            origin=Origin(float(self.scanner.start_of_clock() - moved), self.timezone or "UTC"),
            notes=notes,
            source=str(self.path),
            skipped_at={
                reason: np.where(times == MISSING, MISSING, times + moved * SECOND)
                for reason, times in self.scanner.skipped_at().items()
            },
        )


def find_cell(column: int, delimiter: str) -> re.Pattern[bytes]:
    """Finds the contents of a column in all lines."""
    sign = re.escape(delimiter.encode())
    return re.compile(rb"^(?:[^\n%b]*%b){%d}([^\r\n%b]*)" % (sign, sign, column, sign), re.MULTILINE)


def zone_offset(timezone: str | None) -> Callable[[int], int]:
    """The function from a local quarter of an hour since 1970 to the seconds by which its zone is ahead of UTC."""
    zone = find_zone(timezone)
    if zone is datetime.UTC:
        return lambda quarter: 0

    def offset(quarter: int) -> int:
        moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=quarter * _QUARTER)
        ahead = moment.replace(tzinfo=zone).utcoffset()
        return int(ahead.total_seconds()) if ahead else 0

    return offset


def _find_delimiter(line: str) -> str:
    """The sign between the names of a header."""
    return max(_DELIMITERS, key=line.count)


def _move_to_zero(columns: dict[str, Any]) -> int:
    """Begins the clock whole days earlier where a job was submitted before the first line's midnight; by how much."""
    earliest = int(columns["submit"].min())
    if earliest >= 0:
        return 0
    day = 86_400 * SECOND
    shift = -(earliest // day) * day
    for name in ("submit", "begin", "cancel"):
        if name in columns:
            columns[name] = np.where(columns[name] == -1, -1, columns[name] + shift)
    return shift // SECOND
