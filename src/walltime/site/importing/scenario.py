"""From the files of a site to a native scenario: the one place where Slurm's words become a scenario's."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from walltime.core.errors import InputError
from walltime.core.reading import boundary
from walltime.core.reading import reading as open_file
from walltime.site.associations import Associations
from walltime.site.conf import ConfLine
from walltime.site.files import DUMP, MANAGER, QOS, Given, read_files
from walltime.site.importing.findings import TITLES, Findings
from walltime.site.importing.log import find_clusters, has_uneven_jobs
from walltime.site.importing.machine import Unit, read_machine, write_licences, write_nodes, write_threads
from walltime.site.importing.memory import write_memory
from walltime.site.importing.outages import write_failures, write_windows
from walltime.site.importing.people import join_partitions, write_accounts, write_limits
from walltime.site.importing.priority import write_order
from walltime.site.importing.queues import IN_ORDER, SOME, Queues, find_least_loaded, is_exclusive
from walltime.site.importing.scheduling import LIST as SCHEDULER
from walltime.site.importing.scheduling import write_controller, write_preemption, write_rhythm
from walltime.site.importing.values import EffectiveSettings
from walltime.site.importing.written import DEFAULT, Said, plain, write
from walltime.site.keywords import EXACTLY, NEARLY, NOT
from walltime.site.options import FOREIGN, RENAMED, WORDS, ReleaseWords
from walltime.workload.formats import find_format

SELECTION = {
    *("CR_CPU", "CR_CPU_MEMORY", "CR_CORE", "CR_CORE_MEMORY", "CR_SOCKET", "CR_SOCKET_MEMORY", "CR_MEMORY", "CR_LLN"),
    *("CR_ONE_TASK_PER_CORE", "CR_CORE_DEFAULT_DIST_BLOCK", "CR_PACK_NODES", "OTHER_CONS_RES", "OTHER_CONS_TRES"),
    "NONE",
}
"""Words of SelectTypeParameters that are known."""
CREDENTIAL, LEAST_CREDENTIAL = 120, 5
"""Seconds for which a job's credential is good where the file does not say, or says less: so long a job pauses, and a
second more, before the controller starts it again."""


@dataclass(frozen=True)
class Imported:
    """A scenario as a file's data, the same as the text of a file with comments, and what became of each keyword."""

    data: dict[str, Any]
    text: str
    findings: Findings
    notes: tuple[str, ...]
    files: Mapping[str, str]
    """The files that it was made from, by what they are."""


def import_site(
    paths: Iterable[str | Path],
    *,
    release: str = "22.05",
    timezone: str | None = None,
    cloud: bool = False,
    drop_unknown: bool = False,
    folder: str | Path = ".",
    reading: Mapping[str, Any] | None = None,
) -> Imported:
    """The scenario of a site's files; raises InputError. `folder` is where it is written: paths in it start there.

    `reading` are `format`, `columns`, `collections` and `host` of the log, where it does not tell them itself.
    """
    words = _find_words(release)
    given = read_files(paths, words)
    told_log = {name: value for name, value in (reading or {}).items() if value}
    if given.log is not None:
        _check_log(given.log, told_log.get("format"))
    with boundary(given.conf.file):
        settings, findings = EffectiveSettings(given.conf), Findings()
        notes = _check_unknown(given, words, drop_unknown)
        units, told = read_machine(given, settings, findings, cloud)
        cluster = _write_cluster(given, settings, units, findings, timezone)
        tree: dict[str, Any] = {"workload": _write_workload(given, folder, findings) | told_log}
        tree |= {"timezone": Said(timezone, "of the log and of the dates below")} if timezone else {}
        tree |= {"cluster": cluster}
        counts_minutes = "running_core_minutes" in str(plain(cluster))
        tree |= _write_execution(settings, counts_minutes, findings)
        controller = write_controller(settings, findings)
        tree |= {"slurm": controller} if controller else {}
        _tell_rest(settings, findings)
        head = _describe(given, findings)
        others = _find_other_clusters(given, settings.get("ClusterName").lower())
        return Imported(plain(tree), write(tree, head), findings, (*notes, *told, *others), given.files)


def _find_other_clusters(given: Given, own: str) -> list[str]:
    """A word on a log with jobs of other clusters than the site's, which are taken for its own."""
    found = find_clusters(Path(given.log)) if given.log is not None else []
    others = [name for name in found if name.lower() != own]
    what = f"{given.log}: has jobs of other clusters than {own} ({', '.join(others)}); `sacct -M {own}` leaves them out"
    return [what] if others and own else []


def _find_words(release: str) -> ReleaseWords:
    if release not in WORDS:
        raise InputError("the keywords of this release of Slurm are not known", value=release, choices=list(WORDS))
    return WORDS[release]


def _check_unknown(given: Given, words: ReleaseWords, drop: bool) -> list[str]:
    """Keywords that the release does not know: an error, or, where they are dropped, a note."""
    later = [other for name, other in WORDS.items() if name > words.release]
    found = [
        (key, line, "keyword", [other.release for other in later if _knows(other, key, line.kind)])
        for key, line in given.conf.unknown
    ]
    notes = []
    for key, line, kind, newer in [*found, *_take_unknown_words(given, words, later)]:
        what = f"Slurm {words.release} does not know this {kind}" + (
            f"; Slurm {newer[0]} does (--release)" if newer else ""
        )
        if not drop:
            raise InputError(f"{what}; --drop-unknown goes on without", value=key, file=line.file, line=line.number)
        notes.append(f"{Path(line.file).name}:{line.number} {key}: {what}; left out")
    return notes


def _knows(words: ReleaseWords, key: str, kind: str) -> bool:
    return key.lower() in words.known or key.lower() in {name.lower() for name in words.lines.get(kind, ())}


def _take_unknown_words(
    given: Given, words: ReleaseWords, later: list[ReleaseWords]
) -> list[tuple[str, ConfLine, str, list[str]]]:
    """Take out of the settings that are lists the words on which the release's controller does not act.

    Returns those that a person should not have written: the word, its line, of which list, and who knows it.
    """
    strange = []
    for name in words.parameters:
        if name not in given.conf.settings:
            continue
        text, line = given.conf.settings[name]
        kept = []
        for part in (piece.strip() for piece in text.split(",") if piece.strip()):
            word = part.partition("=")[0].strip().lower()
            if _acts_on(words, name, word):
                kept.append(part)
            elif name != SCHEDULER or word not in FOREIGN:
                strange.append((part, line, f"word of {name}", [x.release for x in later if _acts_on(x, name, word)]))
        given.conf.settings[name] = (",".join(kept), line)
    return strange


def _acts_on(words: ReleaseWords, name: str, word: str) -> bool:
    known = {one.rstrip("=").lower() for one in words.parameters.get(name, ())}
    return (RENAMED.get(word, word) if name == SCHEDULER else word) in known


def _check_log(path: str | Path, told: str | None) -> None:
    """A file that is none of a site's, and no log, is refused; its name alone may have told that it were one."""
    try:
        kind = find_format(path, told)
    except InputError as error:
        if told is not None or Path(path).is_dir():
            raise
        raise InputError("neither a file of a site nor a log", file=path) from error
    if kind != "swf" or told is not None:
        return
    with open_file(path) as stream:
        lines = stream.read(1 << 16).decode("utf-8", "replace").splitlines()
    if not lines:
        raise InputError("is empty: neither a file of a site nor a log", file=path)
    first = next(((n, line) for n, line in enumerate(lines, 1) if line.strip() and not line.startswith(";")), None)
    if first is not None and not re.match(r"\s*-?\d", first[1]):
        raise InputError("neither a file of a site nor a log", value=first[1].strip()[:60], file=path, line=first[0])


def _write_workload(given: Given, folder: str | Path, findings: Findings) -> dict[str, Any]:
    if given.log is None:
        return {"trace": Said("LOG", "no log was given: put its name here")}
    written: dict[str, Any] = {"trace": Said(os.path.relpath(given.log, folder), "")}
    if has_uneven_jobs(given.log):
        how = "a job whose parts differ has as many alike nodes, and in all what it asked for"
        findings.tell("HetJob", "", NEARLY, how)
        written["adjust"] = {"alike": Said(True, "the log has heterogeneous jobs whose parts differ")}
    return written


def _write_cluster(
    given: Given, settings: EffectiveSettings, units: list[Unit], findings: Findings, timezone: str | None
) -> dict[str, Any]:
    people = _without_partitions(given)
    people = None if people is None else join_partitions(people, findings)
    linear = _is_linear(settings)
    whole = linear or is_exclusive(given)
    lln = find_least_loaded(given, settings, whole)
    _tell_selection(settings, findings, lln, linear)
    named = given.conf.settings.get("ClusterName")
    cluster: dict[str, Any] = {}
    if named is not None:
        cluster["name"] = Said(named[0].lower(), settings.source("ClusterName"))
    cluster["nodes"] = write_nodes(units)
    cluster["sharing"] = Said("whole" if whole else "shared", settings.source("SelectType"))
    cluster |= write_threads(units, findings)
    cluster |= write_licences(settings, findings)
    queues = Queues(given, units, whole, lln, findings)
    cluster["queues"] = queues.write()
    said = all("default_memory" in queue for queue in cluster["queues"].values())
    cluster |= write_memory(given, settings, units, findings, needed=not whole and not said)
    accounts, qualities = (
        Path(given.files.get(kind, given.files.get(MANAGER, "")) or "the log").name for kind in (DUMP, QOS)
    )
    if people is not None:
        cluster |= write_accounts(people, accounts, findings)
        if limits := write_limits(people, settings, (accounts, qualities), findings, cluster["queues"]):
            cluster["limits"] = limits
    there = {unit.name for unit in units}
    if windows := write_windows(given.windows, there, findings, timezone):
        cluster["reservations"] = windows
    if failures := write_failures(given.events, there, findings, timezone):
        cluster["failures"] = failures
    cluster |= _write_requeue(settings, findings)
    scheduler: dict[str, Any] = {"order": write_order(settings, people, qualities, findings)}
    preempt = write_preemption(settings, people, qualities, findings)
    scheduler |= write_rhythm(settings, findings)
    if "tree" in settings.get("TopologyPlugin"):
        scheduler["place"] = Said("topology", settings.source("TopologyPlugin"))
    elif lln not in ("", SOME):
        scheduler["place"] = Said("worst-fit", lln)
    cluster["scheduler"] = scheduler | preempt
    return cluster


def _write_requeue(settings: EffectiveSettings, findings: Findings) -> dict[str, Any]:
    """What becomes of a job whose node fails, and for how long one that is put back pauses."""
    requeued = settings.get("JobRequeue") == "1"
    written = {"interrupted": Said("requeue" if requeued else "fail", settings.source("JobRequeue"))}
    if settings.given("JobRequeue"):
        findings.tell("JobRequeue")
    text = settings.words("AuthInfo").get("cred_expire") or ""
    if text:
        findings.tell("AuthInfo", "cred_expire", EXACTLY)
    told = text.isdecimal() and int(text) >= LEAST_CREDENTIAL
    where = settings.source("AuthInfo") if told else f"cred_expire of AuthInfo, {DEFAULT}"
    written["requeue_delay"] = Said((int(text) if told else CREDENTIAL) + 1, where)
    return written


def _without_partitions(given: Given) -> Associations | None:
    """The associations without the qualities of service that are partitions' alone, and no job's."""
    people = given.associations
    if people is None:
        return None
    apart = {words.get("qos", "") for _, words in given.conf.resolve("partitionname")}
    allowed = {name for entry in (people.root, *people.entries) for name in (*entry.qos, entry.default_qos)}
    allowed |= {name for quality in people.qualities for name in quality.preempts} | {"normal"}
    kept = tuple(one for one in people.qualities if one.name not in apart or one.name in allowed)
    return replace(people, qualities=kept)


def _is_linear(settings: EffectiveSettings) -> bool:
    """Whether whole nodes are given out; select/cray_aries does that, too, unless it is said to have other ways."""
    kind = settings.get("SelectType").lower()
    others = {word.upper() for word in settings.words("SelectTypeParameters")} & {"OTHER_CONS_RES", "OTHER_CONS_TRES"}
    return kind.endswith("linear") or (kind.endswith("cray_aries") and not others)


def _tell_selection(settings: EffectiveSettings, findings: Findings, lln: str, linear: bool) -> None:
    if settings.given("SelectType"):
        findings.tell("SelectType")
    how = {
        "CR_ONE_TASK_PER_CORE": "CPUs are as the log has them, which does not tell tasks",
        "CR_CORE_DEFAULT_DIST_BLOCK": "cores of a node are alike",
        "CR_SOCKET": "single cores are given out, not sockets",
        "CR_SOCKET_MEMORY": "single cores are given out, not sockets",
    }
    if not lln:
        how["CR_LLN"] = IN_ORDER
    for word in settings.words("SelectTypeParameters"):
        reason = how.get(word.upper())
        if word.upper() not in SELECTION:
            findings.tell("SelectTypeParameters", word, NOT, "this word is not known here")
        elif word.upper() == "CR_MEMORY" and not linear:
            findings.tell("SelectTypeParameters", word, NOT, "a core is given to one job at a time")
        else:
            findings.tell("SelectTypeParameters", word, *((NEARLY, reason) if reason else (EXACTLY, "")))


def _write_execution(settings: EffectiveSettings, counts_minutes: bool, findings: Findings) -> dict[str, Any]:
    """What becomes of a job at its limit: the controller looks every half minute, and may grant some minutes."""
    text, where = settings.get("OverTimeLimit").upper(), settings.source("OverTimeLimit")
    endless = text in ("UNLIMITED", "INFINITE", "65535")
    minutes = 0 if endless else settings.number("OverTimeLimit")
    if counts_minutes:  # which are those up to the limit
        how = "a job is killed at its limit, because others may have to wait for its core-minutes"
        findings.tell("OverTimeLimit", "" if text != "0" else "0", NOT if text != "0" else NEARLY, how)
        return {}
    if settings.given("OverTimeLimit"):
        findings.tell("OverTimeLimit", "", EXACTLY)
    if endless:
        return {"execution": {"overrun": Said("extend", where)}}
    told = {"overtime": Said(f"{minutes}m", where)} if minutes else {}
    return {"execution": {**told, "limit_check": Said("30s", "so often the controller looks at limits")}}


def _tell_rest(settings: EffectiveSettings, findings: Findings) -> None:
    """Every setting and every word that no one has told of, by the table."""
    from walltime.site.keywords import LISTS

    for name in settings.conf.settings:
        if name in LISTS:
            for word in settings.words(name):
                if f"{name}.{word}".lower() not in findings.told:
                    findings.tell(f"{name}.{word}")
        elif name.lower() not in findings.told:
            findings.tell(name)


def _describe(given: Given, findings: Findings) -> list[str]:
    """The comment at the head of the file: what it was made from, and the three lists."""
    files = ", ".join(Path(path).name for path in given.files.values())
    head = [f"Made from {files} by `walltime site import`. Beside each value: where it comes from."]
    for verdict, title in TITLES.items():
        if lines := findings.lines(verdict):
            head += ["", f"{title}:", *(f"  {line}" for line in lines)]
    return [*head, ""]


def describe(imported: Imported) -> Mapping[str, list[str]]:
    """The three lists for a person, by their titles."""
    return {title: imported.findings.lines(verdict) for verdict, title in TITLES.items()}
