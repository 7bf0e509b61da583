"""A site's own slurm.conf, read as Slurm reads it, and turned into a site that can be simulated."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from walltime.core.errors import InputError
from walltime.core.reading import boundary, reader
from walltime.slurm.associations import Associations, read_text
from walltime.slurm.hostlist import expand
from walltime.slurm.options import LINES, SCHEDULER_PARAMETERS, SETTINGS
from walltime.slurm.settings import change_settings, find_strange, split_words
from walltime.slurm.site import REASONS, Change, Node, Site, imposed_settings

_PAIR = re.compile(r"\s*([A-Za-z0-9_]+)\s*=\s*(\"[^\"]*\"|\S+)")
_KNOWN = {name.lower(): name for name in SETTINGS}
_NESTED = 20
FORCED = 4
"""Jobs on one core where OverSubscribe=FORCE does not say how many."""

SCRIPTS = "scripts and programs of the site are not run"
POWER = "nodes are always powered"
MEASURES = "there is nothing to measure on emulated nodes"
PEERS = "the simulated controller is alone"
MACHINE = "has no meaning on emulated nodes"
DROPPED = {
    **dict.fromkeys(
        ("Prolog", "PrologSlurmctld", "PrologFlags", "Epilog", "EpilogSlurmctld", "TaskProlog", "TaskEpilog"), SCRIPTS
    ),
    **dict.fromkeys(("SrunProlog", "SrunEpilog", "ResvProlog", "ResvEpilog", "HealthCheckProgram"), SCRIPTS),
    **dict.fromkeys(("HealthCheckInterval", "HealthCheckNodeState", "RebootProgram", "UnkillableStepProgram"), SCRIPTS),
    **dict.fromkeys(("JobSubmitPlugins", "CliFilterPlugins", "PlugStackConfig", "SlurmctldPlugstack"), SCRIPTS),
    **dict.fromkeys(("PrEpPlugins", "PrEpParameters", "SlurmctldPrimaryOnProg", "SlurmctldPrimaryOffProg"), SCRIPTS),
    **dict.fromkeys(("MailDomain", "PrologEpilogTimeout", "BurstBufferType", "BurstBufferParameters"), SCRIPTS),
    **dict.fromkeys(("SuspendProgram", "ResumeProgram", "ResumeFailProgram", "SuspendTime", "SuspendRate"), POWER),
    **dict.fromkeys(("ResumeRate", "ResumeTimeout", "SuspendTimeout", "SuspendExcNodes", "SuspendExcParts"), POWER),
    **dict.fromkeys(("PowerPlugin", "PowerParameters", "NodeFeaturesPlugins"), POWER),
    **dict.fromkeys(("JobAcctGatherFrequency", "JobAcctGatherParams", "AcctGatherEnergyType"), MEASURES),
    **dict.fromkeys(("AcctGatherProfileType", "AcctGatherInterconnectType", "AcctGatherInfinibandType"), MEASURES),
    **dict.fromkeys(("AcctGatherFilesystemType", "AcctGatherNodeFreq", "ExtSensorsType", "ExtSensorsFreq"), MEASURES),
    **dict.fromkeys(("ControlMachine", "ControlAddr", "BackupController", "BackupAddr", "SlurmctldAddr"), PEERS),
    **dict.fromkeys(("FederationParameters", "SlurmctldTimeout", "AccountingStorageBackupHost"), PEERS),
    **dict.fromkeys(("AccountingStorageExternalHost", "AccountingStoragePass", "AccountingStorageUser"), PEERS),
    **dict.fromkeys(("AccountingStorageLoc", "JobCompHost", "JobCompPass", "JobCompPort", "JobCompUser"), PEERS),
    **dict.fromkeys(("JobCompParams", "AuthAltTypes", "AuthAltParameters", "AuthInfo"), PEERS),
    **dict.fromkeys(("JobCredentialPrivateKey", "JobCredentialPublicCertificate", "CryptoType"), PEERS),
    **dict.fromkeys(
        ("SlurmdLogFile", "SlurmdPidFile", "SlurmdDebug", "SlurmdSyslogDebug", "SlurmdParameters"), MACHINE
    ),
    **dict.fromkeys(("SlurmctldSyslogDebug", "SlurmSchedLogFile", "SlurmSchedLogLevel", "DebugFlags"), MACHINE),
    **dict.fromkeys(("TaskPluginParam", "JobContainerType", "SwitchParameters", "MpiParams", "UsePAM"), MACHINE),
    **dict.fromkeys(("LaunchType", "BcastParameters", "BcastExclude", "SbcastParameters", "X11Parameters"), MACHINE),
    **dict.fromkeys(("CpuFreqDef", "CpuFreqGovernors", "GpuFreqDef", "CoreSpecPlugin", "RoutePlugin"), MACHINE),
    **dict.fromkeys(("FrontendName", "LogTimeFormat", "FastSchedule"), MACHINE),
}
"""What is taken out of a site's configuration, and why."""


@dataclass(frozen=True)
class Line:
    """One logical line: its words in order, and where it stands."""

    pairs: tuple[tuple[str, str], ...]
    file: str
    number: int

    @property
    def kind(self) -> str:
        return self.pairs[0][0].lower()

    def get(self, *names: str) -> str | None:
        """The value of the first of the names that the line has."""
        values = {key.lower(): value for key, value in self.pairs}
        return next((values[name.lower()] for name in names if name.lower() in values), None)


@dataclass
class Conf:
    """A whole configuration: single settings by name, and the lines for nodes, partitions and the like."""

    file: str
    settings: dict[str, tuple[str, Line]] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    unknown: list[tuple[str, Line]] = field(default_factory=list)

    def value(self, name: str, default: str = "") -> str:
        return self.settings[name][0] if name in self.settings else default


@reader
def read_conf(path: str | Path) -> Conf:
    """The configuration of a file and of those it includes; raises InputError with file and line."""
    conf = Conf(str(path))
    for line in _read_lines(Path(path), 0):
        _add(conf, line)
    if not any(line.kind == "nodename" for line in conf.lines):
        raise InputError("describes no nodes (NodeName=...)", file=path)
    if not any(line.kind == "partitionname" for line in conf.lines):
        raise InputError("describes no partition (PartitionName=...)", file=path)
    return conf


def _add(conf: Conf, line: Line) -> None:
    if line.kind in LINES:
        known = {name.lower() for name in LINES[line.kind]}
        conf.unknown += [(key, line) for key, _ in line.pairs if key.lower() not in known]
        conf.lines.append(Line(tuple(pair for pair in line.pairs if pair[0].lower() in known), line.file, line.number))
        return
    for key, value in line.pairs:
        name = _KNOWN.get(key.lower())
        if name is None:
            conf.unknown.append((key, line))
        else:
            conf.settings[name] = (value, line)


def _read_lines(path: Path, depth: int) -> Iterator[Line]:
    """Logical lines: comments gone, continued lines joined, included files in their place."""
    if depth > _NESTED:
        raise InputError("files include each other without end", file=path)
    joined, begin = "", 0
    for number, raw in enumerate(read_text(path).splitlines(), 1):
        text = re.sub(r"(?<!\\)#.*", "", raw).replace("\\#", "#").rstrip()
        begin = begin or number
        if text.endswith("\\"):
            joined += text[:-1]
            continue
        whole, at = (joined + text).strip(), begin
        joined, begin = "", 0
        if not whole:
            continue
        include = re.fullmatch(r"include\s+(\S+)", whole, re.IGNORECASE)
        if include:
            yield from _read_lines(path.parent / include[1], depth + 1)
        else:
            yield Line(tuple(_read_pairs(whole, path, at)), str(path), at)


def _read_pairs(text: str, path: Path, number: int) -> Iterator[tuple[str, str]]:
    place = 0
    while place < len(text):
        match = _PAIR.match(text, place)
        if not match:
            raise InputError("not Key=Value", value=text[place:].strip(), file=path, line=number)
        yield match[1], match[2].strip('"')
        place = match.end()


def make_site(
    conf: Conf,
    associations: Associations | None = None,
    settings: Mapping[str, str] | None = None,
    drop_unknown: bool = False,
    queues: Mapping[str, str] | None = None,
) -> Site:
    """A site that can be simulated; `settings` replace the configuration's own, as an experiment does."""
    with boundary(conf.file):
        changes: list[Change] = []
        _settle_unknown(conf, drop_unknown, changes)
        chosen = {name: value for name, (value, _) in conf.settings.items()}
        changes += change_settings(chosen, settings or {})
        linear = chosen.get("SelectType", "select/linear") == "select/linear"
        nodes = _load_nodes(conf, tuple(_make_nodes(conf)))
        partitions, default = _find_partitions(conf)
        name = chosen.get("ClusterName", "cluster").lower()
        bare = Site(name, (), nodes, partitions, default, linear=linear, associations=associations)
        kept = _impose(chosen, bare, changes)
        _settle_accounting(chosen, kept, associations, changes)
        _check_scheduler(kept, conf, drop_unknown, changes)
        lines = [f"{name}={value}" for name, value in kept.items()]
        lines += [_write_line(line, changes) for line in conf.lines]
        overtime = chosen.get("OverTimeLimit", "0")
        return replace(
            bare,
            settings=tuple(lines),
            files=_find_files(conf, chosen),
            changes=tuple(changes),
            queues=queues or {},
            file=conf.file,
            overtime=float("inf") if overtime.upper() == "UNLIMITED" else float(overtime),
            counts_memory="memory" in chosen.get("SelectTypeParameters", "").lower(),
            licences="Licenses" in chosen,
            max_array=int(chosen.get("MaxArraySize", "1001")),
        )


def _settle_unknown(conf: Conf, drop: bool, changes: list[Change]) -> None:
    """Words that this release does not know are named, or dropped where the person says so."""
    if conf.unknown and not drop:
        key, line = conf.unknown[0]
        more = sorted({other for other, _ in conf.unknown} - {key})
        also = f" (also {', '.join(more)})" if more else ""
        what = f"Slurm 22.05 does not know this option; --drop-unknown goes on without such{also}"
        raise InputError(what, value=key, file=line.file, line=line.number)
    for key, line in conf.unknown:
        value = line.get(key) or ""
        changes.append(Change(key, value, None, "unknown to Slurm 22.05"))


def _check_scheduler(kept: dict[str, str], conf: Conf, drop: bool, changes: list[Change]) -> None:
    """The controller ignores parameters it does not know without a word; we do not."""
    strange = find_strange(kept)
    if not strange:
        return
    if not drop:
        place = conf.settings.get("SchedulerParameters")
        where = {"file": place[1].file, "line": place[1].number} if place else {}
        what = "Slurm 22.05 does not know this of SchedulerParameters; --drop-unknown goes on without it"
        raise InputError(what, value=strange[0], choices=SCHEDULER_PARAMETERS, **where)  # type: ignore[arg-type]
    kept["SchedulerParameters"] = ",".join(
        part for part in split_words(kept["SchedulerParameters"]) if part not in strange
    )
    changes += [Change("SchedulerParameters", part, None, "unknown to Slurm 22.05") for part in strange]


def _impose(chosen: dict[str, str], site: Site, changes: list[Change]) -> dict[str, str]:
    """The site's settings without those that cannot hold; each that goes is told."""
    imposed = imposed_settings(site)
    kept = {}
    for name, value in chosen.items():
        if name in DROPPED:
            changes.append(Change(name, value, None, DROPPED[name]))
        elif name == "ClusterName":
            continue
        elif name in imposed:
            if imposed[name] != value:
                new = re.sub(r"\{\w+\}.*", "...", imposed[name])
                changes.append(Change(name, value, new, REASONS[name]))
        else:
            kept[name] = value
    return kept


def _settle_accounting(
    chosen: dict[str, str], kept: dict[str, str], associations: Associations | None, changes: list[Change]
) -> None:
    """Without associations nothing of theirs can be enforced."""
    for name in ("AccountingStorageEnforce", "AccountingStorageTRES"):
        if associations is None and name in kept:
            reason = "needs associations: --associations FILE, the output of `sacctmgr dump`"
            changes.append(Change(name, kept.pop(name), None, reason))
    if associations is None and chosen.get("PriorityType") == "priority/multifactor":
        for name in ("PriorityWeightAge", "PriorityWeightFairshare"):
            if chosen.get(name, "0") not in ("0", ""):
                reason = "has no effect without associations: --associations FILE, the output of `sacctmgr dump`"
                changes.append(Change(name, chosen[name], "0", reason))


def _make_nodes(conf: Conf) -> Iterator[Node]:
    defaults: dict[str, str] = {}
    for line in conf.lines:
        if line.kind != "nodename":
            continue
        names = line.pairs[0][1]
        given = {key.lower(): value for key, value in line.pairs[1:]}
        if names.upper() == "DEFAULT":
            defaults |= given
            continue
        try:
            for name in expand(names):
                yield _make_node(name, defaults | given)
        except (InputError, ValueError) as error:
            raise InputError(str(error), file=line.file, line=line.number) from None


def _load_nodes(conf: Conf, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """The nodes with the number of jobs that may have the same core, where a partition forces jobs to share."""
    loads: dict[str, int] = {}
    usual = ""
    for line in conf.lines:
        if line.kind != "partitionname":
            continue
        given = line.get("OverSubscribe", "Shared") or usual
        if line.pairs[0][1].upper() == "DEFAULT":
            usual = given
        match = re.fullmatch(r"FORCE(?::(\d+))?", given, re.IGNORECASE)
        if match:
            names = line.get("Nodes") or ""
            members = (node.name for node in nodes) if names.upper() == "ALL" else _expand(names, line)
            for name in members:
                loads[name] = max(loads.get(name, 1), int(match[1] or FORCED))
    return tuple(replace(node, load=loads[node.name]) if node.name in loads else node for node in nodes)


def _expand(names: str, line: Line) -> list[str]:
    try:
        return expand(names)
    except InputError as error:
        raise InputError(str(error), file=line.file, line=line.number) from None


def _make_node(name: str, words: Mapping[str, str]) -> Node:
    def number(key: str, default: int) -> int:
        return int(words.get(key, default))

    threads, boards = number("threadspercore", 1), number("boards", 1)
    cpus = int(words.get("cpus", words.get("procs", 0)))
    sockets = number("sockets", number("socketsperboard", 0) * boards)
    cores = number("corespersocket", 0)
    if not cores:
        sockets = sockets or max(1, cpus // threads)
        cores = max(1, cpus // (sockets * threads)) if cpus else 1
    sockets = sockets or (max(1, cpus // (cores * threads)) if cpus else 1)
    whole = sockets * cores * threads
    return Node(
        name,
        cpus or whole,
        boards,
        sockets,
        cores,
        threads,
        number("realmemory", 1),
        number("tmpdisk", 0),
        words.get("features", words.get("feature")),
        tuple(_read_gres(words.get("gres", ""))),
    )


def _read_gres(text: str) -> Iterator[tuple[str, str | None, int]]:
    """`gpu:a100:4(S:0-1),fpga:1` as (name, type, count)."""
    for item in re.split(r",(?![^(]*\))", text):
        parts = re.sub(r"\(.*?\)", "", item).split(":")
        if not parts[0]:
            continue
        count = parts[-1] if len(parts) > 1 and re.fullmatch(r"\d+[KkMmGg]?", parts[-1]) else "1"
        kinds = [part for part in parts[1:] if part != "no_consume" and part != count]
        scale = {"k": 1024, "m": 1024**2, "g": 1024**3}.get(count[-1].lower(), 1)
        yield parts[0], kinds[0] if kinds else None, int(count.rstrip("KkMmGg")) * scale


def _find_partitions(conf: Conf) -> tuple[tuple[str, ...], str | None]:
    names, default = [], None
    for line in conf.lines:
        if line.kind != "partitionname" or line.pairs[0][1].upper() == "DEFAULT":
            continue
        names += line.pairs[0][1].split(",")
        if (line.get("Default") or "").upper() == "YES":
            default = line.pairs[0][1].split(",")[0]
    return tuple(names), default


def _write_line(line: Line, changes: list[Change]) -> str:
    """A line for nodes or partitions without what ties it to real machines."""
    pairs = []
    for key, value in line.pairs:
        name = key.lower()
        if line.kind == "nodename" and name in ("nodeaddr", "nodehostname", "port", "bcastaddr", "cpubind"):
            changes.append(Change(key, value, None, "all nodes are on the loopback"))
        elif line.kind == "nodename" and name == "state" and value.upper() in ("CLOUD", "FUTURE"):
            pairs.append((key, "UNKNOWN"))
            changes.append(Change(key, value, "UNKNOWN", POWER))
        elif line.kind == "partitionname" and name == "allowgroups" and value.upper() != "ALL":
            changes.append(Change(key, value, None, "the groups of the site are not known"))
        else:
            pairs.append((key, f'"{value}"' if " " in value else value))
    if line.kind == "nodename" and line.pairs[0][1].upper() != "DEFAULT":
        pairs.append(("NodeAddr", "127.0.0.1"))
    return " ".join(f"{key}={value}" for key, value in pairs)


def _find_files(conf: Conf, chosen: Mapping[str, str]) -> dict[str, str]:
    """Files beside slurm.conf that the controller reads too."""
    if "tree" not in chosen.get("TopologyPlugin", ""):
        return {}
    path = Path(conf.file).parent / "topology.conf"
    if not path.exists():
        raise InputError("TopologyPlugin=topology/tree needs this file beside slurm.conf", file=path)
    return {"topology.conf": read_text(path)}
