"""What an experiment changes in a configuration: whole settings, or single words of those that are lists of words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from walltime.core.errors import InputError
from walltime.slurm.options import LISTS, SCHEDULER_PARAMETERS, SETTINGS
from walltime.slurm.site import Change

_KNOWN = {name.lower(): name for name in SETTINGS}
_SCHEDULER = "SchedulerParameters"


def find_setting(name: str) -> str:
    """A setting's name as Slurm spells it; raises InputError with the nearest for one that it does not know."""
    known = _KNOWN.get(name.lower())
    if known is None:
        raise InputError("Slurm 22.05 has no such setting", value=name, choices=SETTINGS)
    return known


def change_settings(settings: dict[str, str], given: Mapping[str, str]) -> list[Change]:
    """Change the settings, one after the other; returns what was lost on the way, for the person.

    `SchedulerParameters` replaces the whole list of words, and `SchedulerParameters.bf_interval` one of them: `yes`
    means the word alone, and `no` takes it out. The same holds for every other setting in `LISTS`.
    """
    lost = []
    for key, value in given.items():
        name, dot, word = key.partition(".")
        name = find_setting(name)
        before = settings.get(name)
        if dot:
            settings[name] = _set_word(name, before or "", word, value)
            continue
        settings[name] = value
        named = {_name(name, one) for one in split_words(value)}
        gone = [one for one in split_words(before or "") if _name(name, one) not in named]
        if name in LISTS and gone:
            reason = f"the whole list was replaced; {name}.WORD=VALUE sets one word of it"
            lost.append(Change(name, ",".join(gone), None, reason))
    return lost


def split_words(text: str) -> list[str]:
    """The words of a list."""
    return [word.strip() for word in text.split(",") if word.strip()]


def _set_word(name: str, text: str, word: str, value: str) -> str:
    """The list with one of its words replaced, added or taken out."""
    if name not in LISTS:
        raise InputError(f"{name} is one value and has no words", value=f"{name}.{word}", choices=list(LISTS))
    if not word.strip():
        raise InputError(f"{name}. wants the word to set", value=word)
    sign = LISTS[name]
    new = {"yes": [word], "no": []}.get(value.lower(), [f"{word}{sign}{value}"])
    words = split_words(text)
    places = [place for place, one in enumerate(words) if _name(name, one) == word.lower()]
    first = places[0] if places else len(words)
    kept = [one for place, one in enumerate(words) if place not in places]
    return ",".join([*kept[:first], *new, *kept[first:]])


def _name(setting: str, word: str) -> str:
    return word.partition(LISTS.get(setting, "="))[0].strip().lower()


def find_strange(settings: Mapping[str, str]) -> list[str]:
    """Words of SchedulerParameters that the controller does not know: it ignores them without a word."""
    known = {name.lower() for name in SCHEDULER_PARAMETERS}
    return [word for word in split_words(settings.get(_SCHEDULER, "")) if _name(_SCHEDULER, word) not in known]


def change_lines(lines: Iterable[str], given: Mapping[str, str]) -> tuple[tuple[str, ...], list[Change]]:
    """The lines of a configuration of our own with some settings changed, and what was lost; raises InputError."""
    kept = list(lines)
    before = dict(line.partition("=")[::2] for line in kept)
    after = dict(before)
    lost = change_settings(after, given)
    if strange := find_strange(after):
        what = "Slurm 22.05 does not know this of SchedulerParameters"
        raise InputError(what, value=strange[0], choices=SCHEDULER_PARAMETERS)
    changed = {name: value for name, value in after.items() if before.get(name) != value}
    rest = [line for line in kept if line.partition("=")[0] not in changed]
    return (*(f"{name}={value}" for name, value in changed.items()), *rest), lost
