"""The report's text: what it says is true, what it is made of is complete, and nothing in it comes from outside."""

from __future__ import annotations

import base64
import gzip
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import walltime
from walltime.analysis.report import write_report
from walltime.analysis.report.page import make_report
from walltime.analysis.report.words import describe
from walltime.core.errors import InputError


def jobs(count: int = 80, **other: Any) -> walltime.Workload:
    return walltime.Workload.from_columns(
        submit=[20 * i for i in range(count)],
        run_time=[100 + 61 * i % 900 for i in range(count)],
        requested_time=[1200] * count,
        cores=[1 + 3 * i % 8 for i in range(count)],
        user=[f"u{i % 4}" for i in range(count)],
        **other,
    )


@pytest.fixture(scope="module")
def pair() -> list[walltime.Result]:
    return [walltime.simulate(jobs(), cores=8, policy=policy) for policy in ("fcfs", "easy")]


def data(page: str) -> tuple[dict[str, Any], bytes]:
    """What the page carries: the header, and the arrays behind it."""
    packed = re.search(r'<script type="text/plain" id=data>([^<]*)</script>', page)
    assert packed is not None
    whole = gzip.decompress(base64.b64decode(packed[1]))
    length = int.from_bytes(whole[:8], "little")
    return json.loads(whole[8 : 8 + length]), whole[8 + length :]


def array(place: dict[str, Any], body: bytes) -> np.ndarray:
    return np.frombuffer(body, place["type"], place["length"], place["offset"])


class Outline(HTMLParser):
    """Headings and every address in a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "action", "data")]


def outline(page: str) -> Outline:
    found = Outline()
    found.feed(page)
    return found


def test_the_page_needs_nothing_from_outside(pair: list[walltime.Result]) -> None:
    page = make_report(pair)
    assert all(address.startswith(("#", "data:")) for address in outline(page).addresses)
    assert "default-src 'none'" in page
    assert make_report(pair) == page


def test_the_page_has_every_part(pair: list[walltime.Result]) -> None:
    one, two = make_report(pair[1:]), make_report(pair)
    for words in (
        "In short",
        "Figures",
        "The schedule",
        "Over time",
        "Waits and slowdowns",
        "Users",
        "What was simulated",
    ):
        assert f"<h2>{words}</h2>" in one
    kinds = {chart["kind"] for chart in data(two)[0]["charts"].values()}
    assert {
        "utilization",
        "cores",
        "jobs",
        "queue",
        "cdf",
        "boxes",
        "fairness",
        "arrivals",
        "compare",
        "change",
    } <= kinds
    assert "Who wins and who loses" in two
    assert "its trace tells no waits" in one  # said, not silently left out


def test_the_schedule_in_the_page_is_the_schedule(pair: list[walltime.Result]) -> None:
    header, body = data(make_report(pair[1:]))
    plan = header["schedules"][0]
    blocks = {name: array(place, body) for name, place in plan["blocks"].items()}
    area = np.sum((blocks["end"] - blocks["start"]) * (blocks["high"].astype(float) - blocks["low"]))
    assert float(area) == pytest.approx(pair[1].summary["core_seconds"])
    assert array(plan["jobs"]["id"], body).tolist() == pair[1].jobs["job_id"].to_list()
    assert array(plan["jobs"]["wait"], body).tolist() == pair[1].jobs["wait"].to_list()


def test_what_jobs_ask_for_besides_cores_is_told() -> None:
    result = walltime.simulate(jobs(4), nodes="2x8")
    memory = pl.Series("memory", [1 << 30, None, 0, 2 << 30], dtype=pl.Int64)
    result.record.jobs = result.jobs.with_columns(pl.Series("gpus", [0, 0, 2, 0]), memory)
    header, body = data(make_report([result]))
    told = header["schedules"][0]["jobs"]
    assert array(told["gpus"], body).tolist() == [0, 0, 2, 0]
    assert array(told["memory"], body).tolist()[::3] == [1 << 30, 2 << 30]
    assert array(told["nodes"], body).min() >= 1


def test_of_many_jobs_the_same_are_shown_in_all_results(pair: list[walltime.Result]) -> None:
    header, body = data(make_report(pair, most=20))
    first, second = (array(plan["jobs"]["id"], body).tolist() for plan in header["schedules"])
    assert first == second
    assert len(first) == 10
    assert "10 of the 80 jobs are shown one by one" in header["schedules"][0]["rule"]
    assert header["schedules"][0]["hidden"] is not None


def test_names_are_escaped_wherever_they_stand() -> None:
    bad = "<script>boo</script>"
    label = '"><i>'
    users = jobs().replace(dict(jobs().columns), labels={"user": [bad, "</script>", "\x00", "&amp;"]})
    page = make_report([walltime.simulate(users, cores=8, label=label)], title=bad)
    assert bad not in page
    assert label not in page
    assert outline(page).tags.count("script") == 2
    assert "i" not in outline(page).tags


def test_long_numbers_of_jobs_are_not_rounded() -> None:
    number = (1 << 60) + 1
    result = walltime.simulate(
        walltime.Workload.from_columns(job_id=[number], submit=[0], run_time=[5], requested_time=[5], cores=[1]),
        cores=1,
    )
    assert data(make_report([result]))[0]["schedules"][0]["jobs"]["ids"] == [str(number)]


def test_words_about_one_result() -> None:
    result = walltime.simulate(
        walltime.Workload.from_columns(submit=[0, 10], run_time=[100, 100], requested_time=[100, 100], cores=[4, 2]),
        cores=4,
        policy="fcfs",
    )
    words = describe([result])
    assert words[0] == "2 jobs on 4 cores, scheduled by fcfs."
    assert (
        words[1]
        == "Half of the jobs waited for 45 s or less; one in twenty for more than 1:26 min, the longest for 1:30 min."
    )
    assert words[2] == "The machine was used to 100.0 % in the observation window."


def test_what_disruptions_cost_is_told() -> None:
    work = walltime.Workload.from_columns(
        submit=[0, 7200], run_time=[14_400, 600], requested_time=[14_400, 600], cores=[4, 4], queue=["normal", "urgent"]
    )
    cluster = {
        "cores": 4,
        "queues": {"urgent": {"priority": 1}, "normal": {"default": True}},
        "scheduler": {"preempt": {"name": "queue", "mode": "requeue"}},
    }
    result = walltime.simulate({"workload": work, "cluster": cluster})
    assert "Jobs were once displaced; 8 core-hours of their work were lost." in describe([result])
    page = make_report([result])
    assert "<th scope=row>Jobs displaced by others</th><td>1</td>" in page
    assert "<th scope=row>Core-hours lost</th><td>8</td>" in page
    assert "failures</th>" not in page


def test_people_are_groups_where_the_jobs_tell_no_users() -> None:
    work = jobs(30)
    columns = {key: value for key, value in work.columns.items() if key != "user"}
    labels = {key: value for key, value in work.labels.items() if key != "user"}
    nameless = work.replace(columns | {"group": work.columns["user"]}, labels=labels | {"group": work.labels["user"]})
    page = make_report([walltime.simulate(nameless, cores=8)])
    titles = {chart["title"] for chart in data(page)[0]["charts"].values()}
    assert {"Mean wait by group", "Wait by group", "Cores in use by group"} <= titles


def test_words_about_two_results(pair: list[walltime.Result]) -> None:
    words = " ".join(describe(pair))
    old, new = (result.summary["mean_wait"] for result in pair)
    assert f"easy: jobs wait {100 * (old - new) / old:.1f} % less on average" in words
    waits = pair[1].jobs["wait"].to_numpy() - pair[0].jobs["wait"].to_numpy()
    better, worse = int((waits < 0).sum()), int((waits > 0).sum())
    assert f"Of 80 jobs, {better} wait less, {worse} wait longer, {80 - better - worse} just as long." in words


def test_words_about_the_same_and_about_nothing(pair: list[walltime.Result]) -> None:
    assert "Every job waits exactly as long as before." in " ".join(describe([pair[0], pair[0]]))
    cancelled = walltime.Workload.from_columns(submit=[0], run_time=[5], requested_time=[5], cores=[9], user=["a"])
    nothing = walltime.simulate(cancelled, cores=4)
    assert describe([nothing])[-1] == "No job ever started."
    assert "No job ever started." in make_report([nothing])


def test_a_comparison_of_unequal_workloads_says_so(pair: list[walltime.Result]) -> None:
    other = walltime.simulate(jobs(40), cores=8)
    assert any("different workloads" in sentence for sentence in describe([pair[0], other]))


def test_what_cannot_be_reported_is_refused(pair: list[walltime.Result], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ends in \.html"):
        write_report(pair, tmp_path / "report.pdf")
    with pytest.raises(InputError, match="at most 8"):
        write_report(pair * 5, tmp_path / "report.html")
    with pytest.raises(InputError, match="in full detail"):
        write_report(pair, tmp_path / "report.html", most=0)
    with pytest.raises(InputError, match="needs a result"):
        write_report([], tmp_path / "report.html")
    empty = walltime.Workload.from_columns(submit=[], run_time=[], requested_time=[], cores=[])
    with pytest.raises(InputError, match="no result has a job"):
        write_report([walltime.simulate(empty, cores=4)], tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []
