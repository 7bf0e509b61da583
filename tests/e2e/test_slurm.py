"""`walltime slurm` as a person uses it: a site's configuration, a frozen controller, mistakes, sudden ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from command_line import Command, start

import walltime
from walltime.core.errors import InputError
from walltime.slurm.packages import find_installation
from walltime.workload.snapshot.files import read_snapshot

SITE = Path(__file__).parents[2] / "examples" / "site"
CONF = (SITE / "slurm.conf").read_text()
pytestmark = pytest.mark.usefixtures("slurm")
FILES = ("--associations", SITE / "associations.dump", "--qos", SITE / "qos.txt")


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    """Four users, three partitions, some GPUs."""
    rows = ["job_id,submit,run_time,requested_time,cores,user,queue,qos,gpus"]
    for i in range(60):
        user, queue = ("ann", "bo", "cy", "di")[i % 4], ("batch", "short", "batch", "gpu")[i // 4 % 4]
        qos, gpus = "urgent" if i % 8 == 0 else "", 1 + i % 4 if queue == "gpu" else 0
        rows.append(
            f"{i + 1},{60 * i},{300 + 100 * (i % 7)},{1800},{(1, 4, 16, 64)[i % 4]},{user},{queue},{qos},{gpus}"
        )
    path = tmp_path / "jobs.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_doctor(command: Command) -> None:
    told = command("slurm", "doctor").done().out
    assert find_installation().product in told
    assert "missing" not in told


def test_words_of_a_list_are_set_one_by_one_or_told_when_lost(command: Command, jobs: Path) -> None:
    """By the command for a site's own slurm.conf, and by that for a scenario."""
    lost = "SchedulerParameters=bf_window=2880,bf_resolution=300,bf_max_job_test=200,bf_continue dropped"
    site = ("--conf", SITE / "slurm.conf", *FILES, "--until", "10m")
    asked = ("-c", "scontrol show config | grep ^SchedulerParameters")
    for given, told in (("SchedulerParameters.bf_interval=77", False), ("SchedulerParameters=bf_interval=77", True)):
        done = command("slurm", "run", jobs, *site, "--set", given).done()
        assert (lost in done.err) == told
        shown = command("slurm", "shell", jobs, *site, "--set", given, *asked).done().out
        assert "bf_interval=77" in shown
        assert ("bf_continue" in shown) != told
        plain = command(
            "run", jobs, "--cores", "64", "--engine", "slurm", "--until", "10m", "--set", f"slurm.settings.{given}"
        ).done()
        assert ("SchedulerParameters=bf_continue" in plain.err) == told


def test_a_site_is_simulated_and_its_changes_told(command: Command, jobs: Path, tmp_path: Path) -> None:
    done = command("slurm", "run", jobs, "--conf", SITE / "slurm.conf", *FILES, "--output", "out").done()
    assert "Prolog=/etc/slurm/prolog.sh dropped" in done.err
    assert "60 jobs on 512 cores" in done.out
    assert "legal" in command("audit", "out").done().out
    again = command("run", "out/scenario.yaml", "--output", "again").done()
    assert again.code == 0
    digests = [json.loads((tmp_path / name / "summary.json").read_text())["digest"] for name in ("out", "again")]
    assert digests[0] == digests[1]


def test_a_setting_is_replaced(command: Command, jobs: Path) -> None:
    def mean_wait(*options: object) -> float:
        told = command("slurm", "run", jobs, "--conf", SITE / "slurm.conf", *FILES, *options, "--json").done().out
        return float(json.loads(told)["runs"][0]["summary"]["mean_wait"])

    assert mean_wait("--set", "SchedulerType=sched/builtin") != mean_wait()


def test_the_frozen_controller_answers(command: Command, jobs: Path) -> None:
    questions = "squeue -h -o '%i %u %T'; sinfo -h -o '%P %D'; sshare -a -h; sprio -h; sdiag"
    script = f"{questions}; date -u +%s; advance 10m; date -u +%s"
    told = command("slurm", "shell", jobs, "--conf", SITE / "slurm.conf", *FILES, "--until", "40m", "-c", script).done()
    assert "ann RUNNING" in told.out
    assert "batch* 28" in told.out
    assert "physics" in told.out
    assert "Jobs submitted:" in told.out
    seconds = [int(line) for line in told.out.splitlines() if line.isdigit()]
    assert [round((at - 1_704_067_200) / 60) for at in seconds] == [40, 50]


FORMS = {
    "bars": "squeue -a -t R,S,PD -o '%i|%T|%u|%a|%P|%q|%C|%D|%l|%V|%S|%M|%Q|%r|%b|%m|%f|%W|%N'",
    "all": "squeue -a -o %all",
    "json": "squeue --json",
}
"""Ways to ask squeue for all that there is."""


@pytest.mark.parametrize("release", ["", "24.11"])
def test_the_answers_of_squeue_are_read_in_every_form(
    command: Command, jobs: Path, tmp_path: Path, release: str
) -> None:
    """An array whose tasks run and wait, jobs with memory for each core, GPUs, and a job that waits for its time."""
    if release:
        try:
            find_installation(release)
        except InputError as error:
            pytest.skip(str(error))
    script = (
        "WALLTIME_RUN_TIME=9000 sbatch -n 1 -t 200 --array=0-5%2 --wrap true; sbatch -N 2 -t 3-0 --wrap true;"
        "sbatch -n 4 --mem-per-cpu=100 -t 30 --wrap true; sbatch -n 1 -t 30 --begin=now+5days --wrap true; advance 2m;"
        + ";".join(f"{asked} > {tmp_path / form}" for form, asked in FORMS.items())
    )
    site = ("--conf", SITE / "slurm.conf", *FILES, "--until", "40m", *(("--release", release) if release else ()))
    command("slurm", "shell", jobs, *site, "--as", "ann", "-c", script).done()
    told = {form: {job.name: job for job in read_snapshot(tmp_path / form, "UTC").jobs} for form in FORMS}
    alike = (
        "running",
        "cores",
        "nodes",
        "limit",
        "submit",
        "start",
        "nodelist",
        "user",
        "queue",
        "qos",
        "array",
        "begin",
    )
    for other in ("bars", "all"):
        assert told[other].keys() == told["json"].keys()
        for name, job in told["json"].items():
            assert [getattr(job, field) for field in alike] == [getattr(told[other][name], field) for field in alike]
    assert len([name for name in told["json"] if "_" in name]) == 6
    assert {job.running for job in told["json"].values()} == {True, False}
    asked = [job for job in told["json"].values() if job.cores == 4 and job.queue == "batch" and job.memory]
    assert {job.memory for job in asked} >= {400 << 20}, "for the whole job"
    assert told["json"]["16"].gpus == 4
    assert told["bars"]["16"].gpus is None, "squeue tells GPUs for each node only"


UNEVEN = """ClusterName=three
SlurmctldHost=localhost
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=cn[1-3] CPUs=8 State=UNKNOWN
PartitionName=all Nodes=cn[1-3] Default=YES State=UP
"""


@pytest.mark.parametrize("release", ["", "24.11"])
def test_a_job_that_is_spread_unevenly_stands_where_it_stands(command: Command, tmp_path: Path, release: str) -> None:
    """Two jobs have three cores of cn1 and of cn2; the third has 17 of what is left, 18 in all."""
    if release:
        try:
            find_installation(release)
        except InputError as error:
            pytest.skip(str(error))
    (tmp_path / "slurm.conf").write_text(UNEVEN)
    (tmp_path / "one.csv").write_text("job_id,submit,run_time,requested_time,cores,user\n1,0,6000,7200,3,ann\n")
    script = (
        "WALLTIME_RUN_TIME=9000 sbatch -n 3 -w cn2 -t 100 --wrap true;"
        "WALLTIME_RUN_TIME=9000 sbatch -n 17 -t 200 --wrap true; advance 2m; squeue --json > queue.json"
    )
    site = ("--conf", "slurm.conf", "--until", "1m", *(("--release", release) if release else ()))
    command("slurm", "shell", "one.csv", *site, "-c", script).done()
    uneven = next(job for job in read_snapshot(tmp_path / "queue.json", "UTC").jobs if job.cores == 17)
    assert uneven.nodelist is not None
    assert sorted(part.partition(":")[2] for part in uneven.nodelist.split(",")) == ["5", "5", "7"]
    (tmp_path / "today.yaml").write_text(
        "workload: one.csv\ncluster: {nodes: [{name: 'cn[1-3]', cores: 8}]}\n"
        "start: {time: '2024-01-01T00:03:00', jobs: queue.json}\n"
    )
    command("run", "today.yaml", "--output", "out").done()
    placed = pl.read_parquet(tmp_path / "out" / "allocations.parquet")["nodes"].to_list()
    assert placed[:3] == ["0:3", "1:3", "0-1:5,2:7"]


def test_jobs_are_submitted_and_cancelled_by_hand(command: Command, jobs: Path) -> None:
    script = (
        "WALLTIME_RUN_TIME=90 sbatch --parsable -n 1 -t 10 --wrap true; advance 1m; squeue -h -n wrap -o '%T %u';"
        "advance 3m; squeue -h -n wrap -o '%T' -t COMPLETED; id=$(sbatch --parsable -n 1 -t 10 --wrap true);"
        "advance 1m; scancel $id; advance 1m; squeue -h -j $id -t all -o '%T';"
        "scancel $(squeue -h -u ann -t R -o %i | head -1); true"
    )
    told = command("slurm", "shell", jobs, "--conf", SITE / "slurm.conf", *FILES, "--until", "20m", "--as", "bo", "-c",
                   script)  # fmt: skip
    assert "RUNNING bo" in told.done().out
    assert "COMPLETED" in told.out
    assert "CANCELLED" in told.out
    assert "denied" in told.err  # bo may not cancel what is ann's


def test_time_goes_on_after_the_trace_for_jobs_submitted_by_hand(command: Command, jobs: Path) -> None:
    script = (
        "WALLTIME_RUN_TIME=600 sbatch --parsable -n 1 -t 20 --wrap true;"
        "sbatch -n 1 -t 20 --begin=now+5days --wrap true; advance 5m; advance 10m; date -u +%s"
    )
    told = command("slurm", "shell", jobs, "--conf", SITE / "slurm.conf", *FILES, "--until", "6h", "-c", script).done()
    lines = told.out.splitlines()
    assert [line.partition(": ")[2] for line in lines if "jobs run" in line] == [
        "1 jobs run, 1 wait",
        "0 jobs run, 1 wait",
    ]
    assert int(lines[-1]) == 1_704_067_200 + 6 * 3600 + 900


def test_releases_are_compared(command: Command, jobs: Path) -> None:
    try:
        find_installation("24.11")
    except InputError as error:
        pytest.skip(str(error))
    arguments = ("slurm", "compare-releases", jobs, "--conf", SITE / "slurm.conf", *FILES, "--until", "30m")
    told = command(*arguments, "--output", "both").done()
    assert "Slurm 24.11" in told.out
    assert "Slurm 22.05 again" in told.out
    assert "than on Slurm 22.05" in told.out or "as on Slurm 22.05" in told.out
    command(*arguments[:-2], "--releases", "22.05,23.02").refused("23.02", "24.11")


def test_a_controller_that_would_be_replaced_is_not_told_to(command: Command, jobs: Path, tmp_path: Path) -> None:
    try:
        find_installation("24.11")
    except InputError as error:
        pytest.skip(str(error))
    (tmp_path / "events").write_text("10m squeue\n20m scontrol -o reconfigure\n")
    arguments = ("slurm", "run", jobs, "--conf", SITE / "slurm.conf", *FILES, "--until", "30m", "--events", "events")
    told = command(*arguments, "--release", "24.11")
    assert told.code == 2
    assert "events:2: Slurm 24.11 starts another controller" in told.err
    command(*arguments, "--release", "22.05").done()


def test_two_configurations_are_compared_by_their_effect(command: Command, tmp_path: Path) -> None:
    other = CONF.replace("bf_interval=60,bf_window=2880,", "bf_window=1440,bf_yield_sleep=500000,")
    other = other.replace("MaxTime=02:00:00", "MaxTime=240").replace("gpu:a100:4", "gpu:a100:2")
    other = other.replace("prolog.sh", "other.sh").replace("PriorityMaxAge=2-0", "PriorityMaxAge=2-00:00:00")
    (tmp_path / "b.conf").write_text(f"KillWait=30\nFirstJobId=100\n{other}")
    told = json.loads(command("slurm", "diff", SITE / "slurm.conf", "b.conf", "--json").done().out)
    assert [tuple(one.values()) for one in told["differences"] if "TRES" not in one["what"]] == [
        ("setting", "FirstJobId", "1 (default)", "100"),
        ("setting", "SchedulerParameters.bf_interval", "60", "30 (default)"),
        ("setting", "SchedulerParameters.bf_window", "2880", "1440"),
        ("setting", "SchedulerParameters.bf_max_time", "60", "30 (default)"),
        ("partition", "short MaxTime", "02:00:00", "04:00:00"),
        ("node", "gpu[01-04] Gres", "gpu:a100:4", "gpu:a100:2"),
        ("not simulated", "Prolog", "/etc/slurm/prolog.sh", "/etc/slurm/other.sh"),
    ]
    assert told["same_effect"] == ["PriorityMaxAge", "KillWait"]
    assert "Nothing differs" in command("slurm", "diff", "b.conf", "b.conf").done().out
    command("slurm", "diff", "b.conf", "nothing.conf").refused("nothing.conf")


def test_a_killed_run_goes_on_from_its_checkpoint(command: Command, jobs: Path, tmp_path: Path) -> None:
    """The checkpoint is the result of a run that was cut off there, and going on gives that of one never stopped.

    It ends where the run that was killed was to end.
    """
    site = ("slurm", "run", jobs, "--conf", SITE / "slurm.conf", *FILES)
    end = ("--until", "50m")
    command(*site, *end, "--output", "whole", "-q").done()
    command(*site, *end, "--output", "whole2", "--checkpoint", "10m", "-q").done()
    (tmp_path / "events").write_text("35m sh touch reached; while [ ! -e go ]; do sleep 0.01; done\n")
    stopped = (*site, *end, "--output", "out", "--checkpoint", "10m", "-q", "--events", "events", "--allow-commands")
    process = start(tmp_path, *stopped)
    while not (tmp_path / "reached").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.kill()
    process.wait()
    (tmp_path / "go").touch()
    command(*site, "--output", "cut", "--until", "30m", "--events", "events", "--allow-commands", "-q").done()
    assert read_digest(tmp_path / "out") == read_digest(tmp_path / "cut")
    command("slurm", "continue", "out", "--output", "on", "--allow-commands", "-q").done()
    assert read_digest(tmp_path / "on") == read_digest(tmp_path / "whole") == read_digest(tmp_path / "whole2")
    command("slurm", "continue", "out", "--until", "20m", "--output", "back").refused("--until")
    command(*site, "--checkpoint", "10m").refused("--output")
    command(*site, "--checkpoint", "0", "--output", "x").refused("--checkpoint")


def read_digest(folder: Path) -> str:
    return str(json.loads((folder / "summary.json").read_text())["digest"])


def test_what_the_controller_says_at_its_start_is_shown(command: Command, jobs: Path, tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(CONF.replace("bf_interval=60", "bf_interval=0"))
    told = command("slurm", "run", jobs, "--conf", "slurm.conf", *FILES, "--until", "1m").done()
    assert "The controller said at its start:" in told.err
    assert "Invalid SchedulerParameters bf_interval" in told.err


def test_an_administrator_intervenes(command: Command, jobs: Path, tmp_path: Path) -> None:
    (tmp_path / "events").write_text(
        "10m scontrol update nodename=cn[001-028] state=down reason=failed   # everything fails\n"
        "30m scontrol update nodename=cn[001-028] state=resume\n"
        "30m scontrol create reservation starttime=now duration=60 nodes=cn001 users=root\n"
    )
    arguments = ("slurm", "run", jobs, "--conf", SITE / "slurm.conf", *FILES)
    command(*arguments, "--events", "events", "--output", "out", "--format", "csv").done()
    assert "legal" in command("audit", "out").done().out
    lines = (tmp_path / "out" / "jobs.csv").read_text().splitlines()
    restarts = [int(line.split(",")[lines[0].split(",").index("restarts")]) for line in lines[1:]]
    assert max(restarts) >= 1  # what ran on the nodes was put back into the queue
    (tmp_path / "events").write_text("10m scontrol update nodename=nowhere state=down reason=x\n")
    command(*arguments, "--events", "events", "-q").refused("events:1:", "nowhere")


def test_any_command_is_run_at_its_time_if_the_person_allows_it(command: Command, jobs: Path, tmp_path: Path) -> None:
    (tmp_path / "events").write_text(
        "10m scontrol update nodename=cn001 state=drain reason=x\n"
        "2024-01-01T00:20:00 sinfo -h -n cn001 -o %t   # a date is on the trace's clock\n"
        "30m sh date -u +%s > seen; squeue -h -t R -o %i | wc -l; sacct -a -n -X -s R -o jobid | wc -l\n"
    )
    arguments = ("slurm", "run", jobs, "--conf", SITE / "slurm.conf", *FILES, "--events", "events", "--until", "40m")
    command(*arguments, "-q").refused("events:3:", "--allow-commands")
    assert not (tmp_path / "seen").exists()
    told = command(*arguments, "--allow-commands").done().out.splitlines()
    assert told[told.index("At 20:00 min: sinfo -h -n cn001 -o %t") + 1].startswith("dr")
    running, accounted = told[told.index(next(line for line in told if line.startswith("At 30:00"))) + 1 :][:2]
    assert int(running) == int(accounted) > 0
    assert int((tmp_path / "seen").read_text()) == 1_704_067_200 + 1800
    (tmp_path / "events").write_text("10m sh advance 1h\n")
    command(*arguments, "--allow-commands", "-q").refused("events:1:", "time does not pass")


def test_accounting_tells_what_the_result_has(command: Command, jobs: Path, tmp_path: Path) -> None:
    """Every attempt in `sacct` is one of the result's, with the same start and end, and can be read as a trace."""
    site = ("--conf", SITE / "slurm.conf", *FILES, "--until", "90m")
    command("slurm", "run", jobs, *site, "--output", "out", "--format", "csv", "-q").done()
    columns = "JobID,User,Account,Partition,QOS,Submit,Eligible,Start,End,Elapsed,Timelimit,ReqCPUS,State"
    script = f"sacct -a -D -P -o {columns} > week.sacct; sacct -nP -D -o jobname,start,end; sacctmgr -nP show users"
    told = command("slurm", "shell", jobs, *site, "-c", script).done().out.splitlines()
    table = [line.split(",") for line in (tmp_path / "out" / "allocations.csv").read_text().splitlines()]
    job, start, end = (table[0].index(name) for name in ("job_id", "start", "end"))
    expected = sorted((row[job], second(row[start]), second(row[end])) for row in table[1:])
    rows = [line.split("|") for line in told if line.count("|") == 2]
    assert sorted(tuple(row) for row in rows if row[1] != "Unknown") == expected
    assert "ann|physics" in told
    assert "jobs" in command("workload", "info", "week.sacct", "--timezone", "UTC").done().out


def second(text: str) -> str:
    """A time of a result as sacct writes it."""
    zero = datetime(2024, 1, 1)
    return (zero + timedelta(seconds=int(float(text)))).isoformat() if text else "Unknown"


def test_figures_of_sdiag_are_in_the_result(command: Command, jobs: Path) -> None:
    arguments = ("slurm", "run", jobs, "--conf", SITE / "slurm.conf", *FILES, "--until", "40m", "--json")
    plain, charged = (
        json.loads(command(*arguments, *more).done().out)["runs"][0]["summary"]["facts"]["scheduler"]
        for more in ((), ("--cost", "100"))
    )
    assert plain["main"]["cycles"] > 30
    assert "mean_cycle" not in plain["main"]  # deciding takes no simulated time
    assert 0 < charged["main"]["mean_cycle"] <= charged["main"]["longest_cycle"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("NodeName=cn", "NodeNam=cn"), ("slurm.conf:45:", "NodeNam", "--drop-unknown")),
        (("SelectType=select/cons_tres", "SelectType=select/magic"), ("slurm.conf", "select/magic")),
        (("SelectType=", "SelectType "), ("slurm.conf:23:", "Key=Value")),
        (("PriorityMaxAge=2-0", "PriorityMaxAge=soon"), ("slurm.conf", "PriorityMaxAge")),
        (
            ("SchedulerParameters=bf_interval=60", "SchedulerParameters=bf_intervall=60"),
            ("bf_interval", "slurm.conf:22:"),
        ),
    ],
)
def test_a_wrong_configuration_is_named(
    command: Command, jobs: Path, tmp_path: Path, change: tuple[str, str], words: tuple[str, ...]
) -> None:
    assert change[0] in CONF
    (tmp_path / "slurm.conf").write_text(CONF.replace(*change))
    command("slurm", "run", jobs, "--conf", "slurm.conf", *FILES, "-q").refused(*words)


def test_wrong_words(command: Command, jobs: Path, tmp_path: Path) -> None:
    command("slurm", "run", jobs).refused("--conf")
    command("slurm", "run", jobs, "--conf", "nothing.conf").refused("nothing.conf", "no such file")
    command("slurm", "run", "nothing.csv", "--conf", SITE / "slurm.conf").refused("nothing.csv")
    command("slurm", "run", jobs, "--conf", SITE / "slurm.conf", "--qos", SITE / "qos.txt").refused("associations")
    command("slurm", "run", jobs, "--conf", SITE / "slurm.conf", "--set", "Wonder=1", "-q").refused("Wonder")
    (tmp_path / "odd.csv").write_text("submit,run_time,requested_time,queue\n0,10,60,debug\n")
    command("slurm", "run", "odd.csv", "--conf", SITE / "slurm.conf", "-q").refused("debug", "--partition")
    command("slurm", "run", "odd.csv", "--conf", SITE / "slurm.conf", "-q", "--partition", "debug=batch").done()
    command("slurm", "run", "odd.csv", "--conf", SITE / "slurm.conf", "-q", "--map", "debug=batch").done()


def test_a_log_is_read_as_the_options_say(command: Command, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("sub,length,asked\n2024-03-01T09:00:00,1,60\n2024-03-01T09:10:00,1,60\n")
    how = ["--map", "submit=sub", "--map", "run_time=length:min", "--map", "requested_time=asked:min"]
    how += ["--timezone", "Europe/Prague", "--map", "*=batch", "--until", "2024-03-01T12:00"]
    command("slurm", "run", "log.csv", "--conf", SITE / "slurm.conf", "-q", *how, "--output", "out").done()
    result = walltime.load(tmp_path / "out")
    assert result.summary["origin"] == {"epoch": 1709247600.0, "timezone": "Europe/Prague"}
    assert result.jobs["run_time"].to_list() == [60.0, 60.0]


def test_without_the_packages(command: Command, jobs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WALLTIME_CACHE", str(tmp_path / "empty"))
    if find_quietly() is not None:
        pytest.skip("Slurm is installed on the system itself")
    command("slurm", "run", jobs, "--conf", SITE / "slurm.conf", "-q").refused("walltime slurm install")
    assert command("slurm", "doctor").code == 2


def find_quietly() -> object:
    try:
        return find_installation()
    except InputError:
        return None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_sudden_end_leaves_nothing(
    jobs: Path, tmp_path: Path, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = Path(tempfile.mkdtemp(prefix="w", dir="/tmp"))  # short: sockets have short names
    monkeypatch.setenv("WALLTIME_RUNS", str(runs))
    arguments = ("slurm", "shell", jobs, "--conf", SITE / "slurm.conf", *FILES, "--until", "30m")
    process = start(tmp_path, *arguments, "-c", "touch begun; exec sleep 1000")
    try:
        while not (tmp_path / "begun").exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        assert len(traces_in(runs)) >= 3  # a folder, a warden, a controller
    finally:
        os.kill(process.pid, number)
        process.wait()
    if number != signal.SIGKILL:
        assert process.returncode == 130
    for _ in range(2000):  # the warden needs a moment after the kernel has told it
        if not traces_in(runs):
            break
        time.sleep(0.01)
    assert traces_in(runs) == []
    runs.rmdir()


def traces_in(runs: Path) -> list[str]:
    """Folders of simulated controllers there, and processes that have to do with them."""
    listed = subprocess.run(["ps", "-ewwo", "pid,args"], capture_output=True, text=True, check=True).stdout
    return [*os.listdir(runs), *(line.strip() for line in listed.splitlines() if str(runs) in line)]
