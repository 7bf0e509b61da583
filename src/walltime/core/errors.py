"""Every error that Walltime raises on purpose, under one root."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_LONGEST = 200  # characters of a value in a message
_LONGEST_MESSAGE = 3000  # of what is wrong, which may name a key of the file
_MOST = 60  # choices that a message lists
_MOST_COMPARED = 10_000


class WalltimeError(Exception):
    """The root: catch this to catch everything that Walltime raises on purpose."""

    exit_code = 1


class InputError(WalltimeError):
    """What the user gave cannot be used; says what, the value, where, and the choices.

    `str(error)` is the one clear message for a person; the parts stay available as attributes.
    """

    exit_code = 2

    def __init__(
        self,
        what: str,
        *,
        value: object = None,
        file: object = None,
        line: int | None = None,
        choices: Iterable[str] = (),
    ) -> None:
        self.what = what
        self.value = value
        self.file = None if file is None else str(file)
        self.line = line
        self.choices = tuple(choices)
        super().__init__(self._message())

    def _message(self) -> str:
        file = None if self.file is None else _printable(self.file)
        where = "" if file is None else f"{file}: " if self.line is None else f"{file}:{self.line}: "
        value = "" if self.value is None else f": {_shown(self.value)}"
        hint = ""
        if self.choices:
            given = self.value[:_LONGEST] if isinstance(self.value, str) else _shown(self.value)
            near = difflib.get_close_matches(given, self.choices[:_MOST_COMPARED], n=1)
            hint = f"; did you mean {_shown(near[0])}?" if near else ""
            more = f", and {len(self.choices) - _MOST} more" if len(self.choices) > _MOST else ""
            hint += f" (choices: {', '.join(_cut(str(choice)) for choice in self.choices[:_MOST])}{more})"
        return f"{where}{_cut(self.what, _LONGEST_MESSAGE)}{value}{hint}"


def _shown(value: object) -> str:
    """A value as a message shows it: the beginning of a long one."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a whole number of thousands of digits; lists in lists
        return f"a {type(value).__name__} too large to be shown"
    return _cut(text, _LONGEST)


def _cut(text: str, longest: int = 40) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _printable(text: str) -> str:
    """A name with what would not be printed, such as NUL, in the way of Python's escapes."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


class UnsupportedError(InputError):
    """The scenario asks for something that the chosen engine cannot honour; lists every such key with its reason."""

    def __init__(self, engine: str, problems: Iterable[tuple[str, str]]) -> None:
        self.engine = engine
        self.problems = tuple(problems)
        lines = "".join(f"\n  {key}: {reason}" for key, reason in self.problems)
        super().__init__(f"the {engine} engine cannot run this scenario:{lines}")


class PolicyError(WalltimeError):
    """A policy broke a rule of the pass (started a job that does not fit, never came to rest, ...)."""


class EngineError(WalltimeError):
    """An invariant of the engine was violated: a bug in Walltime or in an extension of it."""
