"""Every kind of bad input: exit code 2, one clear message, no traceback, nothing written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Command, Outcome, crowd, names, swf

GOOD = swf(crowd(5)).splitlines(keepends=True)


def replace_word(text: str) -> str:
    return text.replace(" 5 ", " five ", 1)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("".join([*GOOD[:4], replace_word(GOOD[4]), *GOOD[5:]]), ["bad.swf:5", "five"]),
        ("".join([*GOOD[:4], "3 21 5 40\n", *GOOD[5:]]), ["bad.swf:5"]),
        ("".join([*GOOD[:-1], GOOD[-1][:9]]), ["bad.swf:7"]),
        (bytes(range(256)) * 40, ["bad.swf"]),
        ("", ["bad.swf", "empty"]),
        ("; MaxProcs: 16\n", ["bad.swf", "no job"]),
    ],
    ids=["word", "short line", "cut off", "noise", "empty", "header only"],
)
def test_broken_trace(command: Command, tmp_path: Path, content: str | bytes, words: list[str]) -> None:
    path = tmp_path / "bad.swf"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    command("run", "bad.swf", "--cores", 16, "--output", "out").refused(*words)
    assert names(tmp_path) == {"bad.swf"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "nowhere.swf"], ["nowhere.swf", "no such file"]),
        (["run", "lg.swf"], ["no such file", "did you mean 'log.swf'"]),
        (["run", "nowhere.yaml"], ["nowhere.yaml", "no such file"]),
        (["run", "."], ["folder"]),
        (["run", "log.swf", "--policy", "esay"], ["unknown policy", "did you mean 'easy'", "fcfs"]),
        (["run", "log.swf", "--policy", "easy,"], ["--policy"]),
        (["run", "log.swf", "--policy", "easy,easy"], ["twice"]),
        (["run", "log.swf", "--policy", "nowhere:Policy"], ["no module named 'nowhere'"]),
        (["run", "log.swf", "--cores", "0"], ["--cores", "0"]),
        (["run", "log.swf", "--cores", "-3"], ["--cores", "-3"]),
        (["run", "log.swf", "--nodes", "12y4"], ["--nodes", "12y4", "120x2"]),
        (["run", "log.swf", "--nodes", "0x4"], ["--nodes", "0x4"]),
        (["run", "log.swf", "--nodes", "4x2", "--cores", "8"], ["--cores", "--nodes"]),
        (["run", "log.swf", "--cluster", "nowhere.yaml"], ["nowhere.yaml", "no such file"]),
        (["run", "log.swf", "--format", "xml"], ["--format", "parquet"]),
        (["run", "log.swf", "--overrun", "stop"], ["--overrun", "kill"]),
        (["run", "log.swf", "--missing-request", "exat"], ["did you mean 'exact'"]),
        (["run", "log.swf", "--engine", "natve"], ["did you mean 'native'"]),
        (["run", "log.swf", "--until", "2q"], ["--until", "2q"]),
        (["run", "log.swf", "--warmup", "x"], ["--warmup", "x"]),
        (["run", "log.swf", "--seed", "-1"], ["--seed"]),
        (["run", "log.swf", "--seeds", "4"], ["--shake"]),
        (["run", "log.swf", "--shake", "0"], ["--shake"]),
        (["run", "log.swf", "--shake", "10", "--seeds", "1"], ["--seeds"]),
        (["run", "log.swf", "--set", "seed"], ["KEY=VALUE"]),
        (["run", "log.swf", "--set", "cluster.cors=4"], ["did you mean 'cores'"]),
        (["run", "log.swf", "--set", "cluster.cores=many"], ["cluster.cores", "many"]),
        (["run", "log.swf", "--set", "cluster.scheduler.backfill=esay"], ["did you mean 'easy'"]),
        (["run", "log.swf", "--set", "cluster.scheduler.backfill.wrong=1"], ["wrong"]),
        (["run", "log.swf", "--output", "log.swf/inside"], ["log.swf", "file"]),
        (["compare", "nowhere"], ["nowhere", "no such result"]),
        (["compare", "log.swf"], ["not a result folder"]),
        (["compare", "nowhere", "--by", "colour"], ["--by", "user"]),
        (["compare", "nowhere", "--top", "0"], ["--top", "at least 1"]),
        (["audit", "nowhere"], ["nowhere", "no such result"]),
        (["demo", "--jobs", "0"], ["--jobs", "0"]),
    ],
    ids=lambda value: (
        " ".join(value)
        if isinstance(value, list) and value and value[0] in ("run", "compare", "audit", "demo")
        else None
    ),
)
def test_wrong_arguments(command: Command, trace: Path, arguments: list[str], words: list[str]) -> None:
    extra = [] if "--output" in arguments or "--shake" in arguments or arguments[0] != "run" else ["--output", "out"]
    command(*arguments, *extra).refused(*words)
    assert names(trace.parent) == {"log.swf"}


@pytest.mark.parametrize(
    "arguments",
    [["run"], ["run", "log.swf", "--cores", "many"], ["run", "log.swf", "--no-such-option"], ["no-such-command"]],
)
def test_usage_errors_exit_with_2(command: Command, trace: Path, arguments: list[str]) -> None:
    outcome = command(*arguments)
    assert outcome.code == 2
    assert "Traceback" not in outcome.err
    assert "Error" in outcome.err
    assert names(trace.parent) == {"log.swf"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("workload: log.swf\ncluster:\n  cors: 16\n", ["s.yaml:3", "'cors'", "did you mean 'cores'"]),
        ("workload: log.swf\ncluster:\n  cores: 0\n", ["s.yaml:3", "cluster.cores", "0"]),
        ("workload: log.swf\ncluster:\n  scheduler:\n    backfill: esay\n", ["s.yaml:4", "did you mean 'easy'"]),
        ("workload: log.swf\ncluster:\n  scheduler:\n    place: best\n", [":4", "place", "did you mean 'best-fit'"]),
        (
            "workload: log.swf\ncluster: {cores: 4, scheduler: {place: best-fit}}\n",
            ["native", "cluster.scheduler.place", "give it nodes"],
        ),
        ("workload: log.swf\ncluster: {nodes: '0x4'}\n", ["cluster.nodes.count", "at least 1"]),
        ("workload: log.swf\ncluster: {nodes: []}\n", ["cluster.nodes", "must not be empty"]),
        ("workload: log.swf\ncluster:\n  nodes: [{count: 2, cores: 4, speed: 0}]\n", [":3", "nodes.0.speed", "0.001"]),
        ("workload: log.swf\ncluster: {cores: 4, sharing: whole}\n", ["give nodes"]),
        ("workload: log.swf\ncluster: {nodes: 2x2, sharing: whol}\n", ["cluster.sharing", "did you mean 'whole'"]),
        ("workload: log.swf\nclusters: [{name: a, cores: 4}, {name: b, cores: 4}]\n", ["native", "broker"]),
        ("workload: nowhere.swf\n", ["nowhere.swf", "no such file"]),
        ("workload: [log.swf\n", ["s.yaml:2", "YAML"]),
        ("", ["s.yaml", "empty"]),
        ("seed: 1\nseed: 2\n", ["s.yaml:2", "twice"]),
    ],
)
def test_broken_scenario(command: Command, trace: Path, text: str, words: list[str]) -> None:
    (trace.parent / "s.yaml").write_text(text)
    command("run", "s.yaml", "--output", "out").refused(*words)
    assert names(trace.parent) == {"log.swf", "s.yaml"}


def test_trace_that_does_not_tell_the_size_of_the_machine(command: Command, tmp_path: Path) -> None:
    (tmp_path / "log.swf").write_text(swf(crowd(3), processors=None))
    command("run", "log.swf").refused("--cores")


def test_existing_output_is_refused_before_any_work(command: Command, trace: Path) -> None:
    folder = trace.parent
    (folder / "taken").mkdir()
    (folder / "taken" / "letter.txt").write_text("dear")
    command("run", "log.swf", "--output", "taken").refused("taken", "not empty")
    command("run", "log.swf", "--output", "taken", "--force").refused("taken")
    assert names(folder / "taken") == {"letter.txt"}
    command("run", "log.swf", "--output", "out").done()
    before = (folder / "out" / "provenance.json").read_bytes()
    command("run", "log.swf", "--output", "out").refused("out", "--force")
    assert (folder / "out" / "provenance.json").read_bytes() == before


def break_summary(folder: Path) -> None:
    (folder / "summary.json").write_text("{")


def lose_jobs(folder: Path) -> None:
    (folder / "jobs.parquet").unlink()


def cut_jobs(folder: Path) -> None:
    table = folder / "jobs.parquet"
    table.write_bytes(table.read_bytes()[: table.stat().st_size // 2])


def lose_summary(folder: Path) -> None:
    (folder / "summary.json").unlink()


def forge_digest(folder: Path) -> None:
    summary = json.loads((folder / "summary.json").read_text())
    (folder / "summary.json").write_text(json.dumps(summary | {"digest": "0" * 64}))


@pytest.mark.parametrize("damage", [break_summary, lose_jobs, cut_jobs, lose_summary, forge_digest])
def test_half_written_result_is_refused(command: Command, trace: Path, damage: Callable[[Path], None]) -> None:
    command("run", "log.swf", "--output", "out").done()
    damage(trace.parent / "out")
    for arguments in (["compare", "out"], ["audit", "out"]):
        outcome: Outcome = command(*arguments)
        outcome.refused("out")
