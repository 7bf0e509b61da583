"""The files from which a controller without a database learns its associations: last_tres and assoc_mgr_state.

A controller that finds no database daemon goes by what it saved when it last saw one. These are such files, in the
layouts of the releases that are spoken here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from walltime.core.errors import InputError
from walltime.core.time import parse_duration, seconds
from walltime.site.associations import Association, Associations, Quality
from walltime.slurm.protocol.wire import ABSENT, INFINITE, NO_VAL, blob, listed, number, text, u16, u32, u64

ADD_ASSOCIATIONS, ADD_USERS, ADD_QOS = 1404, 1406, 1447
TRES = {"cpu": 1, "mem": 2, "energy": 3, "node": 4, "billing": 5, "fs/disk": 6, "vmem": 7, "pages": 8}
FIRST_OWN_TRES = 1001
_UNITS = {"": 1, "k": 1 / 1024, "m": 1, "g": 1024, "t": 1024 * 1024, "p": 1024**3}
QOS_FLAGS = {
    name.lower(): 1 << bit
    for bit, name in enumerate(
        ("PartitionMinNodes", "PartitionMaxNodes", "PartitionTimeLimit", "EnforceUsageThreshold", "NoReserve",
         "RequiresReservation", "DenyOnLimit", "OverPartQOS", "NoDecay", "UsageFactorSafe")
    )
}  # fmt: skip
PREEMPT_MODES = {"off": 0, "cluster": 0, "suspend": 1, "requeue": 2, "cancel": 8, "gang": 0x8000, "within": 0x4000}
OLDEST, WITH_LINEAGE = 38 << 8, 41 << 8
"""Protocols: the first that is spoken here; the first that has a path of names in place of nested intervals."""
MEASURED = ("gres/gpumem", "gres/gpuutil")
"""What newer releases account for beside GPUs."""
ADMINISTRATOR = 3
PARENTS_SHARE = 0x7FFFFFFF


def identify(cluster: str, version: int) -> dict[str, bytes]:
    """The file that names the cluster and its number, without which newer releases draw one and ask a database."""
    return {"clustername": f"{cluster}|1".encode()} if version >= WITH_LINEAGE else {}


def save(
    associations: Associations,
    cluster: str,
    now: int,
    users: Mapping[str, int],
    own_tres: tuple[str, ...] = (),
    usage: Mapping[str, float] | None = None,
    version: int = OLDEST,
) -> dict[str, bytes]:
    """The files by name.

    `users` are numbers by name, `own_tres` kinds such as gres/gpu beyond the built-in ones. `usage` is what users have
    used in the past, in billed seconds by `account/user`, decayed to this instant. `version` is the protocol's.
    """
    measured = MEASURED if version >= WITH_LINEAGE and "gres/gpu" in own_tres else ()
    kinds = dict.fromkeys(name for name in (*own_tres, *measured) if name not in TRES)
    tres = TRES | {name: FIRST_OWN_TRES + index for index, name in enumerate(kinds)}
    writer = _Writer(associations, cluster, users, tres, version)
    head = u16(version) + u64(now)
    files = {
        "last_tres": head + listed(_pack_tres(name, code) for name, code in tres.items()) + u32(0),
        "assoc_mgr_state": head
        + _message(ADD_USERS, writer.pack_users())
        + _message(ADD_QOS, writer.pack_qualities())
        + _message(ADD_ASSOCIATIONS, writer.pack_associations()),
    }
    if usage:
        files["assoc_usage"] = head + writer.pack_usage(usage)
        files["priority_last_decay_ran"] = u64(now) + u64(now)
    return files


def _message(msg_type: int, records: list[bytes]) -> bytes:
    return u16(msg_type) + listed(records) + u32(0)


def _pack_tres(name: str, code: int) -> bytes:
    kind, _, rest = name.partition("/")
    return u64(0) + u64(0) + u32(code) + text(rest or None) + text(kind)


class _Writer:
    def __init__(
        self,
        associations: Associations,
        cluster: str,
        users: Mapping[str, int],
        tres: Mapping[str, int],
        version: int = OLDEST,
    ) -> None:
        self.newer = version >= WITH_LINEAGE
        self.associations = associations
        self.cluster = cluster
        self.users = users
        self.tres = tres
        self.qos = {quality.name: index for index, quality in enumerate(associations.qualities, 1)}
        self.codes: dict[str, int] = {}
        """The number of each association of a user, as `account/user`; known once they are packed."""

    # ---- qualities of service

    def pack_qualities(self) -> list[bytes]:
        return [self._pack_quality(quality) for quality in self.associations.qualities]

    def _pack_quality(self, quality: Quality) -> bytes:
        limits = quality.limits
        preempted = [self.qos[name] for name in quality.preempts]
        flags = sum(QOS_FLAGS.get(flag.strip().lower(), 0) for flag in limits.get("Flags", "").split(",") if flag)
        mask = sum(1 << place for place in preempted)
        bits = u32(len(self.qos) + 1) + blob(f"0x{mask:X}".encode() + b"\0")
        where = f"QOS {quality.name}"
        return b"".join(
            (
                text(quality.name) + u32(self.qos[quality.name]) + u32(flags) + u32(_seconds(limits, "GraceTime", 0)),
                *(self._tres(limits, name, where) for name in ("GrpTRESMins", "GrpTRESRunMins", "GrpTRES")),
                *(_count(limits, name, where) for name in ("GrpJobs", "GrpJobsAccrue", "GrpSubmit")),
                _minutes(limits, "GrpWall", where),
                *(self._tres(limits, name, where) for name in ("MaxTRESMins", "MaxTRESRunMinsPA", "MaxTRESRunMinsPU")),
                *(self._tres(limits, name, where) for name in ("MaxTRESPA", "MaxTRES", "MaxTRESPerNode", "MaxTRESPU")),
                *(_count(limits, name, where) for name in ("MaxJobsPA", "MaxJobsPU")),
                *(_count(limits, name, where) for name in ("MaxJobsAccruePA", "MaxJobsAccruePU", "MinPrioThres")),
                *(_count(limits, name, where) for name in ("MaxSubmitPA", "MaxSubmitPU")),
                _minutes(limits, "MaxWall", where),
                self._tres(limits, "MinTRES", where) + text(quality.name),
                bits if preempted else u32(NO_VAL),
                listed(text(str(place)) for place in preempted) if preempted else ABSENT,
                u16(_preempt_mode(limits.get("PreemptMode", ""))),
                u32(_seconds(limits, "PreemptExemptTime", INFINITE)),
                u32(int(limits.get("Priority", "0"))),
                number(float(limits.get("UsageFactor", "1"))),
                number(float(limits.get("UsageThres", INFINITE))),
                number(float(limits.get("LimitFactor", INFINITE))),
            )
        )

    # ---- users and associations

    def pack_users(self) -> list[bytes]:
        defaults: dict[str, str] = {}
        for entry in self.associations.entries:
            if entry.user and (entry.is_default or entry.user not in defaults):
                defaults[entry.user] = entry.account
        packed = [self._pack_user("root", 0, "root", ADMINISTRATOR)]
        packed += [self._pack_user(user, self._number(user), account, 1) for user, account in defaults.items()]
        return packed

    def _number(self, user: str) -> int:
        return self.users.get(user, NO_VAL)

    def _pack_user(self, name: str, code: int, account: str, level: int) -> bytes:
        return (
            u16(level) + ABSENT * 2 + text(account) + text(None) + u32(0) + text(name) + text(None) + u32(code) + ABSENT
        )

    def pack_associations(self) -> list[bytes]:
        """Numbered as nested intervals, each parent's around its children's."""
        children: dict[str, list[Association]] = {}
        for entry in self.associations.entries:
            children.setdefault(entry.parent, []).append(entry)
        packed: list[bytes] = []
        counter = [0]
        numbers = {"root": 1}
        codes = [1]

        def visit(entry: Association, code: int, above: int) -> None:
            counter[0] += 1
            left = counter[0]
            index = len(packed)
            packed.append(b"")
            below = children.get(entry.account, []) if entry.user is None else []
            if entry.account == "root" and entry.user is None:
                below = [Association("root", "root", "root", is_default=True), *below]
            for child in below:
                codes[0] += 1
                if child.user is None:
                    numbers[child.account] = codes[0]
                visit(child, codes[0], code)
            counter[0] += 1
            packed[index] = self._pack_association(entry, code, above, left, counter[0])
            if entry.user is not None:
                self.codes.setdefault(f"{entry.account}/{entry.user}", code)

        visit(self.associations.root, 1, 0)
        return packed

    def pack_usage(self, usage: Mapping[str, float]) -> bytes:
        """What each user has used; raises InputError for one that the associations do not have."""
        parts = []
        for key, amount in ((key, amount) for key, amount in usage.items() if amount > 0):
            if key not in self.codes:
                what = "usage of an account and user that the associations do not have"
                raise InputError(what, value=key, choices=list(self.codes)[:50])
            billed = f"{self.tres['billing']}={amount:f}"
            parts.append(u32(self.codes[key]) + text(f"{amount:f}") + text(billed) + u32(0))
        return b"".join(parts)

    def _pack_association(self, entry: Association, code: int, above: int, left: int, right: int) -> bytes:
        limits, where = entry.limits, entry.user or entry.account
        uid = NO_VAL if entry.user is None else 0 if entry.user == "root" else self._number(entry.user)
        names = entry.qos or (self.associations.root.qos or tuple(self.qos)[:1])
        default = self.qos[entry.default_qos] if entry.default_qos else 0
        parent = None if entry.account == "root" and entry.user is None else entry.parent or "root"
        share = PARENTS_SHARE if entry.share is None else entry.share
        return b"".join(
            (
                ABSENT + text(entry.account) + text(self.cluster),
                (text(None) + u32(default) + u32(0) if self.newer else u32(default) + u16(0)) + u32(share),
                *(self._tres(limits, name, where) for name in ("GrpTRESMins", "GrpTRESRunMins", "GrpTRES")),
                *(_count(limits, name, where) for name in ("GrpJobs", "GrpJobsAccrue", "GrpSubmitJobs")),
                _minutes(limits, "GrpWall", where) + u32(code) + u16(entry.is_default),
                text(_trace(entry)) if self.newer else u32(left),
                *(self._tres(limits, name, where) for name in ("MaxTRESMinsPerJob", "MaxTRESRunMins")),
                *(self._tres(limits, name, where) for name in ("MaxTRESPerJob", "MaxTRESPerNode")),
                *(_count(limits, name, where) for name in ("MaxJobs", "MaxJobsAccrue", "MinPrioThreshold")),
                _count(limits, "MaxSubmitJobs", where) + _minutes(limits, "MaxWallDurationPerJob", where),
                text(parent) + u32(above) + text(entry.partition) + _count(limits, "Priority", where),
                listed(text(str(self.qos[name])) for name in names) + (b"" if self.newer else u32(right)),
                u32(uid) + text(entry.user),
            )
        )

    def _tres(self, limits: Mapping[str, str], name: str, where: str) -> bytes:
        """`cpu=10,gres/gpu=2` by the resources' numbers."""
        given = limits.get(name)
        if not given:
            return text(None)
        parts = []
        for part in given.split(","):
            kind, _, value = part.partition("=")
            if kind.strip().lower() not in self.tres:
                raise InputError(f"{where}: {name} limits an unknown resource", value=kind, choices=self.tres)
            parts.append(f"{self.tres[kind.strip().lower()]}={_amount(value, where, name)}")
        return text(",".join(parts))


def _trace(entry: Association) -> str:
    """The path of an association, as newer releases keep it for people."""
    return f"/{entry.account}/" if entry.user is None else f"/{entry.account}/0-{entry.user}/"


def _amount(value: str, where: str, name: str) -> int:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kmgtp]?)n?", value.strip().lower())
    if not match:
        raise InputError(f"{where}: {name} is not an amount", value=value)
    return round(float(match[1]) * _UNITS[match[2]])


def _count(limits: Mapping[str, str], name: str, where: str) -> bytes:
    value = limits.get(name)
    if value is None or value == "-1":
        return u32(INFINITE)
    if not value.isdigit():
        raise InputError(f"{where}: {name} is not a whole number", value=value)
    return u32(int(value))


def _minutes(limits: Mapping[str, str], name: str, where: str) -> bytes:
    """Minutes, as a number or as `1-00:00:00`."""
    value = limits.get(name)
    if value is None or value == "-1":
        return u32(INFINITE)
    if value.isdigit():
        return u32(int(value))
    try:
        return u32(round(seconds(parse_duration(value)) / 60))
    except InputError:
        raise InputError(f"{where}: {name} is not a time", value=value) from None


def _seconds(limits: Mapping[str, str], name: str, absent: int) -> int:
    value = limits.get(name)
    return absent if not value else round(seconds(parse_duration(value)))


def _preempt_mode(value: str) -> int:
    return sum(PREEMPT_MODES.get(part.strip().lower(), 0) for part in value.split(",") if part)
