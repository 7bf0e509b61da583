"""The text of slurm.conf, from lines that say one thing each.

Names and values come from files of strangers, and a configuration can name programs that the controller runs. So every
line is read again as Slurm would read it: a name with a blank or a line break in it would say something more.
"""

from __future__ import annotations

import re

from walltime.core.errors import InputError
from walltime.site.options import WORDS
from walltime.slurm.site import DROPPED, Site, imposed_settings

POLLING = 40 << 8
"""The protocol of the first release whose controller waits for all of its callers at once, in one of two ways."""
POLLED = "conmgr_use_poll,conmgr_threads=4"
"""Wait by poll, which the library of virtual time takes over, and with the same number of threads on every machine."""
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_PAIR = re.compile(r"\s*(\w+)=(\"[^\"]*\"|[^\s\"]+)(?=\s|$)")  # as Slurm reads it, and no quotes inside a word


def write_conf(site: Site, version: int = 0) -> str:
    """The text of slurm.conf for a protocol, with the marks that are replaced at the start; raises InputError for a
    line that is more than one."""
    imposed = imposed_settings(site)
    lines = [f"{key}={value}" for key, value in imposed.items()]
    for line in lines:
        _check_line(line, {})
    for line in site.settings:
        _check_line(line, dict.fromkeys(imposed, "a simulation has its own") | DROPPED)
    own = _add_polling(site.settings) if version >= POLLING else site.settings
    return "".join(_escape(line) + "\n" for line in (*lines, *own))


def _add_polling(lines: tuple[str, ...]) -> list[str]:
    """The lines with what a newer controller has to be told in a list that may be the site's own too."""
    key = "SlurmctldParameters="
    words = [line.removeprefix(key) for line in lines if line.startswith(key)]
    return [f"{key}{','.join([POLLED, *words])}", *(line for line in lines if not line.startswith(key))]


def _check_line(line: str, refused: dict[str, str]) -> None:
    """Raise InputError unless the line is a setting that is not refused, or a line for one node or partition."""
    pairs = _PAIR.findall(line)
    if _CONTROL.search(line) or not pairs or _PAIR.sub("", line).strip():
        raise InputError("slurm.conf cannot hold a name or a value with blanks, quotes or line breaks", value=line)
    (first, _), *others = pairs
    known = {name.lower() for words in WORDS.values() for name in words.lines.get(first.lower(), ())}
    names = {name for words in WORDS.values() for name in words.known}
    if first.lower() not in names or any(key.lower() not in known for key, _ in others):
        raise InputError("a name or a value would add another setting to slurm.conf", value=line)
    for key, reason in refused.items():
        if key.lower() == first.lower():
            raise InputError(f"the controller is not told {key} ({reason})", value=line)


def _escape(line: str) -> str:
    """The line as Slurm reads it back: # begins a remark there, and a backslash at the end joins the next line."""
    return re.sub(r"([#\\])", r"\\\1", line)
