"""As many users as give a wanted load: the load is an outcome where users react, and can be asked for."""

from __future__ import annotations

from test_decomposition import log

from walltime.experiments.answers.points import Points
from walltime.experiments.answers.solve import solve
from walltime.experiments.store import Store
from walltime.workload.formats import write


def test_the_population_that_fills_a_machine(tmp_path):
    write(log(jobs=12), tmp_path / "log.csv")
    site = tmp_path / "site.yaml"
    site.write_text("workload: log.csv\ncluster: {cores: 6}\nusers: {mode: feedback, hours: any}\n")
    with (
        Store(tmp_path / "store", create=True) as store,
        Points(store, "solve-users", site, groups=["size"], workers=1) as points,
    ):
        wanted = {"zone": 0.2, "most": 3, "error": 0.2}
        found = solve(points, "users.population", [2, 24], "utilization > 85%", **wanted)
    used = {found.values[one.place]: one.figure.mean for one in found.solution.trials}
    assert found.value == 24
    assert used[2] < 0.8 < used[24]
    assert "the smallest users.population with utilization > 85%" in found.sentences[0]
