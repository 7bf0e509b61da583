"""The build of the compiled modules: `setup.py` on a package of one module."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
HALF = """\
#!/bin/sh
case "$*" in *-shared*)
  for word; do [ "$last" = -o ] && printf half > "$word"; last=$word; done
  exit 137
esac
exec cc "$@"
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree like ours, in which one module is compiled."""
    text = (ROOT / "setup.py").read_text(encoding="utf-8")
    text, count = re.subn(r"COMPILED = \[.*?\n\]", 'COMPILED = ["kernel.tiny"]', text, flags=re.S)
    assert count == 1
    text = text.replace("[*translate(), vtime]", "translate()").replace('"-O1"', '"-O0"').replace('"-O3"', '"-O0"')
    (tmp_path / "setup.py").write_text(text)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "tiny"\nversion = "1"\n')
    kernel = tmp_path / "src/walltime/kernel"
    kernel.mkdir(parents=True)
    (kernel / "__init__.py").touch()
    (kernel.parent / "__init__.py").touch()
    (kernel / "tiny.py").write_text("def answer() -> int:\n    return 42\n")
    (tmp_path / "half").write_text(HALF)
    (tmp_path / "half").chmod(0o755)
    return tmp_path


def build(tree: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    env = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"} | settings
    return subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True, check=False)


def modules(tree: Path) -> list[str]:
    return sorted(path.name.partition(".")[0] for path in (tree / "src").rglob("*.so"))


def test_what_was_cut_off_is_not_taken_for_current(tree: Path) -> None:
    broken = build(tree, CC=str(tree / "half"), LDSHARED=f"{tree / 'half'} -shared")
    assert broken.returncode != 0
    assert modules(tree) == []
    first = build(tree)
    assert first.returncode == 0, first.stderr
    assert "compiling 2 modules" in first.stdout
    assert modules(tree) == ["_cyutility", "tiny"]

    assert not list(tree.rglob("*.part"))
    assert build(tree).stdout == "", "nothing is compiled twice"

    translated = next(tree.glob("build/c/**/tiny.c"))
    whole = translated.read_text()
    translated.write_text(whole[: len(whole) // 2])
    (tree / "build/c/.unfinished").touch()
    third = build(tree)
    assert third.returncode == 0, third.stderr
    assert translated.read_text() == whole


def test_the_library_for_slurm_is_found_by_every_python(tree: Path) -> None:
    """A wheel for all Pythons has it under a name that all of them look for."""
    shutil.copytree(ROOT / "src/walltime/slurm/vtime", tree / "src/walltime/slurm/vtime")
    script = tree / "setup.py"
    script.write_text(script.read_text().replace("else translate()", "else [vtime]"))
    done = build(tree, WALLTIME_ABI3="1")
    assert done.returncode == 0, done.stderr
    assert [path.name for path in (tree / "src").rglob("*.so")] == ["libvtime.abi3.so"]
