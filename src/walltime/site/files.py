"""The files of a site, in any order: what each of them is, told by its contents."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from walltime.core.errors import InputError
from walltime.core.reading import reading
from walltime.core.source import missing_file
from walltime.site.associations import Associations, Quality, read_associations, read_qualities
from walltime.site.conf import Conf, ConfLine, read_conf, read_lines
from walltime.site.events import NodeEvent, Window, read_events, read_windows
from walltime.site.options import WORDS, ReleaseWords
from walltime.site.scontrol import add_config, add_things, read_assoc_mgr

CONF, CONFIG, NODES, PARTITIONS, MANAGER = "slurm.conf", "show config", "show node", "show partition", "show assoc_mgr"
DUMP, QOS, EVENTS, WINDOWS, TOPOLOGY, GRES, LOG = "dump", "qos", "event", "reservation", "topology", "gres", "log"
SAID = {
    CONF: "slurm.conf",
    CONFIG: "`scontrol show config`",
    NODES: "`scontrol show node`",
    PARTITIONS: "`scontrol show partition`",
    MANAGER: "`scontrol show assoc_mgr`",
    DUMP: "`sacctmgr dump`",
    QOS: "`sacctmgr -P show qos`",
    EVENTS: "`sacctmgr -P show event`",
    WINDOWS: "`scontrol show reservation`",
    TOPOLOGY: "topology.conf",
    GRES: "gres.conf",
    LOG: "a log (`sacct -P`, SWF, a table)",
}
_FIRST = (
    (r"Configuration data as of|[A-Za-z]\w*\s+= ", CONFIG),
    (r"Current Association Manager state|Association Records", MANAGER),
    (r"NodeName=\S+ Arch=|NodeName=\S+\s+CoresPerSocket=\d+\s*$", NODES),
    (r"PartitionName=\S+\s*$|PartitionName=\S+ AllowGroups=", PARTITIONS),
    (r"ReservationName=|No reservations in the system", WINDOWS),
    (r"(Cluster|Parent|Account|User) - ", DUMP),
    (r"name\|", QOS),
    (r"(cluster\|)?(nodename\||clusternodes\|).*timestart|cluster\|.*timestart", EVENTS),
    (r"resvname\||cluster\|.*\bname\|.*\bstart\|", WINDOWS),
    (r"switchname=|blockname=", TOPOLOGY),
    (r"autodetect=|name=\w+(\s|$)|nodename=.*\s(name=\w|autodetect=)", GRES),
)
_OF_CONF = re.compile(r"(nodename|partitionname)\s*=|include\s+\S", re.IGNORECASE)
"""What slurm.conf has, and `scontrol show config` has not, where both are written with spaces beside the sign."""

_JSON = (
    ("job_state", "`squeue --json` tells what runs and waits, not what ran: it is for the scenario's key `start`"),
    ("alloc_cpus", "`scontrol show node --json` is not read; the same without --json is"),
    ("partition_state", "`scontrol show partition --json` is not read; the same without --json is"),
    ("allowed_allocation", "`scontrol show partition --json` is not read; the same without --json is"),
)
"""What Slurm prints as JSON, by a key that it has, and what to give instead."""


@dataclass
class Given:
    """What the files of a site say."""

    conf: Conf
    associations: Associations | None = None
    events: tuple[NodeEvent, ...] = ()
    windows: tuple[Window, ...] = ()
    switches: tuple[ConfLine, ...] = ()
    log: str | None = None
    files: dict[str, str] = field(default_factory=dict)
    """The files by what they are."""


def recognise(path: str | Path) -> str:
    """What a file is: one of `SAID`; raises InputError for one that is not there, and for Slurm's JSON."""
    file = Path(path)
    if not file.exists():
        raise missing_file(file)
    if file.is_dir() or file.suffix in (".gz", ".parquet"):
        return LOG
    with reading(file) as stream:
        text = stream.read(1 << 16).decode("utf-8", "replace").lstrip("\ufeff")
    for key, said in _JSON if text.lstrip().startswith("{") else ():
        if f'"{key}"' in text:
            raise InputError(said, file=path)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(("#", ";"))]
    first = lines[0] if lines else ""
    for pattern, kind in _FIRST:
        if re.match(pattern, first, re.IGNORECASE):
            return CONF if kind == CONFIG and any(_OF_CONF.match(line) for line in lines) else kind
    known = {name for words in WORDS.values() for name in words.known} | {"include"}
    words = re.match(r"(\w+)\s*[= ]", first)
    if words is not None and words[1].lower() in known:
        return CONF
    if file.suffix == ".conf":
        raise InputError("no file of a site that tells of scheduling" if first else "tells nothing", file=file)
    return LOG


def is_site(paths: Iterable[str | Path]) -> bool:
    """Whether files are those of a site, and not a scenario or a trace alone."""
    return any(recognise(path) in (CONF, CONFIG, NODES) for path in paths if not _is_scenario(path))


def _is_scenario(path: str | Path) -> bool:
    return Path(path).suffix.lower() in (".yaml", ".yml")


def read_files(paths: Iterable[str | Path], words: ReleaseWords = WORDS["22.05"]) -> Given:
    """What the files say; raises InputError for two of a kind, and where nodes or partitions are described by none."""
    files: dict[str, str] = {}
    for path, kind in _leave_included([(path, recognise(path)) for path in paths]):
        if kind in files:
            raise InputError(f"two files are {SAID[kind]}; the other is {files[kind]}", file=path)
        files[kind] = str(path)
    given = Given(_read_conf(files, words), files=files, log=files.get(LOG))
    given.associations = _read_associations(files)
    given.events = read_events(files[EVENTS]) if EVENTS in files else ()
    given.windows = read_windows(files[WINDOWS]) if WINDOWS in files else ()
    given.switches = _read_switches(files, given.conf)
    return given


def _leave_included(files: list[tuple[str | Path, str]]) -> list[tuple[str | Path, str]]:
    """The files without those that another one of them includes, which are read with it."""
    confs = [Path(path) for path, kind in files if kind == CONF]
    if len(confs) < 2:
        return files
    inside = {
        place for path in confs for line in read_lines(path) if (place := Path(line.file).resolve()) != path.resolve()
    }
    return [(path, kind) for path, kind in files if kind != CONF or Path(path).resolve() not in inside]


def _read_conf(files: dict[str, str], words: ReleaseWords) -> Conf:
    if CONF in files:
        conf = read_conf(files[CONF], words)
    elif CONFIG in files and NODES in files and PARTITIONS in files:
        conf = Conf(files[CONFIG], words)
        add_config(conf, files[CONFIG])
    else:
        lacking = [SAID[kind] for kind in (CONFIG, NODES, PARTITIONS) if kind not in files]
        given = [f"{path} ({SAID[kind]})" for kind, path in files.items()]
        what = f"slurm.conf is missing, or in its place {', '.join(lacking)}; given: {', '.join(given) or 'nothing'}"
        raise InputError(what)
    for kind, name in ((NODES, "nodename"), (PARTITIONS, "partitionname")):
        if kind in files:
            conf.lines = [line for line in conf.lines if line.kind != name]
            add_things(conf, files[kind])
    if GRES in files:
        conf.gres = files[GRES]
    return conf


def _read_associations(files: dict[str, str]) -> Associations | None:
    qualities: tuple[Quality, ...] = read_qualities(files[QOS]) if QOS in files else ()
    if DUMP in files:
        return read_associations(files[DUMP], files.get(QOS))
    if MANAGER in files:
        found = read_assoc_mgr(files[MANAGER])
        return Associations(found.entries, qualities or found.qualities, found.root)
    if qualities:
        names = {quality.name for quality in qualities}
        return Associations((), qualities if "normal" in names else (Quality("normal"), *qualities))
    return None


def _read_switches(files: dict[str, str], conf: Conf) -> tuple[ConfLine, ...]:
    beside = Path(conf.file).parent / "topology.conf"
    path = Path(files[TOPOLOGY]) if TOPOLOGY in files else beside
    if TOPOLOGY not in files and (CONF not in files or not beside.exists()):
        return ()
    return tuple(line for line in read_lines(path) if line.kind == "switchname")
