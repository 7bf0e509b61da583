"""Names on a terminal: whatever a file calls its users, they move no cursor, colour nothing, and nothing crashes."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from walltime.cli.terminal.console import emit
from walltime.cli.terminal.names import Terminal
from walltime.cli.terminal.streams import harmless

NAMES = [
    *("[/red]", "[bold red]x[/]", "[link=http://x]y", "a:fire:b", "\x1b[31mred", "\x1b]0;title\x07", "\x1b[2J\x1b[H"),
    *("a\rb", "a\x08b", "a\x7fb", "a\x9b31mb", "a\x85b", "\u202eback", "\u2066x"),
]
OBEYED = [*map(chr, range(9)), *map(chr, range(11, 32)), *map(chr, range(127, 160)), "\u202e", "\u2066", "\u2028"]


def obeyed_in(text: str) -> list[str]:
    return [sign for sign in OBEYED if sign in text]


def test_every_sign_that_a_terminal_obeys_becomes_a_picture_of_one_cell() -> None:
    for sign in OBEYED:
        shown = harmless(f"a{sign}b")
        assert len(shown) == 3
        assert shown.isprintable()
    assert harmless("a\tb\nc é🚀 [x]") == "a\tb\nc é🚀 [x]"


@pytest.mark.parametrize("name", NAMES)
def test_a_console_prints_names_as_they_are(name: str, tmp_path: Path) -> None:
    with (tmp_path / "out").open("w", encoding="utf-8", newline="") as file:
        console = Terminal(file=file, width=100)
        table = Table(title=name, box=None)
        table.add_column(name)
        table.add_row(name)
        for thing in (name, table):
            console.print(thing)
        console.print(Text(f"{name} by hand"))
    shown = (tmp_path / "out").read_bytes().decode()
    assert not obeyed_in(shown)
    assert shown.count(harmless(name)) >= 4
    assert "by hand" in shown


def on_a_terminal(command: list[str], folder: Path) -> tuple[int, str]:
    """The exit code of a command, and what it writes to a terminal."""
    mine, its = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "200"}
    process = subprocess.Popen(command, stdin=its, stdout=its, stderr=its, cwd=folder, env=environment)
    os.close(its)
    shown = b""
    while True:
        try:
            piece = os.read(mine, 65536)
        except OSError:  # the other end is closed
            break
        shown += piece
        if not piece:
            break
    os.close(mine)
    return process.wait(), shown.decode()


@pytest.mark.parametrize("command", ["workload info log.csv", "run log.csv --cores 4 --policy fcfs,easy --output out"])
def test_commands_show_hostile_names_on_a_terminal(command: str, tmp_path: Path) -> None:
    rows = "".join(f'{i + 1},{i},9,9,1,"{name}"\n' for i, name in enumerate(NAMES))
    (tmp_path / "log.csv").write_text(f"job_id,submit,run_time,requested_time,cores,user\n{rows}", newline="")
    code, shown = on_a_terminal([sys.executable, "-m", "walltime", *command.split()], tmp_path)
    assert code == 0, shown
    for name in NAMES:
        assert not obeyed_in(name) or name not in shown
    if command.startswith("workload"):
        assert "[/red]" in shown
        assert "␛[31mred" in shown


@pytest.mark.parametrize("more", [(), ("--policy", "\x1b[2J")])
def test_a_hostile_name_in_an_error_is_harmless(more: tuple[str, ...], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "walltime", "run", "\x1b[32m[/red]\x9b.swf", *more]
    code, shown = on_a_terminal(command, tmp_path)
    assert code == 2
    assert "[/red]" in shown or more
    assert not any(sign in shown for sign in ("\x1b[32m", "\x1b[2J", "\x9b"))


def test_json_escapes_what_a_terminal_obeys(capsys: pytest.CaptureFixture[str]) -> None:
    emit({"user": "".join(OBEYED) + "é"})
    shown = capsys.readouterr().out
    assert not obeyed_in(shown)
    assert json.loads(shown) == {"user": "".join(OBEYED) + "é"}
