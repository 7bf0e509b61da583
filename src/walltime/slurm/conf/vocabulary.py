"""Words of a configuration that a release does not know or act on: named before anything is started."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from walltime.core.errors import InputError
from walltime.site.conf import Conf, ConfLine
from walltime.site.options import FOREIGN, RENAMED, ReleaseWords
from walltime.slurm.site import SettingChange

SCHEDULER = "SchedulerParameters"


class Strange(NamedTuple):
    """A word, where it stands (None: the caller's own), the list that it is part of, and what is wrong with it."""

    word: str
    line: ConfLine | None
    what: str
    among: str | None = None
    choices: tuple[str, ...] = ()


def settle_words(conf: Conf, kept: dict[str, str], drop: bool, changes: list[SettingChange]) -> None:
    """Take words out of `kept` that this release does not act on; raises InputError unless the person says `drop`."""
    places = {name: line for name, (value, line) in conf.settings.items() if kept.get(name) == value}
    strange = [Strange(key, line, "does not know this option") for key, line in conf.unknown]
    strange += settle_lists(conf.words, kept, changes, places)
    if strange and not drop:
        raise refuse(strange, conf.words, "; --drop-unknown goes on without such")
    for one in strange:
        own = "" if one.line is None else one.line.get(one.word) or ""
        key, old = (one.word, own) if one.among is None else (one.among, one.word)
        changes.append(SettingChange(key, old, None, f"Slurm {conf.words.release} {one.what}"))


def refuse(strange: list[Strange], words: ReleaseWords, advice: str = "") -> InputError:
    """The error for words that are not acted on, of which the first is told with its place."""
    first = strange[0]
    more = sorted({other.word for other in strange} - {first.word})
    also = f" (also {', '.join(more)})" if more else ""
    where = (None, None) if first.line is None else (first.line.file, first.line.number)
    what = f"Slurm {words.release} {first.what}{advice}{also}"
    return InputError(what, value=first.word, file=where[0], line=where[1], choices=first.choices)


def settle_lists(
    words: ReleaseWords,
    kept: dict[str, str],
    changes: list[SettingChange],
    places: Mapping[str, ConfLine] | None = None,
) -> list[Strange]:
    """Take words out of the settings that are lists of them; returns those that a person should not have written.

    The controller ignores what it does not know without a word; we do not.
    """
    strange: list[Strange] = []
    for name in words.parameters:
        if name in kept:
            strange += _settle_list(name, words, kept, changes, (places or {}).get(name))
    return strange


def _settle_list(
    name: str, words: ReleaseWords, kept: dict[str, str], changes: list[SettingChange], line: ConfLine | None
) -> list[Strange]:
    known = {word.rstrip("=").lower(): word.endswith("=") for word in words.parameters[name]}
    good, strange = [], []
    for part in (piece.strip() for piece in kept[name].split(",") if piece.strip()):
        word, sign, value = (piece.strip() for piece in part.partition("="))
        new = RENAMED.get(word.lower(), word) if name == SCHEDULER else word
        if new != word:
            changes.append(SettingChange(name, part, f"{new}{sign}{value}", "its name by now"))
        if new.lower() in known and not (known[new.lower()] and sign and not _is_number(value)):
            good.append(f"{new}{sign}{value}")
        elif new.lower() in known:
            strange.append(Strange(part, line, f"cannot read the number in this of {name}", name))
        elif name == SCHEDULER and word.lower() in FOREIGN:
            changes.append(SettingChange(name, part, None, "the controller does not act on it"))
        else:
            choices = tuple(one.rstrip("=") for one in words.parameters[name])
            strange.append(Strange(part, line, f"does not act on this of {name}", name, choices))
    kept[name] = ",".join(good)
    if not good:
        del kept[name]
    return strange


def _is_number(text: str) -> bool:
    return text.lstrip("-").isdigit()
