"""What a running controller tells of itself, in place of files: `scontrol show config`, `node`, `partition` ...

The same data as the files': settings and lines of a configuration, associations, qualities of service.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from walltime.core.errors import InputError
from walltime.core.reading import reader
from walltime.site.associations import ASSOCIATION_LIMITS, QOS_LIMITS, Association, Associations, Quality, read_text
from walltime.site.conf import Conf, ConfLine
from walltime.site.options import WORDS

NONE = ("(null)", "n/a", "", "none")
_NAMES = {"cputot": "CPUs", "availablefeatures": "Features", "qos": "QOS"}
"""Words that are called otherwise in the file."""
_DERIVED = {"cpuefctv", "cpualloc", "cpuload", "activefeatures", "partitions", "totalcpus", "totalnodes", "jobdefaults"}
_OPEN = {"allowgroups": "ALL", "allowaccounts": "ALL", "allowqos": "ALL", "allocnodes": "ALL"}
_LIMITS = {
    **{"MaxWallPJ": "MaxWallDurationPerJob", "MaxTRESPJ": "MaxTRESPerJob", "MaxTRESPN": "MaxTRESPerNode"},
    **{"MaxTRESMinsPJ": "MaxTRESMinsPerJob", "MinPrioThresh": "MinPrioThreshold"},
}
_QOS = {
    **{"MaxWallPJ": "MaxWall", "MaxTRESPJ": "MaxTRES", "MaxTRESPN": "MaxTRESPerNode", "MaxTRESMinsPJ": "MaxTRESMins"},
    **{"MinTRESPJ": "MinTRES", "MinPrioThresh": "MinPrioThres", "GrpSubmitJobs": "GrpSubmit"},
    **{"MaxSubmitJobsPU": "MaxSubmitPU", "MaxSubmitJobsPA": "MaxSubmitPA"},
}


def add_config(conf: Conf, path: str | Path) -> None:
    """The settings of `scontrol show config`; those that are not set are left out, and what no release has in a file.

    Those of a later release alone are unknown ones, as they would be in the file.
    """
    later = {name for words in WORDS.values() if words.release > conf.words.release for name in words.known}
    for number, raw in enumerate(read_text(path).splitlines(), 1):
        match = re.match(r"([A-Za-z]\w*)(?:\[\d+\])?\s*= (.*?)\s*$", raw)
        name = conf.words.known.get(match[1].lower()) if match else None
        if match and match[1].lower() in later and name is None and match[2].lower() not in NONE:
            conf.unknown.append((match[1], ConfLine(((match[1], match[2]),), str(path), number)))
        if match and name is not None and match[2].lower() not in NONE:
            value = re.sub(r" (sec|min|usec|percent|nodes/min)$", "", match[2])
            conf.settings[name] = (value, ConfLine(((name, value),), str(path), number))


def add_things(conf: Conf, path: str | Path) -> None:
    """The nodes or partitions that `scontrol show` lists, as lines of a configuration."""
    for number, words in read_blocks(path):
        (kind, name), *others = words.items()
        known = {word.lower(): word for word in conf.words.lines.get(kind.lower(), ())}
        pairs = [(kind, name)]
        for key, value in others:
            spelled = known.get(_NAMES.get(key.lower(), key).lower())
            if spelled is None or key.lower() in _DERIVED or value.lower() in NONE:
                continue
            if _OPEN.get(key.lower()) != value.upper():
                pairs.append((spelled, value))
        conf.lines.append(ConfLine(tuple(pairs), str(path), number))


def read_blocks(path: str | Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Things that `scontrol show` describes, each in a line or in several that are indented, with their first lines."""
    words: dict[str, str] = {}
    begin = 0
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if line.strip() and not line[0].isspace():
            if words:
                yield begin, words
            words, begin = {}, number
        for match in re.finditer(r"([A-Za-z][\w/]*)=(\S*)", line):
            words.setdefault(match[1], match[2])
    if words:
        yield begin, words


@reader
def read_assoc_mgr(path: str | Path) -> Associations:
    """Accounts, users and qualities of service of `scontrol show assoc_mgr`; raises InputError for another text.

    It does not tell which qualities a user may have, nor which may preempt which.
    """
    entries: list[Association] = []
    qualities: dict[str, dict[str, str]] = {}
    root = Association("root", parent="")
    for _, words in read_blocks(path):
        if "Account" in words and "ParentAccount" in words:
            entry = _make_association(words)
            if entry.account == "root" and entry.user is None:
                root = entry
            elif entry.user != "root":
                entries.append(entry)
        elif "QOS" in words:
            qualities[_bare(words["QOS"])] = _read_quality(words)
    if not entries and not qualities:
        raise InputError("no association and no QOS is in it (`scontrol show assoc_mgr`)", file=path)
    accounts = [entry for entry in entries if entry.user is None]
    users = [entry for entry in entries if entry.user is not None]
    found: dict[str, dict[str, str]] = {"normal": {}} | qualities
    return Associations((*accounts, *users), tuple(Quality(name, limits) for name, limits in found.items()), root)


def _make_association(words: dict[str, str]) -> Association:
    user = _bare(words.get("UserName", ""))
    share = words.get("SharesRaw/Norm/Level/Factor", "1").partition("/")[0]
    limits = {_LIMITS.get(key, key): value for key, value in _read_limits(words).items()}
    return Association(
        words["Account"],
        user or None,
        words["Account"] if user else _bare(words["ParentAccount"]) or "root",
        None if share in ("2147483647", "parent") else int(float(share)),
        {
            name: limits[name]
            for name in ASSOCIATION_LIMITS
            if limits.get(name) not in (None, "0" * (name == "Priority"))
        },
        partition=words.get("Partition") or None,
        is_default=words.get("DefAssoc", "").lower() == "yes",
    )


def _read_quality(words: dict[str, str]) -> dict[str, str]:
    limits = {_QOS.get(key, key): value for key, value in _read_limits(words).items()}
    mode = {"OFF": "cluster"}.get(words.get("PreemptMode", "OFF"), words.get("PreemptMode", ""))
    found = {name: limits[name] for name in QOS_LIMITS if limits.get(name)}
    return found | {"Priority": words.get("Priority", "0"), "PreemptMode": mode.lower()}


def _read_limits(words: dict[str, str]) -> dict[str, str]:
    """Limits without what is used of them: `cpu=256(206),mem=N(4)` is `cpu=256`."""
    found = {}
    for key, value in words.items():
        bare = re.sub(r"\([\d.]*\)", "", value)
        if "TRES" in key:
            bare = ",".join(part for part in bare.split(",") if not part.endswith("=N") and "=" in part)
        if bare not in ("", "N"):
            found[key] = bare
    return found


def _bare(text: str) -> str:
    """A name without its number: `ann(20002)`."""
    return re.sub(r"\(\d+\)$", "", text)
