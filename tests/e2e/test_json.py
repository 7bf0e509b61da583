"""What commands print for programs, against its page in the reference."""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from command_line import Command, crowd, swf
from typer.main import get_command

from walltime.cli.app import app

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/reference/json.md"
MAKE = "python tools/json_reference.py > docs/reference/json.md"
ELSEWHERE = {
    "solve",
    "tune",
    "whatif",
    "workload recipe",
    "workload tune",
    "sweep",
    "analyse",
    "check-plugin",
    "site import",
}
"""Need a package that is optional, minutes, or processes of their own."""


def commands(command: Any, path: str = "") -> Iterator[tuple[str, list[str]]]:
    for name, inner in command.commands.items():
        if hasattr(inner, "commands"):
            yield from commands(inner, f"{path}{name} ")
        else:
            yield f"{path}{name}", [option for parameter in inner.params for option in parameter.opts]


def test_the_page_tells_what_the_commands_print() -> None:
    tool = runpy.run_path(str(ROOT / "tools/json_reference.py"))
    assert PAGE.read_text(encoding="utf-8") == tool["page"](), MAKE
    told = tool["COMMANDS"]
    for name, options in commands(get_command(app)):
        if "--json" in options and not name.startswith(("slurm ", "store ")) and name not in ELSEWHERE:
            assert any(command.startswith(name) for command in told), name


def test_every_command_that_prints_figures_has_json() -> None:
    without = {name for name, options in commands(get_command(app)) if "--json" not in options}
    assert without == {"slurm shell", "store rm", "store export", "store backup", "store restore"}


def test_v_shows_what_is_done(command: Command, tmp_path: Path) -> None:
    (tmp_path / "trace.swf").write_text(swf(crowd()))
    quiet = command("run", "trace.swf", "--json")
    verbose = command("-v", "run", "trace.swf", "--json")
    assert quiet.err == ""
    assert "walltime.workload.formats: reading trace.swf as swf" in verbose.err
    assert "walltime.pipeline: simulated 60 jobs" in verbose.err
    assert json.loads(verbose.out)["runs"][0]["policy"] == "easy", "the answer is not mixed with it"
