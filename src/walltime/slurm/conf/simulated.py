"""A site's own slurm.conf, turned into a site that can be simulated: changed only where it must be, and told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from walltime.cluster.hostlist import compress, expand
from walltime.core.errors import InputError
from walltime.core.reading import boundary
from walltime.site.associations import Associations, read_text
from walltime.site.conf import Conf, ConfLine, read_licences
from walltime.site.nodes import Node, find_state, make_nodes
from walltime.site.options import ReleaseWords
from walltime.slurm.conf.settings import change_settings, split_words
from walltime.slurm.conf.vocabulary import settle_words
from walltime.slurm.site import DROPPED, IDENTITY, POWER, REASONS, SettingChange, Site, imposed_settings

ABSENT = "nodes are not started when they are needed; --cloud takes them for always there"
NEEDED = "needs associations: --associations FILE, the output of `sacctmgr dump`, or --associations flat"


def make_site(
    conf: Conf,
    associations: Associations | None = None,
    settings: Mapping[str, str] | None = None,
    drop_unknown: bool = False,
    queues: Mapping[str, str] | None = None,
    cloud: bool = False,
) -> Site:
    """A site that can be simulated; `settings` replace the configuration's own, as an experiment does.

    `cloud` takes nodes that are started when they are needed for nodes that are always there.
    """
    with boundary(conf.file):
        changes: list[SettingChange] = []
        chosen = {name: value for name, (value, _) in conf.settings.items()}
        changes += change_settings(chosen, settings or {}, conf.words)
        _translate_settings(chosen, conf.words, changes)
        linear = chosen.get("SelectType", conf.words.select) == "select/linear"
        nodes, notes = make_nodes(conf, cloud, split_words(chosen.get("GresTypes", "")))
        partitions = tuple(name for line, _ in conf.resolve("partitionname") for name in line.name.split(","))
        name = chosen.get("ClusterName", "cluster").lower()
        bare = Site(name, (), nodes, partitions, linear=linear, associations=associations)
        kept = _impose(chosen, bare, changes)
        _settle_accounting(chosen, kept, associations, changes)
        settle_words(conf, kept, drop_unknown, changes)
        counts_memory = "memory" in chosen.get("SelectTypeParameters", "").lower()
        notes += _find_oddities(conf, nodes, counts_memory)
        lines = [_write_pairs([pair]) for pair in kept.items()]
        lines += _write_lines(conf, bare, changes)
        overtime = chosen.get("OverTimeLimit", "0")
        return replace(
            bare,
            settings=tuple(lines),
            files=_find_files(conf, chosen),
            changes=tuple(changes),
            notes=tuple(notes),
            queues=queues or {},
            file=conf.file,
            overtime=float("inf") if overtime.upper() == "UNLIMITED" else float(overtime),
            counts_memory=counts_memory,
            licences=read_licences(chosen.get("Licenses", "")),
            max_array=int(chosen.get("MaxArraySize", "1001")),
            tres=_find_tres(kept, conf),
        )


def _translate_settings(chosen: dict[str, str], words: ReleaseWords, changes: list[SettingChange]) -> None:
    """Settings of older releases, in the words of newer ones."""
    for name, (old, new) in words.replaced.items():
        if chosen.get(name, "").lower() == old:
            chosen[name] = new
            changes.append(SettingChange(name, old, new, f"gone in Slurm {words.release}"))
    old = chosen.pop("AccountingStoreJobComment", "no")
    if old.lower() in ("yes", "true", "1"):
        flags = [flag for flag in chosen.get("AccountingStoreFlags", "").split(",") if flag]
        chosen["AccountingStoreFlags"] = ",".join(dict.fromkeys([*flags, "job_comment"]))
        changes.append(
            SettingChange("AccountingStoreJobComment", old, "AccountingStoreFlags=job_comment", "its name by now")
        )


def _impose(chosen: dict[str, str], site: Site, changes: list[SettingChange]) -> dict[str, str]:
    """The site's settings without those that cannot hold; each that goes is told."""
    imposed = imposed_settings(site)
    kept: dict[str, str] = {}
    for name, value in chosen.items():
        if name in DROPPED:
            changes.append(SettingChange(name, value, None, DROPPED[name]))
        elif name == "ClusterName":
            continue
        elif name == "AuthInfo":
            expire = re.search(r"cred_expire=\d+", value)
            if expire is None or expire[0] != value:
                changes.append(SettingChange(name, value, expire[0] if expire else None, IDENTITY))
            kept |= {name: expire[0]} if expire else {}
        elif name in imposed:
            if imposed[name] != value:
                new = re.sub(r"\{\w+\}.*", "...", imposed[name])
                changes.append(SettingChange(name, value, new, REASONS[name]))
        else:
            kept[name] = value
    return kept


def _settle_accounting(
    chosen: dict[str, str], kept: dict[str, str], associations: Associations | None, changes: list[SettingChange]
) -> None:
    """Without associations nothing of theirs can be enforced."""
    if associations is not None:
        return
    for name in ("AccountingStorageEnforce", "AccountingStorageTRES"):
        if name in kept:
            changes.append(SettingChange(name, kept.pop(name), None, NEEDED))
    if "/" in (old := kept.get("PriorityWeightTRES", "")):
        kept["PriorityWeightTRES"] = _keep_builtin(old)
        changes.append(SettingChange("PriorityWeightTRES", old, kept["PriorityWeightTRES"], NEEDED))
    if chosen.get("PriorityType") == "priority/multifactor":
        for name in ("PriorityWeightAge", "PriorityWeightFairshare"):
            if chosen.get(name, "0") not in ("0", ""):
                changes.append(SettingChange(name, chosen[name], "0", f"has no effect: {NEEDED}"))


def _keep_builtin(weights: str) -> str:
    """Weights such as `CPU=1,GRES/gpu=8` of the resources that need no database."""
    return ",".join(part for part in weights.split(",") if "/" not in part.partition("=")[0])


def _find_tres(kept: Mapping[str, str], conf: Conf) -> tuple[str, ...]:
    """What the site accounts for or weighs beside the built-in resources, as `gres/gpu`."""
    weights = [kept.get("PriorityWeightTRES", ""), *(words.get("tresbillingweights", "") for _, words in
               conf.resolve("partitionname"))]  # fmt: skip
    names = kept.get("AccountingStorageTRES", "").split(",")
    names += [part.partition("=")[0] for text in weights for part in text.split(",")]
    return tuple(dict.fromkeys(name.strip().lower() for name in names if "/" in name))


def _find_oddities(conf: Conf, nodes: tuple[Node, ...], counts_memory: bool) -> list[str]:
    """What a person may not have meant, though the controller takes it."""
    notes = []
    small = [node.name for node in nodes if node.memory <= 1]
    if counts_memory and small:
        some = small[0] if len(small) == 1 else f"{len(small)} nodes ({small[0]}, say)"
        notes.append(f"no RealMemory for {some}: 1 MB each, which is less than jobs ask for")
    future = [
        name
        for line, words in conf.resolve("nodename")
        if find_state(words.get("state")) == "FUTURE"
        for name in expand(line.name)
    ]
    if future:
        notes.append(f"FUTURE nodes are not there: {compress(future)}")
    return notes


def _write_lines(conf: Conf, site: Site, changes: list[SettingChange]) -> Iterator[str]:
    """The lines for nodes, partitions and the like without what ties them to real machines."""
    states = {line: find_state(words.get("state")) for line, words in conf.resolve("nodename")}
    there = {node.name for node in site.nodes}
    for line in conf.lines:
        pairs = [(key, value) for key, value in line.pairs if _keep(line, key, value, site.associations, changes)]
        if line.kind == "partitionname" and site.associations is None:
            pairs = [(key, _settle_weights(key, value, changes)) for key, value in pairs]
        if line in states:
            pairs.append(("NodeAddr", "127.0.0.1"))
        if states.get(line) == "CLOUD":
            yield from _write_cloud(line, pairs, there, changes)
        else:
            yield _write_pairs(pairs)


def _write_cloud(
    line: ConfLine, pairs: list[tuple[str, str]], there: set[str], changes: list[SettingChange]
) -> Iterator[str]:
    """Nodes that are started when they are needed: those that are taken for always there, then those for absent."""
    rest = [(key, value) for key, value in pairs[1:] if key.lower() != "state"]
    names = expand(line.name)
    for state, reason, members in (
        ("UNKNOWN", POWER, [name for name in names if name in there]),
        ("FUTURE", ABSENT, [name for name in names if name not in there]),
    ):
        if members:
            changes.append(SettingChange(f"NodeName={compress(members)} State", "CLOUD", state, reason))
            yield _write_pairs([("NodeName", compress(members)), *rest, ("State", state)])


def _write_pairs(pairs: Iterable[tuple[str, str]]) -> str:
    return " ".join(
        f'{key}="{value}"' if re.search(r"\s", value) else f"{key}={value}" for key, value in pairs if value
    )


def _settle_weights(key: str, value: str, changes: list[SettingChange]) -> str:
    """What is billed for resources that need a database is not billed without one."""
    if key.lower() != "tresbillingweights" or "/" not in value:
        return value
    changes.append(SettingChange(key, value, _keep_builtin(value), NEEDED))
    return _keep_builtin(value)


def _keep(
    line: ConfLine, key: str, value: str, associations: Associations | None, changes: list[SettingChange]
) -> bool:
    """Whether a word of a line holds in a simulation; raises InputError for a QOS that is not described."""
    name, reason = key.lower(), None
    if line.kind == "nodename" and name in ("nodeaddr", "nodehostname", "port", "bcastaddr", "cpubind"):
        reason = "all nodes are on the loopback"
    elif line.kind == "partitionname" and name == "allowgroups" and value.upper() != "ALL":
        reason = "the groups of the site are not known"
    elif line.kind == "partitionname" and name == "qos" and associations is None:
        reason = f"{NEEDED}, and --qos FILE"
    elif line.kind == "partitionname" and name in ("qos", "allowqos", "denyqos") and associations is not None:
        known = [quality.name for quality in associations.qualities]
        lacking = [one for one in value.split(",") if one not in known and one.upper() != "ALL"]
        if lacking:
            what = f"the partition {line.name} names a QOS that is not described; --qos FILE describes them"
            raise InputError(what, value=lacking[0], file=line.file, line=line.number, choices=known)
    if reason is not None:
        changes.append(SettingChange(key, value, None, reason))
    return reason is None


def _find_files(conf: Conf, chosen: Mapping[str, str]) -> dict[str, str]:
    """Files beside slurm.conf that the controller reads too."""
    if "tree" not in chosen.get("TopologyPlugin", ""):
        return {}
    path = Path(conf.file).parent / "topology.conf"
    if not path.exists():
        raise InputError("TopologyPlugin=topology/tree needs this file beside slurm.conf", file=path)
    return {"topology.conf": read_text(path)}
