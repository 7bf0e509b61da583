"""Keys that a person presses while a run is watched."""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Keys:
    """The keyboard, one key at a time; `live` where there is one."""

    def __init__(self, descriptor: int | None) -> None:
        self.live = descriptor is not None
        self._descriptor = descriptor

    def wait(self, seconds: float) -> str:
        """The next key, after so many seconds at most; nothing if none was pressed until then."""
        if self._descriptor is None:
            time.sleep(max(0.0, seconds))
            return ""
        ready, _, _ = select.select([self._descriptor], [], [], max(0.0, seconds))
        read = os.read(self._descriptor, 1) if ready else b""
        if ready and not read:  # the terminal is gone
            self.live, self._descriptor = False, None
        return read.decode("ascii", "ignore")


@contextmanager
def listen() -> Iterator[Keys]:
    """Keys as they are pressed, without Enter and unseen; the terminal is as before when this is over. Ctrl-C stays."""
    descriptor = _find_terminal()
    if descriptor is None:
        yield Keys(None)
        return
    import termios
    import tty

    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        yield Keys(descriptor)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _find_terminal() -> int | None:
    """The terminal whose keys are ours; none where input comes from elsewhere, and in the background."""
    try:
        import termios  # noqa: F401 - not everywhere

        descriptor = sys.stdin.fileno()
        return descriptor if os.isatty(descriptor) and os.tcgetpgrp(descriptor) == os.getpgrp() else None
    except (ImportError, AttributeError, OSError, ValueError):
        return None
