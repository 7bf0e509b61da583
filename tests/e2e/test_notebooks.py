"""The notebooks run from top to bottom, and what they show has a rich form."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples/notebooks").glob("*.ipynb"))
PLAIN = {"[]"}
"""What is shown as text: an audit that found nothing."""


def run(path: Path) -> list[Any]:
    """What the cells show, in their order: the value of a cell's last expression, as a notebook would."""
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = []
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == [], "outputs are not kept"
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"{path.name}, cell {number}", "exec"), names)
        if isinstance(last, ast.Expr):
            shown.append(eval(compile(ast.Expression(last.value), f"{path.name}, cell {number}", "eval"), names))
    return shown


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path) -> None:
    shown = [value for value in run(path) if value is not None and repr(value) not in PLAIN]
    assert len(shown) >= 5
    for value in shown:
        if hasattr(value, "_repr_png_"):
            assert value._repr_png_().startswith(b"\x89PNG")
        else:
            assert "<table" in value._repr_html_(), type(value)


def test_there_are_two() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["first_look", "own_policy"]
