"""What became of each keyword of a site: honoured exactly, nearly, or not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from walltime.site import keywords
from walltime.site.keywords import EXACTLY, NEARLY, NOT, NOTHING, Effect

SCOPES = {
    "NodeName": keywords.NODE,
    "PartitionName": keywords.PARTITION,
    "Association": keywords.ASSOCIATION,
    "QOS": keywords.QOS,
    **keywords.LISTS,
}
TITLES = {EXACTLY: "Honoured exactly", NEARLY: "Honoured nearly", NOT: "Not honoured"}
SHOWN = 4


def find_effect(keyword: str) -> Effect:
    """The usual answer for `SchedulerType`, `PartitionName.MaxTime`, `QOS.MaxWall`; not, for one that is unknown."""
    scope, dot, word = keyword.partition(".")
    table = SCOPES.get(scope, {}) if dot else keywords.SETTINGS
    known = {name.lower(): effect for name, effect in table.items()}
    return known.get((word if dot else keyword).lower(), Effect(NOT, "this keyword is not known here"))


@dataclass
class Findings:
    """The lists, in the order in which things were found; each row once, with the names of all that it is true of."""

    rows: dict[tuple[str, str, str], dict[str, None]] = field(default_factory=dict)

    def tell(self, keyword: str, of: str = "", verdict: str | None = None, how: str = "") -> None:
        """Put a keyword on its list: the usual one, or another where its value makes it so."""
        usual = find_effect(keyword)
        chosen = usual if verdict is None else Effect(verdict, how)
        if chosen.verdict != NOTHING:
            self.rows.setdefault((chosen.verdict, keyword, chosen.how), {})[of] = None

    def tell_instead(self, keyword: str, of: str, verdict: str, how: str) -> None:
        """Take a keyword of something off the list of what is honoured exactly, and put it on another."""
        exactly = (EXACTLY, keyword, "")
        if of in self.rows.get(exactly, {}):
            del self.rows[exactly][of]
            if not self.rows[exactly]:
                del self.rows[exactly]
        self.tell(keyword, of, verdict, how)

    @property
    def told(self) -> set[str]:
        """The keywords that are on a list, in small letters."""
        return {keyword.lower() for _, keyword, _ in self.rows}

    def lines(self, verdict: str) -> list[str]:
        """A list for a person."""
        return [
            _spell(keyword, how, [one for one in names if one])
            for (kind, keyword, how), names in self.rows.items()
            if kind == verdict
        ]

    def as_data(self) -> dict[str, list[dict[str, Any]]]:
        """The lists for a program."""
        return {
            verdict: [
                {"keyword": keyword, "of": [one for one in names if one], "how": how}
                for (kind, keyword, how), names in self.rows.items()
                if kind == verdict
            ]
            for verdict in TITLES
        }


def _spell(keyword: str, how: str, names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    whose = f" ({', '.join(names[:SHOWN])}{more})" if names else ""
    return f"{keyword}{whose}" + (f": {how}" if how else "")
