"""Accounting records of Torque and PBS, and tables with a map of columns."""

import pytest

from walltime.core.errors import InputError
from walltime.workload.formats import read
from walltime.workload.formats.mapped import parse_map, read_mapped

SECOND = 1_000_000
END = (
    "03/01/2024 10:20:00;E;{job};user=ann group=phys account=p1 jobname=x queue=batch ctime=1709287200 "
    "qtime=1709287200 etime=1709287200 start=1709287260 owner=ann@h exec_host={hosts} Resource_List.nodes={nodes} "
    "Resource_List.walltime=01:00:00 Resource_List.mem=4gb session=1 end=1709287860 Exit_status=0 "
    "resources_used.walltime={used}"
)


def record(job="12.server", hosts="n1/0+n1/1+n2/0+n2/1", nodes="2:ppn=2", used="00:10:00"):
    return END.format(job=job, hosts=hosts, nodes=nodes, used=used)


def test_an_end_record(tmp_path):
    path = tmp_path / "20240301"
    path.write_text(record() + "\n")
    jobs = read(path)
    row = {name: int(jobs.column(name)[0]) for name in ("job_id", "cores", "nodes", "memory", "run_time")}
    assert row == {"job_id": 12, "cores": 4, "nodes": 2, "memory": 4 << 30, "run_time": 600 * SECOND}
    assert jobs.column("recorded_wait")[0] == 60 * SECOND
    assert jobs.column("requested_time")[0] == 3600 * SECOND
    assert jobs.origin.epoch + jobs.column("submit")[0] / SECOND == 1709287200
    assert jobs.label_names("account") == ["p1"]


@pytest.mark.parametrize(
    ("hosts", "nodes", "cores", "gpus"),
    [
        ("n1/0-7+n2/0-7", "2:ppn=8", 16, 0),
        ("n1/0*4+n2/0*4", "2:ncpus=4:ngpus=1", 8, 2),
        ("n1/0,2,4-6", "1:ppn=5:gpus=2", 5, 2),
        ("", "3:ppn=4+1:ppn=2", 14, 0),
    ],
)
def test_sizes(tmp_path, hosts, nodes, cores, gpus):
    path = tmp_path / "20240301"
    path.write_text(record(hosts=hosts, nodes=nodes) + "\n")
    jobs = read(path)
    assert jobs.column("cores")[0] == cores
    assert jobs.column("gpus")[0] == gpus


@pytest.mark.parametrize(
    ("hosts", "nodes", "parts"),
    [
        ("n1/0-7+n2/0", "1:ppn=8+1:ppn=1", ["1x8+1x1"]),
        ("n1/0*8+n2/0*2", "1:ncpus=8:ngpus=2+1:ncpus=2", ["1x8,gpus=2+1x2,gpus=0"]),
        ("n1/0*4+n2/0*4", "1:ppn=4+1:ppn=4", []),
        ("n1/0*4", "1:ppn=8+1:ppn=1", []),  # it held other cores than it asked for
    ],
)
def test_nodes_that_differ(tmp_path, hosts, nodes, parts):
    path = tmp_path / "20240301"
    path.write_text(record(hosts=hosts, nodes=nodes) + "\n")
    assert read(path).label_names("parts") == parts


def test_a_folder_of_days_and_what_is_dropped(tmp_path):
    (tmp_path / "20240301").write_text(
        "03/01/2024 10:00:00;Q;1.server;queue=batch\n" + record("1.server") + "\nnot a record\n"
        "03/01/2024 10:00:00;D;3.server;requestor=ann@h\n" + record("9[4].server") + "\n"
    )
    (tmp_path / "20240302").write_text(record("2.server", used="00:00:00") + "\n" + record("x.server") + "\n")
    jobs = read(tmp_path)
    assert jobs.column("job_id").tolist() == [1, 9]
    assert jobs.column("name") == ["", "9[4]"]
    assert jobs.notes["skipped"] == {
        "run time unknown or zero": 1,
        "malformed line": 2,
        "deleted or aborted without an end record": 1,
    }
    assert jobs.notes["problems"][0].startswith(f"{tmp_path / '20240301'}:3: not an accounting record")
    assert {reason: times.tolist() for reason, times in jobs.skipped_at.items()} == {
        "run time unknown or zero": [jobs.column("submit")[0]],
        "malformed line": [-1, -1],
        "deleted or aborted without an end record": [-1],
    }


def test_nothing_to_read(tmp_path):
    (tmp_path / "20240301").write_text("03/01/2024 10:00:00;Q;1.server;queue=batch\n")
    with pytest.raises(InputError, match="no record of a job's end"):
        read(tmp_path / "20240301")


CSV = """id,who,sub,beg,fin,mins,ram,cpus,extra
5,ann,2024-03-01T12:00:00,2024-03-01T12:01:00,2024-03-01T12:11:00,60,4,8,x
6,bo,2024-03-01T13:00:00,2024-03-01T13:00:00,2024-03-01T14:00:00,120,8,16,y
7,bo,2024-03-01T13:00:00,,,120,8,16,y
"""


def test_a_table_with_other_names(tmp_path):
    path = tmp_path / "site.csv"
    path.write_text(CSV)
    columns = parse_map(
        ["job_id=id", "user=who", "submit=sub", "start=beg", "end=fin", "requested_time=mins:min", "memory=ram:gb",
         "cores=cpus"]
    )  # fmt: skip
    jobs = read(path, columns=columns, timezone="Europe/Berlin")
    assert jobs.column("job_id").tolist() == [5, 6]
    assert jobs.column("run_time").tolist() == [600 * SECOND, 3600 * SECOND]
    assert jobs.column("recorded_wait").tolist() == [60 * SECOND, 0]
    assert jobs.column("requested_time").tolist() == [3600 * SECOND, 7200 * SECOND]
    assert jobs.column("memory").tolist() == [4 << 30, 8 << 30]
    assert jobs.column("submit")[0] == 12 * 3600 * SECOND
    assert jobs.notes["skipped"] == {"run time unknown or zero": 1}
    assert jobs.label_names("user") == ["ann", "bo"]


def test_lengths_of_time_as_texts_and_our_own_names(tmp_path):
    path = tmp_path / "site.csv"
    path.write_text("submit,wall,cores\n0,1-00:00:10,4\n5,00:02:00,2\n")
    jobs = read_mapped(path, {"run_time": "wall"})
    assert jobs.column("run_time").tolist() == [86_410 * SECOND, 120 * SECOND]
    assert jobs.column("cores").tolist() == [4, 2]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (["submit=nope"], "no such column"),
        (["sumbit=sub"], "did you mean 'submit'"),
        (["submit=sub", "run_time=mins:fortnight"], "unit"),
        (["submit=sub"], "start and end"),
        (["run_time=mins:min"], "submissions"),
        (["submit=sub", "run_time=who"], "row 1: column who is not a number"),
        (["submit"], "OURS=THEIRS"),
    ],
)
def test_wrong_maps_are_told(tmp_path, columns, words):
    path = tmp_path / "site.csv"
    path.write_text(CSV)
    with pytest.raises(InputError, match=words):
        read(path, columns=parse_map(columns))
