"""Full disks, closed descriptors, readers that have gone, few letters: the right exit code, and nothing left over."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_line import Command, Outcome, crowd, environment, names, swf
from warm import Warm

FULL = "No space left on device"
SHORT = 300


STREAMS = ("&-", "| ", "/dev/full")

Shell = Callable[..., Outcome]


@pytest.fixture
def shell(warm: Warm) -> Shell:
    """Runs a line for the shell, in which `walltime` is the command that is tested: a new interpreter, where one of the
    standard streams is not as usual."""

    def run(folder: Path, line: str, **variables: str) -> Outcome:
        python = [sys.executable] if any(sign in line for sign in STREAMS) else warm.words()
        walltime = f'walltime() {{ {shlex.join(python)} -m walltime "$@"; }}; set -o pipefail; '
        done = subprocess.run(
            ["bash", "-c", walltime + line], cwd=folder, env=environment() | variables, capture_output=True, text=True
        )
        assert "Traceback" not in done.stderr
        assert "fault of Walltime" not in done.stderr
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    (tmp_path / "log.swf").write_text(swf(crowd(30)))
    return tmp_path


@pytest.mark.parametrize(
    ("line", "reader"),
    [("walltime policies", "head -1"), ("walltime policies --json", "true"), ("walltime -h", "true")],
)
def test_a_reader_that_has_gone_is_no_error(shell: Shell, tmp_path: Path, line: str, reader: str) -> None:
    told = shell(tmp_path, f"{line} | {reader}")
    assert (told.code, told.err) == (0, "")


@pytest.mark.parametrize(
    "line",
    ["walltime policies", "walltime policies --json", "walltime workload info log.swf", "walltime --version"],
)
@pytest.mark.parametrize(("target", "reason"), [(">/dev/full", FULL), (">&-", "Bad file descriptor")])
def test_an_answer_that_cannot_be_printed_is_told(
    shell: Shell, trace: Path, line: str, target: str, reason: str
) -> None:
    told = shell(trace, f"{line} {target}")
    assert (told.code, told.out) == (2, "")
    assert told.err == f"Error: standard output cannot be written: {reason}\n"


@pytest.mark.parametrize("target", ["2>&-", "2>/dev/full", "2>&- >&- <&-"])
def test_an_error_that_cannot_be_printed_keeps_its_exit_code(shell: Shell, trace: Path, target: str) -> None:
    assert shell(trace, f"walltime run nowhere.swf {target}").code == 2
    assert shell(trace, f"walltime run log.swf {target} --output out").code == (2 if ">&- <" in target else 0)
    assert shell(trace, f"walltime audit out {target} >/dev/null").code == 0


def test_results_are_whole_where_nothing_can_be_printed(shell: Shell, trace: Path) -> None:
    for number, target in enumerate((">/dev/full", ">&- 2>&- <&-", "| true")):
        shell(trace, f"walltime run log.swf --output out{number} {target}")
        assert shell(trace, f"walltime audit out{number}").code == 0
    assert names(trace) == {"log.swf", "out0", "out1", "out2"}


def test_an_illegal_schedule_is_told_by_the_exit_code_to_a_closed_pipe(shell: Shell, trace: Path) -> None:
    import polars as pl

    from walltime.core import folder

    shell(trace, "walltime run log.swf --output out")
    contents = folder.read(trace / "out")
    contents.allocations = contents.allocations.with_columns(start=pl.lit(0.0))
    contents.summary["digest"] = folder.digest(contents.jobs, contents.allocations)
    folder.write(trace / "out", contents, force=True)
    for target in ("", "| true", ">/dev/full", ">&-"):
        assert shell(trace, f"walltime audit out {target}").code == 3


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 40 kB, where one may be mounted."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = (
        os.geteuid() == 0
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", disk], capture_output=True, check=False
        ).returncode
    )
    if not mounted:
        pytest.skip("a small file system can be mounted by root alone")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


@pytest.mark.parametrize(
    "line",
    [
        "walltime run log.swf --output disk/out",
        "walltime run log.swf --output disk/out --format csv",
        "walltime run log.swf --output disk/deep/er/out",
        "walltime run log.swf --policy fcfs,easy,sjf --output disk/many",
        "walltime demo --jobs 300 --output disk/demo",
        "walltime workload convert log.swf disk/log.csv",
        "walltime workload convert log.swf disk/log.parquet",
        "walltime workload convert log.swf disk/log.swf",
        "walltime workload convert log.swf disk/log.swf.gz",
        "walltime workload generate lublin --cores 64 --days 1 --output disk/new.swf",
    ],
)
def test_a_full_disk_leaves_nothing(shell: Shell, trace: Path, small_disk: Path, line: str) -> None:
    (small_disk / "ballast").write_bytes(bytes(40 << 10))
    told = shell(trace, line)
    assert told.code == 2, told
    assert FULL in told.err
    assert names(small_disk) == {"ballast"}


def test_a_disk_that_fills_up_between_two_results_leaves_neither(shell: Shell, trace: Path, small_disk: Path) -> None:
    (trace / "log.swf").write_text(swf(crowd(SHORT)))
    told = shell(trace, "walltime run log.swf --policy fcfs,easy,sjf,conservative --output disk/many --format csv")
    assert told.code == 2, told
    assert FULL in told.err
    assert names(small_disk) == set()


def test_a_picture_and_a_report_on_a_full_disk(shell: Shell, trace: Path, small_disk: Path) -> None:
    shell(trace, "walltime run log.swf --output out")
    (small_disk / "ballast").write_bytes(bytes(40 << 10))
    for line in ("walltime plot utilization out --output disk/a.png", "walltime report out --output disk/a.html"):
        told = shell(trace, line)
        assert (told.code, FULL in told.err) == (2, True), told
    assert names(small_disk) == {"ballast"}


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_letters_that_the_terminal_lacks(shell: Shell, trace: Path, encoding: str) -> None:
    (trace / "s.yaml").write_text(
        "workload: {trace: log.swf}\ncluster: {name: Größe→🙂, cores: 16, scheduler: {order: sjf}}\n", encoding="utf-8"
    )
    for line in ("run s.yaml", "policies"):
        assert shell(trace, f"walltime {line} >/dev/null", PYTHONIOENCODING=encoding).code == 0
    told = shell(trace, "walltime run s.yaml --json > told.json", PYTHONIOENCODING=encoding)
    assert told.code == 0
    assert "Größe→🙂" in json.loads((trace / "told.json").read_bytes())["runs"][0]["summary"]["clusters"]


@pytest.mark.parametrize("made", ["mkfifo log.swf.pipe; mv log.swf.pipe a.swf", "ln -s /dev/zero a.swf"])
@pytest.mark.parametrize("command", ["run", "workload fit -o m.json"])
def test_a_pipe_or_a_device_is_no_trace(shell: Shell, trace: Path, made: str, command: str) -> None:
    shell(trace, made)
    told = shell(trace, f"walltime {command} a.swf")
    assert told.code == 2
    assert "a.swf: this is a pipe, not a file" in told.err or "a.swf: this is a device, not a file" in told.err


LONG = "x" * SHORT


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", f"{LONG}.swf"], "File name too long"),
        (["run", f"{LONG}.yaml"], "File name too long"),
        (["run", "log.swf", "--output", LONG], "a name has at most"),
        (["run", "log.swf", "--output", f"a/{LONG}/b"], "a name has at most"),
        (["run", "log.swf", "--cluster", f"{LONG}.yaml"], "File name too long"),
        (["compare", LONG], "File name too long"),
        (["workload", "convert", "log.swf", f"{LONG}.csv"], "too long"),
        (["run", "\udcff.swf"], "no such file"),
        (["run", "log.swf", "--output", "\udcff"], "UTF-8"),
        (["run", "log.swf", "--set", "cluster.name=\udcff"], "not valid YAML"),
        (["run", "log.swf", "--set", f"cluster.cores={'9' * 5000}"], "not valid YAML"),
    ],
    ids=range(11),
)
def test_names_that_no_file_can_have(command: Command, trace: Path, arguments: list[str], words: str) -> None:
    told = command(*arguments)
    assert told.code == 2
    assert words in told.err
    assert names(trace) == {"log.swf"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('workload: {trace: "a\\0b.swf"}', "NUL"),
        ('workload: {trace: "a\\ud800.swf"}', "s.yaml:1: not a valid value"),
        ('workload: {trace: log.swf}\ncluster:\n  name: "\\udfff"', "s.yaml:3: not a valid value"),
        (f"workload: {{trace: {LONG}.swf}}", "File name too long"),
        (f"workload: {{trace: log.swf}}\ncluster: {{cores: {'9' * 5000}}}", "s.yaml:2: not a valid value"),
    ],
    ids=range(5),
)
def test_scenarios_of_such_names(command: Command, trace: Path, text: str, words: str) -> None:
    (trace / "s.yaml").write_text(text + "\n")
    command("run", "s.yaml", "--output", "out").refused(words)
    assert names(trace) == {"log.swf", "s.yaml"}


def test_a_file_whose_name_is_no_text(shell: Shell, trace: Path) -> None:
    told = shell(trace, r"cp log.swf $'\xff.swf'; walltime run $'\xff.swf' --output out")
    assert told.code == 2
    assert "UTF-8" in told.err


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("pass", "P has no method schedule"),
        ("schedule = None", "P.schedule is not a plain method"),
        ("async def schedule(self, p): pass", "P.schedule is not a plain method"),
        ("def schedule(self, p): yield", "P.schedule is not a plain method"),
        ("def schedule(self): pass", "called with 1 arguments"),
        ("def schedule(self, p, q): pass", "called with 1 arguments"),
    ],
)
def test_a_policy_without_its_hook(command: Command, trace: Path, body: str, words: str) -> None:
    (trace / "mine.py").write_text(f"from walltime import Policy\nclass P(Policy):\n    {body}\n")
    command("run", "log.swf", "--policy", "mine:P").refused(words)
