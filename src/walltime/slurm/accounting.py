"""What `sacct` and `sacctmgr show` answer beside a frozen controller: there is no database daemon, so we answer.

Jobs come from the controller itself: its record of finished attempts, and `scontrol show job` for the others. Accounts
and qualities of service are those that the controller was started with.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NoReturn

from walltime.core.errors import InputError
from walltime.core.time import SECOND
from walltime.site.associations import Association
from walltime.slurm.site import Site

SOURCE = "answered by Walltime from the controller's own records; there is no slurmdbd"
Row = Mapping[str, str]

_PAIR = re.compile(r"([\w:/]+)=(.*?)(?= [\w:/]+=|\s*$)")
_TIME = "%Y-%m-%dT%H:%M:%S"
_WIDTHS = {"jobid": 12, "nodelist": 15, "submit": 19, "eligible": 19, "start": 19, "end": 19}
_WIDTH = 10
ENDED = ("COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE",
         "OUT_OF_MEMORY")  # fmt: skip
SHORT = {"CA": "CANCELLED", "CD": "COMPLETED", "F": "FAILED", "NF": "NODE_FAIL", "PD": "PENDING", "PR": "PREEMPTED",
         "R": "RUNNING", "RQ": "REQUEUED", "S": "SUSPENDED", "TO": "TIMEOUT"}  # fmt: skip


def read_jobs(record: str, shown: str, handles: Mapping[str, str], now: datetime) -> list[dict[str, str]]:
    """Every attempt that the controller knows, by job and then in order of time.

    `record` are the lines of its completion log, `shown` those of `scontrol -o show job`; `handles` tells what it
    calls a job, where that is not its number.
    """
    rows = [_describe(line, handles, now) for line in record.splitlines() if line.strip()]
    current = (_describe(line, handles, now) for line in shown.splitlines() if line.startswith("JobId="))
    rows += [row for row in current if row["State"] not in ENDED]
    return sorted(rows, key=lambda row: int(row["JobIDRaw"]))


def _describe(line: str, handles: Mapping[str, str], now: datetime) -> dict[str, str]:
    """One attempt in the words of sacct, from a line of either kind."""
    words = dict(_PAIR.findall(line))
    number = words["JobId"]
    array = f"{words['ArrayJobId']}_{words['ArrayTaskId']}" if "ArrayTaskId" in words else None
    user, _, uid = words["UserId"].rstrip(")").partition("(")
    state, cpus = words["JobState"].partition(",")[0], words.get("ProcCnt") or words.get("NumCPUs", "")
    started = state not in ("PENDING", "REQUEUED", "SPECIAL_EXIT") and words["StartTime"] not in ("Unknown", "N/A")
    times = {key: words.get(f"{key}Time", "Unknown") for key in ("Submit", "Eligible", "Start", "End")}
    if not started:
        times |= {"Start": "Unknown"}
    if state not in ENDED and "JobName" in words:
        times |= {"End": "Unknown"}
    spent = _count_seconds(times, now)
    limit = _read_minutes(words["TimeLimit"])
    nodes = words.get("NodeCnt") or words.get("NumNodes", "0")
    return {
        "JobID": array or handles.get(number, number),
        "JobIDRaw": number,
        "JobName": words.get("Name") or words.get("JobName", ""),
        "User": user,
        "UID": uid,
        "Account": _clean(words.get("Account", "")),
        "Partition": words["Partition"],
        "QOS": _clean(words.get("QOS", "")),
        "Cluster": words.get("Cluster", ""),
        "State": state,
        "Reason": _clean(words.get("Reason", "")),
        "Reservation": _clean(words.get("ReservationName", "")),
        "Priority": words.get("Priority", ""),
        **times,
        "Elapsed": _write_duration(spent),
        "ElapsedRaw": str(spent),
        "Timelimit": "UNLIMITED" if limit is None else _write_duration(60 * limit),
        "TimelimitRaw": "" if limit is None else str(limit),
        "NNodes": nodes if started else (words.get("NumNodes") or nodes).partition("-")[0],
        "AllocNodes": nodes if started else "0",
        "NodeList": _clean(words.get("NodeList", "")) if started else "None assigned",
        "NCPUS": cpus,
        "ReqCPUS": cpus,
        "AllocCPUS": cpus if started else "0",
        "CPUTime": _write_duration(spent * int(cpus or 0)),
        "CPUTimeRAW": str(spent * int(cpus or 0)),
        "AllocTRES": _clean(words.get("AllocTRES") or words.get("TRES") or words.get("Tres", "")) if started else "",
        "ExitCode": words.get("ExitCode", "0:0"),
        "DerivedExitCode": words.get("DerivedExitCode", "0:0"),
    }


def _clean(text: str) -> str:
    return "" if text in ("(null)", "N/A") else text


def _count_seconds(times: Row, now: datetime) -> int:
    """From its start to its end, or to now."""
    if not times["Start"].startswith("2") and not times["Start"].startswith("1"):
        return 0
    end = now if times["End"] == "Unknown" else datetime.strptime(times["End"], _TIME)
    return max(0, round((end - datetime.strptime(times["Start"], _TIME)).total_seconds()))


def _read_minutes(text: str) -> int | None:
    """A limit as the record has it (minutes), or as scontrol shows it (`1-00:30:00`); None: there is none."""
    if text.isdigit():
        return int(text)
    match = re.fullmatch(r"(?:(\d+)-)?(\d+):(\d\d):(\d\d)", text)
    return None if match is None else 1440 * int(match[1] or 0) + 60 * int(match[2]) + int(match[3])


def _write_duration(length: int) -> str:
    days, rest = divmod(length, 86_400)
    clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{days}-{clock}" if days else clock


# ---- sacct


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InputError(f"{self.prog}: {message}; {SOURCE}")


def _make_parser() -> _Parser:
    parser = _Parser("sacct", add_help=False, allow_abbrev=False)
    for names in (("-a", "--allusers"), ("-X", "--allocations"), ("-n", "--noheader"), ("-D", "--duplicates"),
                  ("-P", "--parsable2"), ("-p", "--parsable"), ("-b", "--brief"), ("-e", "--helpformat"),
                  ("-V", "--version"), ("-T", "--truncate")):  # fmt: skip
        parser.add_argument(*names, action="store_true")
    for names in (("-o", "--format"), ("-j", "--jobs"), ("-u", "--user"), ("-A", "--accounts"), ("-q", "--qos"),
                  ("-r", "--partition"), ("-s", "--state"), ("-S", "--starttime"), ("-E", "--endtime")):  # fmt: skip
        parser.add_argument(*names)
    return parser


def answer_sacct(arguments: Sequence[str], rows: Sequence[dict[str, str]], now: datetime, user: str | None) -> str:
    """What sacct prints; `user` is the one who asks, None for an administrator. Raises InputError.

    As with Slurm's own, jobs of today are shown, or all jobs where some are named.
    """
    asked = _make_parser().parse_args(list(arguments))
    if asked.version:
        return f"sacct: {SOURCE}\n"
    fields = _make_fields()
    if asked.helpformat:
        return "\n".join(fields.values()) + "\n"
    begin = now.replace(hour=0, minute=0, second=0) if asked.jobs is None else datetime.min
    begin = begin if asked.starttime is None else _read_time(asked.starttime, now)
    end = now if asked.endtime is None else _read_time(asked.endtime, now)
    if not asked.duplicates:
        rows = list({row["JobIDRaw"]: row for row in rows}.values())
    if user is not None and not asked.allusers and asked.user is None:
        asked.user = user
    chosen = list(_choose((row for row in rows if _is_within(row, begin, end)), asked))
    usual = "JobID,State,ExitCode" if asked.brief else "JobID,JobName,Partition,Account,AllocCPUS,State,ExitCode"
    columns = _choose_columns(asked.format or usual, fields)
    return write_table(columns, chosen, asked.parsable, asked.parsable2, asked.noheader)


def _make_fields() -> dict[str, str]:
    """The names of all columns, by their small letters."""
    now = datetime(2000, 1, 1)
    line = "JobId=1 UserId=a(1) JobState=PENDING Partition=p TimeLimit=1 StartTime=Unknown"
    return {name.lower(): name for name in _describe(line, {}, now)}


def _choose_columns(text: str, fields: Mapping[str, str]) -> list[tuple[str, int]]:
    """The columns of `JobID%20,State`, with their widths; raises InputError for one that there is not."""
    columns = []
    for part in (piece.strip() for piece in text.split(",") if piece.strip()):
        name, _, width = part.partition("%")
        if name.lower() not in fields:
            raise InputError("no such column", value=name, choices=list(fields.values()))
        given = int(width.lstrip("-")) if width.lstrip("-").isdigit() else _WIDTHS.get(name.lower(), _WIDTH)
        columns.append((fields[name.lower()], given))
    return columns


def _is_within(row: Row, begin: datetime, end: datetime) -> bool:
    came, went = row["Submit"], row["End"]
    return datetime.strptime(came, _TIME) <= end and (
        went == "Unknown" or went == "None" or datetime.strptime(went, _TIME) >= begin
    )


def _choose(rows: Iterable[dict[str, str]], asked: argparse.Namespace) -> Iterator[dict[str, str]]:
    tests: list[Callable[[Row], bool]] = []
    for key, text in (("User", asked.user), ("Account", asked.accounts), ("QOS", asked.qos)):
        if text is not None:
            tests.append(_among((key,), text.split(",")))
    if asked.partition is not None:
        tests.append(_among(("Partition",), asked.partition.split(",")))
    if asked.jobs is not None:
        tests.append(_among(("JobID", "JobIDRaw", "Array"), asked.jobs.split(",")))
    if asked.state is not None:
        states = [SHORT.get(name.upper(), name.upper()) for name in asked.state.split(",")]
        tests.append(_among(("State",), states))
    for row in rows:
        if all(test({**row, "Array": row["JobID"].partition("_")[0]}) for test in tests):
            yield row


def _among(keys: Sequence[str], values: Sequence[str]) -> Callable[[Row], bool]:
    return lambda row: any(row[key] in values for key in keys)


def _read_time(text: str, now: datetime) -> datetime:
    """`2024-01-01`, `2024-01-01T08:00[:00]`, `08:00`, `now`, `now-2hours`, `midnight`, `today`; raises InputError."""
    if (word := text.lower()) in ("now", "today", "midnight"):
        return now if word == "now" else now.replace(hour=0, minute=0, second=0)
    if match := re.fullmatch(r"now-(\d+)(second|minute|hour|day|week)s?", word):
        return now - timedelta(**{f"{match[2]}s": int(match[1])})
    for form in (_TIME, "%Y-%m-%dT%H:%M", "%Y-%m-%d"):
        try:
            return datetime.strptime(text, form)
        except ValueError:
            continue
    if match := re.fullmatch(r"(\d\d?):(\d\d)(?::(\d\d))?", text):
        try:
            return now.replace(hour=int(match[1]), minute=int(match[2]), second=int(match[3] or 0))
        except ValueError:
            pass
    raise InputError("not a time, such as 2024-01-01T08:00:00 or now-2hours", value=text)


def write_table(
    columns: Sequence[tuple[str, int]], rows: Iterable[Row], piped: bool, bare: bool, headless: bool
) -> str:
    """The rows between bars (`bare`: without a last one), or in columns, cut to their widths as Slurm cuts them."""
    names = [name for name, _ in columns]
    lines = [] if headless else [names]
    lines += [[row.get(name, "") for name in names] for row in rows]
    if piped or bare:
        return "".join("|".join(line) + ("\n" if bare else "|\n") for line in lines)
    widths = [width for _, width in columns]
    if not headless:
        lines.insert(1, ["-" * width for width in widths])
    cut = (
        [value if len(value) <= width else f"{value[: width - 1]}+" for value, width in zip(line, widths, strict=True)]
        for line in lines
    )
    return "".join(
        " ".join(f"{value:>{width}}" for value, width in zip(line, widths, strict=True)) + "\n" for line in cut
    )


# ---- sacctmgr


def answer_sacctmgr(arguments: Sequence[str], site: Site) -> str:
    """What `sacctmgr show` prints; raises InputError for what it does not show, and for every change."""
    flags = {letter for word in arguments if re.fullmatch(r"-[a-zA-Z]+", word) for letter in word[1:]}
    flags |= {{"--parsable2": "P", "--parsable": "p", "--noheader": "n"}.get(word, "") for word in arguments}
    words = [word for word in arguments if not word.startswith("-")]
    if "V" in flags:
        return f"sacctmgr: {SOURCE}\n"
    if not words or words[0].lower() not in ("show", "list"):
        what = f"of sacctmgr only `show` is answered ({SOURCE}); accounts come from the files of the run"
        raise InputError(what, value=" ".join(words[:1]) or None, choices=("show", "list"))
    kind = words[1].lower() if len(words) > 1 else ""
    kind = {"account": "accounts", "user": "users", "assoc": "associations", "cluster": "clusters"}.get(kind, kind)
    kind = "associations" if kind in ("association", "assocs") else kind
    if kind not in SHOWN:
        raise InputError("sacctmgr shows no such thing here", value=kind or None, choices=tuple(SHOWN))
    rows = list(SHOWN[kind](site))
    keys = {key.lower(): key for row in rows for key in row}
    usual = ",".join(key for key in keys.values() if any(row.get(key) for row in rows))
    rows, chosen = _filter(rows, words[2:], keys)
    columns = _choose_columns(chosen or usual, keys)
    return write_table(columns, rows, "p" in flags, "P" in flags, "n" in flags)


def _filter(rows: list[Row], words: Sequence[str], keys: Mapping[str, str]) -> tuple[list[Row], str]:
    """The rows that `user=ann,bo` and the like leave, and the columns that `format=` asks for."""
    chosen = ""
    for word in words:
        key, sign, value = word.partition("=")
        name = key.lower().removesuffix("s") if key.lower() not in keys else key.lower()
        if name == "format":
            chosen = value
        elif sign and name in keys:
            wanted = [one.lower() for one in value.split(",")]
            rows = [row for row in rows if row.get(keys[name], "").lower() in wanted]
        elif key.lower() not in ("where", "tree", "withassoc"):
            raise InputError("sacctmgr show cannot choose by this", value=word, choices=["format", *keys.values()])
    return rows, chosen


def _list_qualities(site: Site) -> Iterator[Row]:
    for quality in site.associations.qualities if site.associations else ():
        yield {"Name": quality.name, **quality.limits}


def _list_entries(site: Site) -> list[Association]:
    return [site.associations.root, *site.associations.entries] if site.associations else []


def _list_associations(site: Site) -> Iterator[Row]:
    for entry in _list_entries(site):
        yield {
            "Cluster": site.name,
            "Account": entry.account,
            "User": entry.user or "",
            "Partition": entry.partition or "",
            "Share": "parent" if entry.share is None else str(entry.share),
            **entry.limits,
            "QOS": ",".join(entry.qos),
            "DefaultQOS": entry.default_qos or "",
            "ParentName": "" if entry.user else entry.parent,
        }


def _list_accounts(site: Site) -> Iterator[Row]:
    return ({"Account": entry.account, "Descr": entry.account, "Org": entry.parent} for entry in _list_entries(site)
            if entry.user is None)  # fmt: skip


def _list_users(site: Site) -> Iterator[Row]:
    homes: dict[str, str] = {}
    for entry in _list_entries(site):
        if entry.user is not None and (entry.is_default or entry.user not in homes):
            homes[entry.user] = entry.account
    return ({"User": user, "DefaultAccount": account} for user, account in homes.items())


def _list_tres(site: Site) -> Iterator[Row]:
    for name in ("cpu", "mem", "energy", "node", "billing", *site.tres):
        kind, _, rest = name.partition("/")
        yield {"Type": kind, "Name": rest}


SHOWN: dict[str, Callable[[Site], Iterator[Row]]] = {
    "qos": _list_qualities,
    "associations": _list_associations,
    "accounts": _list_accounts,
    "users": _list_users,
    "clusters": lambda site: iter([{"Cluster": site.name, "ControlHost": "127.0.0.1"}]),
    "tres": _list_tres,
}


def read_clock(microseconds: int, zone: str) -> datetime:
    """The controller's clock as its own files write it: local time, without a zone."""
    from zoneinfo import ZoneInfo

    return datetime.fromtimestamp(microseconds // SECOND, ZoneInfo(zone)).replace(tzinfo=None)
