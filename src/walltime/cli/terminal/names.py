"""A console on which names are names: whatever a file calls a user or a job, it neither moves the cursor nor colours.

Rich reads square brackets as markup and lets escape sequences through. Here both are text: markup is off, and a sign
that a terminal would obey is shown as the picture of itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from walltime.cli.terminal.streams import OBEYED, harmless


class Terminal(Console):
    """A console that prints text, without markup, emoji codes or control signs; styles are given apart from it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(harmless(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control is None and OBEYED.search(segment.text):
                yield Segment(harmless(segment.text), segment.style)
            else:
                yield segment
