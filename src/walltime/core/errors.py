"""Every error that Walltime raises on purpose, under one root."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


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
        place = "" if self.file is None else f"{self.file}: " if self.line is None else f"{self.file}:{self.line}: "
        value = "" if self.value is None else f": {self.value!r}"
        hint = ""
        if self.choices:
            near = difflib.get_close_matches(str(self.value), self.choices, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            hint += f" (choices: {', '.join(self.choices)})"
        return f"{place}{self.what}{value}{hint}"


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
