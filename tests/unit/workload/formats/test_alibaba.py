"""Alibaba's trace of 2018: tasks, instances and containers in their published columns."""

import pytest

from walltime.core.errors import InputError
from walltime.workload.formats import blocks as blocks_module
from walltime.workload.formats import find_format, read, read_batches

TASKS = [
    "M1,2,j_1,1,Terminated,100,150,50,0.5",
    "R2_1,1,j_1,1,Terminated,20,30,200,1.25",
    "task_x,3,j_2,2,Running,10,0,100,1",
    "M3,1,j_3,1,Failed,30,30,100,1",
    "M4,1,j_3,1,Terminated,30,40,,1",
]
INSTANCES = [
    "ins_1,M1,j_1,1,Terminated,100,150,m_1,1,2,20,50.5,0.2,0.5",
    "ins_2,M1,j_1,1,Terminated,90,150,m_2,2,2,20,100,0.2,",
]
CONTAINERS = [
    "c_1,m_1,10,app_1,started,400,800,1.56",
    "c_2,m_1,0,app_2,started,100,800,3.13",
    "c_1,m_1,30,app_1,stopped,400,800,1.56",
    "c_2,m_1,50,app_2,started,100,800,3.13",
    "c_3,m_1,50,app_2,started,100,800,3.13",
]


def write(tmp_path, rows, name):
    (tmp_path / name).write_text("\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path / name


def told(jobs):
    return list(zip(*(jobs.column(name) for name in ("submit", "run_time", "cores", "memory")), strict=True))


def test_a_task_is_as_many_jobs_as_it_has_instances(tmp_path):
    path = write(tmp_path, TASKS, "batch_task.csv")
    jobs = read(path)
    one, two = (20_000_000, 10_000_000, 200, 12_500), (100_000_000, 50_000_000, 50, 5_000)
    assert find_format(path) == "alibaba"
    assert told(jobs) == [one, two, two]
    skipped = {"not ended within the trace": 1, "run time unknown or zero": 1, "request unknown": 1}
    assert jobs.notes["skipped"] == skipped
    assert told(read(path, host="96x1000")) == [(*one[:2], 2, 13), (*two[:2], 1, 5), (*two[:2], 1, 5)]


def test_an_instance_asks_for_the_most_that_it_used(tmp_path):
    expected = [(90_000_000, 60_000_000, 100, -1), (100_000_000, 50_000_000, 51, 5_000)]
    assert told(read(write(tmp_path, INSTANCES, "batch_instance.csv"))) == expected
    assert told(read(write(tmp_path, INSTANCES, "other.csv"))) == expected  # its columns tell what it is


def test_a_stream_is_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks_module, "BLOCK", 40)
    path = write(tmp_path, TASKS, "batch_task.csv")
    whole = read(path)
    batches = list(read_batches(path, 2))
    assert [job for batch in batches for job in told(batch)] == told(whole)
    assert [len(batch) for batch in batches] == [3]  # jobs of one submission are not divided


def test_a_container_runs_from_its_first_record_to_the_one_that_says_it_stopped(tmp_path):
    jobs = read(write(tmp_path, CONTAINERS, "container_meta.csv"))
    assert told(jobs) == [(0, 50_000_000, 100, 31_300), (10_000_000, 20_000_000, 400, 15_600)]
    assert jobs.column("name") == ["c_2", "c_1"]
    assert jobs.notes["skipped"] == {"run time unknown or zero": 1}


def test_a_header_may_stand_above(tmp_path):
    head = "task_name,instance_num,job_name,task_type,status,start_time,end_time,plan_cpu,plan_mem"
    assert len(read(write(tmp_path, [head, *TASKS], "batch_task.csv"))) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("M1,x,j_1,1,Terminated,100,150,50,0.5", "instance_num is not a whole number: 'x'"),
        ("M1,99999999,j_1,1,Terminated,100,150,50,0.5", "a task has 0 to 1,000,000 instances"),
        ("M1,1,j_1,1,Terminated,soon,150,50,0.5", "start_time is not a number: 'soon'"),
        ("M1,1,j_1,1,Terminated,1,150,50", "fields"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path, text, words):
    with pytest.raises(InputError, match=words) as caught:
        read(write(tmp_path, [TASKS[0], text], "batch_task.csv"))
    assert caught.value.line == 2


def test_another_table_is_none_of_them(tmp_path):
    with pytest.raises(InputError, match="none of the tables of Alibaba's trace"):
        read(write(tmp_path, ["a,b", "1,2"], "x.csv"), format="alibaba")
