"""Two workloads compared: distances worked out by hand, pages that are there and the same each time."""

import numpy as np
import pytest

from walltime.core.errors import InputError
from walltime.core.workload import Workload
from walltime.workload.compare import autocorrelation, compare_workloads, distances, spearman
from walltime.workload.compare_page import write_page
from walltime.workload.generate import generate
from walltime.workload.transform import scale_cores, scale_load, scale_time


def test_distances_by_hand():
    a, b = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 3.0, 4.0, 5.0])
    assert distances(a, b) == (0.25, 1.0)  # every value one further
    assert distances(a, a) == (0.0, 0.0)
    assert distances(np.array([0.0]), np.array([10.0])) == (1.0, 10.0)
    ks, area = distances(np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0]))
    assert ks == pytest.approx(1 / 6)
    assert area == pytest.approx(1 / 6)


def test_correlations_by_hand():
    assert spearman(np.array([1.0, 2.0, 3.0]), np.array([1.0, 10.0, 100.0])) == pytest.approx(1)
    assert spearman(np.array([1.0, 2.0, 3.0]), np.array([5.0, 4.0, 0.0])) == pytest.approx(-1)
    assert spearman(np.array([1.0, 1.0, 1.0]), np.array([5.0, 4.0, 0.0])) == 0
    waves = np.tile([1.0, -1.0], 50)
    assert autocorrelation(waves, 2) == pytest.approx([-1, 1])
    assert autocorrelation(np.array([1.0]), 3).tolist() == [0, 0, 0]


def test_a_workload_with_itself_and_with_changed_ones():
    log = generate(3000, 128, 0.8, seed=1)
    same = compare_workloads(log, log)
    assert {variable.ks for variable in same.variables} == {0.0}
    assert set(same.rhythm.values()) | set(same.labels.values()) == {0.0}
    faster = compare_workloads(log, scale_load(log, 2))
    assert faster.variable("interarrival").relative == pytest.approx(0.5, abs=0.01)
    assert faster.variable("cores").ks == 0
    longer = compare_workloads(log, scale_time(log, 3))
    assert longer.variable("run_time").relative == pytest.approx(2.0, abs=0.01)
    assert longer.variable("accuracy").ks == pytest.approx(0, abs=0.001)
    wider = compare_workloads(log, scale_cores(log, 2))
    assert wider.variable("cores").quantiles()["50%"][1] == 2 * wider.variable("cores").quantiles()["50%"][0]


def test_what_one_side_lacks_is_left_out():
    log = generate(500, 64, 0.8, seed=1)
    bare = log.replace({name: log.columns[name] for name in ("submit", "run_time", "cores", "job_id")})
    names = [variable.name for variable in compare_workloads(log, bare).variables]
    assert names == ["interarrival", "cores", "run_time", "core_hours"]
    with pytest.raises(InputError, match="no such variable"):
        compare_workloads(log, bare).variable("memory")
    with pytest.raises(InputError, match="too few"):
        compare_workloads(log, Workload.from_columns(submit=[0], run_time=[1]))


@pytest.mark.parametrize("suffix", ["html", "png", "pdf"])
def test_pages(tmp_path, suffix):
    comparison = compare_workloads(generate(400, 64, 0.8, seed=1), generate(400, 64, 0.8, seed=2), ("<a>", "b"))
    paths = [tmp_path / f"{name}.{suffix}" for name in ("one", "two")]
    for path in paths:
        write_page(comparison, path)
        if suffix != "html":
            break
    assert paths[0].stat().st_size > 10_000
    if suffix == "html":
        assert paths[0].read_bytes() == paths[1].read_bytes()
        text = paths[0].read_text()
        assert "&lt;a&gt;" in text
        assert "<script" not in text
        assert 'href="http' not in text.replace("xlink:href", "")
        for title in ("Gap between submissions", "Requested time: distribution (KS distance", "hour of the day"):
            assert title in text


def test_a_page_with_an_unknown_suffix(tmp_path):
    comparison = compare_workloads(generate(100, 64, 0.8, seed=1), generate(100, 64, 0.8, seed=2))
    with pytest.raises(InputError, match="html"):
        write_page(comparison, tmp_path / "page.doc")
