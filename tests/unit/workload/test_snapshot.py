"""squeue's output in its shapes, tables of standing jobs, and sshare's usage."""

from __future__ import annotations

import pytest

from walltime.core.errors import InputError
from walltime.workload.snapshot import read_snapshot, read_time, read_usage

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
        (BARS.splitlines()[0] + "\n1|RUNNING\n", "fields", 2),
        (BARS.splitlines()[0] + "\n1|RUNNING|a|b|c|d|1|1|soon|x|y|z|1|None\n", "duration", 2),
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
    with pytest.raises(InputError, match="sshare -P"):
        read_usage(write(tmp_path, "Account User\n"))
