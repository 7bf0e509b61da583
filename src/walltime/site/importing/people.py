"""Accounts, shares and limits of a site, from its associations and qualities of service."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from walltime.site.associations import Association, Associations, Quality
from walltime.site.importing.findings import Findings
from walltime.site.importing.priority import MULTIFACTOR
from walltime.site.importing.values import EffectiveSettings, read_amount, read_number, spell
from walltime.site.importing.written import Said
from walltime.site.keywords import EXACTLY, NEARLY, NOT

_CAPS = {"cpu": "running_cores", "mem": "running_memory", "gres/gpu": "running_gpus"}
_ACCRUE = ("GrpJobsAccrue", "MaxJobsAccrue", "MaxJobsAccruePU", "MaxJobsAccruePA")
_COUNTS = {
    **{"GrpJobs": "running_jobs", "GrpSubmitJobs": "submitted_jobs", "GrpSubmit": "submitted_jobs"},
    **{"MaxJobs": "running_jobs", "MaxSubmitJobs": "submitted_jobs"},
    **{"MaxJobsPU": "running_jobs", "MaxSubmitPU": "submitted_jobs"},
    **{"MaxJobsPA": "running_jobs", "MaxSubmitPA": "submitted_jobs"},
    **dict.fromkeys(_ACCRUE, "accruing_jobs"),
}
_RUNNING = ("GrpTRES", "MaxTRESPU", "MaxTRESPA")
_MINUTES = ("GrpTRESRunMins", "MaxTRESRunMinsPU", "MaxTRESRunMinsPA")
_LOOKED_AT = {*_COUNTS, *_RUNNING, *_MINUTES, "Priority", "Preempt", "PreemptMode", "GraceTime"}
PER = {None: ("Grp",), "user": ("PU",), "account": ("PA",)}
"""Which limits of a QOS hold for all of its jobs together, for each user, for each account."""
Holder = TypeVar("Holder", Association, Quality)
NESTED = "each account by itself: here what is below an account would count, too"


def read_caps(
    limits: Mapping[str, str], names: Iterator[str] | list[str], scope: str, of: str, findings: Findings
) -> dict[str, Any]:
    """The caps that some of the limits mean, in a scenario's words; what they cannot say is told."""
    caps: dict[str, Any] = {}
    for name in names:
        text, keyword = limits[name], f"{scope}.{name}"
        if name in _COUNTS and re.fullmatch(r"\d+", text):
            if int(text) > 0 or name in _ACCRUE:
                caps[_COUNTS[name]] = int(text)
                findings.tell(keyword, of)
            else:
                findings.tell(keyword, of, NOT, "0: a limit that lets nothing run is left out")
        elif name in (*_RUNNING, *_MINUTES):
            caps |= _read_tres(text, name in _MINUTES, keyword, of, findings)
    return caps


def _read_tres(text: str, minutes: bool, keyword: str, of: str, findings: Findings) -> dict[str, Any]:
    caps: dict[str, Any] = {}
    for part in text.split(","):
        resource, _, amount = part.partition("=")
        resource = resource.strip().lower()
        cap = ("running_core_minutes" if resource == "cpu" else None) if minutes else _CAPS.get(resource)
        if not amount.strip() or amount.strip() in ("-1", "N"):
            continue
        if cap is None or (amount.strip() == "0" and resource != "gres/gpu"):
            why = f"no limit on {resource}" if cap is None else "0: a limit that lets nothing run is left out"
            findings.tell(keyword, of, NOT, why)
            continue
        caps[cap] = f"{read_amount(amount)}M" if resource == "mem" else read_number(amount)
        findings.tell(keyword, of)
    return caps


def join_partitions(associations: Associations, findings: Findings) -> Associations:
    """Each user once in an account: what is said of one partition alone is left out, and told."""
    general = {(entry.account, entry.user) for entry in associations.entries if entry.partition is None}
    above = {entry.account: entry.limits for entry in associations.entries if entry.user is None}
    kept: list[Association] = []
    for entry in associations.entries:
        if entry.partition is not None:
            how = "limits and shares that a user has in one partition alone are left out"
            findings.tell("Association.Partition", f"{entry.user} in {entry.partition}", NOT, how)
            if (entry.account, entry.user) in general:
                continue
            general.add((entry.account, entry.user))
            passed_on = {
                name: text
                for name, text in above.get(entry.account, {}).items()
                if not name.startswith("Grp") and name != "Priority"
            }
            entry = replace(entry, limits=passed_on, share=1, partition=None)
        kept.append(entry)
    return replace(associations, entries=tuple(kept))


def write_accounts(associations: Associations, source: str, findings: Findings) -> dict[str, Any]:
    """The tree of accounts, with the users whose default they are; and the shares of users."""
    accounts: dict[str, dict[str, Any]] = {}
    shares: dict[str, int] = {}
    homes: dict[str, str] = {}
    for entry in associations.entries:
        if entry.user is None:
            accounts.setdefault(entry.account, {})
        elif entry.is_default or entry.user not in homes:
            homes[entry.user] = entry.account
    for entry in associations.entries:
        if entry.user is not None:
            if entry.share not in (1, None):
                shares.setdefault(entry.user, entry.share or 0)
            continue
        account = accounts[entry.account]
        if entry.parent not in ("root", ""):
            account["parent"] = entry.parent
        if entry.share is None:
            findings.tell(
                "Association.Fairshare", entry.account, NEARLY, "parent: users have 1 share of their account's"
            )
        elif entry.share != 1:
            account["shares"] = entry.share
        if int(entry.limits.get("Priority", 0)):
            account["priority"] = int(entry.limits["Priority"])
            findings.tell("Association.Priority", entry.account)
        if members := [user for user, home in homes.items() if home == entry.account]:
            account["users"] = members
    if not accounts:
        return {}
    findings.tell("Association.Fairshare", verdict=EXACTLY)
    _tell_users(associations, shares, findings)
    written = {name: Said(account, source) for name, account in accounts.items()}
    return {"accounts": written} | ({"shares": Said(shares, source)} if shares else {})


def _tell_users(associations: Associations, shares: Mapping[str, int], findings: Findings) -> None:
    """What users have in an account that a scenario has no word for."""
    own = {entry.account: entry.limits.get("Priority", "0") for entry in associations.entries if entry.user is None}
    for entry in associations.entries:
        if entry.user is None:
            continue
        if entry.share is None:
            how = "parent: a user has 1 share of its account's"
            findings.tell("Association.Fairshare", entry.user, NEARLY, how)
        elif entry.share != shares.get(entry.user, 1):
            findings.tell("Association.Fairshare", entry.user, NEARLY, "one share in all accounts of a user")
        above = own.get(entry.account, "0")
        if entry.limits.get("Priority", above) != above:
            findings.tell("Association.Priority", entry.user, NOT, "a user's jobs have the priority of the account")


def write_limits(
    associations: Associations,
    settings: EffectiveSettings,
    sources: tuple[str, str],
    findings: Findings,
    queues: Mapping[str, Mapping[str, Any]],
) -> list[Said]:
    """The limits of associations and of qualities of service; none, where the site does not enforce them.

    `queues` are the partitions as they are written, with the limits of their own qualities of service.
    """
    enforced = {word.lower() for word in settings.words("AccountingStorageEnforce")}
    if settings.given("AccountingStorageEnforce"):
        findings.tell("AccountingStorageEnforce")
    limited = bool(enforced & {"limits", "safe", "all"})
    entries = [associations.root, *associations.entries]
    for scope, holders in (("Association", entries), ("QOS", associations.qualities)):
        for holder in holders:
            for name in holder.limits:
                if not limited and name not in ("Priority", "Preempt", "PreemptMode", "GraceTime"):
                    how = "AccountingStorageEnforce does not name limits: the site does not enforce it"
                    findings.tell(f"{scope}.{name}", _name(holder), EXACTLY, how)
                elif name not in _LOOKED_AT:
                    findings.tell(spell(f"{scope}.{name}"), _name(holder))
    if not limited:
        return []
    if why := _find_ageless(settings):
        qualities = tuple(_drop_accrual(one, why, findings) for one in associations.qualities)
        entries = [_drop_accrual(one, why, findings) for one in entries]
        associations = replace(associations, root=entries[0], entries=tuple(entries[1:]), qualities=qualities)
    nested = any(entry.user is None and entry.parent not in ("root", "") for entry in entries[1:])
    found = [*_of_groups(entries, findings), *_of_users(associations, findings)]
    limits = [Said(limit, sources[0]) for limit in found]
    for quality in associations.qualities:
        limits += [Said(limit, sources[1]) for limit in _of_quality(quality, nested, findings)]
        _tell_both(quality, queues, findings)
    return limits


def _tell_both(quality: Quality, queues: Mapping[str, Mapping[str, Any]], findings: Findings) -> None:
    """Limits that partitions have, too: in Slurm that of the partition takes the place of the quality's."""
    for per, marks in PER.items():
        for name in (name for name in quality.limits if name.startswith(marks) or name.endswith(marks)):
            caps = read_caps(quality.limits, [name], "QOS", quality.name, Findings())
            own = [queue for queue, told in queues.items() if caps.keys() & _caps_of(told, per)]
            if own:
                how = f"partition {', '.join(own)} has such a limit, too: both hold for its jobs, in Slurm one of them"
                findings.tell_instead(f"QOS.{name}", quality.name, NEARLY, how)


def _caps_of(queue: Mapping[str, Any], per: str | None) -> set[str]:
    """The limits of a queue, or those of each user or account in it."""
    if per is None:
        return set(queue)
    told = queue.get(f"per_{per}")
    return set() if told is None else set(told.value)


def _find_ageless(settings: EffectiveSettings) -> str:
    """Why no limit on the number of jobs that accrue age decides anything; empty where it does."""
    if settings.get("PriorityType") != MULTIFACTOR or not settings.number("PriorityWeightAge"):
        return "the age of jobs does not count in their priority"
    always = "ACCRUE_ALWAYS" in {word.upper() for word in settings.words("PriorityFlags")}
    return "PriorityFlags has ACCRUE_ALWAYS, with which Slurm does not look at it" if always else ""


def _drop_accrual(holder: Holder, why: str, findings: Findings) -> Holder:
    """Without its limits on the number of jobs that accrue age; that they decide nothing is told."""
    scope = "QOS" if isinstance(holder, Quality) else "Association"
    for name in [name for name in holder.limits if name in _ACCRUE]:
        findings.tell(f"{scope}.{name}", _name(holder), EXACTLY, why)
    return replace(holder, limits={name: text for name, text in holder.limits.items() if name not in _ACCRUE})


def _name(holder: Association | Quality) -> str:
    return holder.name if isinstance(holder, Quality) else holder.user or holder.account


def _of_groups(entries: list[Association], findings: Findings) -> Iterator[dict[str, Any]]:
    """What an account and all below it, or a user in an account, may have together."""
    homes: dict[str, int] = {}
    for entry in entries:
        homes[entry.user or ""] = homes.get(entry.user or "", 0) + 1
    for entry in entries:
        names = [name for name in entry.limits if name.startswith("Grp")]
        if caps := read_caps(entry.limits, names, "Association", _name(entry), findings):
            yield _whose(entry, homes) | caps | ({"optional": True} if entry.account != "root" else {})


def _whose(entry: Association, homes: Mapping[str, int]) -> dict[str, Any]:
    if entry.user is None:
        return {} if entry.account == "root" else {"account": entry.account}
    return {"user": entry.user} | ({"account": entry.account} if homes[entry.user] > 1 else {})


def _of_users(associations: Associations, findings: Findings) -> Iterator[dict[str, Any]]:
    """What each user may have: one rule for an account whose users are all alike, else one for each user."""
    members: dict[str, list[tuple[Association, dict[str, Any]]]] = {}
    for entry in associations.entries:
        if entry.user is not None:
            names = [name for name in entry.limits if name in ("MaxJobs", "MaxSubmitJobs", "MaxJobsAccrue")]
            caps = read_caps(entry.limits, names, "Association", entry.user, findings)
            members.setdefault(entry.account, []).append((entry, caps))
    above = {entry.parent for entry in associations.entries if entry.user is None}
    homes: dict[str, int] = {}
    for entry in associations.entries:
        homes[entry.user or ""] = homes.get(entry.user or "", 0) + 1
    for account, users in members.items():
        first = users[0][1]
        if first and len(users) > 1 and account not in above and all(caps == first for _, caps in users):
            yield {"account": account, "per": "user"} | first | {"optional": True}
            continue
        for entry, caps in users:
            if caps:
                yield _whose(entry, homes) | caps | {"optional": True}


def _of_quality(quality: Quality, nested: bool, findings: Findings) -> Iterator[dict[str, Any]]:
    accrual = [name for name in quality.limits if name in _ACCRUE]
    for name in accrual if len(accrual) > 1 else ():
        findings.tell(f"QOS.{name}", quality.name, NEARLY, "of several the smallest decides; in 22.05 the first, Grp")
    for per, marks in PER.items():
        names = [name for name in quality.limits if name.startswith(marks) or name.endswith(marks)]
        if per == "account" and nested:
            for name in names:
                findings.tell(f"QOS.{name}", quality.name, NOT, NESTED)
            continue
        if caps := read_caps(quality.limits, names, "QOS", quality.name, findings):
            yield {"qos": quality.name} | ({"per": per} if per else {}) | caps | {"optional": True}


def caps_of_partition(quality: Quality, findings: Findings) -> dict[str, Any]:
    """What the QOS of a partition means for its queue."""
    found: dict[str, Any] = {}
    quality = _drop_accrual(quality, "of a partition's QOS Slurm does not look at it", findings)
    for name in quality.limits:
        if name not in _LOOKED_AT:
            findings.tell(spell(f"QOS.{name}"), quality.name)
    for per, marks in PER.items():
        names = [name for name in quality.limits if name.startswith(marks) or name.endswith(marks)]
        caps = read_caps(quality.limits, names, "QOS", quality.name, findings)
        found |= caps if per is None else {f"per_{per}": caps} if caps else {}
    return found
