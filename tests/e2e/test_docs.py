"""What the documents show is true: their code runs, their output is what is printed, their links lead somewhere.

A block of a document is run if its first line says so:

- ```` ```sh run ```` or ```` ```sh fails=2 ````: by `sh`, which has to succeed, or to end with that exit code;
- ```` ```python run ````: by Python;
- ```` ```python file=mine.py ```` (any language): written to that file;
- ```` ```text prints ````: these lines are, in this order, among those that the block before printed;
- ```` ```text prints: walltime demo ````: the same for a command that is run for it.

The blocks of a document share one empty folder, in their order. Figures of speed are not compared.
"""

from __future__ import annotations

import doctest
import importlib
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from command_line import SOURCE, environment
from warm import Warm

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    path for place in ("*.md", "docs/**/*.md", "examples/**/*.md") for path in ROOT.glob(place) if path.is_file()
)
FENCE = re.compile(r"^(?P<fence>```+)(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=fence)[ \t]*$", re.M | re.S)
LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\((?P<target>[^)\s]+)\)")


@dataclass
class Block:
    """A piece of code in a document."""

    line: int
    info: str
    text: str


def blocks(document: Path) -> Iterator[Block]:
    """The fenced blocks, in order."""
    text = document.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        yield Block(text.count("\n", 0, match.start()) + 1, match["info"].strip(), match["text"])


def is_checked(block: Block) -> bool:
    """Whether the block asks to be run, written or compared."""
    return bool(re.search(r"^\w+ (run$|fails=|file=|prints)", block.info))


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


# ---- code


def skip_without_slurm(document: Path) -> None:
    from walltime.core.errors import InputError
    from walltime.slurm.packages import find_installation
    from walltime.slurm.protocol.releases import DIALECTS

    try:
        for release in DIALECTS if "compare-releases" in _text_to_run(document) else [None]:
            find_installation(release)
    except InputError as error:
        pytest.skip(str(error))


class Reader:
    """Somebody who types what a document says, in an empty folder."""

    def __init__(self, folder: Path, warm: Warm) -> None:
        self.python = warm.words()
        self.folder = folder / "work"
        self.folder.mkdir()
        commands = folder / "bin"
        commands.mkdir()
        for command, arguments in (("walltime", " -m walltime"), ("python", "")):
            script = commands / command
            script.write_text(f'#!/bin/sh\nexec {shlex.join(self.python)}{arguments} "$@"\n')
            script.chmod(0o755)
        path = os.pathsep.join([str(commands), str(Path(sys.executable).parent), os.environ["PATH"]])
        self.environment = environment() | {"PATH": path, "EXAMPLES": str(ROOT / "examples")}
        self.environment["CFLAGS"] = "-O0"  # what is compiled here runs for a moment
        self.printed = ""

    def follow(self, block: Block) -> None:
        """Do what the block asks for; AssertionError where it does not turn out as shown."""
        kind, _, wish = block.info.partition(" ")
        if wish.startswith("file="):
            (self.folder / wish.removeprefix("file=")).write_text(block.text)
        elif wish.startswith("prints"):
            if command := wish.partition(":")[2].strip():
                self.run(["sh", "-ec", command], 0)
            self.compare(block.text)
        else:
            code = int(wish.removeprefix("fails=")) if wish.startswith("fails=") else 0
            self.run([*self.python, "-c", block.text] if kind == "python" else ["sh", "-ec", block.text], code)

    def run(self, command: list[str], code: int) -> None:
        done = subprocess.run(command, cwd=self.folder, env=self.environment, text=True, capture_output=True)
        assert done.returncode == code, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        self.printed = done.stdout + done.stderr

    def compare(self, text: str) -> None:
        left = iter(map(plain, self.printed.splitlines()))
        for line in filter(None, map(plain, text.splitlines())):
            assert line in left, f"not printed (any more, or at this place): {line}\nprinted:\n{self.printed}"


def plain(line: str) -> str:
    """A line of output without what differs from run to run: white space, and figures of speed."""
    return " ".join(re.sub(r"simulated in .*", "simulated in", line).split())


def needs_slurm(document: Path) -> bool:
    return "walltime slurm" in _text_to_run(document)


def _text_to_run(document: Path) -> str:
    return "".join(block.text for block in blocks(document) if block.info == "sh run")


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(path, marks=[pytest.mark.service] if needs_slurm(path) else [], id=name(path))
        for path in DOCUMENTS
        if any(map(is_checked, blocks(path)))
    ],
)
def test_code_in_a_document_does_what_it_shows(document: Path, tmp_path: Path, warm: Warm) -> None:
    if needs_slurm(document):
        skip_without_slurm(document)
    reader = Reader(tmp_path, warm)
    for block in blocks(document):
        if is_checked(block):
            try:
                reader.follow(block)
            except AssertionError as error:
                pytest.fail(f"{name(document)}:{block.line}: {error}", pytrace=False)


def test_what_a_stranger_tries_first_is_checked() -> None:
    for document in ("README.md", "CONTRIBUTING.md", "docs/tutorial/first-steps.md", "docs/guides/write-a-policy.md"):
        assert sum(map(is_checked, blocks(ROOT / document))) >= 3, document


def test_a_misspelt_wish_is_not_taken_for_a_plain_block() -> None:
    for document in DOCUMENTS:
        for block in blocks(document):
            assert " " not in block.info or is_checked(block), f"{name(document)}:{block.line}: {block.info}"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("```sh run\nfalse\n```\n", "exit code 1"),
        ("```sh run\necho one two\n```\n```text prints\none  two\n```\n", None),
        ("```sh run\necho two; echo one\n```\n```text prints\none\ntwo\n```\n", "not printed"),
        ("```sh fails=3\nexit 3\n```\n", None),
        ("```python file=a.py\nx = 4\n```\n```python run\nimport a\nprint(a.x)\n```\n```text prints\n4\n```\n", None),
        ("```text prints: walltime policies\nno such policy\n```\n", "not printed"),
    ],
)
def test_the_reader_sees_what_is_wrong(tmp_path: Path, warm: Warm, text: str, problem: str | None) -> None:
    document = tmp_path / "page.md"
    document.write_text(text)
    reader = Reader(tmp_path, warm)
    steps = list(blocks(document))
    assert all(map(is_checked, steps))
    if problem is None:
        for block in steps:
            reader.follow(block)
    else:
        for block in steps[:-1]:
            reader.follow(block)
        with pytest.raises(AssertionError, match=problem):
            reader.follow(steps[-1])


# ---- doctests

EXAMPLES = [path for path in sorted(Path(SOURCE, "walltime").rglob("*.py")) if ">>> " in path.read_text()]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_examples_in_the_code_are_true(path: Path) -> None:
    module = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    results = doctest.testmod(importlib.import_module(module))
    assert results.attempted > 0
    assert results.failed == 0


# ---- links


def anchors(document: Path) -> set[str]:
    """The headings of a document as links name them."""
    text = FENCE.sub("", document.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ +(.+?) *$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_links_lead_somewhere(document: Path) -> None:
    text = FENCE.sub("", document.read_text(encoding="utf-8"))
    for match in LINK.finditer(text):
        target, _, anchor = match["target"].partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        place = (document.parent / target).resolve() if target else document
        assert place.exists(), f"{name(document)}: {match['target']}"
        assert ROOT in (place, *place.parents), f"{name(document)} leads out of the project: {match['target']}"
        if anchor:
            assert anchor in anchors(place), f"{name(document)}: {match['target']}"


def test_every_page_of_the_documentation_can_be_found() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / match["target"]).resolve() for match in LINK.finditer(index.read_text(encoding="utf-8"))}
    pages = {path for path in DOCUMENTS if path.is_relative_to(ROOT / "docs") and path != index}
    assert pages <= linked, sorted(map(name, pages - linked))
