"""What `squeue` prints: as it comes, with -l, with any -o/--format or -O/--Format that has a header, or as JSON.

The one to use is JSON (`squeue --json`), which tells the GPUs and the memory of the whole job. Else one with bars
between its fields:

    squeue -a -t R,S,PD -o "%i|%T|%u|%a|%P|%q|%C|%D|%l|%V|%S|%M|%Q|%r|%b|%m|%f|%W|%N"

%b has no GPUs that were asked for by `--gpus`, and %m does not tell whether memory is for each node or for each core:
here it is for each node.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from walltime.core.errors import InputError
from walltime.core.reading import Reading, boundary
from walltime.core.time import SECOND, parse_duration
from walltime.core.workload import UNLIMITED
from walltime.workload.formats.sacct.fields import count_gpus, read_licences
from walltime.workload.snapshot.system import Snapshot, SystemJob, read_time

HEADINGS = {
    "JOBID": "id",
    "STATE": "state",
    "ST": "state",
    "USER": "user",
    "ACCOUNT": "account",
    "PARTITION": "queue",
    "QOS": "qos",
    "CPUS": "cores",
    "NODES": "nodes",
    "TIME_LIMIT": "limit",
    "TIME_LIMI": "limit",  # as -l cuts it off
    "TIMELIMIT": "limit",
    "SUBMIT_TIME": "submit",
    "START_TIME": "start",
    "TIME": "elapsed",
    "TIME_LEFT": "left",
    "PRIORITY": "priority",
    "REASON": "reason",
    "NODELIST(REASON)": "reason",
    "END_TIME": "end",
    "GROUP": "group",
    "NAME": "title",
    "NODELIST": "nodelist",
    "TRES_PER_NODE": "tres_node",
    "MIN_MEMORY": "memory_node",
    "FEATURES": "constraint",
    "LICENSES": "licences",
    "TRES_ALLOC": "tres",
}
"""squeue's headings, and what they are here."""
RUNNING = (
    *("R", "RUNNING", "CG", "COMPLETING", "S", "SUSPENDED", "CF", "CONFIGURING", "ST", "STOPPED"),
    *("RS", "RESIZING", "SI", "SIGNALING", "SO", "STAGE_OUT"),
)
SUSPENDED = ("S", "SUSPENDED")
WAITING = ("PD", "PENDING")
OTHERS = (
    *("BF", "BOOT_FAIL", "CA", "CANCELLED", "CD", "COMPLETED", "DL", "DEADLINE", "F", "FAILED", "NF", "NODE_FAIL"),
    *("OOM", "OUT_OF_MEMORY", "PR", "PREEMPTED", "RD", "RESV_DEL_HOLD", "RF", "REQUEUE_FED", "RH", "REQUEUE_HOLD"),
    *("RQ", "REQUEUED", "RV", "REVOKED", "SE", "SPECIAL_EXIT", "TO", "TIMEOUT"),
)
STATES = RUNNING + WAITING + OTHERS
LEFT_OUT = {
    "held": ("JobHeldUser", "JobHeldAdmin", "JobHoldMaxRequeue", "launch failed requeued held"),
    "waiting for other jobs": ("Dependency", "DependencyNeverSatisfied"),
    "can never start": ("BadConstraints", "InvalidAccount", "InvalidQOS", "PartitionNodeLimit", "PartitionTimeLimit"),
}
"""Jobs that wait for a person, or for what is not in the snapshot, by the reason that squeue gives."""
_UNEVEN = "heterogeneous, with parts that differ"
BEGIN = "BeginTime"
UNKNOWN = ("N/A", "NONE", "UNKNOWN", "")
NO_LIMIT = ("INVALID", "PARTITION_LIMIT", "NOT_SET")
_CLOCK = re.compile(r"(?:(?P<days>\d+)-)?(?:(?P<hours>\d+):)?(?P<minutes>\d+):(?P<seconds>\d+)")
_PART = re.compile(r"(\d+)\+(\d+)")
MOST_JOBS = 1_000_000
"""Jobs of a snapshot, the tasks of its arrays counted one by one."""
LAST_TASK = 4_000_000
"""The largest number of a task that Slurm can be set up for."""
_ARRAY = re.compile(r"(\d+)_\[([^\]]*)\]?")


def read_squeue(lines: list[str], target: Path, zone: str | None) -> Snapshot:
    """The jobs of a text; raises InputError with file and line."""
    first = next((i for i, line in enumerate(lines) if re.search(r"\bJOBID\b", line.upper())), None)
    if first is None:
        if not any(line.strip() for line in lines):
            raise InputError("the file is empty; it should be squeue's output with its header", file=target)
        raise InputError("not squeue's output: there is no header with JOBID", file=target, line=1)
    bars = "|" in lines[first]
    names = [name.strip().upper() for name in (lines[first].split("|") if bars else lines[first].split())]
    fields = [HEADINGS.get(name) for name in names]
    for field, heading in (("id", "job's number (JOBID)"), ("state", "state (ST or STATE)")):
        if field not in fields:
            raise InputError(f"squeue's header has no {heading}", file=target, line=first + 1, choices=names)
    rows = _rows(lines[first + 1 :], first + 2, fields, bars, target)
    return _collect(rows, target, zone)


def _rows(
    lines: list[str], number: int, fields: list[str | None], bars: bool, target: Path
) -> Iterator[tuple[int, dict[str, str]]]:
    """The fields of each line, with its number."""
    for line_number, line in enumerate(lines, number):
        if not line.strip():
            continue
        values = line.split("|") if bars else _split(line, fields)
        if len(values) != len(fields):
            raise InputError(f"{len(values)} fields where the header has {len(fields)}", file=target, line=line_number)
        row = {field: value.strip() for field, value in zip(fields, values, strict=True) if field is not None}
        yield (
            line_number,
            row | {"id": values[fields.index("id")].strip()},
        )  # of `-o %all` the first: the second has none


def _split(line: str, fields: list[str | None]) -> list[str]:
    """The words of a line without bars. A job's name may be several words, and so may the last field be."""
    size = len(fields)
    plain = line.split(None, size - 1)
    if "title" not in fields or fields[-1] == "title":
        return plain
    title, words = fields.index("title"), line.split()
    for more in range(len(words) - size + 1):
        name = " ".join(words[title : title + more + 1])
        values = [*words[:title], name, *words[title + more + 1 :]]
        values = [*values[: size - 1], " ".join(values[size - 1 :])]
        if _plausible(dict(zip(fields, values, strict=True))):
            return values
    return plain


def _plausible(row: dict[str | None, str]) -> bool:
    clock = row.get("elapsed", "0:00").upper()
    return (
        _state(row["state"]) in STATES
        and (clock in (*UNKNOWN, *NO_LIMIT, "UNLIMITED") or _CLOCK.fullmatch(clock) is not None)
        and row.get("nodes", "1")[:1].isdigit()
    )


def _collect(rows: Iterator[tuple[int | None, dict[str, str]]] | Any, target: Path, zone: str | None) -> Snapshot:
    """The jobs that the rows stand for; jobs that are left out are counted."""
    jobs: list[SystemJob] = []
    skipped: dict[str, int] = {}
    place = Reading(target)
    for place.line, row in rows:
        with boundary(target, place):
            one, reason = _job(row, zone)
            found = [] if one is None else _spread(one, MOST_JOBS - len(jobs))
        if reason is not None:
            skipped[reason] = skipped.get(reason, 0) + 1
        jobs += found
    return Snapshot(tuple(_bind(_join_parts(jobs, skipped))), skipped, str(target))


def _state(text: str) -> str:
    """A state as Slurm spells it; -l cuts off the longer ones."""
    upper = text.upper()
    return next((state for state in STATES if len(upper) > 6 and state.startswith(upper)), upper)


def _job(row: dict[str, str], zone: str | None) -> tuple[SystemJob | None, str | None]:
    """The job that a line tells (a pending array is many), or why it is left out."""
    if not row["id"]:
        raise InputError("a job without an id")
    state = _state(row["state"])
    if state not in RUNNING + WAITING:
        return None, f"state {state.lower()}"
    running = state in RUNNING
    reason = row.get("reason", "").strip("()")
    for why, reasons in () if running else LEFT_OUT.items():
        if reason.partition(",")[0].replace("_", " ") in reasons:
            return None, why
    start = _moment(row.get("start"), zone)
    if not running and reason == BEGIN and start is None:
        return None, "waiting for a begin time that is not told"
    nodes = _number(row.get("nodes"))
    one = SystemJob(
        row["id"],
        running,
        _number(row.get("cores")) or nodes or 1,
        _duration(row.get("limit")),
        _moment(row.get("submit"), zone),
        start if running else None,
        _duration(row.get("elapsed")) if running else None,
        nodes,
        _number(row.get("priority")),
        user=row.get("user") or None,
        account=row.get("account") or None,
        group=row.get("group") or None,
        queue=row.get("queue") or None,
        qos=row.get("qos") or None,
        only_nodes=nodes is not None and _number(row.get("cores")) is None,
        nodelist=_nodelist(row.get("nodelist") or row.get("reason", "")) if running else None,
        begin=start if not running and reason == BEGIN else None,
        suspended=state in SUSPENDED,
        **_resources(row),
    )
    return one, None


def _nodelist(text: str) -> str | None:
    """The names of a running job's nodes, which `%R` tells in the place of a reason; None where nothing is told."""
    return None if not text or text.startswith("(") or text.upper() in UNKNOWN else text


def _resources(row: dict[str, str]) -> dict[str, Any]:
    """What a job asks for beside cores: from TRES of the whole job, else from what is told for each node."""
    found: dict[str, Any] = {}
    tres = dict(part.partition("=")[::2] for part in row.get("tres", "").split(",") if "=" in part)
    kinds = [tres[name] for name in tres if name.startswith("gres/gpu:")]
    if "gres/gpu" in tres:
        found["gpus"] = _number(tres["gres/gpu"])
    elif kinds:
        found["gpus"] = sum(_number(count) or 0 for count in kinds)
    elif count := count_gpus(row.get("tres_node", "").encode()):
        found["gpus_per_node"] = _number(str(count))
    if memory := _memory(tres.get("mem", "")):
        found["memory"] = memory
    elif memory := _memory(row.get("memory_node", "")):
        found["memory_per_node"] = memory
    for name in ("constraint", "licences"):
        if row.get(name, "").upper() not in (*UNKNOWN, "(NULL)"):
            found[name] = row[name].replace("@", "_") if name == "licences" else row[name]
    if "licences" not in found and (held := read_licences(row.get("tres", "").encode())):
        found["licences"] = ",".join(f"{name}:{count}" for name, count in held.items())
    return found


def _memory(text: str) -> int | None:
    """Bytes of `4000M`, `62.50G`, or of a number of megabytes; None for none."""
    match = re.fullmatch(r"(\d{1,12}(?:\.\d+)?)([KMGTP]?)[NC]?", text.strip().upper())
    if match is None or float(match[1]) == 0:
        return None
    return round(float(match[1]) * (1 << 10 * ("KMGTP".index(match[2] or "M") + 1)))


def _spread(one: SystemJob, room: int) -> list[SystemJob]:
    """A pending array `12_[3-5,7%2]` as its tasks, for which there is so much room."""
    match = _ARRAY.fullmatch(one.name)
    if match is None:
        if room < 1:
            raise InputError(f"more than {MOST_JOBS:,} jobs", value=one.name)
        return [one]
    listed, _, most = match[2].partition("%")
    if "..." in listed or not one.name.endswith("]"):
        raise InputError(
            "squeue has cut off the list of tasks; ask with -r, or with SLURM_BITSTR_LEN=0 in the environment",
            value=one.name,
        )
    tasks: list[int] = []
    for part in listed.split(","):
        ends = re.fullmatch(r"(\d+)(?:-(\d+)(?::(\d+))?)?", part.strip())
        if ends is None:
            raise InputError("not a list of tasks", value=one.name)
        first, last, step = int(ends[1]), int(ends[2] or ends[1]), int(ends[3] or 1)
        if last < first:
            raise InputError("a list of tasks that ends before it begins", value=one.name)
        if not step or last > LAST_TASK:
            raise InputError(f"a task is at most {LAST_TASK:,}, and the step at least 1", value=one.name)
        if len(tasks) + (last - first) // step >= MOST_JOBS:
            raise InputError(f"more than {MOST_JOBS:,} tasks in one list", value=one.name)
        tasks += range(first, last + 1, step)
        if len(tasks) > room:
            raise InputError(f"more than {MOST_JOBS:,} jobs with the tasks of", value=one.name)
    array = f"{match[1]}%{most}" if most.isdigit() else None
    return [replace(one, name=f"{match[1]}_{task}", array=array) for task in tasks]


def _join_parts(jobs: list[SystemJob], skipped: dict[str, int]) -> list[SystemJob]:
    """The jobs with one for the waiting parts (`12+0`, `12+1`) of each heterogeneous job, which start together.

    Parts that run have started, each on its own nodes. Waiting ones whose nodes differ are left out and counted.
    """
    parts: dict[str, list[SystemJob]] = {}
    for job in jobs:
        if not job.running and (match := _PART.fullmatch(job.name)):
            parts.setdefault(match[1], []).append(job)
    made: list[SystemJob] = []
    for job in jobs:
        number = job.name.partition("+")[0]
        if job.running or number not in parts or job not in parts[number]:
            made.append(job)
            continue
        mine = parts[number]
        if job is not mine[0]:
            continue
        if not _alike(mine):
            skipped[_UNEVEN] = skipped.get(_UNEVEN, 0) + 1
        else:
            limits = [one.limit for one in mine if one.limit is not None]
            nodes = None if mine[0].nodes is None else sum(one.nodes or 0 for one in mine)
            cores = sum(one.cores for one in mine)
            sums: dict[str, Any] = {
                name: sum(getattr(one, name) or 0 for one in mine) or None for name in ("gpus", "memory")
            }
            made.append(replace(job, name=number, cores=cores, nodes=nodes, limit=max(limits, default=None), **sums))
    return made


def _alike(parts: list[SystemJob]) -> bool:
    """Whether nodes of all parts have as many cores, in one queue."""
    return len({(one.cores / one.nodes if one.nodes else None, one.queue) for one in parts}) == 1


def _bind(jobs: list[SystemJob]) -> list[SystemJob]:
    """Tasks that run count for the limit of their array, which squeue tells with those that wait."""
    limits = {job.array.partition("%")[0]: job.array for job in jobs if job.array is not None}
    return [replace(job, array=limits.get(job.name.partition("_")[0])) if "_" in job.name else job for job in jobs]


def _number(text: str | None) -> int | None:
    """A count; of a range such as 2-4 the lower end, and 1K is 1024."""
    match = re.match(r"(\d+)(K?)", text or "")
    if match is None:
        return None
    if len(match[1].lstrip("0")) > 12:
        raise InputError("a number out of range", value=text)
    return int(match[1]) * (1024 if match[2] else 1)


def _duration(text: str | None) -> float | None:
    """Seconds of [days-][hours:]minutes:seconds, a year for UNLIMITED; None where nothing is told."""
    value = (text or "").strip().upper()
    if value == "UNLIMITED":
        return UNLIMITED / SECOND
    if value in UNKNOWN + NO_LIMIT:
        return None
    match = _CLOCK.fullmatch(value)
    if match is not None:
        days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
        return parse_duration(days * 86_400 + hours * 3600 + minutes * 60 + seconds) / 1e6
    return parse_duration(value) / 1e6


def _moment(text: str | None, zone: str | None) -> float | None:
    value = (text or "").strip()
    return None if value.upper() in UNKNOWN else read_time(value, zone)


# --------------------------------------------------------------------------------------------------------- JSON


def read_json(data: Any, target: Path, zone: str | None) -> Snapshot:
    """The jobs of `squeue --json`; raises InputError with the file."""
    listed = data.get("jobs") if isinstance(data, dict) else None
    if not isinstance(listed, list):
        raise InputError("not the output of squeue --json: it has no list of jobs", file=target)
    rows = []
    for number, job in enumerate(listed, 1):
        if not isinstance(job, dict) or "job_id" not in job or not job.get("job_state"):
            what = f"job {number} of squeue --json is not a mapping with job_id and job_state"
            raise InputError(what, value=job, file=target)
        rows.append((None, _from_json(job)))
    return _collect(rows, target, zone)


def _from_json(job: dict[str, Any]) -> dict[str, str]:
    """A job as a line would tell it."""
    state = job["job_state"]
    limit = _value(job.get("time_limit"))
    array, task = _value(job.get("array_job_id")), _value(job.get("array_task_id"))
    name = str(job["job_id"])
    if whole := _value(job.get("het_job_id")):
        name = f"{whole}+{_value(job.get('het_job_offset')) or 0}"
    if job.get("array_task_string"):
        name = f"{array}_[{job['array_task_string']}]"
    elif array and task is not None:
        name = f"{array}_{task}"
    row = {
        "id": name,
        "state": str(state[0] if isinstance(state, list) else state),
        "limit": _limit_text(job.get("time_limit"), limit),
        "reason": str(job.get("state_reason") or ""),
        "cores": _text(job.get("cpus")),
        "nodes": _text(job.get("node_count")),
        "nodelist": _uneven(job) or str(job.get("nodes") or ""),
        "priority": _text(job.get("priority")),
        "elapsed": "",
    }
    moments = {"submit": "submit_time", "start": "start_time"}
    row |= {field: _text(_value(job.get(key)) or None) for field, key in moments.items()}  # 0 is no moment
    if since := _value(job.get("suspend_time")):
        row |= _suspended(row, since, _value(job.get("pre_sus_time")) or 0)
    row["tres"] = str(job.get("tres_alloc_str") or job.get("tres_req_str") or "")
    others = {"tres_node": "tres_per_node", "constraint": "features", "licences": "licenses"}
    row |= {field: str(job.get(key) or "") for field, key in others.items()}
    people = {"user": "user_name", "account": "account", "queue": "partition", "qos": "qos", "group": "group_name"}
    return row | {field: str(job.get(key) or "") for field, key in people.items()}


def _suspended(row: dict[str, str], since: int, before: int) -> dict[str, str]:
    """How long a suspended job has run before, or from when on one that goes on since then would have run in one go."""
    if _state(row["state"]) in SUSPENDED:
        return {"elapsed": str(before or max(since - int(row["start"] or since), 0))}
    return {"start": str(since - before)}


def _uneven(job: dict[str, Any]) -> str:
    """The names of its nodes with its cores on each, where these differ; what Slurm 22.05 tells of each node are the
    cores, of which all have as many CPUs."""
    told = job.get("job_resources")
    if not isinstance(told, dict):
        return ""
    nodes = told.get("nodes")
    listed = nodes.get("allocation") if isinstance(nodes, dict) else told.get("allocated_nodes")
    if not isinstance(listed, list) or not all(isinstance(node, dict) for node in listed):
        return ""
    amounts = {str(node.get("name") or node.get("nodename") or ""): _cores_of(node) for node in listed}
    total, cpus = sum(amounts.values()), _value(job.get("cpus")) or 0
    if len(set(amounts.values())) < 2 or "" in amounts or min(amounts.values()) < 1 or cpus % total:
        return ""
    return ",".join(f"{name}:{cores * cpus // total}" for name, cores in amounts.items())


def _cores_of(node: dict[str, Any]) -> int:
    """How many CPUs, or else cores, of a node a job has."""
    cpus = node.get("cpus")
    if isinstance(cpus, dict) and "count" in cpus:
        return _value(cpus["count"]) or 0
    sockets = node.get("sockets")
    found = 0
    for socket in sockets.values() if isinstance(sockets, dict) else ():
        cores = socket.get("cores") if isinstance(socket, dict) else None
        found += sum(str(state).startswith("allocated") for state in cores.values()) if isinstance(cores, dict) else 0
    return found


def _limit_text(told: Any, minutes: int | None) -> str:
    """A limit as a line would tell it; one that is not set is its partition's."""
    if minutes is not None:
        return f"{minutes}:00"
    return "NOT_SET" if isinstance(told, dict) and not told.get("infinite") else "UNLIMITED"


def _value(told: Any) -> int | None:
    """A number, which newer versions wrap up with whether it is set and finite."""
    if isinstance(told, dict):
        told = told.get("number") if told.get("set", True) and not told.get("infinite") else None
    if told is None:
        return None
    if isinstance(told, bool) or not isinstance(told, int | float | str):
        raise InputError("a number was expected in squeue --json", value=told)
    return int(told)


def _text(told: Any) -> str:
    value = _value(told)
    return "" if value is None else str(value)
