"""`workload.model`: jobs drawn from a model for the scenario's machine, other ones for each seed."""

from __future__ import annotations

import numpy as np
import pytest

import walltime
from walltime.core.errors import InputError
from walltime.core.plugins import allow_plugins
from walltime.scenario import load, parse

MACHINE = {"cluster": {"nodes": "32x4"}}
OWN = """\
from walltime.workload.models.lublin import LublinModel


class Mine(LublinModel):
    def __init__(self):
        super().__init__("lublin")


nothing = object()
"""


def read(seed: int = 0, workflows=None, **model):
    spec = {"model": {"name": "lublin", "days": 2, "stabilization": "6h"} | model}
    if workflows:
        spec["workflows"] = workflows
    return parse(MACHINE | {"workload": spec, "seed": seed}).read_workload()


def submitted(workload) -> list[tuple[int, int, int]]:
    return list(zip(*(workload.column(name).tolist() for name in ("submit", "cores", "run_time")), strict=True))


def test_the_jobs_are_those_of_generate_for_the_same_machine_and_seed():
    wanted = walltime.generate_workload(
        "lublin", cores=128, days=2, load=0.8, seed=3, stabilization=6 * 3600, fill=2.0, node_cores=4
    )
    found = read(3, load=0.8, fill="2h")
    assert submitted(found) == submitted(wanted)
    assert found.notes["phases"] == wanted.notes["phases"]
    assert submitted(read(4, load=0.8, fill="2h")) != submitted(found)


def test_a_pressure_may_be_one_number_or_two():
    one, two = read(pressure=1.0), read(pressure=[1.0, 1.1])
    assert submitted(one) == submitted(two)
    assert submitted(read(pressure=[1.0, 1.01])) != submitted(one)


def test_a_size_of_its_own_keeps_the_jobs_when_the_machine_grows():
    spec = {"model": {"name": "lublin", "days": 1, "load": 0.5}}
    grown = {"cluster": {"nodes": "64x4"}}
    assert submitted(parse(grown | {"workload": spec}).read_workload()) != submitted(read(days=1, load=0.5))
    spec["model"]["cores"] = 128
    small, large = (parse(own | {"workload": spec}).read_workload() for own in (MACHINE, grown))
    assert submitted(small) == submitted(large)


def test_fill_jobs_may_be_wide():
    narrow, wide = (read(load=0.5, fill="2h", **more) for more in ({}, {"fill_width": 0.25}))
    widths = [set(own.column("cores")[own.column("phase") == 0].tolist()) for own in (narrow, wide)]
    assert widths == [{4}, {32}]


def test_a_fitted_model_is_a_file_beside_the_scenario(tmp_path):
    from walltime.workload.models.file import write_model

    jobs = walltime.generate_workload("lublin", cores=128, days=20, load=0.8, seed=1)
    write_model(walltime.fit_model(jobs), tmp_path / "site.json")
    (tmp_path / "s.yaml").write_text(
        "workload: {model: {file: site.json, days: 1, structure: independent}}\ncluster: {cores: 128}\n"
    )
    drawn = load(tmp_path / "s.yaml").read_workload()
    assert len(drawn) > 20
    assert set(drawn.label_names("phase")) == {"fill", "stabilization", "experiment"}


def test_a_model_of_ones_own_is_imported_where_that_is_allowed(tmp_path):
    (tmp_path / "own_model.py").write_text(OWN)
    with pytest.raises(InputError, match="a file alone imports no code"):
        read(name="own_model:Mine")
    allow_plugins(tmp_path)
    assert submitted(read(name="own_model:Mine", estimates="tsafrir")) == submitted(read())
    with pytest.raises(InputError, match="has no title"):
        read(name="own_model:nothing")


def test_workflows_come_in_the_experiment_and_ordinary_jobs_are_the_same(tmp_path):
    (tmp_path / "flow.json").write_text('{"tasks": [{"id": "a", "number_of_cores": 8, "runtime_sim": 600}]}')
    flows = {"manifests": str(tmp_path / "flow.json"), "every": "3h"}
    alone, among = read(load=0.5), read(load=0.5, workflows=flows)
    inserted = among.column("workflow") >= 0
    assert inserted.sum() == 17
    begin, end = among.notes["phases"]["experiment"]
    at = among.column("submit")[inserted] / 1e6
    assert np.all((at >= begin) & (at <= end))
    assert submitted(among.select(~inserted)) == submitted(alone)


def test_a_run_ends_with_the_drain_and_figures_are_of_the_experiment():
    result = walltime.simulate(
        MACHINE | {"workload": {"model": {"name": "lublin", "days": 1, "pressure": 1, "drain": "1h"}}}
    )
    assert result.record.facts["until"] == 2 * 86_400 + 3600
    assert result.summary["means_over"] == "started jobs of the experiment phase"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"file": "x.json"}, "one of them"),
        ({"name": None}, "one of them"),
        ({"load": 1, "pressure": 1}, "either a load or a pressure"),
        ({"days": 0}, "days must be above 0"),
        ({"days": "three"}, "must be a number"),
        ({"pressure": [1.2, 1.0]}, "the first no larger than the second"),
        ({"pressure": [1.2]}, "must be a number, or two"),
        ({"start": "soon"}, "not a date"),
    ],
)
def test_what_cannot_be_drawn_is_told_before_anything_runs(given, said):
    with pytest.raises(InputError, match=said):
        read(**given)


def test_a_machine_of_no_size_is_told():
    with pytest.raises(InputError, match="needs the size of the machine"):
        parse({"workload": {"model": {"name": "lublin", "days": 1}}}).read_workload()
    with pytest.raises(InputError, match="no such model"):
        read(name="lublim")
