"""Slurm's accounting: every notation that sites really have, read by hand-made lines."""

import datetime
import gzip
import random
import zoneinfo

import numpy as np
import pytest

from walltime import simulate
from walltime.core.errors import InputError, UnsupportedError
from walltime.workload.describe import describe
from walltime.workload.formats import find_format, read, read_batches
from walltime.workload.formats.sacct.fields import count_gpus
from walltime.workload.formats.sacct.reader import read_sacct
from walltime.workload.requests import fill_requests

HEADER = "JobID|User|Submit|Start|End|Elapsed|Timelimit|State|AllocCPUS|ReqCPUS|NNodes|ReqMem"
SECOND = 1_000_000


def log(tmp_path, *lines, header=HEADER, name="log.sacct"):
    path = tmp_path / name
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


def job(number=1, **changes):
    fields = {
        "JobID": str(number),
        "User": "ann",
        "Submit": "2024-03-01T12:00:00",
        "Start": "2024-03-01T12:00:30",
        "End": "2024-03-01T12:10:30",
        "Elapsed": "00:10:00",
        "Timelimit": "01:00:00",
        "State": "COMPLETED",
        "AllocCPUS": "8",
        "ReqCPUS": "6",
        "NNodes": "2",
        "ReqMem": "4G",
    }
    return "|".join({**fields, **changes}.values())


def one(tmp_path, **changes):
    return read_sacct(log(tmp_path, job(**changes)))


def test_a_plain_job(tmp_path):
    jobs = read(log(tmp_path, job(17)))
    values = {name: jobs.column(name)[0] for name in ("job_id", "cores", "nodes", "memory")}
    assert values == {"job_id": 17, "cores": 8, "nodes": 2, "memory": 4 << 30}
    assert jobs.column("submit")[0] == 12 * 3600 * SECOND
    assert jobs.column("run_time")[0] == 600 * SECOND
    assert jobs.column("requested_time")[0] == 3600 * SECOND
    assert jobs.column("recorded_wait")[0] == 30 * SECOND
    assert jobs.label_names("user") == ["ann"]
    assert jobs.origin.epoch == datetime.datetime(2024, 3, 1, tzinfo=datetime.UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [
        ("4000Mn", 2 * 4000 << 20),
        ("2Gc", 8 * 2 << 30),
        ("16G", 16 << 30),
        ("1.5T", 3 << 39),
        ("512K", 512 << 10),
        ("2048", 2 << 30),
        ("0n", -1),
        ("", -1),
        ("?", -1),
    ],
)
def test_memory(tmp_path, text, bytes_):
    assert one(tmp_path, ReqMem=text).column("memory")[0] == bytes_


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1-02:03:04", 93784),
        ("00:00:07", 7),
        ("10:30", 630),
        ("3-00:00:00", 259_200),
        ("00:01:30.250", 90),
        ("100:00:00", 360_000),
    ],
)
def test_lengths_of_time(tmp_path, text, seconds):
    assert one(tmp_path, Elapsed=text).column("run_time")[0] == seconds * SECOND
    assert one(tmp_path, Timelimit=text).column("requested_time")[0] == seconds * SECOND


@pytest.mark.parametrize("text", ["Partition_Limit", ""])
def test_no_time_limit(tmp_path, text):
    jobs = one(tmp_path, Timelimit=text)
    assert not jobs.has("requested_time")
    assert jobs.notes["missing_request"] == 1


@pytest.mark.parametrize("name", ["Timelimit", "TimelimitRaw"])
def test_unlimited_is_a_request_that_ends_no_job(tmp_path, name):
    header = HEADER.replace("Timelimit", name)
    lines = [
        job(1, Timelimit="UNLIMITED"),
        job(2, Timelimit="UNLIMITED", Elapsed="400-00:00:00"),
        job(3, Timelimit="UNLIMITED", State="CANCELLED by 7", Elapsed="00:00:00"),
        job(4, Timelimit="Partition_Limit"),
    ]
    jobs = read_sacct(log(tmp_path, *lines, header=header))
    day = 86_400 * SECOND
    assert jobs.column("requested_time").tolist() == [365 * day, 400 * day, 365 * day, -1]
    # The queue's default is for the job that says nothing; the others run to their ends.
    queues = {"all": {"default": True, "default_time": 60}}
    result = simulate({"workload": {"trace": str(tmp_path / "log.sacct")}, "cluster": {"cores": 100, "queues": queues}})
    assert result.jobs["state"].to_list() == ["completed", "completed", "cancelled", "timeout"]
    assert result.jobs["requested_time"].to_list()[3] == 60


def test_unlimited_jobs_teach_nothing_about_other_requests(tmp_path):
    jobs = read_sacct(log(tmp_path, job(1, Timelimit="UNLIMITED"), job(2), job(3, Timelimit="")))
    assert fill_requests(jobs, "max")[0].column("requested_time")[2] == 3600 * SECOND
    assert fill_requests(jobs, "model")[0].column("requested_time")[2] == 3600 * SECOND


PARTS = "JobID|JobIDRaw|Partition|Submit|Start|End|Elapsed|Timelimit|State|AllocCPUS|NNodes|ReqMem"


def part(name, raw, queue="cpu", cores=32, nodes=2, memory="4Gn", elapsed="00:10:00", limit="01:00:00"):
    times = "2024-03-01T12:00:00|2024-03-01T12:01:00|2024-03-01T12:11:00"
    return f"{name}|{raw}|{queue}|{times}|{elapsed}|{limit}|COMPLETED|{cores}|{nodes}|{memory}"


def test_parts_of_a_heterogeneous_job_are_one_job(tmp_path):
    lines = [
        part("12+0", 12),
        part("12+0.batch", "12.batch"),
        part("12+1", 13, cores=48, nodes=3, elapsed="00:20:00", limit="02:00:00"),
        part("14", 14, cores=1, nodes=1),
    ]
    jobs = read_sacct(log(tmp_path, *lines, header=PARTS))
    assert jobs.column("job_id").tolist() == [12, 14]
    assert jobs.column("name") == ["", ""]
    assert (jobs.column("cores")[0], jobs.column("nodes")[0], jobs.column("memory")[0]) == (80, 5, 20 << 30)
    assert jobs.column("run_time")[0] == 1200 * SECOND
    assert jobs.column("requested_time")[0] == 7200 * SECOND
    assert not jobs.has("parts")  # five nodes of 16 cores: a request like any other
    assert jobs.notes["heterogeneous"] == 1


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ({"cores": 4, "nodes": 2}, "2x16,memory=8589934592@cpu+2x2,memory=8589934592@cpu"),
        ({"queue": "gpu"}, "2x16,memory=8589934592@cpu+2x16,memory=8589934592@gpu"),
        ({"memory": "8Gn"}, "2x16,memory=8589934592@cpu+2x16,memory=17179869184@cpu"),
    ],
)
def test_parts_that_differ_have_nodes_that_differ(tmp_path, second, told):
    path = log(tmp_path, part("12+0", 12), part("12+1", 13, **second), header=PARTS)
    jobs = read_sacct(path)
    assert jobs.label_names("parts") == [told]
    assert len(jobs) == 1
    pool = simulate({"workload": {"trace": str(path)}, "cluster": {"cores": 100}})
    assert pool.jobs["state"].to_list() == ["completed"]
    nodes = [{"count": 8, "cores": 16, "memory": "64G"}]
    result = simulate({"workload": {"trace": str(path)}, "cluster": {"nodes": nodes}})
    assert result.allocations["nodes"].to_list() == ["0-1:16,2-3:2" if "cores" in second else "0-3:16"]
    assert result.audit() == []


def test_a_pool_with_queues_refuses_parts_in_different_ones(tmp_path):
    path = log(tmp_path, part("12+0", 12), part("12+1", 13, queue="gpu"), header=PARTS)
    queues = {"cpu": {}, "gpu": {}}
    with pytest.raises(UnsupportedError, match="heterogeneous"):
        simulate({"workload": {"trace": str(path)}, "cluster": {"cores": 100, "queues": queues}})


def test_parts_in_different_batches_are_still_one_job(tmp_path):
    lines = [part(f"{number}+{place}", number + place) for number in (10, 20, 30) for place in (0, 1, 2)]
    path = log(tmp_path, *lines, header=PARTS)
    for size in range(1, 10):
        batches = list(read_batches(path, size))
        assert [int(job) for batch in batches for job in batch.column("job_id")] == [10, 20, 30]
        assert {int(cores) for batch in batches for cores in batch.column("cores")} == {96}
        assert sum(batch.notes["heterogeneous"] for batch in batches) == 3


def test_raw_columns_and_tres(tmp_path):
    header = "AllocTRES|State|ElapsedRaw|TimelimitRaw|JobIDRaw|JobID|Submit|ReqTRES|Account|QOS|Partition|Group"
    lines = [
        "billing=4,cpu=4,gres/gpu=2,gres/gpu:a100=2,mem=16G,node=1|COMPLETED|90|5|77|70_3|1709294400||phys|high|gpu|g",
        "cpu=6,gres/gpu:a100=2,gres/gpu:v100=1,mem=500M|FAILED|90|5|78|70_4|1709294400||phys|high|gpu|g",
        "|CANCELLED by 1000|0|5|79|71|1709294400|cpu=9,mem=1G|phys|high|gpu|g",
        "|CANCELLED|0|5|80|72|1709294400|cpu=9,mem=1G|phys|high|gpu|g",
    ]
    jobs = read_sacct(log(tmp_path, *lines[:2], header=header))
    assert jobs.column("job_id").tolist() == [77, 78]
    assert jobs.column("name") == ["70_3", "70_4"]
    assert jobs.column("cores").tolist() == [4, 6]
    assert jobs.column("gpus").tolist() == [2, 3]
    assert jobs.column("memory").tolist() == [16 << 30, 500 << 20]
    assert jobs.column("requested_time").tolist() == [300 * SECOND] * 2
    assert [jobs.label_names(name) for name in ("account", "qos", "queue", "group")] == [
        ["phys"],
        ["high"],
        ["gpu"],
        ["g"],
    ]
    dropped = read_sacct(log(tmp_path, *lines, header=header)).notes["skipped"]
    assert dropped == {"cancelled before its start, without a time limit or an end": 2}  # there is no End


def test_licences_are_read_from_tres(tmp_path):
    header = "JobID|Submit|Elapsed|NCPUS|NNodes|State|ReqTRES|AllocTRES"
    rest = "2024-03-01T09:00:00|01:00:00|4|1|COMPLETED"
    lines = [
        f"1|{rest}|cpu=4,license/matlab=1|billing=4,cpu=4,license/matlab=2,license/ansys@srv=1,node=1",
        f"2|{rest}|cpu=4,license/matlab=2|",
        f"3|{rest}|cpu=4|cpu=4,node=1",
        f"5|{rest}|license/=2,license/x=,license/y=a,license/z=99999999999999999999|",
        f"4+0|{rest}|cpu=4,license/matlab=2|",
        f"4+1|{rest}|cpu=4,license/idl=1,license/matlab=1|",
    ]
    jobs = read_sacct(log(tmp_path, *lines, header=header))
    names = [*jobs.label_names("licences"), None]
    assert [names[code] for code in jobs.column("licences")] == [
        "matlab:2,ansys_srv:1", "matlab:2", None, None, "matlab:3,idl:1"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "count"),
    [(b"gpu:2", 2), (b"gpu:tesla:4(S:0-1)", 4), (b"gres:gpu:3", 3), (b"gpu", 1), (b"craynetwork:1", 0)],
)
def test_older_gpu_texts(text, count):
    assert count_gpus(text) == count


def test_steps_are_passed_over_and_states_sorted_out(tmp_path):
    jobs = read_sacct(
        log(
            tmp_path,
            job(1),
            job("1.batch"),
            job("1.extern"),
            job("1.0"),
            job(2, State="RUNNING"),
            job(3, State="PENDING", Start="Unknown"),
            job(4, State="REQUEUED"),
            job(5, State="CANCELLED by 1001", Start="None", Elapsed="00:00:00"),
            job(6, State="CANCELLED", Elapsed="00:05:00"),
            job(7, State="COMPLETED", Elapsed="00:00:00"),
            job(8, AllocCPUS="0", ReqCPUS="0"),
            job(9, Submit="Unknown"),
            job("10_[3-9%2]", State="CANCELLED", Elapsed="00:00:00"),
            job(11, State="TIMEOUT", Elapsed="01:00:12"),
            job("12+1", State="NODE_FAIL", AllocCPUS="0"),
            "",
            "broken|line",
            job(13, Elapsed="INVALID"),
            job(14, Elapsed="1:2:3:4:5"),
            HEADER,
        )
    )
    assert jobs.column("job_id").tolist() == [1, 5, 6, 11, 12, 13]
    assert jobs.notes["steps"] == 3
    assert jobs.notes["skipped"] == {
        "still running": 1,
        "still pending": 1,
        "requeued or resized (another record counts)": 1,
        "run time unknown or zero": 1,
        "cores unknown or zero": 1,
        "submit time unknown": 1,
        "tasks of an array that never started": 1,
        "malformed line": 2,
    }
    assert [text.split(":")[1] for text in jobs.notes["problems"]] == ["18", "20"]
    assert {reason: len(times) for reason, times in jobs.skipped_at.items()} == jobs.notes["skipped"]
    assert jobs.skipped_at["submit time unknown"].tolist() == [-1]
    assert jobs.skipped_at["malformed line"].tolist() == [-1, jobs.column("submit")[0]]
    assert jobs.skipped_at["still pending"].tolist() == [jobs.column("submit")[0]]
    assert jobs.notes["overlong"] == 1
    assert jobs.column("run_time").tolist()[1] == -1
    assert jobs.column("cancel").tolist()[1] == (12 * 3600 + 630) * SECOND
    assert jobs.column("cores").tolist() == [8, 8, 8, 8, 6, 8]
    assert jobs.column("name")[-2] == "12+1"
    assert jobs.column("run_time")[-1] == 600 * SECOND  # from its start and end


def test_a_later_eligible_time_is_a_begin(tmp_path):
    header = HEADER + "|Eligible"
    jobs = read_sacct(log(tmp_path, job(1) + "|2024-03-01T12:00:00", job(2) + "|2024-03-01T12:00:20", header=header))
    assert jobs.column("begin").tolist() == [-1, (12 * 3600 + 20) * SECOND]
    assert jobs.notes["eligible_later"] == 1


def test_the_delimiter_in_a_job_name(tmp_path):
    header = "JobID|JobName|" + HEADER.partition("|")[2]
    number, rest = job(1).split("|", 1)
    jobs = read_sacct(log(tmp_path, f"{number}|a|b||c|{rest}", f"2|plain|{rest}", header=header))
    assert jobs.column("cores").tolist() == [8, 8]
    assert jobs.notes["delimiters_in_text"] == 1


TEXTS = "JobID|JobName|Submit|Elapsed|Timelimit|State|AllocCPUS|SubmitLine|Comment|User"


@pytest.mark.parametrize("end", ["", "|"])
def test_delimiters_in_several_texts_are_told_apart_by_the_columns_between(tmp_path, end):
    middle = "2024-03-01T12:00:00|00:10:00|01:00:00|COMPLETED|8"
    lines = [
        f"1|a|b|{middle}|sbatch --wrap x|y|z|no comment|ann{end}",
        f"2|plain|{middle}|sbatch x.sh||bo{end}",
        f"3|2024-03-01T12:00:00|00:10:00|{middle}|one|||ann{end}",
        f"1.batch|a|b|{middle}|x|y|z|ann{end}",
    ]
    jobs = read_sacct(log(tmp_path, *lines, header=TEXTS + end))
    assert jobs.column("job_id").tolist() == [1, 2, 3]
    assert jobs.column("cores").tolist() == [8, 8, 8]
    assert [jobs.label_names("user")[code] for code in jobs.column("user")] == ["ann", "bo", "ann"]
    assert jobs.notes["delimiters_in_text"] == 2 + 1
    assert jobs.notes["steps"] == 1


def test_the_clusters_of_a_log_are_told_where_they_are_several(tmp_path):
    header = "JobID|Cluster|JobName|Submit|Elapsed|State|AllocCPUS"
    rest = "2024-03-01T12:00:00|00:10:00|COMPLETED|8"
    lines = [f"1|alpha|a|b|{rest}", f"2|bêta|a|{rest}", f"3.batch|alpha|x|{rest}", f"4||x|{rest}"]
    jobs = read_sacct(log(tmp_path, *lines, header=header))
    assert jobs.notes["log_clusters"] == ["alpha", "bêta"]
    assert simulate(jobs, cores=8).record.facts["log_clusters"] == ["alpha", "bêta"]
    assert describe(jobs)["log_clusters"] == ["alpha", "bêta"]
    assert "log_clusters" not in read_sacct(log(tmp_path, lines[0], lines[3], header=header)).notes
    behind = "JobID|JobName|Cluster|Submit|Elapsed|State|AllocCPUS"  # a name may hold the delimiter
    assert "log_clusters" not in read_sacct(log(tmp_path, f"1|a|b|alpha|{rest}", header=behind)).notes


def test_licences_of_a_server_stand_between_texts(tmp_path):
    header = "JobID|JobName|Submit|Elapsed|State|AllocCPUS|AllocTRES|SubmitLine"
    middle = "2024-03-01T12:00:00|00:10:00|COMPLETED|8|cpu=8,license/ansys@flex=2"
    jobs = read_sacct(log(tmp_path, f"1|a|b|{middle}|sbatch x", f"2|a|{middle}|sbatch x | y", header=header))
    assert jobs.column("job_id").tolist() == [1, 2]
    assert [jobs.label_names("licences")[code] for code in jobs.column("licences")] == ["ansys_flex:2"] * 2


def test_a_line_that_may_be_divided_in_two_ways_is_told(tmp_path):
    header = "JobID|JobName|AllocCPUS|Comment|Submit|Elapsed|State"
    lines = ["1|a|8|8|b|2024-03-01T12:00:00|00:10:00|COMPLETED", "2|a|8|b|2024-03-01T12:00:00|00:10:00|COMPLETED"]
    jobs = read_sacct(log(tmp_path, *lines, header=header))
    assert jobs.column("job_id").tolist() == [2]
    assert jobs.notes["skipped"] == {"malformed line": 1}
    assert "cannot be told" in jobs.notes["problems"][0]


def test_parsable_ends_lines_with_the_delimiter(tmp_path):
    jobs = read_sacct(log(tmp_path, job(1) + "|", job(2) + "|", header=HEADER + "|"))
    assert len(jobs) == 2


def test_no_header_but_fields(tmp_path):
    path = tmp_path / "bare.txt"
    path.write_text(job(1) + "\n" + job(2) + "\n")
    assert len(read_sacct(path, fields=HEADER.split("|"))) == 2


def test_array_tasks_get_numbers_of_their_own(tmp_path):
    jobs = read_sacct(log(tmp_path, job("7_1"), job("7_2"), job(9)))
    assert jobs.column("job_id").tolist() == [7, 10, 9]
    assert jobs.column("name") == ["7_1", "7_2", ""]


def test_times_against_the_calendar(tmp_path):
    zone = zoneinfo.ZoneInfo("Europe/Berlin")
    draw = random.Random(5)
    moments = sorted(
        datetime.datetime(draw.randint(1999, 2038), draw.randint(1, 12), draw.randint(1, 28), draw.randint(4, 23), 1, 2)
        for _ in range(300)
    )
    path = log(tmp_path, *(job(i + 1, Submit=moment.isoformat()) for i, moment in enumerate(moments)))
    for name, tz in (("Europe/Berlin", zone), (None, datetime.UTC)):
        jobs = read_sacct(path, name)
        found = jobs.column("submit") / SECOND + jobs.origin.epoch
        expected = [moment.replace(tzinfo=tz).timestamp() for moment in moments]
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("text", ["2024-03-01T13:00:00+0100", "2024-03-01T12:00:00Z", "2024-03-01T07:00:00-05:00"])
def test_times_with_a_zone_of_their_own(tmp_path, text):
    jobs = read_sacct(log(tmp_path, job(1, Submit=text)), "America/New_York")
    moment = datetime.datetime(2024, 3, 1, 12, tzinfo=datetime.UTC)
    assert jobs.origin.epoch + jobs.column("submit")[0] / SECOND == moment.timestamp()


def test_a_log_out_of_order_begins_at_its_first_day(tmp_path):
    path = log(tmp_path, job(1), job(2, Submit="2024-02-27T10:00:00"))
    jobs = read_sacct(path)
    assert jobs.column("job_id").tolist() == [2, 1]
    assert jobs.column("submit")[0] == 10 * 3600 * SECOND
    assert jobs.origin.epoch == datetime.datetime(2024, 2, 27, tzinfo=datetime.UTC).timestamp()
    with pytest.raises(InputError, match=r"log\.sacct:3: .*order of submission"):
        list(read_batches(path, 10))


def test_streamed_as_read_whole(tmp_path):
    lines = [job(i, User=f"u{i % 7}", Submit=f"2024-03-01T{12 + i // 3600:02d}:{i // 60 % 60:02d}:{i % 60:02d}")
             for i in range(1, 4000)]  # fmt: skip
    path = tmp_path / "log.sacct.gz"
    path.write_bytes(gzip.compress(("\n".join([HEADER, *lines]) + "\n").encode()))
    whole = read(path)
    parts = list(read_batches(path, 700))
    assert [len(part) for part in parts] == [700] * 5 + [499]
    for name in ("job_id", "submit", "user", "memory"):
        np.testing.assert_array_equal(np.concatenate([part.column(name) for part in parts]), whole.column(name))


@pytest.mark.parametrize(
    ("header", "line", "words"),
    [
        ("JobID|User|Submit|Elapsed|State", "1|a|2024-03-01T12:00:00|00:01:00|COMPLETED", "alloccpus or ncpus"),
        ("JobID|User|State|NCPUS|Elapsed", "1|a|COMPLETED|4|00:01:00", "submit"),
        ("JobID  JobName  Partition", "1 a b", "parsable2"),
        (HEADER, "broken", "none of the 1 records"),
    ],
)
def test_what_cannot_be_used_is_told(tmp_path, header, line, words):
    with pytest.raises(InputError, match=words):
        read_sacct(log(tmp_path, line, header=header))


def test_formats_are_found_by_contents(tmp_path):
    assert find_format(log(tmp_path, job(1), name="log.txt")) == "sacct"
    assert find_format(log(tmp_path, job(1), name="log.csv")) == "sacct"
    (tmp_path / "20240301").write_text("03/01/2024 10:00:00;E;1.s;user=a\n")
    assert find_format(tmp_path / "20240301") == "torque"
    with pytest.raises(InputError, match="time zone"):
        read(log(tmp_path, job(1)), timezone="Mars/Olympus")


def test_parts_in_several_queues_run_as_one_alike_job(tmp_path):
    path = log(tmp_path, part("12+0", 12), part("12+1", 13, queue="gpu"), part("14", 14), header=PARTS)
    cluster = {"cores": 100, "queues": {"cpu": {}, "gpu": {}}}
    with pytest.raises(UnsupportedError, match=r"adjust\.alike: true gives them as many alike nodes"):
        simulate({"workload": {"trace": str(path)}, "cluster": cluster})
    result = simulate({"workload": {"trace": str(path), "adjust": {"alike": True}}, "cluster": cluster})
    assert result.jobs["job_id"].to_list() == [12, 14]
    assert result.jobs["queue"].to_list() == ["cpu", "cpu"]
