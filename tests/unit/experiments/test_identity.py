"""When two runs are the same: everything that a result depends on changes the digest, and nothing else does."""

from __future__ import annotations

import os
import sys

import pytest
from small import make, plan_of, write

from walltime.core.plugins import allow_plugins
from walltime.experiments import identity
from walltime.experiments.planning import ExperimentPlan

SWF = "1 0 0 5 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1\n"


def digests(experiment):
    return [digest for planned in ExperimentPlan(experiment).specifications() for _, digest in planned.runs]


def with_trace(path, **keys):
    return make(scenario={"workload": {"trace": str(path)}, "cluster": {"cores": 8}}, **keys)


def test_the_name_and_the_labels_say_nothing_of_a_run():
    one = make(name="one", grid={"size": {"key": "cluster.cores", "values": {"s": 8}}}, seeds=[7])
    other = make(name="other", grid={"cluster.cores": [8]}, seeds=[7])
    assert digests(one) == digests(other)


@pytest.mark.parametrize(
    "keys",
    [
        {"seeds": [8]},
        {"grid": {"cluster.cores": [9]}},
        {"grid": {"policy": ["conservative"]}},
        {"keep": {"groups": ["user"]}},
        {"warmup": "1h"},
    ],
)
def test_what_a_run_is_made_of_changes_its_digest(keys):
    assert digests(make(**{"seeds": [7]} | keys)) != digests(make(seeds=[7]))


def test_the_contents_of_a_file_count_and_its_path_does_not(tmp_path):
    first, second = tmp_path / "a.swf", tmp_path / "b.swf"
    first.write_text(SWF, encoding="utf-8")
    second.write_text(SWF, encoding="utf-8")
    same = digests(with_trace(first))
    assert digests(with_trace(second)) == same
    second.write_text(SWF.replace(" 5 ", " 6 "), encoding="utf-8")
    assert digests(with_trace(second)) != same


def test_a_file_that_changed_within_the_same_second_is_read_again(tmp_path):
    path = tmp_path / "a.swf"
    path.write_text(SWF, encoding="utf-8")
    before = digests(with_trace(path))
    told = path.stat()
    path.write_text(SWF.replace(" 5 ", " 6 "), encoding="utf-8")
    os.utime(path, ns=(told.st_atime_ns, told.st_mtime_ns + 1))
    assert digests(with_trace(path)) != before


def test_own_code_counts_and_what_lies_beside_it(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    code = tmp_path / "patience_of_ours.py"
    code.write_text("def schedule(p):\n    pass\n", encoding="utf-8")
    allow_plugins(tmp_path)
    path = write(tmp_path, "grid:\n  policy: ['patience_of_ours:schedule']\n")
    first = [planned.digest for planned in plan_of(path).specifications()]
    assert [planned.digest for planned in plan_of(path).specifications()] == first
    (tmp_path / "beside.py").write_text("X = 1\n", encoding="utf-8")
    second = [planned.digest for planned in plan_of(path).specifications()]
    assert second != first


def test_our_sources_count(monkeypatch):
    before = digests(make())
    monkeypatch.setattr(identity, "digest_build", lambda: "another build")
    assert digests(make()) != before


def test_the_versions_of_libraries_count(monkeypatch):
    before = digests(make())
    monkeypatch.setattr(identity, "library_versions", lambda: {"numpy": "0"})
    assert digests(make()) != before


def test_what_is_drawn_or_shown_is_not_among_the_sources_and_the_engine_is():
    from pathlib import Path

    import walltime

    package = Path(walltime.__file__).parent
    names = {file.relative_to(package).as_posix() for file in identity._sources(package)}
    assert {"engine/loop.py", "engine/loop.pxd", "core/random.py", "pipeline.py"} <= names
    assert not [name for name in names if name.startswith(("cli/", "analysis/charts/", "analysis/report/"))]
