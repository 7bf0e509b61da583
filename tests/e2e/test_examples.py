"""The examples run, and say what they are there to say."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Command, environment
from warm import Warm

import walltime
from walltime.experiments.definition import load_experiment
from walltime.experiments.maintenance import verify
from walltime.experiments.sweep import plan_experiment

Run = Callable[..., str]
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def run(tmp_path: Path, warm: Warm) -> Run:
    """What an example prints; it is started elsewhere, as it must not depend on the folder."""

    def start(script: str, *options: str) -> str:
        code, out, err = warm.run([str(EXAMPLES / script), *options], tmp_path, environment())
        assert (code, err) == (0, "")
        assert not any(tmp_path.iterdir()), "an example leaves nothing behind"
        return out

    return start


def shown(page: str) -> str:
    """What a page says that its example prints; that it does is tested with the documents."""
    return "".join(
        re.findall(r"^```text prints\n(.*?)^```", (EXAMPLES / page).read_text(encoding="utf-8"), re.M | re.S)
    )


def minutes(text: str) -> float:
    """A duration as it is printed, in minutes."""
    number, unit = text.split()
    if unit == "h":
        hours, rest = number.split(":")
        return 60 * int(hours) + int(rest)
    if unit == "min":
        whole, rest = number.split(":")
        return int(whole) + int(rest) / 60
    return float(number) * {"s": 1 / 60, "d": 1440}[unit]


def test_compare_policies(run: Run) -> None:
    out = run("compare_policies.py")
    waits = {found[1]: minutes(found[2]) for found in re.finditer(r"^(\w+) +mean wait +(\S+ \w+)", out, re.M)}
    assert list(waits) == ["fcfs", "aggressive", "easy"]
    assert waits["easy"] < waits["fcfs"] / 2
    assert re.search(r"easy beats fcfs in mean wait by \d+ % .*10 seeds\)", out)
    sizes = re.findall(r"cores: +(\d+) jobs", out)
    assert sum(map(int, sizes)) == 1500


def test_fairness_study() -> None:
    out = shown("fairness_study/README.md")
    ratios = {
        found[1].strip(): float(found[2]) for found in re.finditer(r"^(.+?)  .* (\d+\.\d\d) +\d+\.\d%$", out, re.M)
    }
    assert len(ratios) == 5
    assert ratios["tight quotas"] > 1.5, "local users wait much longer than the grid"
    assert 0.7 < ratios["fair share, no quotas"] < 1.3, "fair share balances the two"
    assert abs(ratios["balanced quotas"] - 1) < abs(ratios["tight quotas"] - 1)


def test_own_policy(run: Run) -> None:
    lines = run("own_policy.py").splitlines()
    assert [line.split()[0] for line in lines] == ["easy", "ShortestBackfill", "smallest_first"]
    assert all(line.endswith(" legal") for line in lines)
    waits = [line.split("wait")[1] for line in lines]
    assert len(set(waits)) == 3, "three policies, three schedules"


def test_what_if_bigger_machine(run: Run) -> None:
    out = run("what_if_bigger_machine.py")
    waits = [minutes(text) for text in re.findall(r"mean wait (\S+ \w+)", out)]
    assert waits[-1] <= waits[0] / 2 + 1
    assert all(wait > waits[0] / 2 - 1 for wait in waits[:-1])
    assert re.search(rf"^{len(waits) - 1} more nodes .* halve the mean wait", out, re.M)


def test_users_study() -> None:
    """Replay explodes, feedback throttles: the slower scheduler gets less to do, and the waits stay within a day."""
    told = {}
    out = shown("users_study/README.md")
    for line in out.splitlines():
        if found := re.match(r"(\S.*?)\s+(\d+) min\s+([\d.]+)\s+([\d.]+)%\s+([\d.]+) d$", line):
            told[found[1]] = tuple(float(found[place]) for place in (2, 4, 5))
    for policy in ("fcfs", "easy"):
        assert told[f"{policy}, replay"][0] > 10 * told[f"{policy}, feedback"][0]
        assert told[f"{policy}, feedback"][0] < 24 * 60
    assert told["fcfs, feedback"][1] < told["easy, feedback"][1]  # what it is asked for
    assert told["fcfs, feedback"][2] > told["easy, feedback"][2]
    assert told["120 users, feedback"][0] > told["60 users, feedback"][0]
    fill = re.search(r"^(\d+) users fill the machine to 85 %$", out, re.M)
    assert fill is not None
    assert told["60 users, feedback"][1] < 85 < told["120 users, feedback"][1]
    assert 60 < int(fill[1]) < 120
    adaptive, patient = told["feedback, users keep to the limit"], told["feedback"]
    assert (adaptive[0] < patient[0], adaptive[2] > patient[2]) == (True, True)  # they wait at home instead
    best = dict(re.findall(r"^(replay|feedback): .* the last job ends first with (\w+)$", out, re.M))
    assert best["replay"] != best["feedback"]


def test_queue_study(run: Run) -> None:
    out = run("queue_study/study.py")
    waits = {found[1]: minutes(found[2]) for found in re.finditer(r"^(before|after) +mean wait +(\S+ \w+)", out, re.M)}
    used = [float(text) for text in re.findall(r"utilization +([\d.]+)%", out)]
    assert waits["after"] < waits["before"]
    assert used[1] > used[0]
    jobs, effects = zip(
        *re.findall(r"^  (?:q_\w+|short|normal|long) +(\d+) jobs +([+-][\d,]+) h", out, re.M), strict=True
    )
    assert (len(jobs), sum(map(int, jobs))) == (3 + 7, 2 * 6000)
    hours = [int(text.replace(",", "")) for text in effects]
    assert abs(sum(hours[:3]) - sum(hours[3:])) <= 10, "the same change, by old and by new queues"
    assert re.search(r"^  long .* -[\d,]+ h in all", out, re.M), "long jobs gain"
    assert re.search(r"^\d+ of 36 users wait less", out, re.M)


def test_synthetic_months(run: Run) -> None:
    out = run("synthetic_months.py")
    distances = re.findall(r"differs by (\S+)", out)
    assert len(distances) == 6
    assert all(float(distance) < 0.08 for distance in distances)
    months = re.findall(r"easy (\S+) h, conservative (\S+) h", out)
    wins = sum(float(easy) < float(conservative) for easy, conservative in months)
    assert len(months) == 5
    assert re.search(rf"easy waits less in {wins} of 5 months", out)


def test_edison_in_small(run: Run) -> None:
    out = run("edison.py", "--nodes", "60", "--days", "1")
    inside, hours = re.search(r"(\d+) of (\d+) hours between 3 and 5 h", out).groups()
    assert (inside, hours) == ("24", "24")
    ranges = re.findall(r"hourly median wait (\S+) to (\S+) h", out)
    assert len(ranges) == 3
    assert float(ranges[0][0]) >= 3.0
    assert float(ranges[0][1]) <= 5.0
    assert float(ranges[1][1]) > float(ranges[0][1])  # pilots hold what they do not use


def test_scenario(command: Command, tmp_path: Path) -> None:
    command("run", EXAMPLES / "scenario.yaml", "--output", tmp_path / "out").done()
    result = walltime.load(tmp_path / "out")
    assert result.jobs.height == 2000
    assert result.audit(promise=True) == []
    assert result.summary["clusters"] == {"small": 256}


def test_every_key_of_the_scenario_is_explained() -> None:
    keys = [line for line in (EXAMPLES / "scenario.yaml").read_text().splitlines() if re.match(r"\s*\w+:", line)]
    assert len(keys) > 20
    assert all(re.search(r"  # \w", line) for line in keys)


def test_the_policy_of_the_example_runs_from_the_command_line(command: Command, trace: Path) -> None:
    policy = EXAMPLES / "shortest_backfill.py"
    (trace.parent / policy.name).write_text(policy.read_text())
    done = command("run", trace, "--policy", "easy,shortest_backfill:ShortestBackfill").done()
    assert "shortest_backfill:ShortestBackfill" in done.out


def test_maintenance(run: Run) -> None:
    rows = [line.split() for line in run("maintenance.py").splitlines()[1:]]
    assert [row[0] for row in rows] == ["fcfs", "fcfs", "easy", "easy", "conservative", "conservative"]
    waits = [minutes(" ".join(row[2:4])) for row in rows]
    assert all(without < weekly for without, weekly in zip(waits[::2], waits[1::2], strict=True))
    assert waits[1] > 10 * waits[3], "without backfilling nobody uses the time before a window"
    assert all((row[-1] == "0") == (row[1] == "none") for row in rows)


def test_checkpoints(run: Run) -> None:
    out = run("checkpoints.py")
    found = {float(a): (float(b), float(c)) for a, b, c in re.findall(r"([\d.]+) h +([\d.]+)% +([\d.]+)%", out)}
    best = max(found, key=lambda interval: found[interval][0])
    daly = float(re.search(r"([\d.]+) h by Daly's", out)[1])
    assert 0.5 * daly < best < 2 * daly
    assert all(abs(simulated - formula) < 3 for simulated, formula in found.values())


def test_urgent_jobs(run: Run) -> None:
    out = run("urgent_jobs.py")
    found = re.findall(r"^(\S.*?)  +(\S+ \w+) +(\S+ \w+) +(\d+) +([\d,]+)$", out, re.M)
    urgent = {name: minutes(wait) for name, wait, *_ in found}
    lost = {name: int(hours.replace(",", "")) for name, *_, hours in found}
    assert list(urgent) == ["no preemption", "requeue", "requeue after 5 min", "suspend", "from checkpoints"]
    assert urgent["no preemption"] > 30
    assert max(urgent["requeue"], urgent["suspend"], urgent["from checkpoints"]) < 1
    assert urgent["requeue after 5 min"] < 6
    assert lost["suspend"] == lost["no preemption"] == 0 < lost["from checkpoints"] < lost["requeue"] / 5


def test_workflows(run: Run) -> None:
    """The shape of ScSF's Fig. 17: chained takes far longer than pilot and aware, which are close; pilots waste."""
    lines = [line.split() for line in run("workflows.py").splitlines()[1:]]
    assert len(lines) == 18
    turnaround = {(period, name, way): float(hours) for period, _, name, way, _, _, hours, _, _ in lines}
    idle = {(period, name, way): int(part.rstrip("%")) for period, _, name, way, *_, part in lines}
    for period, name in {key[:2] for key in turnaround}:
        single, multi, aware = (turnaround[period, name, way] for way in ("single", "multi", "manifest"))
        assert multi > 1.2 * aware
        assert multi > 1.2 * single
        assert abs(aware - single) < (multi - max(aware, single)) / 2
        assert idle[period, name, "single"] > 20
        assert idle[period, name, "multi"] == idle[period, name, "manifest"] == 0


def test_federation(run: Run) -> None:
    lines = {line[:22].strip(): line[22:].split() for line in run("federation.py").splitlines()[1:]}
    assert list(lines) == ["apart", "random", "least loaded", "earliest start", "held globally", "moving on"]
    waits = {way: minutes(" ".join(words[:2])) for way, words in lines.items()}
    assert waits["earliest start"] < waits["least loaded"] < waits["apart"]
    assert int(lines["moving on"][-1]) > 0
    assert int(lines["apart"][-1]) == 0


def test_workstations(run: Run) -> None:
    """The shape of the paper's Fig. 3: more tasks or jobs take longer, lock step longer than master and slaves."""
    lines = run("workstations.py").splitlines()[1:]
    found = [(re.split(r"  +", line)[0], [float(word) for word in line.split()[-4:]]) for line in lines]
    assert [name for name, _ in found] == ["master and slaves"] * 3 + ["lock step"] * 3
    for _, responses in found:
        assert responses == sorted(responses)
    for place in range(3):
        assert all(free < locked for free, locked in zip(found[place][1], found[3 + place][1], strict=True))
    for first in (0, 3):
        assert found[first][1] > found[first + 1][1] > found[first + 2][1]


def test_topologies(run: Run) -> None:
    """By hand: 50 steps of one second, and 12, 4 or 3 times 0.1 s for what the busiest link carries in each."""
    out = run("topologies.py")
    rows = re.finditer(r"^(.+?) +([\d.]+) +([\d.]+)$", out, re.M)
    times = {found[1].strip(): (float(found[2]), float(found[3])) for found in rows}
    assert times["shared"] == (110.0, 290.0)
    assert times["fat tree"] == (70.0, 70.0)
    assert times["star"] == (65.0, 65.0)


def table_of(out: str) -> dict[str, tuple[float, float]]:
    """A table of two columns by the names of its rows."""
    rows = re.finditer(r"^(\S.*?)  +([\d.]+) +([\d.]+)$", out, re.M)
    return {found[1]: (float(found[2]), float(found[3])) for found in rows}


def test_contention(run: Run) -> None:
    """By hand: 50 steps of one second, and 0.2 s for a node's two borders; across the thin link two borders of one job
    take 0.8 s, of two jobs 1.6 s."""
    assert table_of(run("contention.py")) == {"one switch": (60.0, 60.0), "half and half": (90.0, 130.0)}


def test_slow_disk(run: Run) -> None:
    """By hand: ten tasks of 2 s each, or of 11 s on the slow disk; one by one the slow worker takes three, and the last
    of them ends at 33 s. The master's second comes last."""
    assert table_of(run("slow_disk.py")) == {"beforehand": (21.0, 111.0), "one by one": (21.0, 34.0)}


def test_packing(run: Run) -> None:
    """A tenth of the published sweep: fairness costs use and time, and evens out the shares."""
    out = run("packing.py", "--part", "0.1", "0", "1")
    rows = {float(line.split()[0]): line.replace(",", "").split()[1:] for line in out.splitlines()[1:]}
    (cores, memory, makespan, spread), (fair_cores, fair_memory, fair_makespan, fair_spread) = (
        map(float, rows[fairness]) for fairness in (0.0, 1.0)
    )
    assert cores > fair_cores + 0.1
    assert memory > fair_memory + 0.1
    assert fair_makespan > 1.2 * makespan
    assert fair_spread < 0.6 * spread


def test_plans(run: Run) -> None:
    """One plan over all clusters uses them better, with less wait and slowdown; exact requests make plans that can be
    believed, users' do not; a plan that is improved for fairness is fairer."""
    out = run("plans.py")
    rows = {line[:24].strip(): line[24:].split() for line in out.splitlines()[1:6]}
    used, slowdown = ({name: float(row[k].rstrip("%")) for name, row in rows.items()} for k in (0, -1))
    for other in ("EASY", "conservative"):
        assert used["one plan, annealing"] > used[other]
        assert slowdown["one plan, annealing"] < 0.8 * slowdown[other]
    shares = {
        line[:32].strip(): [int(word.rstrip("%")) for word in line[32:].split()] for line in out.splitlines()[8:12]
    }
    assert shares["conservative, exact requests"] == [100, 100, 100, 100]
    assert shares["conservative, users' requests"][1] < 50
    spread = {line[:24].strip(): float(line.split()[-1]) for line in out.splitlines()[-4:]}
    assert spread["plan, for fairness"] < 0.7 * spread["plan"]
    assert spread["plan, for fairness"] < 0.7 * spread["EASY, fair share"]


def test_case_study_in_small(tmp_path: Path, warm: Warm, external) -> None:
    """Everything that the whole study does, on a small machine; and run again, it has nothing left to do."""
    external("workflows/montage.json")
    folder = tmp_path / "study"
    for _ in range(2):
        words = [str(EXAMPLES / "case_study/study.py"), str(folder), "--small", "--workers", "1"]
        code, out, err = warm.run(words, tmp_path, environment())
        assert code == 0, err
    counts = dict(re.findall(r"^(\w+): (\d+) runs are done, 0 failed$", out, re.M))
    assert counts == {"phases": "4", "set0": "6", "set1": "6", "set2": "6"}
    drawn = {"utilization.png", "waits.png", "wall-clock.png", "workflow-run-time.png"}
    assert {path.name for path in (folder / "figures").iterdir()} == drawn
    with walltime.Store(folder / "store") as store:
        assert verify(store) == []
        assert set(store.table("set1")["attempts"]) == {1}
        baseline = store.table("set1", {"period": "none"})
        assert baseline["run"].n_unique() == 1, "without workflows all ways are one run"
        pilots = store.table("set2", {"handling": "pilot", "share": "50%"})
        assert pilots["use.useful"][0] < pilots["use.utilization"][0] - 0.1, "pilots hold what they do not use"


def test_the_case_study_has_the_runs_of_the_paper(tmp_path: Path, external) -> None:
    """Every cell is checked, nothing is simulated."""
    external("workflows/montage.json")
    study = runpy.run_path(str(EXAMPLES / "case_study/study.py"))
    study["prepare"](tmp_path, False)
    for name, runs in (("set0", 324), ("set1", 648), ("set2", 756)):
        plan = plan_experiment(load_experiment(tmp_path / f"{name}.yaml"), deep=False)
        assert plan.runs == runs
        ways = {cell.labels["handling"] for cell in plan.cells}
        assert ways == {"pilot", "chained", "aware"}
