"""What an experiment changes in a configuration: whole settings, or single words of those that are lists of words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from walltime.core.errors import InputError
from walltime.site.options import LISTS, WORDS, ReleaseWords
from walltime.slurm.conf.vocabulary import refuse, settle_lists
from walltime.slurm.site import SettingChange


def find_setting(name: str, words: ReleaseWords) -> str:
    """A setting's name as Slurm spells it; raises InputError with the nearest for one that it does not know."""
    known = words.known.get(name.lower())
    if known is None:
        raise InputError(f"Slurm {words.release} has no such setting", value=name, choices=words.settings)
    return known


def change_settings(
    settings: dict[str, str], given: Mapping[str, str], words: ReleaseWords = WORDS["22.05"]
) -> list[SettingChange]:
    """Change the settings, one after the other; returns what was lost on the way, for the person.

    `SchedulerParameters` replaces the whole list of words, and `SchedulerParameters.bf_interval` one of them: `yes`
    means the word alone, and `no` takes it out. The same holds for every other setting in `LISTS`.
    """
    lost = []
    for key, value in given.items():
        name, dot, word = key.partition(".")
        name = find_setting(name, words)
        before = settings.get(name)
        if dot:
            settings[name] = _set_word(name, before or "", word, value)
            continue
        settings[name] = value
        named = {_name(name, one) for one in split_words(value)}
        gone = [one for one in split_words(before or "") if _name(name, one) not in named]
        if name in LISTS and gone:
            reason = f"the whole list was replaced; {name}.WORD=VALUE sets one word of it"
            lost.append(SettingChange(name, ",".join(gone), None, reason))
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
    places = [index for index, one in enumerate(words) if _name(name, one) == word.lower()]
    first = places[0] if places else len(words)
    kept = [one for index, one in enumerate(words) if index not in places]
    return ",".join([*kept[:first], *new, *kept[first:]])


def _name(setting: str, word: str) -> str:
    return word.partition(LISTS.get(setting, "="))[0].strip().lower()


def change_lines(
    lines: Iterable[str], given: Mapping[str, str], words: ReleaseWords = WORDS["22.05"]
) -> tuple[tuple[str, ...], list[SettingChange]]:
    """The lines of a configuration of our own with some settings changed, and what was lost; raises InputError."""
    kept = list(lines)
    before = dict(line.partition("=")[::2] for line in kept)
    after = dict(before)
    lost = change_settings(after, given, words)
    if strange := settle_lists(words, after, lost):
        raise refuse(strange, words)
    changed = {name: value for name, value in after.items() if before.get(name) != value}
    rest = [line for line in kept if line.partition("=")[0] not in changed]
    return (*(f"{name}={value}" for name, value in changed.items()), *rest), lost
