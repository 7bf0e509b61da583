"""squeue's output in its shapes, tables of standing jobs, and sshare's usage."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from walltime.cli.app import app
from walltime.core.errors import InputError
from walltime.workload.snapshot.files import read_snapshot, read_usage
from walltime.workload.snapshot.squeue import _resources
from walltime.workload.snapshot.system import read_time

YEAR = 365 * 86_400
BARS = """\
JOBID|STATE|USER|ACCOUNT|PARTITION|QOS|CPUS|NODES|TIME_LIMIT|SUBMIT_TIME|START_TIME|TIME|PRIORITY|REASON
101|RUNNING|ann|phys|long|normal|6|1|1-00:00:00|2026-11-14T20:00:00|2026-11-15T06:00:00|6:00:00|100|None
104_[1-3,7%2]|PENDING|ann|phys|long|normal|1|1|30:00|2026-11-15T11:59:00|N/A|0:00|80|Priority
105|PENDING|di|bio|long|normal|1|1|1:00:00|2026-11-15T11:59:00|N/A|0:00|80|JobHeldUser
106|COMPLETED|di|bio|long|normal|1|1|1:00:00|2026-11-15T11:59:00|N/A|0:00|80|None
"""
DEFAULT = """\
             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)
               103      long      sim       cy PD       0:00      2 (Resources)
               101      long      sim      ann  R    6:00:00      1 node7
"""


def write(tmp_path, text, name="squeue.txt"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_squeue_with_bars_is_read_in_full(tmp_path):
    found = read_snapshot(write(tmp_path, BARS), "Europe/Prague")
    first = found.jobs[0]
    assert (first.name, first.running, first.cores, first.limit) == ("101", True, 6, 86_400)
    assert first.start - first.submit == 10 * 3600
    assert first.start == read_time("2026-11-15T05:00:00")  # an hour less in UTC
    assert first.elapsed == 6 * 3600
    assert (first.user, first.account, first.queue, first.qos, first.priority) == ("ann", "phys", "long", "normal", 100)
    assert found.skipped == {"held": 1, "state completed": 1}


def test_a_pending_array_is_its_tasks(tmp_path):
    names = [job.name for job in read_snapshot(write(tmp_path, BARS)).jobs[1:]]
    assert names == ["104_1", "104_2", "104_3", "104_7"]


def test_squeue_as_it_comes_tells_less(tmp_path):
    waiting, running = read_snapshot(write(tmp_path, DEFAULT)).jobs
    assert (waiting.running, waiting.nodes, waiting.limit, waiting.submit) == (False, 2, None, None)
    assert (running.running, running.elapsed, running.start) == (True, 6 * 3600, None)


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("", "empty", None),
        ("a b c\n1 2 3\n", "JOBID", 1),
        ("JOBID USER\n1 ann\n", "no state", 1),
        (BARS.splitlines()[0] + "\n1|RUNNING\n", "fields", 2),
        (BARS.splitlines()[0] + "\n1|RUNNING|a|b|c|d|1|1|soon|N/A|N/A|z|1|None\n", "duration", 2),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(tmp_path, text, message, line):
    with pytest.raises(InputError, match=message) as caught:
        read_snapshot(write(tmp_path, text))
    assert caught.value.line == line


def test_a_table_of_jobs(tmp_path):
    text = "name,submit,started,requested_time,cores,user\na,0,100,3600,2,ann\nb,50,,60,1,\n"
    running, waiting = read_snapshot(write(tmp_path, text, "jobs.csv")).jobs
    assert (running.running, running.start, running.limit, running.user) == (True, 100.0, 3600, "ann")
    assert (waiting.running, waiting.start, waiting.submit, waiting.user) == (False, None, 50.0, None)


def test_usage_of_sshare(tmp_path):
    text = (
        "Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare|LevelFS\n"
        "root||||1000|||\n phys||1|0.5|900||| \n phys|ann|1|0.5|600|||\n phys|bo|1|0.5|300|||\n bio|cy|1|0.5|100|||\n"
    )
    assert read_usage(write(tmp_path, text)) == {"phys/ann": 600, "phys/bo": 300, "bio/cy": 100}
    with pytest.raises(InputError, match="sshare -a"):
        read_usage(write(tmp_path, "Account User\n"))


SSHARE = """\
             Account       User  RawShares  NormShares    RawUsage  EffectvUsage  FairShare
-------------------- ---------- ---------- ----------- ----------- ------------- ----------
root                                          0.000000        1000      1.000000
 phys                                    1    0.500000         900      0.900000
  phys                      ann          1    0.500000         600      0.666667   0.333333
  phys                       bo          1    0.500000         300      0.333333   0.666667
 bio                         cy          1    0.500000         100      0.100000   1.000000
"""


def test_usage_of_sshare_as_it_comes(tmp_path):
    assert read_usage(write(tmp_path, SSHARE)) == {"phys/ann": 600, "phys/bo": 300, "bio/cy": 100}
    with pytest.raises(InputError, match="cut off") as caught:
        read_usage(write(tmp_path, SSHARE.replace("  phys                      ann", "  phys               annabel+")))
    assert caught.value.line == 4


LONG = """\
Sun Nov 15 12:00:00 2026
             JOBID PARTITION     NAME     USER    STATE       TIME TIME_LIMI  NODES NODELIST(REASON)
          12_[3-5]      long my  job       cy  PENDING       0:00   2:00:00      2 (ReqNodeNotAvail, Unavailable:n7)
               101      long      sim      ann  RUNNING 1-06:00:00 2-00:00:00      1 node7
               102      long   a b c        di  RUNNING    INVALID UNLIMITED      4 node[1-4]
               103      long      sim       di COMPLETI      10:00     30:00      1 node9
"""
COLUMNS = """\
JOBID               USER                STATE               TIME_LIMIT          CPUS                SUBMIT_TIME
7                   ann                 PENDING             1-12:00:00          1K                  2026-11-15T10:00:00
8_4                 bo                  CONFIGURING         45:00               2-4                 2026-11-15T10:00:00
"""
PENDING = """\
JOBID|STATE|USER|PARTITION|CPUS|TIME_LIMIT|SUBMIT_TIME|START_TIME|REASON
1|PENDING|a|p|1|1:00:00|2026-11-15T10:00:00|N/A|Resources
2|PENDING|a|p|1|1:00:00|2026-11-15T10:00:00|2026-11-16T10:00:00|BeginTime
3|PENDING|a|p|1|1:00:00|2026-11-15T10:00:00|N/A|BeginTime
4|PENDING|a|p|1|1:00:00|2026-11-15T10:00:00|N/A|Dependency
5|PENDING|a|p|1|1:00:00|2026-11-15T10:00:00|N/A|DependencyNeverSatisfied
6|PENDING|a|p|1|1:00:00|2026-11-15T10:00:00|N/A|(launch failed requeued held)
7|PENDING|a|p|1|1:00:00|2026-11-15T10:00:00|N/A|JobHoldMaxRequeue
8|PENDING|a|p|1|1:00:00|2026-11-15T10:00:00|N/A|AssocGrpCpuLimit
9|PENDING|a|p|1|1:00:00|2026-11-15T10:00:00|N/A|QOSMaxJobsPerUserLimit
10|PENDING|a|p|1|1:00:00|2026-11-15T10:00:00|N/A|BadConstraints
11_[5-6%2]|PENDING|a|p|1|1:00:00|2026-11-15T10:00:00|N/A|JobArrayTaskLimit
11_3|RUNNING|a|p|1|1:00:00|2026-11-15T10:00:00|2026-11-15T11:00:00|None
12|REQUEUE_HOLD|a|p|1|1:00:00|2026-11-15T10:00:00|N/A|None
"""


def test_squeue_with_l_has_a_date_a_cut_heading_and_names_of_several_words(tmp_path):
    found = read_snapshot(write(tmp_path, LONG))
    told = [(job.name, job.running, job.limit, job.elapsed, job.nodes, job.user) for job in found.jobs]
    assert told[:3] == [(f"12_{task}", False, 7200, None, 2, "cy") for task in (3, 4, 5)]
    assert told[3:] == [
        ("101", True, 172_800, 108_000, 1, "ann"),
        ("102", True, YEAR, None, 4, "di"),  # UNLIMITED
        ("103", True, 1800, 600, 1, "di"),  # COMPLETING, which -l cuts off
    ]


def test_squeue_with_columns_of_its_own(tmp_path):
    first, second = read_snapshot(write(tmp_path, COLUMNS)).jobs
    assert (first.name, first.running, first.limit, first.cores) == ("7", False, 129_600, 1024)
    assert (second.name, second.running, second.limit, second.cores) == ("8_4", True, 2700, 2)


def test_whoever_waits_for_a_person_or_for_others_is_left_out_by_the_reason(tmp_path):
    found = read_snapshot(write(tmp_path, PENDING))
    assert [job.name for job in found.jobs] == ["1", "2", "8", "9", "11_5", "11_6", "11_3"]
    assert found.skipped == {
        "waiting for a begin time that is not told": 1,
        "waiting for other jobs": 2,
        "held": 2,
        "can never start": 1,
        "state requeue_hold": 1,
    }
    assert found.jobs[1].begin == read_time("2026-11-16T10:00:00")
    assert [job.array for job in found.jobs[-3:]] == ["11%2"] * 3  # the one that runs counts for the limit


@pytest.mark.parametrize("cut", ["12_[1-9,11,13,...]", "1234567_[1,3,5,7,"])
def test_a_list_of_tasks_that_was_cut_off_is_told(tmp_path, cut):
    with pytest.raises(InputError, match="cut off") as caught:
        read_snapshot(write(tmp_path, PENDING.replace("11_[5-6%2]", cut)))
    assert caught.value.line == 12


def test_waiting_parts_of_a_heterogeneous_job_are_one_job(tmp_path):
    line = "{}|{}|di|bio|{}|normal|{}|{}|{}|2026-11-15T11:59:00|N/A|0:00|80|None\n"
    rows = [
        *(("7+0", "PENDING", "long", 4, 2, "1:00:00"), ("7+1", "PENDING", "long", 2, 1, "2:00:00")),
        *(("9+0", "RUNNING", "long", 4, 2, "1:00:00"), ("9+1", "RUNNING", "long", 8, 1, "1:00:00")),
        *(("11+0", "PENDING", "long", 4, 2, "1:00:00"), ("11+1", "PENDING", "long", 8, 1, "1:00:00")),
        *(("13+0", "PENDING", "long", 4, 2, "1:00:00"), ("13+1", "PENDING", "short", 4, 2, "1:00:00")),
    ]
    found = read_snapshot(write(tmp_path, BARS.splitlines()[0] + "\n" + "".join(line.format(*row) for row in rows)))
    told = [(job.name, job.cores, job.nodes, job.limit) for job in found.jobs]
    assert told == [("7", 6, 3, 7200), ("9+0", 4, 2, 3600), ("9+1", 8, 1, 3600)]
    assert found.skipped == {"heterogeneous, with parts that differ": 2}


def test_squeue_as_json(tmp_path):
    def number(value, *, infinite=False):
        return {"set": True, "infinite": infinite, "number": value}

    newer = {
        "job_id": 11,
        "job_state": ["RUNNING"],
        "time_limit": number(90),
        "array_job_id": number(0),
        "array_task_id": {"set": False, "infinite": False, "number": 0},
        "array_task_string": "",
        "state_reason": "None",
        "cpus": number(6),
        "node_count": number(1),
        "nodes": "c[002-003]",
        "priority": number(100),
        "submit_time": number(1_763_000_000),
        "start_time": number(1_763_003_600),
        "user_name": "ann",
        "account": "phys",
        "partition": "long",
        "qos": "normal",
    }
    array = newer | {
        "job_state": ["PENDING"],
        "array_job_id": number(20),
        "array_task_string": "1-2%1",
        "start_time": number(0),
        "time_limit": number(0, infinite=True),
    }
    older = {"job_id": 12, "job_state": "PENDING", "time_limit": 30, "cpus": 2, "submit_time": 1_763_000_000}
    text = json.dumps({"jobs": [newer, array, older], "meta": {}})
    first, *tasks, last = read_snapshot(write(tmp_path, text, "squeue.json")).jobs
    assert (first.name, first.running, first.cores, first.limit, first.user) == ("11", True, 6, 5400, "ann")
    assert first.start - first.submit == 3600
    assert first.nodelist == "c[002-003]"
    assert [(job.name, job.limit, job.start, job.array) for job in tasks] == [
        ("20_1", YEAR, None, "20%1"),
        ("20_2", YEAR, None, "20%1"),
    ]
    assert (last.name, last.running, last.cores, last.limit, last.user) == ("12", False, 2, 1800, None)
    with pytest.raises(InputError, match="squeue --json"):
        read_snapshot(write(tmp_path, '{"jobs": [{}]}'))


RESOURCES = """JOBID|STATE|USER|CPUS|NODES|TIME_LIMIT|START_TIME|TRES_PER_NODE|MIN_MEMORY|FEATURES|LICENSES
1|RUNNING|ann|8|2|1:00:00|2026-11-15T11:30:00|gres:gpu:a100:4|64G|icelake|(null)
2|RUNNING|bo|4|1|1:00:00|2026-11-15T11:30:00|N/A|4000M|(null)|matlab:2
3|RUNNING|cy|4|1|1:00:00|2026-11-15T11:30:00|gpu:2|0|(null)|(null)
"""


def test_resources_are_those_that_squeue_tells(tmp_path):
    (tmp_path / "squeue.txt").write_text(RESOURCES)
    first, second, third = read_snapshot(tmp_path / "squeue.txt", None).jobs
    assert (first.gpus_per_node, first.memory_per_node, first.constraint, first.licences) == (
        4,
        64 << 30,
        "icelake",
        None,
    )
    assert (second.gpus_per_node, second.memory_per_node, second.licences) == (None, 4000 << 20, "matlab:2")
    assert (third.gpus_per_node, third.memory_per_node) == (2, None)


def test_resources_of_json_are_those_of_the_whole_job(tmp_path):
    job = {"job_id": 1, "job_state": "RUNNING", "cpus": 8, "node_count": 2, "time_limit": 60, "start_time": 1}
    job["tres_alloc_str"] = "cpu=8,mem=62.50G,node=2,billing=8,gres/gpu=8,gres/gpu:a100=8"
    (tmp_path / "squeue.json").write_text(json.dumps({"jobs": [job]}))
    (one,) = read_snapshot(tmp_path / "squeue.json", None).jobs
    assert (one.gpus, one.memory, one.gpus_per_node) == (8, round(62.5 * (1 << 30)), None)


def test_a_run_tells_which_jobs_of_the_snapshot_it_leaves_out(tmp_path):
    lines = ["JOBID|PARTITION|ST|SUBMIT_TIME|START_TIME|TIME_LIMIT|CPUS|NODES"]
    lines += [f"12+{place}|{queue}|PD|2024-03-01T11:00:00|N/A|1:00:00|4|1" for place, queue in enumerate("ab")]
    lines += ["13|a|R|2024-03-01T11:00:00|2024-03-01T11:30:00|2:00:00|4|1"]
    (tmp_path / "q.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "log.csv").write_text("submit,run_time,cores\n0,5,1\n")
    start = "start: {time: '2024-03-01T12:00:00', timezone: UTC, jobs: q.txt}"
    (tmp_path / "s.yaml").write_text(f"workload: log.csv\ncluster: {{cores: 8}}\n{start}\n")
    told = CliRunner().invoke(app, ["run", str(tmp_path / "s.yaml")], catch_exceptions=False)
    assert "Skipped: 1 job of the snapshot (1 heterogeneous, with parts that differ)." in told.output


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        ({"tres_node": "gres/gpu:a100:2,gres/gpu:v100:1"}, {"gpus_per_node": 3}),
        ({"tres_node": "gres:gpu"}, {"gpus_per_node": 1}),
        ({"tres_node": "gpu:tesla:4(S:0-1)"}, {"gpus_per_node": 4}),
        ({"tres_node": "gres:gpumem:80G"}, {}),
        ({"tres": "cpu=4,gres/gpu:a100=2,gres/gpu:v100=1"}, {"gpus": 3}),
        ({"tres": "cpu=4,gres/gpu=3,gres/gpu:a100=2"}, {"gpus": 3}),
        ({"tres": "cpu=4,license/matlab=2,license/ansys@srv=1"}, {"licences": "matlab:2,ansys_srv:1"}),
        ({"tres": "cpu=4,license/matlab=2", "licences": "matlab:3"}, {"licences": "matlab:3"}),
    ],
)
def test_gpus_of_several_types_and_licences_of_tres(told, wanted):
    """Of two types the first alone was counted, and of TRES with types only none."""
    assert _resources(told) == wanted
