"""Whoever tells how far an experiment's site can be trusted tells the same: of files, of a sweep, and of its cells."""

import pytest

from walltime.analysis.calibration.file import place_of, tell_calibration, write_calibration
from walltime.experiments.answers.cautions import find_cautions, find_cautions_of_file
from walltime.experiments.answers.sides import find_sides
from walltime.experiments.answers.trust import find_trust, load_base, tell_trust
from walltime.experiments.definition import load_experiment
from walltime.experiments.store import Store
from walltime.experiments.sweep import sweep
from walltime.scenario import load

LOG = "".join(f"{job} {60 * job} -1 600 4 -1 -1 4 900 -1 1 1 1 1 1 1 -1 -1\n" for job in range(1, 9))
KEPT = {"mean_recorded": 20.0, "mean_replayed": 10.0, "p95_recorded": 40.0, "p95_replayed": 20.0}
TOLD = {"cluster": "site", "log": "log.swf", "jobs": 8, "trust": 0.5, "trust_bounds": [0.4, 0.6]} | KEPT


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "log.swf").write_text("; UnixStartTime: 1000000000\n" + LOG)
    (tmp_path / "now.yaml").write_text("workload: log.swf\ncluster: {name: site, cores: 8}\n")
    (tmp_path / "other.yaml").write_text("workload: log.swf\ncluster: {name: elsewhere, cores: 8}\n")
    (tmp_path / "grid.yaml").write_text("base: now.yaml\ngrid: {policy: [fcfs, easy]}\n")
    return tmp_path


def test_a_site_that_was_never_calibrated_has_none(folder):
    assert tell_trust(folder / "now.yaml") == tell_trust() == []
    assert find_trust(folder / "store", []) is None


def test_all_that_tell_it_tell_the_same(folder):
    write_calibration(place_of(folder / "now.yaml"), TOLD)
    (line,) = tell_trust(folder / "now.yaml")
    assert line.startswith("Trust 50 % (40 to 60 %): a replay of log.swf")
    assert tell_trust(folder / "other.yaml") == []
    assert tell_trust(load(folder / "other.yaml"), folder / "now.yaml") == [line]
    experiment = load_experiment(folder / "grid.yaml")
    base = load_base(experiment)
    assert base is not None
    assert tell_trust(base) == [line]
    assert find_cautions_of_file(folder / "grid.yaml") == find_cautions_of_file(folder / "now.yaml") == [line]
    with Store(folder / "store", create=True) as store:
        sweep(experiment, store, workers=1)
        sides = find_sides(store, "grid")
        assert find_cautions(store, "grid") == [line]
    assert tell_calibration({"calibration": find_trust(folder / "store", sides)}) == line
    (folder / "now.yaml").unlink()
    assert load_base(experiment) is None
