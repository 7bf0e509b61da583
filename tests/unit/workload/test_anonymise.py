"""A trace without names: nothing of the old ones is left, everything else is."""

import datetime

import numpy as np

from walltime.core.workload import Origin, Workload
from walltime.workload.anonymise import anonymise
from walltime.workload.calendar import hour_of_week
from walltime.workload.formats import read, write

SECOND = 1_000_000


def log():
    begin = datetime.datetime(2024, 3, 13, 14, 30, tzinfo=datetime.UTC).timestamp()  # a Wednesday
    jobs = Workload.from_columns(
        job_id=[100, 200, 300, 400],
        submit=[0, 60, 90_000, 700_000],
        run_time=[10, 20, 30, 40],
        requested_time=[60, 60, 60, 60],
        cores=[1, 2, 4, 8],
        user=["ann", "bo", "ann", None],
        group=["physics", "physics", "physics", "art"],
        account=["p1", "p2", "p1", "p1"],
        queue=["gpu", "cpu", "gpu", "gpu"],
        name=["secret", "", "", ""],
        preceding_job=[None, 100, 200, 999],
        dependencies=["", "afterok:100", "afterany:100:200", ""],
        begin=[None, 100, None, None],
        constraint=["ib&xeon", "xeon", "ib|hall7", None],
        licences=["matlab:2", None, None, None],
    )
    return jobs.replace(jobs.columns, origin=Origin(begin, "UTC"), header={"Installation": "My site"}, source="my.swf")


def test_names_and_dates_are_gone(tmp_path):
    shared = anonymise(log(), seed=5)
    write(shared, tmp_path / "shared.parquet")
    write(shared, tmp_path / "shared.swf")
    for file in ("shared.parquet", "shared.swf"):
        raw = (tmp_path / file).read_bytes()
        for word in (b"ann", b"physics", b"secret", b"My site", b"my.swf", b"hall7", b"xeon"):
            assert word not in raw
    assert not shared.has("name")
    assert sorted(shared.label_names("user")) == ["user1", "user2"]
    assert shared.origin.epoch != log().origin.epoch


def test_the_structure_stays():
    before, after = log(), anonymise(log(), seed=5)
    for name in ("run_time", "requested_time", "cores"):
        assert after.column(name).tolist() == before.column(name).tolist()
    assert np.diff(after.column("submit")).tolist() == np.diff(before.column("submit")).tolist()
    assert (after.column("begin") - after.column("submit")).tolist()[1] == 40 * SECOND
    properties = dict(zip(before.label_names("constraint"), after.label_names("constraint"), strict=True))
    both, xeon = properties["ib&xeon"].split("&"), properties["xeon"]
    assert (both[1], properties["ib|hall7"].split("|")[0]) == (xeon, both[0])
    assert after.label_names("licences") == ["matlab:2"]
    for name in ("user", "group", "account", "queue"):
        old, new = before.column(name), after.column(name)
        assert (old[:, None] == old[None]).tolist() == (new[:, None] == new[None]).tolist()
    moments = after.column("submit")
    assert hour_of_week(after, moments).tolist() == hour_of_week(before, before.column("submit")).tolist()
    minutes = (after.origin.epoch + moments[0] / SECOND) % 3600 / 60
    assert minutes == 30


def test_references_follow():
    after = anonymise(log())
    assert after.column("job_id").tolist() == [1, 2, 3, 4]
    assert after.column("preceding_job").tolist() == [-1, 1, 2, -1]
    assert after.column("dependencies") == ["", "afterok:1", "afterany:1:2", ""]


def test_the_same_seed_the_same_numbers_and_queues_kept_on_request():
    one, again = anonymise(log(), 1), anonymise(log(), 1)
    assert one.to_polars().equals(again.to_polars())
    assert len({anonymise(log(), seed).origin.epoch for seed in range(5)}) > 1
    assert anonymise(log(), keep_queues=True).label_names("queue") == ["gpu", "cpu"]


def test_through_a_file_and_back(tmp_path):
    write(anonymise(log()), tmp_path / "shared.swf.gz")
    assert len(read(tmp_path / "shared.swf.gz")) == 4
