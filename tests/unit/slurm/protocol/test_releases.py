"""Every release that is spoken here: the same engine, the same files, the same commands."""

from dataclasses import replace
from pathlib import Path

import pytest

from walltime import Workload, simulate
from walltime.core.errors import InputError
from walltime.scenario import parse
from walltime.slurm import engine
from walltime.slurm.packages import USUAL, cache_folder, find_installation
from walltime.slurm.paused import Frozen
from walltime.slurm.protocol.releases import DIALECTS, find_dialect

EXAMPLE = Path(__file__).parents[4] / "examples" / "site"
GANG = Path(__file__).parents[1] / "sites" / "gang" / "slurm.conf"


def burst(**more):
    size = 24
    columns = {
        "submit": [0] * 8 + [60] * 8 + [200 + 40 * i for i in range(8)],
        "run_time": [100, 100, 100, 300, 300, 30, 600, 1000] * 3,
        "requested_time": [120, 240, 120, 600, 300, 60, 300, 1200] * 3,
        "cores": [4, 8, 1, 16, 2, 4, 1, 8] * 3,
        "user": ["ann", "bo", "cy"] * 8,
    }
    assert all(len(values) == size for values in columns.values())
    return Workload.from_columns(**columns | more)


def test_a_legal_schedule_the_same_every_time(each):
    release = each.dialect.release
    first = simulate(burst(), engine="slurm", nodes="4x8", slurm={"release": release})
    assert first.audit() == []
    assert set(first.jobs["state"]) == {"completed", "timeout"}
    assert first.record.facts["engine"] == f"slurm {each.product}"
    assert simulate(burst(), engine="slurm", nodes="4x8", slurm={"release": release}).digest == first.digest


def test_accounts_limits_cards_and_preemption(each):
    jobs = burst(
        queue=["batch", "short", "gpu"] * 8, qos=["urgent", "", ""] * 8, gpus=[0, 0, 2] * 8, cores=[4, 8, 1] * 8
    )
    given = {
        "release": each.dialect.release,
        "conf": str(EXAMPLE / "slurm.conf"),
        "associations": str(EXAMPLE / "associations.dump"),
        "qos": str(EXAMPLE / "qos.txt"),
    }
    result = simulate(jobs, engine="slurm", slurm=given)
    assert result.record.facts["complaints"] == []
    assert result.record.facts["rejected_reasons"] == {}
    assert set(result.jobs["state"]) == {"completed", "timeout"}


def test_jobs_by_turns(each):
    given = {"release": each.dialect.release, "conf": str(GANG), "partitions": {"*": "shared"}}
    result = simulate(burst(), engine="slurm", slurm=given)
    assert result.audit() == []
    assert result.record.facts["disruptions"]["suspensions"] > 10


def test_its_own_commands_answer(each):
    jobs = burst()
    data = {"workload": {"table": jobs}, "engine": "slurm", "cluster": {"nodes": "4x8"}, "until": 250,
            "slurm": {"release": each.dialect.release}}  # fmt: skip
    with engine.freeze(parse(data), jobs) as started:
        frozen = Frozen(started)
        said = started.controller.folder / "said"
        frozen.execute("squeue -h -o '%i %u %T'", {})
        assert "ann RUNNING" in said.read_text()
        frozen.execute("scontrol show config", {})
        assert each.product in said.read_text()
        frozen.execute("sbatch -n 1 -t 5 --wrap true", {})
        frozen.execute("scontrol update nodename=n3 state=drain reason=x", {})
        started.simulation.run(started.base + 4000 * 1_000_000, stay=True)
        frozen.execute("sinfo -h -n n3 -o %T", {})
        assert said.read_text().strip().startswith("drain")
        assert started.record(parse(data), (0.0, 0.0)).facts["by_hand"] == 1


def test_a_sites_own_build(each):
    found = find_installation(controller=each.controller)
    assert found.product == each.product
    assert (found.plugins, found.clients) == (each.plugins, each.clients)
    result = simulate(burst(), engine="slurm", nodes="4x8", slurm={"slurmctld": str(each.controller)})
    assert result.record.facts["engine"] == f"slurm {each.product}"
    other = next(name for name in DIALECTS if name != each.dialect.release)
    with pytest.raises(InputError, match=f"not {other}"):
        find_installation(other, each.controller)


def test_what_is_not_spoken_is_refused_with_what_it_would_need(slurm, tmp_path):
    with pytest.raises(InputError, match=r"dialect.*23\.11.*22\.05, 24\.11"):
        _ = replace(slurm, product="23.11.1").dialect
    with pytest.raises(InputError, match="99"):
        find_dialect("99.1")
    with pytest.raises(InputError, match="no controller"):
        find_installation(controller=tmp_path / "nothing")
    (tmp_path / "sbin").mkdir()
    (tmp_path / "sbin" / "slurmctld").write_text("")
    with pytest.raises(InputError, match="plug-ins"):
        find_installation(controller=tmp_path / "sbin" / "slurmctld")


def test_a_release_that_is_absent_is_named_with_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("WALLTIME_CACHE", str(tmp_path))
    with pytest.raises(InputError, match=r"install --release 24\.11"):
        find_installation("24.11")
    assert cache_folder("24.11") != cache_folder(USUAL)
