"""The colours of every picture, on light and dark ground: safe for the common forms of colour blindness.

The categories are those of M. Okabe and K. Ito, "Color Universal Design" (2008), made lighter or darker where the
ground asks for it. Scales go through one hue, or from blue over grey to orange; none relies on red against green.
"""

from __future__ import annotations

from dataclasses import dataclass

from walltime.core.errors import InputError


@dataclass(frozen=True)
class Theme:
    """Colours as #rrggbb. `categories` are told apart, `sequence` goes from little to much, `diverging` around zero.

    `states` are the states of a job, in the order of `core.tables.STATES`."""

    name: str
    ground: str
    card: str
    ink: str
    soft: str
    grid: str
    muted: str
    categories: tuple[str, ...]
    sequence: tuple[str, ...]
    diverging: tuple[str, ...]
    states: tuple[str, ...]

    def colour(self, colour: int | str) -> str:
        """The colour of a mark: a number of the categories, or a role."""
        if isinstance(colour, int):
            told_apart = (*self.categories, *self.shades)
            return told_apart[colour % len(told_apart)]
        roles = {"used": self.categories[0], "waiting": self.categories[1], "available": self.ink, "ink": self.ink}
        return roles.get(colour, self.muted)

    @property
    def shades(self) -> tuple[str, ...]:
        """As many colours more as there are categories: each of them half way to the ink."""
        return tuple(_mix(colour, self.ink, 0.45) for colour in self.categories)

    def blend(self, share: float, diverging: bool = False) -> str:
        """A colour of the scale, for a share from 0 to 1."""
        stops = self.diverging if diverging else self.sequence
        position = min(max(share, 0.0), 1.0) * (len(stops) - 1)
        first = min(int(position), len(stops) - 2)
        return _mix(stops[first], stops[first + 1], position - first)

    def classes(self, scale: str, count: int, grey: bool = False) -> list[str]:
        """The colours of so many classes of jobs, by the name of their scale; a grey last class has two tones more."""
        if scale == "states":
            return list(self.states)
        if scale == "diverging":
            return [self.blend(i / max(count - 1, 1), diverging=True) for i in range(count)]
        if scale == "ordered":
            return [self.blend(0.12 + 0.88 * i / max(count - 1, 1)) for i in range(count)]
        colours = [self.colour(i) for i in range(count)]
        return [*colours[:-1], self.muted, *(self.fade(share) for share in (0.3, 0.55))] if grey else colours

    def hatch(self, kind: str) -> str:
        """How an outage is hatched, in matplotlib's letters; the page draws the same with pixels."""
        return {"failure": "xxxxx", "maintenance": "/////", "reservation": "....."}.get(kind, "|||||")

    def fade(self, share: float) -> str:
        """The grey of what is not told apart, so much nearer to the ground."""
        return _mix(self.muted, self.ground, share)


def _mix(first: str, second: str, share: float) -> str:
    pairs = zip(_channels(first), _channels(second), strict=True)
    return "#" + "".join(f"{round(low + (high - low) * share):02x}" for low, high in pairs)


def _channels(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))


LIGHT = Theme(
    name="light",
    ground="#ffffff",
    card="#f6f7f9",
    ink="#1c2530",
    soft="#5a6572",
    grid="#dfe3e8",
    muted="#a4acb6",
    categories=("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#3b2f6b", "#8b2f1a"),
    sequence=("#e4eef6", "#b3d1e6", "#74adcf", "#3a84b6", "#13578d", "#0a2c52"),
    diverging=("#0b4f8a", "#4a8fc2", "#a9cbe2", "#dcdcdc", "#f3c48f", "#de8a30", "#9f4e00"),
    states=("#0072b2", "#e69f00", "#d55e00", "#cc79a7", "#8a929c", "#56b4e9", "#bcc3cb"),
)
DARK = Theme(
    name="dark",
    ground="#14181d",
    card="#1c2229",
    ink="#e8ecf1",
    soft="#a0abb8",
    grid="#323a44",
    muted="#6b7682",
    categories=("#56b4e9", "#f0894a", "#2fc79c", "#e29cc4", "#f2c14e", "#7b6cf0", "#a8553a", "#dfe6ee"),
    sequence=("#1d2f41", "#1b4c72", "#2170a5", "#429bcb", "#8ac6e2", "#e6f4fb"),
    diverging=("#63bbff", "#4189bf", "#2e5878", "#50555c", "#80602f", "#c48536", "#ffb454"),
    states=("#56b4e9", "#f2c14e", "#f0894a", "#e29cc4", "#7d8894", "#9ad7ff", "#4a5561"),
)
THEMES = {theme.name: theme for theme in (LIGHT, DARK)}


def find_theme(name: str) -> Theme:
    """The theme of that name; raises InputError."""
    if name not in THEMES:
        raise InputError("unknown theme", value=name, choices=THEMES)
    return THEMES[name]
