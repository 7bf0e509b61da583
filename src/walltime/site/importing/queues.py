"""The partitions of a site as a scenario's queues."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from walltime.cluster.hostlist import compress, split
from walltime.core.errors import InputError
from walltime.site.associations import Associations
from walltime.site.conf import ConfLine, of_line
from walltime.site.files import Given
from walltime.site.importing.findings import Findings
from walltime.site.importing.machine import Unit
from walltime.site.importing.memory import WORDS as MEMORY_WORDS
from walltime.site.importing.memory import tell_partition as tell_memory
from walltime.site.importing.memory import write_partition as write_memory
from walltime.site.importing.people import caps_of_partition
from walltime.site.importing.values import ENDLESS, EffectiveSettings, read_time, spell, write_time
from walltime.site.importing.written import DEFAULT, Said, cite
from walltime.site.keywords import EXACTLY, NEARLY, NOT
from walltime.site.nodes import find_members

_HANDLED = {
    *("nodes", "default", "maxtime", "defaulttime", "priority", "prioritytier", "priorityjobfactor", "qos"),
    *("allowaccounts", "denyaccounts", "oversubscribe", "shared", "maxnodes", "minnodes", "state", "gracetime"),
    *("preemptmode", "lln", "exclusiveuser", "maxcpuspernode", *MEMORY_WORDS),
}
SOME = "some partitions"
IN_ORDER = "whole nodes, or those of a switch, are chosen in their order"
CLOSED = {"NO", "NONE", "UNLIMITED", "0", "ALL", "N/A"}
"""Values that say nothing."""


class Queues:
    """Reads partitions, one after the other."""

    def __init__(self, given: Given, units: list[Unit], whole: bool, lln: str, findings: Findings) -> None:
        self.given, self.units, self.whole, self.lln, self.findings = given, units, whole, lln, findings
        self.there = {unit.name for unit in units}
        self.described = find_members(given.conf, "ALL", next(given.conf.of_kind("nodename")))
        self.tiers = set()
        for line, words in given.conf.resolve("partitionname"):
            with of_line(line):
                self.tiers.add(_tier(words))

    def write(self) -> dict[str, dict[str, Any]]:
        """All of them, by name; raises InputError for one without nodes."""
        found: dict[str, dict[str, Any]] = {}
        for line, words in self.given.conf.resolve("partitionname"):
            for name in (part.strip() for part in line.name.split(",")):
                with of_line(line):
                    queue = self._write_one(name, line, words)
                if "default" in queue:  # of several the last
                    for other in found:
                        if found[other].pop("default", None) is not None:
                            how = f"a later partition, {name}, is the default"
                            self.findings.tell("PartitionName.Default", other, EXACTLY, how)
                found[name] = queue
        return found

    def _write_one(self, name: str, line: ConfLine, words: Mapping[str, str]) -> dict[str, Any]:
        queue: dict[str, Any] = {}
        queue |= self._nodes(name, line, words)
        if words.get("default", "").upper() == "YES":
            queue["default"] = Said(True, self._source(line, "Default"))
        queue |= self._times(line, words)
        if len(self.tiers) > 1:
            queue["priority"] = Said(_tier(words), self._source(line, "PriorityTier", "Priority"))
        factor = words.get("priorityjobfactor", words.get("priority"))
        if factor is not None:
            queue["job_factor"] = Said(int(factor), self._source(line, "PriorityJobFactor", "Priority"))
        queue |= self._sizes(name, line, words)
        queue |= self._access(name, line, words)
        queue |= self._quality(name, line, words)
        if self._own_nodes(words):
            queue["sharing"] = Said("whole", self._source(line, "OverSubscribe", "Shared"))
        if words.get("lln", "NO").upper() == "YES" and self.lln == SOME:
            queue["place"] = Said("worst-fit", self._source(line, "LLN"))
        queue |= write_memory(words, self.units, self._source, line)
        tell_memory(name, words, self.findings)
        self._tell(name, words)
        return queue

    def _own_nodes(self, words: Mapping[str, str]) -> bool:
        """Whether its jobs have nodes of their own, and those of others have not."""
        return not self.whole and _find_sharing(words) == "EXCLUSIVE"

    def _source(self, line: ConfLine, *keys: str) -> str:
        found = next((key for key in keys if line.get(key) is not None), None)
        if found is not None:
            return cite(line, next(key for key, _ in line.pairs if key.lower() == found.lower()))
        usual = next((one for one in self.given.conf.of_kind(line.kind) if one.is_default and one.get(*keys)), None)
        return DEFAULT if usual is None else f"{cite(usual)}"

    def _nodes(self, name: str, line: ConfLine, words: Mapping[str, str]) -> dict[str, Any]:
        members = find_members(self.given.conf, words.get("nodes", ""), line)
        where: dict[str, Any] = {"file": line.file, "line": line.number}
        if not members:
            raise InputError(f"the partition {name} has no nodes (Nodes=)", **where)
        if strange := sorted(members - self.described):
            raise InputError(f"the partition {name} has a node that no NodeName describes", value=strange[0], **where)
        own = [unit.name for unit in self.units if unit.name in members]
        if not own:
            what = f"the partition {name} has no node that is there (FUTURE, or CLOUD without --cloud)"
            raise InputError(what, value=words.get("nodes"), **where)
        if len(own) == len(self.units):
            return {}
        return {"nodes": Said(split(compress(own)), self._source(line, "Nodes"))}

    def _times(self, line: ConfLine, words: Mapping[str, str]) -> dict[str, Any]:
        """Its limit, and what a job without one has, which is the limit where no other is given or a longer one."""
        most, usual = (self._time(word, line, words) for word in ("maxtime", "defaulttime"))
        found: dict[str, Any] = {}
        if most is not None:
            found["max_time"] = Said(write_time(most), self._source(line, "maxtime"))
        if usual is not None and (most is None or usual <= most):
            found["default_time"] = Said(write_time(usual), self._source(line, "defaulttime"))
        elif most is not None:
            why = "is not given" if usual is None else "is longer"
            found["default_time"] = Said(write_time(most), f"MaxTime, as DefaultTime {why}")
        return found

    def _time(self, word: str, line: ConfLine, words: Mapping[str, str]) -> int | None:
        try:
            length = read_time(words.get(word, ""))
            return None if length is None else -(-length // 60) * 60  # whole minutes
        except InputError as error:
            raise InputError(error.what, value=words[word], file=line.file, line=line.number) from None

    def _sizes(self, name: str, line: ConfLine, words: Mapping[str, str]) -> dict[str, Any]:
        """MinNodes and MaxNodes in cores of the largest of its nodes; a queue has no other sizes."""
        found: dict[str, Any] = {}
        members = find_members(self.given.conf, words.get("nodes", ""), line)
        largest = max((unit.cores for unit in self.units if unit.name in members), default=1)
        for word, key in (("minnodes", "min_cores"), ("maxnodes", "max_cores")):
            text = words.get(word, "")
            if text.upper() in ENDLESS or text in ("0", "1" * (word == "minnodes")):
                continue
            if self.whole or self._own_nodes(words):
                how = "on whole nodes a job's cores do not tell its nodes; jobs of a log were let in already"
                self.findings.tell(spell(f"PartitionName.{word}"), name, NEARLY, how)
                continue
            cores = int(text) * largest if word == "maxnodes" else int(text)
            found[key] = Said(cores, self._source(line, word))
            self.findings.tell(spell(f"PartitionName.{word}"), name)
        return found

    def _access(self, name: str, line: ConfLine, words: Mapping[str, str]) -> dict[str, Any]:
        """Accounts that may use it."""
        allowed = [one for one in words.get("allowaccounts", "").lower().split(",") if one and one != "all"]
        denied = [one for one in words.get("denyaccounts", "").lower().split(",") if one]
        for word, given in (("AllowAccounts", allowed), ("DenyAccounts", denied if not allowed else [])):
            if not given:
                continue
            known = self._accounts()
            if not known:
                self.findings.tell(
                    f"PartitionName.{word}", name, NEARLY, "no accounts are told; a log's jobs were let in"
                )
                return {}
            chosen, how = _choose_accounts(known, given, allow=word == "AllowAccounts")
            if not chosen:
                self.findings.tell(f"PartitionName.{word}", name, NOT, "it leaves no account; all of them may use it")
                return {}
            self.findings.tell(f"PartitionName.{word}", name, *((NEARLY, how) if how else (EXACTLY, "")))
            return {"accounts": Said(chosen, self._source(line, word))}
        return {}

    def _accounts(self) -> dict[str, str]:
        """Accounts with the one above each."""
        people = self.given.associations
        return {} if people is None else {one.account: one.parent for one in people.entries if one.user is None}

    def _quality(self, name: str, line: ConfLine, words: Mapping[str, str]) -> dict[str, Any]:
        wanted = words.get("qos", "")
        if not wanted or wanted.upper() == "N/A":
            return {}
        people: Associations | None = self.given.associations
        quality = next((one for one in people.qualities if one.name == wanted), None) if people is not None else None
        if quality is None:
            self.findings.tell(
                "PartitionName.QOS", name, NOT, f"{wanted} is not described; `sacctmgr -P show qos` tells it"
            )
            return {}
        self.findings.tell("PartitionName.QOS", name)
        caps = caps_of_partition(quality, self.findings)
        return {key: Said(value, self._source(line, "QOS")) for key, value in caps.items()}

    def _tell(self, name: str, words: Mapping[str, str]) -> None:
        """The other words of a partition, each on its list."""
        told = self.findings
        for word in ("nodes", "default", "maxtime", "defaulttime", "priority", "prioritytier", "priorityjobfactor"):
            if word in words:
                told.tell(spell(f"PartitionName.{word}"), name)
        if words.get("state", "UP").upper() != "UP":
            told.tell("PartitionName.State", name, NEARLY, f"{words['state']}: the partition is taken for up")
        if (verdict := _judge_sharing(_find_sharing(words), self._are_alike(words))) is not None:
            told.tell("PartitionName.OverSubscribe", name, *verdict)
        if "preemptmode" in words and "partition_prio" in self._setting("PreemptType"):
            own, usual = _find_mode(words["preemptmode"]), _find_mode(self._setting("PreemptMode"))
            if own == "off" != usual:
                told.tell("PartitionName.PreemptMode", name, NOT, "its jobs may be preempted by those of higher tiers")
            elif own != usual:
                told.tell("PartitionName.PreemptMode", name, NOT, f"{own}: one mode for all partitions, {usual}")
            else:
                told.tell("PartitionName.PreemptMode", name)
        for word in ("lln", "exclusiveuser", "maxcpuspernode"):
            if words.get(word, "NO").upper() not in CLOSED:
                nearly = (NEARLY, IN_ORDER) if word == "lln" and not self.lln else ()
                told.tell(spell(f"PartitionName.{word}"), name, *nearly)
        for word, value in words.items():
            if word not in _HANDLED and value.upper() not in CLOSED:
                told.tell(spell(f"PartitionName.{word}"), name)
        for word in ("preemptmode", "state", "gracetime"):
            if word in words and f"partitionname.{word}" not in told.told:
                told.tell(spell(f"PartitionName.{word}"), name)

    def _are_alike(self, words: Mapping[str, str]) -> bool:
        """Whether it does not matter how a job's cores are divided over nodes of its own."""
        members = find_members(self.given.conf, words.get("nodes", ""), next(self.given.conf.of_kind("partitionname")))
        return self.whole or len({unit.cores for unit in self.units if unit.name in members}) < 2

    def _setting(self, name: str) -> str:
        setting = self.given.conf.settings.get(name)
        return setting[0] if setting is not None else ""


def _choose_accounts(known: Mapping[str, str], given: list[str], *, allow: bool) -> tuple[list[str], str]:
    """The accounts of a queue, which stand for those below them, too, while Slurm goes by the names alone; and what
    is otherwise."""
    ancestry = {name: _list_ancestry(name, known) for name in known}
    if allow:
        chosen = [name for name in known if name in given]
        extra = any(set(ancestry[name]) & set(chosen) for name in known if name not in chosen)
        return chosen, "accounts below them may use it, too" if extra else ""
    mixed = {above for name in given if name in known for above in ancestry[name]}
    chosen = [name for name in known if name not in mixed]
    above = mixed - set(given)
    return chosen, "nor may accounts above them, by themselves" if above else ""


def _list_ancestry(name: str, parents: Mapping[str, str]) -> list[str]:
    """An account and those above it."""
    found: list[str] = []
    while name in parents and name not in found:
        found.append(name)
        name = parents[name]
    return found


def find_least_loaded(given: Given, settings: EffectiveSettings, whole: bool) -> str:
    """Where it says that jobs go to the least loaded nodes of all partitions, or SOME; empty where they do not."""
    if whole or "tree" in settings.get("TopologyPlugin"):
        return ""
    if "CR_LLN" in (word.upper() for word in settings.words("SelectTypeParameters")):
        return settings.source("SelectTypeParameters")
    told = [(line, words.get("lln", "NO").upper()) for line, words in given.conf.resolve("partitionname")]
    if told and all(value == "YES" for _, value in told):
        return f"{Path(told[0][0].file).name}:{told[0][0].number} LLN=YES of all partitions"
    return SOME if any(value == "YES" for _, value in told) else ""


def is_exclusive(given: Given) -> bool:
    """Whether every partition gives whole nodes."""
    shared = [_find_sharing(words) for _, words in given.conf.resolve("partitionname")]
    return bool(shared) and all(one == "EXCLUSIVE" for one in shared)


def _find_sharing(words: Mapping[str, str]) -> str:
    return words.get("oversubscribe", words.get("shared", "NO")).upper()


def _judge_sharing(shared: str, alike: bool) -> tuple[str, str] | None:
    if shared == "EXCLUSIVE":
        return (EXACTLY, "") if alike else (NEARLY, "a job that tells no nodes has as many cores of each of its nodes")
    if re.fullmatch(r"FORCE(:\d+)?", shared) and shared != "FORCE:1":
        return NOT, "jobs do not take turns on a core"
    return (
        (NEARLY, "no job asks for it") if shared.startswith("YES") else (EXACTLY, "") if shared == "FORCE:1" else None
    )


def _find_mode(text: str) -> str:
    """How jobs are preempted, of `SUSPEND,GANG`."""
    return next((word for word in text.lower().split(",") if word.strip() not in ("gang", "within")), "off").strip()


def _tier(words: Mapping[str, str]) -> int:
    return int(words.get("prioritytier", words.get("priority", 1)))
