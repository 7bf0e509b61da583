"""Accounting records of Torque, PBS and Moab: `date;letter;job id;key=value key=value ...`, a file a day.

Jobs are taken from their end records (`E`), the only ones that tell what a job held and how long it ran. A job that was
deleted or aborted before it ended (`D`, `A` without an `E`) is dropped and counted, as are malformed lines, which are
also told with file and line. Times in the records are seconds since 1970; the date at the front of a line is not used.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.reading import describe, reader, reading
from walltime.core.time import LATEST, SECOND, parse_duration
from walltime.core.workload import MISSING, Origin, Workload, encode_labels, sort_by_submission
from walltime.workload.formats.sacct.reader import zone_offset

RECORD = re.compile(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;[A-Za-z];")
_DAY_FILE = re.compile(r"\d{8}(\.gz)?")
_PAIR = re.compile(r'([A-Za-z_][\w.]*)=("[^"]*"|\S*)')
_BYTES = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgtp]?)(b|w)?", re.IGNORECASE)
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50}
_SHOWN = 20
_NUMBERS = ("job_id", "submit", "run_time", "requested_time", "cores", "nodes", "memory", "gpus", "recorded_wait")
_LABELS = {"user": "user", "group": "group", "account": "account", "queue": "queue"}
_CHUNK = re.compile(r"(\d+)(?=:|$)")


def is_accounting_folder(path: str | Path) -> bool:
    """Whether a folder holds a file for each day, as a server's `accounting` folder does."""
    folder = Path(path)
    return folder.is_dir() and any(_DAY_FILE.fullmatch(entry.name) for entry in folder.iterdir())


@reader
def read_torque(path: str | Path, timezone: str | None = None) -> Workload:
    """The jobs that ended in a file, or in all daily files of a folder; sorted by submission."""
    zone_offset(timezone)  # an unknown zone is told before anything is read
    log = _Log()
    folder = Path(path)
    files = (
        sorted(entry for entry in folder.iterdir() if _DAY_FILE.fullmatch(entry.name)) if folder.is_dir() else [folder]
    )
    for file in files:
        log.read(file)
    return log.workload(path, timezone)


class _Log:
    """The records of all files, as they come."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.skipped: dict[str, list[int]] = {}  # the submissions of records that are left out, by reason
        self.problems: list[str] = []
        self.ended: set[str] = set()
        self.gone: set[str] = set()
        self.lines = 0

    def read(self, path: Path) -> None:
        with reading(path) as stream:
            for number, raw in enumerate(stream, 1):
                line = raw.decode("utf-8", "replace").strip()
                if not line:
                    continue
                if not RECORD.match(line):
                    self._tell(path, number, "not an accounting record", line)
                    continue
                _, letter, job, text = line.split(";", 3) if line.count(";") >= 3 else [*line.split(";"), ""][:4]
                if letter == "E":
                    self._end(path, number, job, text)
                elif letter in "DA":
                    self.gone.add(job)

    def _end(self, path: Path, number: int, job: str, text: str) -> None:
        self.lines += 1
        self.ended.add(job)
        pairs = {key: value.strip('"') for key, value in _PAIR.findall(text)}
        try:
            row = _row(job, pairs)
        except (ValueError, OverflowError, InputError) as error:
            self._tell(path, number, describe(error), text)
            return
        if row["run_time"] <= 0:
            self._skip("run time unknown or zero", row["submit"])
        elif row["submit"] < 0:
            self._skip("submit time unknown", MISSING)
        else:
            self.rows.append(row)

    def _skip(self, reason: str, submit: int) -> None:
        self.skipped.setdefault(reason, []).append(max(submit, MISSING))

    def _tell(self, path: Path, number: int, problem: str, text: str) -> None:
        self._skip("malformed line", MISSING)
        if len(self.problems) < _SHOWN:
            self.problems.append(f"{path}:{number}: {problem}: {text[:60]!r}")

    def workload(self, path: str | Path, timezone: str | None) -> Workload:
        never = len(self.gone - self.ended)
        if never:
            self.skipped["deleted or aborted without an end record"] = [MISSING] * never
        if not self.rows:
            first = f"; the first problem: {self.problems[0]}" if self.problems else ""
            raise InputError(f"there is no record of a job's end in this log{first}", file=path)
        columns: dict[str, Any] = {
            name: np.array([row[name] for row in self.rows], np.int64)
            for name in _NUMBERS
            if any(row[name] != MISSING for row in self.rows)
        }
        if "gpus" in columns:
            columns["gpus"] = np.maximum(columns["gpus"], 0)
        labels: dict[str, list[str]] = {}
        for name in (*_LABELS, "parts"):
            codes, names = encode_labels([row[name] for row in self.rows])
            if names:
                columns[name], labels[name] = codes, names
        arrays = [row["name"] for row in self.rows]
        if any(arrays):
            columns["name"] = arrays
        zero = int(columns["submit"].min()) // (86_400 * SECOND) * 86_400 * SECOND
        columns["submit"] = columns["submit"] - zero
        request = columns.get("requested_time", np.full(len(self.rows), MISSING))
        submit = columns["submit"]
        notes = {
            "lines": self.lines,
            "skipped": {reason: len(times) for reason, times in self.skipped.items()},
            "problems": self.problems,
            "missing_request": int(np.count_nonzero(request == MISSING)),
            "overlong": int(np.count_nonzero((request > 0) & (columns["run_time"] > request))),
            "unsorted": bool(np.any(submit[1:] < submit[:-1])),
            "duplicate_ids": len(submit) - len(np.unique(columns["job_id"])),
        }
        origin = Origin(zero / SECOND, timezone or "UTC")
        skipped_at = {reason: _moved(np.array(times, np.int64), zero) for reason, times in self.skipped.items()}
        return Workload(
            sort_by_submission(columns), labels, origin=origin, notes=notes, source=str(path), skipped_at=skipped_at
        )


def _moved(times: np.ndarray[Any, Any], zero: int) -> np.ndarray[Any, Any]:
    return np.where(times == MISSING, MISSING, times - zero)


def _row(job: str, pairs: dict[str, str]) -> dict[str, Any]:
    """One job; ValueError or InputError where a value cannot be read."""
    digits = re.match(r"\d+", job)
    if not digits:
        raise ValueError("the job's id has no number")
    times = {name: _epoch(pairs.get(name)) for name in ("ctime", "qtime", "start", "end")}
    submit = times["ctime"] if times["ctime"] >= 0 else times["qtime"]
    run = _span(pairs.get("resources_used.walltime"))
    if run < 0 and min(times["start"], times["end"]) >= 0:
        run = times["end"] - times["start"]
    cores, nodes, gpus = _size(pairs)
    row: dict[str, Any] = {
        "job_id": int(digits[0]),
        "name": job.partition(".")[0] if "[" in job else "",
        "submit": submit,
        "run_time": run,
        "requested_time": _span(pairs.get("Resource_List.walltime")),
        "cores": cores,
        "nodes": nodes,
        "memory": _memory(pairs.get("Resource_List.mem")),
        "gpus": gpus,
        "recorded_wait": times["start"] - submit if times["start"] >= submit >= 0 else MISSING,
    }
    for name, value in row.items():
        if name != "name" and value > LATEST:
            raise ValueError(f"{name} out of range")
    row["parts"] = _parts(_chunks(pairs), cores)
    return row | {ours: pairs.get(theirs, "") for ours, theirs in _LABELS.items()}


def _epoch(text: str | None) -> int:
    return MISSING if not text else int(float(text)) * SECOND


def _span(text: str | None) -> int:
    """Microseconds of HH:MM:SS, D:HH:MM:SS or seconds."""
    if not text:
        return MISSING
    words = text.split(":")
    if len(words) == 4:
        return ((int(words[0]) * 24 + int(words[1])) * 3600 + int(words[2]) * 60 + int(words[3])) * SECOND
    return parse_duration(text)


def _size(pairs: dict[str, str]) -> tuple[int, int, int]:
    """Cores, nodes and GPUs of the whole job; what it held comes before what it asked for."""
    nodes = cores = gpus = 0
    for count, each, cards in _chunks(pairs):
        nodes += count
        cores += count * each
        gpus += count * cards
    if not cores and (asked := pairs.get("Resource_List.ncpus") or pairs.get("Resource_List.procs")):
        cores = int(asked)
    if held := pairs.get("total_execution_slots"):
        cores = int(held)
    elif hosts := pairs.get("exec_host"):
        cores = _slots(hosts) or cores
    if not gpus and (asked := pairs.get("Resource_List.ngpus") or pairs.get("Resource_List.gpus")):
        gpus = int(asked)
    return max(cores, 1), nodes if 0 < nodes <= max(cores, 1) else MISSING, gpus or MISSING


def _chunks(pairs: dict[str, str]) -> list[tuple[int, int, int]]:
    """The parts of a request as nodes, cores and GPUs of each: `1:ppn=8+1:ppn=1`, or PBS' `1:ncpus=8+1:ncpus=1`."""
    found = []
    text = pairs.get("Resource_List.select") or pairs.get("Resource_List.nodes") or ""
    for chunk in filter(None, text.split("+")):
        count = int(match[0]) if (match := _CHUNK.match(chunk)) else 1
        each = re.search(r"(?:ppn|ncpus)=(\d+)", chunk)
        cards = re.search(r"(?:^|:)(?:gpus|ngpus)=(\d+)", chunk)
        found.append((count, int(each[1]) if each else 1, int(cards[1]) if cards else 0))
    return found


def _parts(chunks: list[tuple[int, int, int]], cores: int) -> str:
    """The column `parts` of a job whose nodes differ; empty where they do not, or are not all that it held."""
    alike = len({chunk[1:] for chunk in chunks}) <= 1
    if alike or sum(count * each for count, each, _ in chunks) != cores:
        return ""
    cards = any(chunk[2] for chunk in chunks)
    return "+".join(f"{count}x{each}" + f",gpus={count * own}" * cards for count, each, own in chunks)


def _slots(hosts: str) -> int:
    """Cores in n1/0+n1/1 (Torque), n1/0-3 (Torque 5), n1/0*4 (PBS)."""
    total = 0
    for item in hosts.split("+"):
        _, _, place = item.partition("/")
        if "*" in place:
            total += int(place.partition("*")[2])
            continue
        for part in place.split(",") if place else ["0"]:
            first, _, last = part.partition("-")
            total += int(last) - int(first) + 1 if last else 1
    return total


def _memory(text: str | None) -> int:
    """Bytes of 4gb, 4096mb, 500000kb."""
    if not text:
        return MISSING
    match = _BYTES.fullmatch(text.strip())
    if not match:
        raise ValueError(f"not an amount of memory ({text})")
    return int(float(match[1]) * _UNITS[match[2].lower()]) * (8 if match[3] and match[3].lower() == "w" else 1)
