"""Below the answers of an experiment stands how far its site can be trusted, and that no user reacts to a limit."""

import pytest

from walltime.analysis.calibration.file import place_of, write_calibration
from walltime.experiments.answers.cautions import BEHAVIOUR, find_cautions
from walltime.experiments.definition import load_experiment
from walltime.experiments.store import Store
from walltime.experiments.sweep import sweep

LOG = "".join(f"{job} {60 * job} -1 600 4 -1 -1 4 900 -1 1 1 1 1 1 1 -1 -1\n" for job in range(1, 9))
BASE = "workload: log.swf\ncluster: {name: site, cores: 8, queues: {q: {max_time: 1h, default: true}}}\n"
GRID = """base: now.yaml
grid:
  limit:
    combinations:
      now: {}
      longer: {cluster.queues.q.max_time: 2h}
      react: {cluster.queues.q.max_time: 2h, workload.adjust.run_on: true}
"""
KEPT = {"mean_recorded": 20.0, "mean_replayed": 10.0, "p95_recorded": 40.0, "p95_replayed": 20.0}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.swf").write_text("; UnixStartTime: 1000000000\n" + LOG)
    (tmp_path / "now.yaml").write_text(BASE)
    (tmp_path / "limits.yaml").write_text(GRID)
    return tmp_path


def test_cautions_of_cells(folder):
    with Store(folder / "store", create=True) as store:
        sweep(load_experiment(folder / "limits.yaml"), store, workers=1)
        assert find_cautions(store, "limits") == [BEHAVIOUR]
        assert find_cautions(store, "limits", {"limit": "longer"}) == [BEHAVIOUR]
        assert find_cautions(store, "limits", {"limit": "react"}) == []
        told = {"cluster": "site", "log": "log.swf", "jobs": 8, "trust": 0.5, "trust_bounds": [0.4, 0.6]} | KEPT
        write_calibration(place_of(folder / "now.yaml"), told)
        (trust,) = find_cautions(store, "limits", {"limit": "now"})
        assert trust.startswith("Trust 50 % (40 to 60 %): a replay of log.swf")
        (folder / "now.yaml").unlink()  # what it rested on is gone
        assert find_cautions(store, "limits") == []
