"""An imported site runs on both engines, and they see the same machine, queues and jobs."""

from pathlib import Path

import walltime
from walltime.scenario import parse
from walltime.site.importing.scenario import import_site

SITE = Path(__file__).parents[4] / "examples" / "site"


def test_the_same_scenario_runs_natively_and_on_the_controller(slurm):
    made = import_site([SITE / name for name in ("slurm.conf", "associations.dump", "qos.txt", "jobs.csv")], folder="/")
    made.data["workload"] = str(SITE / "jobs.csv")
    native, real = (walltime.simulate(parse(made.data | {"engine": engine})) for engine in ("native", "slurm"))
    assert native.record.facts["clusters"] == real.record.facts["clusters"] == {"example": 512}
    for result in (native, real):
        assert set(result.jobs["state"]) <= {"completed", "timeout"}
        assert result.summary["jobs"] == 130
    assert native.jobs["queue"].to_list() == real.jobs["queue"].to_list()
