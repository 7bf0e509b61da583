"""What a site says of memory: what a job has that asks for none, and the most that it may ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from walltime.core.errors import InputError
from walltime.site.conf import ConfLine
from walltime.site.files import Given
from walltime.site.importing.findings import Findings
from walltime.site.importing.log import tells_memory
from walltime.site.importing.machine import Unit
from walltime.site.importing.values import ENDLESS, EffectiveSettings, read_amount, spell
from walltime.site.importing.written import Said
from walltime.site.keywords import NEARLY

PER = {"core": "CPU", "node": "Node"}
WORDS = ("defmempercpu", "defmempernode", "maxmempercpu", "maxmempernode")
SILENT = "not given: a job that asks for none has all memory of its nodes; the log tells none, so here it has none"


def is_counted(units: list[Unit]) -> bool:
    """Whether memory is given out, and there is some."""
    return any((unit.memory or 0) > 1 for unit in units)


def write_memory(
    given: Given, settings: EffectiveSettings, units: list[Unit], findings: Findings, *, needed: bool
) -> dict[str, Said]:
    """The cluster's keys; `needed`: nodes are shared, and not every partition says what jobs have that ask for none."""
    if not is_counted(units):
        return {}
    found = {}
    if (most := _find(settings.get, "Max", settings.source, settings.error)) is not None:
        found["max_memory"] = most
    usual = _find(settings.get, "Def", settings.source, settings.error)
    if not needed:
        return found
    if usual is not None:
        found["default_memory"] = usual
    elif settings.get("DefMemPerCPU") != "0" and not settings.given("DefMemPerGPU"):
        if given.log is None or tells_memory(Path(given.log)):
            found["default_memory"] = Said("all", settings.source("DefMemPerNode"))
        else:
            findings.tell("DefMemPerNode", "", NEARLY, SILENT)
    return found


def write_partition(
    words: Mapping[str, str], units: list[Unit], source: Callable[..., str], line: ConfLine
) -> dict[str, Said]:
    """The keys of a partition."""
    if not is_counted(units):
        return {}

    def error(name: str, what: str) -> InputError:
        return InputError(f"{name} {what}", value=words[name.lower()], file=line.file, line=line.number)

    found = {}
    for key, what in (("default_memory", "Def"), ("max_memory", "Max")):
        if said := _find(lambda name: words.get(name.lower(), ""), what, lambda name: source(line, name), error):
            found[key] = said
    if "default_memory" not in found and words.get("defmempercpu") == "0":
        found["default_memory"] = Said("0/core", source(line, "DefMemPerCPU"))
    return found


def tell_partition(name: str, words: Mapping[str, str], findings: Findings) -> None:
    """Its words, each on its list."""
    for word in WORDS:
        if words.get(word, "0").upper() not in ("0", *ENDLESS):
            findings.tell(spell(f"PartitionName.{word}"), name)


def _find(
    get: Callable[[str], str], what: str, source: Callable[[str], str], error: Callable[[str, str], InputError]
) -> Said | None:
    """An amount with a core or on a node, whichever is told; None where there is none, or no bound."""
    for per, word in PER.items():
        name = f"{what}MemPer{word}"
        text = get(name)
        if text.upper() in ("0", *ENDLESS):
            continue
        try:
            size = read_amount(text)
        except InputError:
            raise error(name, "is not an amount of memory") from None
        if size:
            return Said(f"{size}M/{per}", source(name))
    return None
