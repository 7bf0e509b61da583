"""The boundary between files and data: the file's faults are told with file and line, our own come through."""

from __future__ import annotations

import ast
import gzip
import os
from pathlib import Path

import pytest

import walltime
from walltime.core.errors import InputError
from walltime.core.reading import Reading, boundary, reader, reading

SOURCE = Path(walltime.__file__).parent


def panic() -> BaseException:
    """What a library written in Rust raises, as it derives from BaseException."""
    return type("PanicException", (BaseException,), {})("assertion failed")


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        (ValueError("bad digit"), "bad digit"),
        (OverflowError("int too large"), "out of range"),
        (ZeroDivisionError("division by zero"), "division"),
        (RecursionError("maximum depth"), "nested too deeply"),
        (MemoryError(), "memory"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), "UTF-8"),
        (EOFError("ended"), "damaged gzip"),
        (PermissionError(13, "Permission denied"), "Permission denied"),
        (panic(), "assertion failed"),
    ],
)
def test_what_a_file_causes_names_the_file_and_the_line(cause, words):
    place = Reading("log.txt")
    place.line = 7
    with pytest.raises(InputError, match=words) as caught, boundary("log.txt", place):
        raise cause
    assert (caught.value.file, caught.value.line) == ("log.txt", 7)
    assert caught.value.__cause__ is cause


@pytest.mark.parametrize(
    "fault",
    [TypeError(), AttributeError(), KeyError("x"), IndexError(), NameError(), AssertionError(), KeyboardInterrupt()],
    ids=lambda fault: type(fault).__name__,
)
def test_our_own_faults_come_through(fault):
    with pytest.raises(type(fault)) as caught, boundary("log.txt"):
        raise fault
    assert caught.value is fault


def test_an_error_without_a_file_gets_file_and_line_and_one_with_a_file_keeps_it():
    place = Reading("log.txt")
    place.line = 3
    with pytest.raises(InputError) as caught, boundary("log.txt", place):
        raise InputError("wrong", value=5, choices=("6",))
    assert str(caught.value) == "log.txt:3: wrong: 5 (choices: 6)"
    with pytest.raises(InputError) as caught, boundary("log.txt", place):
        raise InputError("wrong", file="other.txt", line=9)
    assert str(caught.value) == "other.txt:9: wrong"


def test_a_reader_is_told_by_its_first_argument(tmp_path):
    @reader
    def parse(path: Path, base: int) -> int:
        with reading(path) as file:
            return int(file.text(), base)

    (tmp_path / "n").write_text("ff")
    assert parse(tmp_path / "n", 16) == 255
    with pytest.raises(InputError, match="invalid literal") as caught:
        parse(tmp_path / "n", 10)
    assert caught.value.file == str(tmp_path / "n")


def test_the_line_of_a_byte_that_is_no_text(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"one\ntwo\n\xff\n")
    with (
        pytest.raises(InputError, match=r"a\.txt:3: cannot be read: not text in UTF-8"),
        reading(tmp_path / "a.txt") as file,
    ):
        list(file.lines())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": 1,\n "b": }', ":2: not valid JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"n": ' + "9" * 5000 + "}", "too many digits"),
        ('{"\\ud800": 1}', "half a character"),
        ('[["\\udfff"]]', "half a character"),
    ],
)
def test_json_that_nothing_can_hold(tmp_path, text, words):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InputError, match=words), reading(tmp_path / "a.json") as file:
        file.json()


def test_a_pair_of_surrogates_is_one_character(tmp_path):
    (tmp_path / "a.json").write_text('["\\ud83d\\ude00"]')
    with reading(tmp_path / "a.json") as file:
        assert file.json() == ["\U0001f600"]


def test_only_regular_files_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, words in ((tmp_path / "pipe", "a pipe"), ("/dev/zero", "a device"), (tmp_path, "a folder")):
        with pytest.raises(InputError, match=words), reading(path):
            pass


@pytest.mark.parametrize(
    ("path", "words"),
    [("a\0b", "NUL"), ("x" * 300, "File name too long"), ("\udcff.swf", "UTF-8"), ("nowhere", "no such file")],
)
def test_paths_that_no_file_has(path, words):
    with pytest.raises(InputError, match=words) as caught, reading(path):
        pass
    assert str(caught.value).isprintable()


def test_a_message_shows_the_beginning_of_what_is_long():
    assert len(str(InputError("wrong", value="x" * 10_000))) < 300
    assert "too large to be shown" in str(InputError("wrong", value=10**5000))
    assert len(str(InputError("wrong", value=1, choices=[f"name{i}" for i in range(5000)]))) < 1000


OPENING = {"open", "read_text", "read_bytes", "read_csv", "read_parquet", "scan_csv", "scan_parquet", "read_json"}
OWN = {  # what is ours to read: the boundary itself, the system's and the controller's files, our page, a store's files
    *("core/reading.py", "slurm/controller.py", "slurm/paused.py", "slurm/warden.py", "slurm/controller_log.py"),
    *("analysis/report/shell.py", "cli/main.py", "experiments/execution.py", "experiments/identity.py"),
    *("experiments/leases.py", "experiments/pool.py", "experiments/results.py", "experiments/worker.py"),
    "experiments/grouping.py",
}


def test_every_file_is_opened_at_the_boundary():
    strays = []
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if name in OWN:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            if _opens(node):
                strays.append(f"{name}:{node.lineno}")
    assert strays == []


def _opens(call: ast.Call) -> bool:
    """Whether a call reads a file: `open(...)`, `path.open("r")`, `path.read_text()`, `pl.read_csv(...)`."""
    mode = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
    if isinstance(call.func, ast.Name):
        return call.func.id == "open" and not any("w" in str(word) for word in mode)
    word = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return word in OPENING and (word != "open" or any("r" in str(one) for one in mode))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("submit,run_time,cores\n0,5,2\n0,5\n", 3, "a line has not as many fields as there are columns: 3"),
        ('submit,run_time,name,cores\n0,5,"a\nb",2\n0,5,c\n', 4, "a line has not as many fields"),
        ("submit,run_time,cores,cores\n0,5,2,3\n", 1, "a column stands twice in the header"),
    ],
)
def test_a_table_is_not_filled_up(tmp_path, text, line, words, packed):
    """A field that a line has not got was the column's default: a job of one core."""
    target = tmp_path / "jobs.csv"
    target.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    with pytest.raises(InputError, match=words) as caught:
        walltime.read_workload(target)
    assert caught.value.line == line


def test_a_table_may_have_empty_fields(tmp_path):
    target = tmp_path / "jobs.csv"
    target.write_text("submit,run_time,cores\n0,5,2\n0,5,\n")
    assert walltime.read_workload(target).column("cores").tolist() == [2, 1]
