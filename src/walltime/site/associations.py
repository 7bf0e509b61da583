"""Accounts, users, qualities of service and their limits: from the outputs of `sacctmgr` to plain data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from walltime.core.errors import InputError
from walltime.core.reading import reader, reading

ASSOCIATION_LIMITS = (
    *("GrpTRES", "GrpTRESMins", "GrpTRESRunMins", "GrpJobs", "GrpJobsAccrue", "GrpSubmitJobs", "GrpWall"),
    *("MaxTRESPerJob", "MaxTRESPerNode", "MaxTRESMinsPerJob", "MaxTRESRunMins", "MaxJobs", "MaxJobsAccrue"),
    *("MaxSubmitJobs", "MaxWallDurationPerJob", "MinPrioThreshold", "Priority"),
)
QOS_LIMITS = (
    *("Priority", "GraceTime", "Preempt", "PreemptExemptTime", "PreemptMode", "Flags", "UsageThres", "UsageFactor"),
    *("LimitFactor", "GrpTRES", "GrpTRESMins", "GrpTRESRunMins", "GrpJobs", "GrpJobsAccrue", "GrpSubmit", "GrpWall"),
    *("MaxTRES", "MaxTRESPerNode", "MaxTRESMins", "MaxWall", "MaxTRESPU", "MaxJobsPU", "MaxSubmitPU", "MaxTRESPA"),
    *("MaxJobsPA", "MaxSubmitPA", "MaxTRESRunMinsPA", "MaxTRESRunMinsPU", "MaxJobsAccruePA", "MaxJobsAccruePU"),
    *("MinTRES", "MinPrioThres"),
)
OWN_KINDS = ("gres", "license", "bb", "fs", "ic")
"""Kinds of resources of which a site has its own, by what stands before the stroke in their names."""
_SHORT = {
    "share": "fairshare",
    "maxnodesperjob": "maxtresperjob",
    "maxcpusperjob": "maxtresperjob",
    "maxwall": "maxwalldurationperjob",
    "maxwalldurationperjob": "maxwalldurationperjob",
    "maxtresmins": "maxtresminsperjob",
    "maxtres": "maxtresperjob",
    "grpsubmit": "grpsubmitjobs",
    "maxsubmit": "maxsubmitjobs",
}

_QOS_SHORT = {"prio": "Priority", "mintresperjob": "MinTRES", "grptresrunmin": "GrpTRESRunMins"}
_QOS_TOLD = {"", "name", "id", "description", "descr"}
"""Columns of qualities of service that are no limits."""
_OPTION = re.compile(
    rf"(\w+)=('[^']*'|\"[^\"]*\"|(?:(?:{'|'.join(OWN_KINDS)})/[^:=,]+:[^:=,]+=|[^:])*)(?::|$)", re.IGNORECASE
)
"""An option of a line; the colon of a resource of some type, as in `gres/gpu:a100=2`, does not end it."""
EVERYBODY = "everybody"
"""The account of jobs that name none."""


@dataclass(frozen=True)
class Association:
    """A user in an account, or an account itself (`user` None): its share and its limits, as the site writes them."""

    account: str
    user: str | None = None
    parent: str = "root"
    share: int | None = 1
    """None: the parent's."""
    limits: Mapping[str, str] = field(default_factory=dict)
    qos: tuple[str, ...] = ()
    default_qos: str | None = None
    partition: str | None = None
    is_default: bool = False


@dataclass(frozen=True)
class Quality:
    """A quality of service."""

    name: str
    limits: Mapping[str, str] = field(default_factory=dict)

    @property
    def preempts(self) -> tuple[str, ...]:
        return tuple(name for name in self.limits.get("Preempt", "").split(",") if name)


@dataclass(frozen=True)
class Associations:
    """Who may run what. `entries` has every account before what is below it; `root` is understood."""

    entries: tuple[Association, ...] = ()
    qualities: tuple[Quality, ...] = (Quality("normal"),)
    root: Association = Association("root", parent="")

    def __post_init__(self) -> None:
        known = {quality.name for quality in self.qualities}
        for entry in (self.root, *self.entries):
            for name in (*entry.qos, *([entry.default_qos] if entry.default_qos else [])):
                if name not in known:
                    raise InputError(f"{entry.user or entry.account} has a QOS that is not described", value=name,
                                     choices=sorted(known))  # fmt: skip
        for quality in self.qualities:
            for name in quality.preempts:
                if name not in known:
                    raise InputError(f"the QOS {quality.name} preempts one that is not described", value=name)

    @property
    def resources(self) -> list[str]:
        """What its limits name beside the built-in resources, as `gres/gpu`."""
        holders: list[Association | Quality] = [self.root, *self.entries, *self.qualities]
        texts = [text for holder in holders for name, text in holder.limits.items() if "TRES" in name]
        names = (part.partition("=")[0].strip().lower() for text in texts for part in text.split(","))
        return list(dict.fromkeys(name for name in names if name.partition("/")[0] in OWN_KINDS and "/" in name))

    @property
    def users(self) -> list[str]:
        """Every user once, in order of appearance."""
        return list(dict.fromkeys(entry.user for entry in self.entries if entry.user))


@reader
def read_associations(dump: str | Path, qos: str | Path | None = None) -> Associations:
    """From the outputs of `sacctmgr dump CLUSTER` and `sacctmgr -P show qos`; raises InputError with the line."""
    qualities = read_qualities(qos) if qos is not None else ()
    reader = _DumpReader(str(dump))
    reader.read()
    names = {quality.name for quality in qualities}
    if qos is None:  # without their descriptions, the names alone: no limits, no priority
        mentioned = ["normal", *(name for entry in (reader.root, *reader.entries) for name in entry.qos)]
        qualities = tuple(Quality(name) for name in dict.fromkeys(mentioned))
    elif "normal" not in names:
        qualities = (Quality("normal"), *qualities)
    return Associations(tuple(reader.entries), tuple(qualities), reader.root)


class _DumpReader:
    """Lines such as `User - 'ann':DefaultAccount='physics':Fairshare=2`, each below the last `Parent`."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.entries: list[Association] = []
        self.root = Association("root", parent="")
        self.parent = "root"
        self.cluster: str | None = None
        self.accounts = {"root": self.root}

    def read(self) -> None:
        for number, line in enumerate(read_text(self.file).splitlines(), 1):
            stripped = line.strip()
            if stripped and not stripped.startswith("#"):
                self._read_line(stripped, number)
        if not any(entry.user for entry in self.entries):
            raise InputError("no user is in it; it should be the output of `sacctmgr dump`", file=self.file)

    def _read_line(self, line: str, number: int) -> None:
        match = re.match(r"(\w+)\s*-\s*'?([^':]+)'?\s*(?::(.*))?$", line)
        if not match:
            raise InputError("not a line of `sacctmgr dump`", value=line, file=self.file, line=number)
        kind, name, rest = match[1].lower(), match[2].strip(), match[3] or ""
        options = _read_options(rest)
        _check_numbers(options, ASSOCIATION_LIMITS, self.file, number)
        if kind == "cluster":
            if self.cluster is not None:
                what = f"a second cluster; the first is {self.cluster}. Give the dump of one"
                raise InputError(what, value=name, file=self.file, line=number)
            self.cluster = name
            self.root = self.accounts["root"] = self._make("root", None, "", options)
        elif kind == "parent":
            if name not in self.accounts:
                raise InputError("the parent is not described before", value=name, file=self.file, line=number)
            self.parent = name
        elif kind in ("account", "project"):
            self.accounts[name] = self._make(name, None, self.parent, options)
            self.entries.append(self.accounts[name])
        elif kind == "user":
            if name != "root":
                self.entries.append(self._make(self.parent, name, self.parent, options))
        else:
            kinds = ("Cluster", "Parent", "Account", "User")
            raise InputError("unknown kind of line", value=match[1], file=self.file, line=number, choices=kinds)

    def _make(self, account: str, user: str | None, parent: str, options: dict[str, str]) -> Association:
        share = options.get("fairshare", "1")
        limits = {name: options[name.lower()] for name in ASSOCIATION_LIMITS if options.get(name.lower())}
        above = self.accounts.get(parent)
        if above is not None:
            limits = _inherit(limits, above.limits)
        return Association(
            account,
            user,
            parent,
            None if share.lower() == "parent" or share == "2147483647" else int(float(share)),
            limits,
            _choose_qos(options.get("qos", ""), () if above is None else above.qos),
            options.get("defaultqos") or (None if above is None else above.default_qos),
            options.get("partition") or None,
            user is not None and options.get("defaultaccount", account) == account,
        )


_AMOUNT = re.compile(r"-1|N|\d+(\.\d+)?[KMGTPE]?", re.IGNORECASE)
_NUMBERS = ("Priority", "fairshare", "GrpJobs", "GrpSubmit", "GrpSubmitJobs", "MaxJobs", "MaxSubmitJobs")


def _check_numbers(options: Mapping[str, str], names: Iterable[str], file: str, line: int) -> None:
    """Raise InputError, with the line, where a limit, a share or a priority is no number."""
    for name in (*names, *_NUMBERS):
        text = options.get(name, options.get(name.lower(), ""))
        if "TRES" in name:
            amounts = [part.partition("=")[2] or "0" for part in text.split(",")]
        else:
            amounts = [text] if name in _NUMBERS and text.lower() != "parent" else []
        if wrong := [amount for amount in amounts if amount.strip() and not _AMOUNT.fullmatch(amount.strip())]:
            raise InputError(f"{name} is no number", value=wrong[0], file=file, line=line)


def _inherit(own: dict[str, str], above: Mapping[str, str]) -> dict[str, str]:
    """Limits of an association with those that it has from the one above: what holds for each job and each user.

    Of limits on several resources each is inherited by itself; limits of a group hold where they stand.
    """
    whole = {name: text for name, text in above.items() if not name.startswith("Grp") and name != "Priority"} | own
    for name in [name for name in own if "TRES" in name and name in above and not name.startswith("Grp")]:
        amounts = dict(
            part.split("=", 1) for text in (above[name], own[name]) for part in text.split(",") if "=" in part
        )
        whole[name] = ",".join(f"{resource}={amount}" for resource, amount in amounts.items())
    return whole


def _choose_qos(text: str, above: tuple[str, ...]) -> tuple[str, ...]:
    """`a,b` is all there is, `+a,-b` are changes of what the one above has, nothing is the same as there."""
    given = [name.strip() for name in text.split(",") if name.strip()]
    changes = all(name[0] in "+-" for name in given)
    kept = [name for name in above if f"-{name}" not in given] if changes else []
    return tuple(dict.fromkeys([*kept, *(name.lstrip("+") for name in given if name[0] != "-")]))


def _read_options(text: str) -> dict[str, str]:
    """`Key=value:Key='a,b'` with the keys in small letters; a value may have a colon, as `gres/gpu:a100=2`."""
    options = {}
    for match in _OPTION.finditer(text):
        key = match[1].lower()
        value = match[2].strip("'\"")
        if key == "maxnodesperjob":
            value = f"node={value}"
        elif key == "maxcpusperjob":
            value = f"cpu={value}"
        options[_SHORT.get(key, key)] = value
    return options


@reader
def read_qualities(path: str | Path) -> tuple[Quality, ...]:
    """From the output of `sacctmgr -P show qos` (columns between bars, their names in the first line)."""
    lines = [(number, line) for number, line in enumerate(read_text(path).splitlines(), 1) if line.strip()]
    if not lines or not lines[0][1].lower().startswith("name|"):
        raise InputError("not the output of `sacctmgr -P show qos` (its first line begins with Name|)", file=path)
    heads = [head.strip() for head in lines[0][1].split("|")]
    known = {name.lower(): name for name in QOS_LIMITS} | _QOS_SHORT
    names = [known.get(head.lower(), head) for head in heads]  # what is not known is told by the import
    found = []
    for number, line in lines[1:]:
        cells = line.split("|")
        if len(cells) != len(heads):
            what = f"has {len(cells)} columns instead of {len(heads)}"
            raise InputError(what, value=line, file=path, line=number)
        values = {name: cell for name, cell in zip(names, cells, strict=True) if name.lower() not in _QOS_TOLD}
        _check_numbers(values, QOS_LIMITS, str(path), number)
        found.append(Quality(cells[0], {name: value.strip() for name, value in values.items() if value.strip()}))
    return tuple(found)


def read_text(path: str | Path) -> str:
    """A text file; raises InputError for one that cannot be read."""
    with reading(path) as file:
        return file.text()


def make_equal(
    charges: Iterable[tuple[str | None, str]], qualities: Iterable[Quality] = (), others: Iterable[str] = ()
) -> Associations:
    """Every user is known and has the same share, whatever the account; every quality of service is open to all.

    `charges` are the accounts and users of the jobs, `others` qualities of service of which only the name is known.
    """
    entries: dict[tuple[str, str | None], Association] = {}
    users: set[str] = set()
    for account, user in charges:
        name = account or EVERYBODY
        entries.setdefault((name, None), Association(name, share=None))
        entries.setdefault((name, user), Association(name, user, name, is_default=user not in users))
        users.add(user)
    known = {quality.name: quality for quality in (Quality("normal"), *qualities)}
    known |= {name: Quality(name) for name in others if name not in known}
    root = Association("root", parent="", qos=tuple(known))
    return Associations(tuple(entries.values()), tuple(known.values()), root)
