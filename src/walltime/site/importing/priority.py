"""Which job is first: the priority of a site as a scenario's order."""

from __future__ import annotations

from typing import Any

from walltime.core.errors import InputError
from walltime.site.associations import Associations
from walltime.site.importing.findings import Findings
from walltime.site.importing.values import EffectiveSettings, read_time, write_time
from walltime.site.importing.written import Said
from walltime.site.keywords import EXACTLY, NEARLY, NOT
from walltime.site.priority import FLAGS, PERIODS, TRES, WEIGHTS

MULTIFACTOR = "priority/multifactor"
OURS = {name.lower(): ours for ours, name in TRES.items()}
UNUSED = "priority/basic: jobs in order of submission"
YEAR = 365 * 86_400


def write_order(settings: EffectiveSettings, associations: Associations | None, qos: str, findings: Findings) -> Any:
    """The key `order`; `qos` is the file of the qualities of service."""
    if settings.given("PriorityType"):
        findings.tell("PriorityType")
    if settings.get("PriorityType") != MULTIFACTOR:
        for name in settings.conf.settings:
            if name.startswith("PriorityWeight") or name in (
                "PriorityMaxAge",
                "PriorityDecayHalfLife",
                "PriorityFlags",
            ):
                findings.tell(name, verdict=EXACTLY, how=UNUSED)
        for flag in settings.words("PriorityFlags"):
            findings.tell(f"PriorityFlags.{flag}", verdict=EXACTLY, how=UNUSED)
        for quality in associations.qualities if associations is not None else ():
            if "Priority" in quality.limits:
                findings.tell("QOS.Priority", quality.name, EXACTLY, UNUSED)
        return Said("submission", settings.source("PriorityType"))
    order: dict[str, Any] = {"name": Said("multifactor", settings.source("PriorityType"))}
    order["weights"] = {
        name: Said(settings.number(key), settings.source(key)) for name, key in WEIGHTS.items() if settings.given(key)
    }
    for key in WEIGHTS.values():
        if settings.given(key):
            findings.tell(key)
    order["interval"] = _time(settings, "PriorityCalcPeriod", findings)
    order["max_age"] = _time(settings, "PriorityMaxAge", findings, least=60)
    order |= _write_flags(settings, findings)
    if settings.given("PriorityFavorSmall"):
        findings.tell("PriorityFavorSmall")
        if settings.get("PriorityFavorSmall").upper() in ("YES", "1", "TRUE"):
            order["favor_small"] = Said(True, settings.source("PriorityFavorSmall"))
    if settings.given("PriorityWeightTRES"):
        order |= _write_tres(settings, findings)
    order |= _write_qualities(associations, qos, findings)
    if settings.number("PriorityWeightFairshare"):
        order["fairshare"] = _write_share(settings, findings)
    return {key: value for key, value in order.items() if value != {}}


def _time(settings: EffectiveSettings, name: str, findings: Findings, *, least: int = 0, endless: int = YEAR) -> Said:
    """A length of at least so many seconds; `endless` stands for one that never ends."""
    try:
        length = read_time(settings.get(name))
    except InputError as error:
        raise settings.error(name, error.what) from None
    if settings.given(name):
        low = length is not None and length < least
        findings.tell(name, "", *((NEARLY, f"{settings.get(name)}: {write_time(least)}") if low else (EXACTLY, "")))
    return Said(write_time(endless if length is None else max(length, least)), settings.source(name))


def _write_flags(settings: EffectiveSettings, findings: Findings) -> dict[str, Said]:
    known = {word: name for name, word in FLAGS.items()}
    found = {}
    for flag in settings.words("PriorityFlags"):
        findings.tell(f"PriorityFlags.{flag}")
        if flag.upper() in known:
            found[known[flag.upper()]] = Said(True, settings.source("PriorityFlags"))
    if settings.given("PriorityFlags"):
        findings.tell("PriorityFlags")
    return found


def _write_tres(settings: EffectiveSettings, findings: Findings) -> dict[str, Said]:
    weights = {}
    for part in settings.get("PriorityWeightTRES").split(","):
        name, _, weight = part.partition("=")
        ours = OURS.get(name.strip().lower())
        if ours is None or not weight.strip().isdigit():
            findings.tell("PriorityWeightTRES", name.strip(), NOT, "of cores, memory, nodes and GPUs alone")
        else:
            weights[ours] = int(weight)
    if weights:
        findings.tell("PriorityWeightTRES")
    return {"tres": Said(weights, settings.source("PriorityWeightTRES"))} if weights else {}


def _write_qualities(associations: Associations | None, source: str, findings: Findings) -> dict[str, Said]:
    found = {}
    for quality in associations.qualities if associations is not None else ():
        if "Priority" in quality.limits:
            findings.tell("QOS.Priority", quality.name)
            found[quality.name] = int(quality.limits["Priority"])
    return {"qos": Said(found, source)} if any(found.values()) else {}


def _write_share(settings: EffectiveSettings, findings: Findings) -> dict[str, Any]:
    classic = bool({"NO_FAIR_TREE", "DEPTH_OBLIVIOUS"} & {flag.upper() for flag in settings.words("PriorityFlags")})
    share: dict[str, Any] = {"formula": Said("classic" if classic else "fair-tree", settings.source("PriorityFlags"))}
    share["half_life"] = _time(settings, "PriorityDecayHalfLife", findings, endless=0)  # 0: nothing is forgotten
    reset = settings.get("PriorityUsageResetPeriod").lower()
    if settings.given("PriorityUsageResetPeriod"):
        findings.tell("PriorityUsageResetPeriod")
    if reset not in (*PERIODS, "now", ""):
        raise settings.error("PriorityUsageResetPeriod", f"is none of {', '.join((*PERIODS, 'now'))}")
    if reset not in ("none", "now", ""):  # a simulation begins without usage
        share["reset"] = Said(reset, settings.source("PriorityUsageResetPeriod"))
    if settings.given("FairShareDampeningFactor"):
        findings.tell("FairShareDampeningFactor")
        if classic:
            share["dampening"] = Said(
                settings.number("FairShareDampeningFactor"), settings.source("FairShareDampeningFactor")
            )
    return share
