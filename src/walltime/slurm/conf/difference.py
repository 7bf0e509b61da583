"""What differs in effect between two configurations: each controller is asked what it goes by, defaults and all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from walltime.cluster.hostlist import compress
from walltime.core.workload import Workload
from walltime.scenario.controller import Controller as ControllerOptions
from walltime.site.conf import read_conf
from walltime.site.keywords import FOLLOWING, USUAL
from walltime.site.options import LISTS
from walltime.slurm import engine
from walltime.slurm.conf.settings import split_words
from walltime.slurm.paused import Frozen
from walltime.slurm.translate.site import find_words, make_own_site

NODE = (
    *("CPUTot", "CPUEfctv", "Boards", "Sockets", "CoresPerSocket", "ThreadsPerCore", "RealMemory", "TmpDisk"),
    *("AvailableFeatures", "Gres", "Weight", "State"),
)
"""What of a node is compared; the rest follows from it, or moves."""
DEFAULT = " (default)"
OWN = ("BOOT_TIME", "HASH_VAL", "SLURM_CONF", "NEXT_JOB_ID", "MaxNodeCount", "MaxDBDMsgs")
NONE = ("(null)", "(null type)", "N/A", "")
SILENT = "-"
"""In place of a value that a configuration does not have."""


@dataclass(frozen=True)
class Difference:
    """One thing that the two have otherwise; `-` is none. A value is followed by a remark where no file has it."""

    part: str
    what: str
    first: str
    second: str


@dataclass
class EffectiveConf:
    """What a controller goes by: settings, partitions and nodes by name, and what of the file is not simulated."""

    settings: dict[str, str]
    partitions: dict[str, dict[str, str]]
    nodes: dict[str, dict[str, str]]
    files: dict[str, str]
    unused: dict[str, str]
    written: dict[str, str] = field(default_factory=dict)
    """The settings as the file has them, by their names in small letters."""


def find_effect(given: ControllerOptions) -> EffectiveConf:
    """Start a controller with a configuration and ask it; raises InputError for one that it does not take."""
    site = make_own_site(given)
    nothing = Workload.from_columns(submit=[], run_time=[], requested_time=[], cores=[])
    run = engine.start(site, nothing, options=engine.SlurmOptions(release=given.release, slurmctld=given.slurmctld))
    with run.controller:
        run.simulation.run(run.base, stay=True)
        asker = Frozen(run)
        try:
            config, partitions, nodes = (
                asker.ask(f"scontrol -o show {what}").replace(str(run.controller.folder), "...")
                for what in ("config", "partition", "node")
            )
        finally:
            asker.close()
    assert given.conf is not None
    conf = read_conf(given.conf, find_words(given))
    unused = {change.key: change.old or SILENT for change in site.changes}
    written = {name.lower(): value for name, (value, _) in conf.settings.items()}
    pairs = re.findall(r"^(\S+)\s*= (.*?)\s*$", config, re.MULTILINE)
    settings = {name: value for name, value in pairs if name not in OWN and not name.endswith("Port")}
    return EffectiveConf(settings, _read_things(partitions), _read_things(nodes), site.files, unused, written)


def compare(first: EffectiveConf, second: EffectiveConf) -> list[Difference]:
    """Everything that differs in effect, and last what differs in the files but is not simulated."""
    found = [*_compare_settings(first, second)]
    found += _compare_things("partition", first.partitions, second.partitions)
    found += _compare_nodes(first.nodes, second.nodes)
    for name in dict.fromkeys([*first.files, *second.files]):
        if first.files.get(name) != second.files.get(name):
            told = (SILENT if name not in files else "its own" for files in (first.files, second.files))
            found.append(Difference("file", name, *told))
    for name in dict.fromkeys([*first.unused, *second.unused]):
        one, other = (effect.unused.get(name, SILENT) for effect in (first, second))
        if one != other and not any(name == known.what for known in found):
            found.append(Difference("not simulated", name, one, other))
    return found


def find_alike(first: EffectiveConf, second: EffectiveConf, found: Iterable[Difference]) -> list[str]:
    """Settings that the files write otherwise, or that one does not have, and that come to the same."""
    told = {one.what.partition(".")[0].lower() for one in found}
    names = {name.lower(): name for name in (*first.settings, *second.settings)}
    written = dict.fromkeys([*first.written, *second.written])
    return [
        names[name]
        for name in written
        if name in names and name not in told and first.written.get(name) != second.written.get(name)
    ]


def _read_things(text: str) -> dict[str, dict[str, str]]:
    """Lines such as `NodeName=n1 Arch=...`, by their first value."""
    lines = ([pair.partition("=")[::2] for pair in line.split() if "=" in pair] for line in text.splitlines())
    return {pairs[0][1]: dict(pairs[1:]) for pairs in lines if pairs}


def _compare_settings(first: EffectiveConf, second: EffectiveConf) -> Iterator[Difference]:
    for name in dict.fromkeys([*first.settings, *second.settings]):
        one, other = (_spell(effect.settings.get(name)) for effect in (first, second))
        if one == other:
            continue
        if name in LISTS:
            yield from _compare_lists(name, one, other)
        else:
            values = (
                value if name.lower() in effect.written or value == SILENT else value + DEFAULT
                for value, effect in ((one, first), (other, second))
            )
            yield Difference("setting", name, *values)


def _spell(value: str | None) -> str:
    return SILENT if value is None or value in NONE else value


def _compare_lists(name: str, first: str, second: str) -> Iterator[Difference]:
    """Word by word; a word without a value is `yes`."""
    one, other = (_read_list(name, "" if text == SILENT else text) for text in (first, second))
    for word in dict.fromkeys([*one, *other]):
        values = [_resolve(name, word, words) for words in (one, other)]
        if values[0].removesuffix(DEFAULT) != values[1].removesuffix(DEFAULT):
            yield Difference("setting", f"{name}.{word}", *values)


def _read_list(name: str, text: str) -> dict[str, str]:
    pairs = (word.partition(LISTS[name]) for word in split_words(text))
    words = {key.strip(): value if sign else "yes" for key, sign, value in pairs}
    if name == "SchedulerParameters":  # one that follows a word which is given is given too
        words |= {key: words[other] for key, other in FOLLOWING.items() if other in words and key not in words}
    return words


def _resolve(name: str, word: str, words: Mapping[str, str]) -> str:
    if word in words:
        return words[word]
    if name != "SchedulerParameters":
        return SILENT
    usual = USUAL.get(FOLLOWING.get(word, word))
    return SILENT if usual is None else usual + DEFAULT


def _compare_things(
    part: str, first: Mapping[str, Mapping[str, str]], second: Mapping[str, Mapping[str, str]]
) -> Iterator[Difference]:
    for name in dict.fromkeys([*first, *second]):
        if name not in first or name not in second:
            yield Difference(part, name, *("there" if name in there else SILENT for there in (first, second)))
            continue
        for key in dict.fromkeys([*first[name], *second[name]]):
            one, other = (_spell(things[name].get(key)) for things in (first, second))
            if one != other:
                yield Difference(part, f"{name} {key}", one, other)


def _compare_nodes(first: Mapping[str, Mapping[str, str]], second: Mapping[str, Mapping[str, str]]) -> list[Difference]:
    """Nodes that differ alike are told together."""
    chosen = [
        {name: {key: words[key] for key in NODE if key in words} for name, words in nodes.items()}
        for nodes in (first, second)
    ]
    alike: dict[tuple[str, str, str], list[str]] = {}
    for one in _compare_things("node", *chosen):
        name, _, key = one.what.partition(" ")
        alike.setdefault((key, one.first, one.second), []).append(name)
    return [
        Difference("node", f"{compress(names)} {key}".strip(), one, other) for (key, one, other), names in alike.items()
    ]
