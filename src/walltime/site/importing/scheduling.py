"""When the controller thinks, how far it plans, and which jobs it preempts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from walltime.policy.registry import entries
from walltime.site.associations import Associations
from walltime.site.importing.findings import Findings, find_effect
from walltime.site.importing.values import EffectiveSettings, read_time, write_time
from walltime.site.importing.written import DEFAULT, Said
from walltime.site.keywords import BOUNDS, EXACTLY, GANG, NEARLY, NOT, NOTHING, USUAL, Effect
from walltime.site.options import RENAMED

LIST = "SchedulerParameters"
YOUNGEST = "preempt_youngest_first"
RHYTHM = "slurm"
MODES = {"requeue": "requeue", "cancel": "kill", "suspend": "suspend"}
KILLED = "preempted jobs are killed, as JobRequeue=0 says; one that was submitted with --requeue would wait again"
PASSED_ON = (
    *("CompleteWait", "DependencyParameters", "EnforcePartLimits", "KillWait", "PreemptExemptTime", "ResvOverRun"),
)
"""Settings that the native engine does not look at, and that the controller is told."""
ALSO = "; the slurm engine honours it"


def write_rhythm(settings: EffectiveSettings, findings: Findings) -> dict[str, Any]:
    """The keys `backfill` and `rhythm`: the words of SchedulerParameters that the native planner knows."""
    builtin = settings.get("SchedulerType").endswith("builtin")
    idle = read_words(settings).get("bf_interval") == "-1"  # which switches the backfill loop off
    if settings.given("SchedulerType"):
        findings.tell("SchedulerType")
    known = find_parameters()
    rhythm: dict[str, Any] = {"name": Said(RHYTHM, "Slurm's main pass and backfill cycle")}
    given = read_words(settings)
    for word, default in known.items():
        value = given.get(word, USUAL.get(word))
        if word in given:
            value = _bound(word, value, findings)
        if isinstance(default, bool):
            if word in given:
                rhythm[word] = Said(True, _source(settings))
            elif default:  # this planner has no other way than what is not given
                findings.tell(
                    f"{LIST}.{word}", "not given", NEARLY, "a pass takes no time, so nothing changes under it"
                )
        elif value is not None and (word in given or int(value) != 0):
            source = _source(settings) if word in given else DEFAULT
            rhythm[word] = Said(_number(settings, word, value), source)
    if builtin or idle:
        rhythm = {key: value for key, value in rhythm.items() if not key.startswith("bf_")}
    source = f"{_source(settings)} bf_interval=-1" if idle and not builtin else settings.source("SchedulerType")
    backfill = Said("none" if builtin or idle else "conservative", source)
    return {"backfill": backfill, "rhythm": rhythm}


def _bound(word: str, value: str | None, findings: Findings) -> str | None:
    """The number that the controller takes for the one that is given; the word is put on its list."""
    least, most = BOUNDS.get(word, (None, None))
    if least is None or most is None or value is None or (word, value) == ("bf_interval", "-1"):
        findings.tell(f"{LIST}.{word}")
        return value
    if not least <= int(value) <= most:
        how = f"the controller does not take {value}, and has its default, {USUAL[word]}"
        findings.tell(f"{LIST}.{word}", "", EXACTLY, how)
        return USUAL[word]
    if (word, int(value)) == ("bf_max_job_array_resv", 0):
        findings.tell(f"{LIST}.{word}", "", NEARLY, "0: one task of an array gets a place")
        return "1"
    findings.tell(f"{LIST}.{word}")
    return value


def find_parameters() -> dict[str, Any]:
    """The words that the native planner takes, with their defaults."""
    (part,) = [entry for entry in entries("rhythm") if entry.name == RHYTHM]
    return {name: one.default for name, one in part.parameters().items()}


def read_words(settings: EffectiveSettings) -> dict[str, str | None]:
    """The words of SchedulerParameters, under the names that they have by now and in the controller's spelling: it
    reads them in large letters, too."""
    known = settings.conf.words.parameters[LIST]
    spelled = {word.rstrip("=").lower(): word.rstrip("=") for word in known} | RENAMED
    words = {spelled.get(word.lower(), word): value for word, value in settings.words(LIST).items()}
    for word in known:
        if word.endswith("=") and (value := words.get(word[:-1])) is not None:
            _number(settings, word[:-1], value)
    return words


def _source(settings: EffectiveSettings) -> str:
    """Where the list stands, without its words."""
    return f"{settings.source(LIST).partition(' ')[0]} {LIST}"


def _number(settings: EffectiveSettings, word: str, value: str) -> int:
    if not value.lstrip("-").isdigit():
        raise settings.error(LIST, f"has no number for {word}")
    return int(value)


def write_controller(settings: EffectiveSettings, findings: Findings) -> dict[str, Any]:
    """What the slurm engine is told beside the scenario's own words: `slurm.settings`."""
    known, told = find_parameters(), {}
    for word, value in read_words(settings).items():
        effect = find_effect(f"{LIST}.{word}")
        if effect.verdict == EXACTLY and word not in known:
            effect = Effect(NOT, "the native planner does not take it")
        if word not in known and word != YOUNGEST and effect.verdict != NOTHING:
            told[f"{LIST}.{word}"] = Said(True if value is None else value, _source(settings))
            findings.tell(f"{LIST}.{word}", "", effect.verdict, effect.how + ALSO)
    for flag in settings.words("PriorityFlags"):
        effect = find_effect(f"PriorityFlags.{flag}")
        if effect.verdict == NOT:
            told[f"PriorityFlags.{flag}"] = Said(True, settings.source("PriorityFlags").partition(" ")[0])
    for name in PASSED_ON:
        if settings.given(name):
            told[name] = Said(settings.get(name), settings.source(name))
            effect = find_effect(name)
            findings.tell(name, "", effect.verdict, effect.how + ALSO)
    if settings.given(LIST):
        findings.tell(LIST)
    if "preempt" in settings.get("PreemptType") and not settings.get("PreemptType").endswith("none"):
        youngest = YOUNGEST in read_words(settings)
        told[f"{LIST}.{YOUNGEST}"] = Said(youngest, _source(settings) if youngest else "not given")
    return {"settings": told} if told else {}


def write_preemption(
    settings: EffectiveSettings, associations: Associations | None, qos: str, findings: Findings
) -> dict[str, Any]:
    """The key `preempt`; nothing where no job is preempted."""
    kind = settings.get("PreemptType").rpartition("/")[2]
    mode = {word.lower() for word in settings.words("PreemptMode")} - {"gang", "within"}
    for name in ("PreemptType", "PreemptMode"):
        if settings.given(name):
            findings.tell(name)
    _tell_modes(settings, mode, findings)
    if kind not in ("qos", "partition_prio") or (mode <= {"off"} and kind == "partition_prio"):
        _tell_idle(associations, findings)
        return {}
    youngest = YOUNGEST in read_words(settings)
    if youngest:
        findings.tell(f"{LIST}.{YOUNGEST}")
    else:
        how = "of the lowest rank, the smallest job goes first: by its cores, not by its nodes"
        findings.tell_instead("PreemptType", "", NEARLY, how)
    if kind == "partition_prio":
        _tell_idle(associations, findings)
    part: dict[str, Any] = {"name": Said("qos" if kind == "qos" else "queue", settings.source("PreemptType"))}
    modes = _find_modes(settings)
    chosen = next((ours for word, ours in modes.items() if word in mode), modes["requeue"])
    if kind == "qos":
        if associations is None or not any(quality.preempts for quality in associations.qualities):
            findings.tell_instead(
                "PreemptType", "", NEARLY, "no QOS is told to preempt another; `sacctmgr -P show qos` tells"
            )
            _tell_idle(associations, findings)
            return {}
        part["ranks"] = Said(_rank(associations, findings), qos)
        chosen = _choose_mode(associations, chosen, modes, findings)
    if modes != MODES and "requeue" in mode | _find_own_modes(associations if kind == "qos" else None):
        findings.tell_instead("PreemptMode", "", NEARLY, KILLED)
    part["mode"] = Said(chosen, settings.source("PreemptMode"))
    part["victims"] = Said("youngest" if youngest else "smallest", f"{YOUNGEST} is {'' if youngest else 'not '}given")
    if grace := _find_grace(settings, associations, kind, chosen, findings):
        part["grace"] = Said(write_time(grace), qos if kind == "qos" else settings.conf.file)
    return {"preempt": part}


def _find_modes(settings: EffectiveSettings) -> dict[str, str]:
    """What becomes of preempted jobs, by Slurm's word: the controller kills those that may not be put back."""
    return MODES | ({} if settings.get("JobRequeue") == "1" else {"requeue": "kill"})


def _find_own_modes(associations: Associations | None) -> set[str]:
    """The words for it of single qualities of service."""
    return {one.limits.get("PreemptMode", "").lower() for one in associations.qualities} if associations else set()


def _tell_modes(settings: EffectiveSettings, mode: set[str], findings: Findings) -> None:
    """Words of PreemptMode that are no way to make room."""
    for word in settings.words("PreemptMode"):
        if word.lower() == "within":
            findings.tell("PreemptMode", word, NOT, "jobs of one QOS do not preempt each other")
        elif word.lower() == "gang" and "suspend" not in mode:  # beside SUSPEND it is how those go on later
            findings.tell("PreemptMode", word, NOT, GANG)


def _tell_idle(associations: Associations | None, findings: Findings) -> None:
    """Words of preemption at a site that has none."""
    for quality in associations.qualities if associations is not None else ():
        for name in ("Preempt", "PreemptMode", "GraceTime"):
            if name in quality.limits:
                findings.tell(f"QOS.{name}", quality.name, EXACTLY, "nothing is preempted by QOS at this site")


def _rank(associations: Associations, findings: Findings) -> dict[str, int]:
    """Numbers so that a QOS preempts those of a lower one; where Slurm's pairs are no such order, it is told."""
    below = {one.name: set(one.preempts) for one in associations.qualities}
    ranks = dict.fromkeys(below, 0)
    for _ in below:
        ranks = {name: max((ranks[other] + 1 for other in others), default=0) for name, others in below.items()}
        ranks = {name: min(rank, len(below)) for name, rank in ranks.items()}
    meant = {(name, other) for name, others in below.items() for other in others}
    had = {(name, other) for name in ranks for other in ranks if ranks[name] > ranks[other]}
    for name in below:
        if "Preempt" not in associations.qualities[list(below).index(name)].limits:
            continue
        wrong = sorted(other for one, other in meant ^ had if one == name)
        how = f"ranks: it is otherwise for {', '.join(wrong)}"
        findings.tell("QOS.Preempt", name, *((NEARLY, how) if wrong else (EXACTLY, "")))
    zero = ranks.get("normal", 0)  # jobs that name no QOS have the rank 0
    return {name: rank - zero for name, rank in ranks.items()}


def _choose_mode(associations: Associations, chosen: str, modes: Mapping[str, str], findings: Findings) -> str:
    """What becomes of the preempted: one mode for all, that of the qualities that can be."""
    victims = {name for quality in associations.qualities for name in quality.preempts}
    found = []
    for quality in associations.qualities:
        own = quality.limits.get("PreemptMode", "").lower()
        mode = modes.get(own, chosen)
        if quality.name in victims:
            found.append(mode)
        if own:
            findings.tell("QOS.PreemptMode", quality.name)
    different = set(found)
    if len(different) > 1:
        findings.tell("QOS.PreemptMode", ", ".join(sorted(victims)), NEARLY, f"one mode for all: {found[0]}")
    if "suspend" in different:
        findings.tell("QOS.PreemptMode", "", NEARLY, "suspended jobs are requeued")
        return "requeue"
    return found[0] if found else chosen


def _find_grace(
    settings: EffectiveSettings, associations: Associations | None, kind: str, mode: str, findings: Findings
) -> int:
    if kind == "qos":
        told = {one.name: one.limits.get("GraceTime", "") for one in associations.qualities} if associations else {}
        keyword = "QOS.GraceTime"
        spared = set(told) - {name for one in (associations.qualities if associations else ()) for name in one.preempts}
    else:
        partitions = {line.name: words for line, words in settings.conf.resolve("partitionname")}
        told = {name: words.get("gracetime", "") for name, words in partitions.items()}
        keyword = "PartitionName.GraceTime"
        tiers = {name: int(words.get("prioritytier", "1")) for name, words in partitions.items()}
        spared = {name for name, tier in tiers.items() if tier == max(tiers.values())}
    graces = {name: _seconds(text) for name, text in told.items() if text}
    if mode == "suspend":
        for name, grace in graces.items():
            findings.tell(keyword, name, EXACTLY, "it is not for jobs that are suspended" if grace else "")
        return 0
    most = max((grace for name, grace in graces.items() if name not in spared), default=0)
    for name, grace in graces.items():
        exact = grace == most or name in spared  # no job of it is ever preempted
        findings.tell(keyword, name, *((EXACTLY, "") if exact else (NEARLY, f"one for all: {most} s")))
    return most


def _seconds(text: str) -> int:
    """A grace: seconds, or `00:02:00`."""
    return int(text) if text.isdigit() else read_time(text) or 0
