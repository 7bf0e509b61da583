"""Plots, reports and watching from the command line."""

from __future__ import annotations

import fcntl
import functools
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from command_line import Command, crowd, names, swf

import walltime


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a trace, and the results of two policies in `out`."""
    folder = tmp_path_factory.mktemp("seeing")
    (folder / "trace.swf").write_text(swf(crowd()))
    for policy in ("fcfs", "easy"):
        walltime.simulate(folder / "trace.swf", policy=policy).save(folder / "out" / policy)
    return folder


@pytest.fixture
def command(results: Path, command_in: Command) -> Command:
    """Run `walltime ...` in that folder."""
    return functools.partial(command_in, results)


def test_a_plot_is_written_as_its_suffix_says(command: Command, results: Path) -> None:
    for suffix, first in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF"), ("html", b"<!doctype")):
        done = command("plot", "cdf", "out", "-o", f"waits.{suffix}", "--of", "slowdown")
        assert done.code == 0
        assert done.out == f"Written: waits.{suffix}\n"
        assert (results / f"waits.{suffix}").read_bytes().startswith(first)


def test_a_plot_without_a_name_is_named_after_its_kind(command: Command, results: Path) -> None:
    assert command("plot", "utilization", "out/easy").code == 0
    assert (results / "utilization.png").exists()
    again = command("plot", "utilization", "out/easy")
    assert again.code == 2
    assert "--force" in again.err


def test_the_kinds_are_listed(command: Command) -> None:
    from walltime.analysis.charts import KINDS

    done = command("plot", "--list")
    assert done.code == 0
    assert all(f"{kind} " in done.out for kind in KINDS)
    assert "--from" in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("plot",), "say which picture"),
        (("plot", "cdf"), "needs a result folder"),
        (("plot", "cfd", "out"), "did you mean 'cdf'?"),
        (("plot", "cdf", "out", "-o", "a.gif"), "suffix"),
        (("plot", "cdf", "out", "--bins", "3"), "has no such option: '--bins'"),
        (("plot", "schedule", "out/easy", "--from", "9d"), "no job ran in this window"),
        (("plot", "schedule", "out/easy", "--from", "2026-10-05"), "does not say when its time zero was"),
        (("plot", "fairshare", "out/easy"), "no fair-share factors"),
        (("plot", "cdf", "nowhere"), "no such result folder"),
        (("report", "nowhere"), "no such result folder"),
        (("report", "out", "-o", "a.pdf"), "ends in .html"),
        (("report", "out", "--from", "2h", "--to", "1h"), "end before it begins"),
        (("run", "trace.swf", "--pace", "1d"), "--watch"),
        (("run", "trace.swf", "--watch", "--quiet"), "cannot be combined"),
        (("run", "trace.swf", "--watch", "--pace", "0"), "time has to go on"),
        (("run", "trace.swf", "--watch", "--shake", "1h"), "cannot be combined"),
    ],
)
def test_mistakes_get_a_clear_answer_and_leave_nothing(
    command: Command, results: Path, arguments: tuple[str, ...], message: str
) -> None:
    before = names(results)
    done = command(*arguments)
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err
    assert names(results) == before


def test_a_report_of_a_folder_of_results(command: Command, results: Path) -> None:
    done = command("report", "out", "--title", "What if?")
    assert done.code == 0
    assert done.out.startswith("Written: out/report.html (")
    page = (results / "out" / "report.html").read_text()
    assert "What if?" in page
    assert "easy: jobs wait" in page
    assert command("report", "out").code == 2
    assert command("report", "out", "--force").code == 0
    assert command("compare", "out").code == 0  # the report is no result


def test_a_result_with_a_report_in_it_can_be_replaced(command: Command, results: Path) -> None:
    assert command("report", "out/easy").code == 0
    again = command("run", "trace.swf", "--policy", "fcfs,easy", "--output", "out", "--force")
    assert again.code == 0
    assert not (results / "out" / "easy" / "report.html").exists()


def test_a_run_is_watched_in_a_pipe_by_lines(command: Command, results: Path) -> None:
    done = command("run", "trace.swf", "--policy", "fcfs,easy", "--watch")
    assert done.code == 0
    lines = done.err.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["fcfs", "easy"]
    assert all("60 of 60 jobs done" in line for line in lines)
    plain = command("run", "trace.swf", "--policy", "fcfs,easy")
    assert done.out.splitlines()[2:] == plain.out.splitlines()[2:]


def test_a_run_is_watched_on_a_terminal() -> None:
    from rich.console import Console

    from walltime.cli.run.watch import Watching
    from walltime.engine import native
    from walltime.scenario import parse, resolve

    jobs = walltime.Workload.from_columns(
        submit=list(range(500)), run_time=[40] * 500, requested_time=[40] * 500, cores=[2] * 500
    )
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=80, legacy_windows=False)
    scenario = resolve(parse({"workload": {"table": jobs}, "cluster": {"cores": 8}}), jobs)
    with Watching(console=console).show("easy", jobs) as watch:
        plain = native.run(scenario, jobs, watch)
    text = screen.getvalue()
    assert "500 of 500" in text
    assert "utilization" in text
    assert max(sample[2] for sample in watch.history) > 0
    assert native.run(scenario, jobs).jobs.equals(plain.jobs)  # watching changes nothing


@pytest.mark.parametrize("width", [80, 120, 200])
def test_what_is_watched_keeps_its_lines(width: int) -> None:
    from rich.console import Console

    from walltime.cli.run.watch import LiveView

    jobs = walltime.Workload.from_columns(submit=[0], run_time=[1], requested_time=[1], cores=[1])
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, color_system=None, width=width, legacy_windows=False)
    watch = LiveView("multifactor+conservative of a site with a very long name", jobs, console)
    watch.jobs = watch.ended = 1_234_567
    watch.history = [(0, 0.5, 123_456, 1_000), (50, 1.0, 1_234_567, 98_765)]
    watch.now = 100
    console.print(watch.picture())
    lines = screen.getvalue().splitlines()
    assert [line.split()[0] for line in lines] == [watch.label.split()[0], "jobs", "utilization", "waiting", "running"]
    assert max(len(line) for line in lines) <= width
    assert all("(at most " in line for line in lines[3:])


@pytest.mark.parametrize("width", [80, 120, 200])
def test_keys_pause_a_watched_run_and_send_it_to_its_end(results: Path, width: int) -> None:
    """On a terminal of its own: without keys the run would take an hour; dates are shown where the trace tells them."""
    text = (results / "trace.swf").read_text()
    (results / "dated.swf").write_text(f"; UnixStartTime: 1760428800\n{text}")
    shown = on_a_terminal(
        results, width, ["run", "dated.swf", "--watch", "--pace", "1s"], {"space: pause": " ", "paused": "q"}
    )
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).replace("\r", "\n").split("\n")
    pictures = [line for line in lines if line.startswith(("easy  ", "jobs ", "utilization ", "waiting ", "running "))]
    assert "easy  2025-10-14 08:00" in pictures[0]
    assert "60 of 60" in [line for line in pictures if line.startswith("jobs ")][-1]
    assert max(map(len, pictures)) <= width


def on_a_terminal(folder: Path, width: int, arguments: list[str], answers: dict[str, str]) -> str:
    """What a command shows on a terminal of that width; each answer is typed once, when its words are to be seen."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR", "CI")}
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", "from walltime.cli.main import main; main()", *arguments],
        cwd=folder,
        env=kept | {"TERM": "xterm-256color"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    shown, left = b"", dict(answers)
    try:
        while block := os.read(ours, 1 << 16):
            shown += block
            for words in [words for words in left if words.encode() in shown]:
                os.write(ours, left.pop(words).encode())
    except OSError:  # the other side is closed
        pass
    finally:
        process.kill() if left else None
        assert process.wait() == 0, shown.decode()
        os.close(ours)
    return shown.decode()


def test_a_pace_makes_time_go_slowly(command: Command, results: Path) -> None:
    import time

    began = time.perf_counter()
    done = command("run", "trace.swf", "--watch", "--pace", "15m")
    assert done.code == 0
    makespan = walltime.load(results / "out" / "easy").summary["makespan"]
    assert time.perf_counter() - began > 0.5 * makespan / 900


def test_the_demo_ends_with_a_report(command: Command, results: Path) -> None:
    done = command("demo", "--jobs", "50", "--output", "demo")
    assert done.code == 0
    assert "A report to look at, in any browser: demo/report.html" in done.out
    assert "aggressive" in (results / "demo" / "report.html").read_text()
    assert command("demo", "--jobs", "50", "--output", "demo", "--force").code == 0
    quiet = command("demo", "--jobs", "50", "--no-report")
    assert "A report to look at" not in quiet.out


def test_repetitions_make_one_bar(command: Command, results: Path) -> None:
    from walltime.analysis.charts import make_chart
    from walltime.cli.results.loading import find_results, load_results

    for seed in (1, 2, 3):
        done = command(
            *("run", "trace.swf", "--missing-request", "model", "--policy", "fcfs,easy", "--quiet"),
            *("--seed", seed, "--output", f"seeds/{seed}"),
        )
        assert done.code == 0
    folders = [f"seeds/{seed}" for seed in (1, 2, 3)]
    assert command("plot", "compare", *folders, "-o", "bars.png").code == 0
    loaded = load_results(find_results([str(results / folder) for folder in folders]))
    assert [result.label for result in loaded][:3] == ["1/fcfs", "1/easy", "2/fcfs"]
    assert make_chart("compare", loaded).panels[0].y.categories == ("fcfs (n = 3)", "easy (n = 3)")
