"""`walltime workload users`, run as a person would."""

from __future__ import annotations

import json

import pytest
from test_inference import generate
from typer.testing import CliRunner

from walltime.cli.app import workload_app
from walltime.core.errors import InputError
from walltime.workload.formats import write


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "t.csv"
    write(generate(1, users=6)[0], path)
    return path


def run(*arguments):
    return CliRunner().invoke(workload_app, ["users", *map(str, arguments)])


def test_for_a_person_and_for_a_program(trace, tmp_path):
    shown = run(trace, "--page", tmp_path / "users.html", "--alea", tmp_path / "set")
    assert shown.exit_code == 0, shown.output
    for word in ("batches per session", "after a completion", "users react", "with twice the gap", "12 files"):
        assert word in shown.output
    assert "…" not in shown.output, "80 columns are enough"
    page = (tmp_path / "users.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "72 sessions" in page
    facts = json.loads(run(trace, "--json", "--session-gap", "1h").output)
    assert facts["thresholds"]["session_gap"] == 3600
    assert (facts["users"], facts["sessions"]) == (6, 72)
    assert (tmp_path / "set_u3_sessions").read_text().count("\n") == 12


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--overlap", "most"], "no such choice"),
        (["--waits", "0"], "no such choice"),
        (["--session-gap", "0"], "longer than zero"),
        (["--page", "users.txt"], "ends in"),
        (["--alea", "nowhere/set"], "cannot be written"),
    ],
)
def test_what_is_wrong_is_refused(trace, options, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(trace, *options)
    assert isinstance(result.exception, InputError), result.output
    assert words in str(result.exception)
    assert not list(tmp_path.iterdir())
