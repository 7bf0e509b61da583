"""Names and values from files of strangers add nothing to a configuration, and events run no program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from walltime import Workload
from walltime.core.errors import InputError
from walltime.scenario import parse, resolve
from walltime.site.conf import read_conf
from walltime.slurm.conf import simulated
from walltime.slurm.events import read_events
from walltime.slurm.site import Site
from walltime.slurm.translate.site import make_site
from walltime.slurm.translate.writing import write_conf

PROGRAM = "PrologSlurmctld=/tmp/evil"
NAMES = [f"x\n{PROGRAM}", f"x {PROGRAM}", f"x\t{PROGRAM}", f"x\r{PROGRAM}", f'x" {PROGRAM} "', "x\ninclude /tmp/evil"]


def write(cluster: dict[str, Any], **settings: str) -> str:
    jobs = Workload.from_columns(submit=[0], run_time=[10], requested_time=[60], cores=[1], user=["a\nb:0:0"])
    source = {"engine": "slurm", "workload": {"table": jobs}, "cluster": cluster, "slurm": {"settings": settings}}
    return write_conf(make_site(resolve(parse(source), jobs), jobs))


@pytest.mark.parametrize("name", NAMES)
def test_a_name_says_one_thing(name: str) -> None:
    for cluster in (
        {"nodes": {"count": 2, "cores": 2, "name": name}},
        {"nodes": {"count": 2, "cores": 2, "features": [name]}},
        {"nodes": {"count": 2, "cores": 2, "resources": {name: 1}}},
        {"nodes": "2x2", "licences": {name: 1}},
        {"nodes": "2x2", "queues": {name: {"default": True}}},
    ):
        with pytest.raises(InputError, match=r"slurm\.conf"):
            write(cluster)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("PriorityWeightAge", f"1{name[1:]}") for name in NAMES),
        ("PrologSlurmctld", "/tmp/evil"),
        ("prologslurmctld", "/tmp/evil"),
        ("PluginDir", "/tmp"),
        ("MailProg", "/tmp/evil"),
        ("JobSubmitPlugins", "lua"),
    ],
)
def test_a_setting_is_one_and_no_program(key: str, value: str) -> None:
    with pytest.raises(InputError, match=r"slurm\.conf|is not told"):
        write({"nodes": "2x2"}, **{key: value})
    assert "PriorityWeightAge=5" in write({"nodes": "2x2"}, PriorityWeightAge="5").splitlines()


def test_a_site_says_no_program_either(tmp_path: Path) -> None:
    path = tmp_path / "slurm.conf"
    path.write_text(
        f'ClusterName="c {PROGRAM}"\nPriorityWeightAge="1 {PROGRAM}"\nPrologSlurmctld=/tmp/evil\nPluginDir=/tmp\n'
        "NodeName=n[1-2] CPUs=2\nPartitionName=p Nodes=ALL Default=YES\n"
    )
    with pytest.raises(InputError, match=r"slurm\.conf"):
        write_conf(simulated.make_site(read_conf(path)))
    path.write_text(path.read_text().replace(f'"c {PROGRAM}"', "c"))
    text = write_conf(simulated.make_site(read_conf(path)))
    assert f'PriorityWeightAge="1 {PROGRAM}"' in text.splitlines()  # one value, and a wrong one, for the controller
    assert not [line for line in text.splitlines() if line.startswith(PROGRAM) or line == "PluginDir=/tmp"]


def test_signs_with_a_meaning_are_escaped() -> None:
    site = Site("c", ("Licenses=a#b\\",), ())
    assert write_conf(site).splitlines()[-1] == r"Licenses=a\#b" + "\\\\"


@pytest.mark.parametrize(
    "command",
    [
        *("salloc touch x", "srun touch x", "sbatch --wrap 'touch x'", "sh -c 'touch x'", "/bin/touch x"),
        *("scontrol write batch_script 1 x", "scontrol shutdown", "scontrol -M other update", "scontrol"),
        *("sacctmgr dump cluster file=x", "scontrol 'update", "scontrol -M show write config x", "sh"),
    ],
)
def test_events_are_what_an_administrator_tells_the_controller(tmp_path: Path, command: str) -> None:
    path = tmp_path / "events"
    path.write_text(f"1h {command}\n")
    with pytest.raises(InputError) as caught:
        read_events(path)
    assert (caught.value.file, caught.value.line) == (str(path), 1)
    path.write_text("1h scontrol update nodename=n1 state=down reason='no power'\n2h scancel 3\n")
    assert [time for time, _, _ in read_events(path)] == [3_600_000_000, 7_200_000_000]


def test_events_at_a_date_and_any_command_of_the_person(tmp_path: Path) -> None:
    path = tmp_path / "events"
    path.write_text("2024-01-01T14:00:00 scontrol -o show node\n1h sh ls > x\n")
    base = 1_704_067_200_000_000
    events = read_events(path, base, "Europe/Berlin", any_command=True)
    assert events == [(13 * 3_600_000_000, "scontrol -o show node", 1), (3_600_000_000, "sh ls > x", 2)]
    with pytest.raises(InputError, match="--allow-commands"):
        read_events(path, base)
    for text in ("2024-13-01 squeue", "2023-12-31T14:00:00 squeue"):
        path.write_text(text)
        with pytest.raises(InputError, match="events:1"):
            read_events(path, base)
