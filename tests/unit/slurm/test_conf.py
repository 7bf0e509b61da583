"""A site's slurm.conf: read as Slurm reads it, changed only where it must be, everything told."""

import pytest

from walltime.core.errors import InputError
from walltime.core.workload import Workload
from walltime.scenario import parse
from walltime.slurm import engine
from walltime.slurm.conf import make_site, read_conf

PLAIN = """
ClusterName=Site          # a comment
SlurmctldHost=head
selecttype=select/cons_tres
SchedulerParameters=bf_interval=60,\\
bf_continue
NodeName=DEFAULT CoresPerSocket=8 Sockets=2 RealMemory=64000
NodeName=cn[01-03] NodeAddr=10.0.0.[1-3] Feature=fast
NodeName=g1 CPUs=32 ThreadsPerCore=2 Gres=gpu:a100:4(S:0-1),fpga:1
PartitionName=batch Nodes=cn[01-03] Default=YES
PartitionName=gpu Nodes=g1
Prolog=/etc/prolog
"""


@pytest.fixture
def conf(tmp_path):
    def write(text, name="slurm.conf"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def test_nodes_partitions_and_settings(conf):
    site = make_site(read_conf(conf(PLAIN)))
    assert site.name == "site"
    assert [node.name for node in site.nodes] == ["cn01", "cn02", "cn03", "g1"]
    assert [node.cpus for node in site.nodes] == [16, 16, 16, 32]
    assert site.nodes[0].features == "fast"
    assert site.nodes[3].threads == 2
    assert site.nodes[3].gres == (("gpu", "a100", 4), ("fpga", None, 1))
    assert site.partitions == ("batch", "gpu")
    assert site.default_partition == "batch"
    assert not site.linear
    assert "SchedulerParameters=bf_interval=60,bf_continue" in site.settings


def test_every_change_is_told(conf):
    told = {change.key: change for change in make_site(read_conf(conf(PLAIN))).changes}
    assert told["Prolog"].new is None
    assert told["SlurmctldHost"].new == "localhost(127.0.0.1)"
    assert told["NodeAddr"].new is None
    assert "SchedulerParameters" not in told


def test_an_experiment_replaces_a_setting(conf):
    site = make_site(read_conf(conf(PLAIN)), settings={"schedulerparameters": "bf_interval=30"})
    assert "SchedulerParameters=bf_interval=30" in site.settings


def find_change(site, key):
    return [str(change) for change in site.changes if change.key == key]


def test_words_that_a_replaced_list_loses_are_told(conf):
    read = read_conf(conf(PLAIN + "PrivateData=jobs,usage\n"))
    site = make_site(read, settings={"SchedulerParameters": "BF_Interval=30,defer", "PrivateData": "usage"})
    assert find_change(site, "SchedulerParameters") == [
        "SchedulerParameters=bf_continue dropped (the whole list was replaced; "
        "SchedulerParameters.WORD=VALUE sets one word of it)"
    ]
    assert [text.partition(" ")[0] for text in find_change(site, "PrivateData")] == ["PrivateData=jobs"]
    kept = make_site(read, settings={"SchedulerParameters": "bf_continue,bf_interval=1", "SelectType": "select/linear"})
    assert find_change(kept, "SchedulerParameters") == find_change(kept, "SelectType") == []


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"SchedulerParameters.bf_interval": "30"}, "SchedulerParameters=bf_interval=30,bf_continue"),
        ({"schedulerparameters.BF_INTERVAL": "30"}, "SchedulerParameters=BF_INTERVAL=30,bf_continue"),
        ({"SchedulerParameters.defer": "yes"}, "SchedulerParameters=bf_interval=60,bf_continue,defer"),
        ({"SchedulerParameters.bf_interval": "no"}, "SchedulerParameters=bf_continue"),
        ({"PriorityWeightTRES.CPU": "1000"}, "PriorityWeightTRES=CPU=1000"),
        ({"Licenses.matlab": "5"}, "Licenses=matlab:5,stata:2"),
        (
            {"SchedulerParameters": "defer", "SchedulerParameters.bf_window": "9"},
            "SchedulerParameters=defer,bf_window=9",
        ),
    ],
)
def test_one_word_of_a_list_is_set(conf, given, line):
    site = make_site(read_conf(conf(PLAIN + "Licenses=matlab:1,stata:2\n")), settings=given)
    assert line in site.settings
    assert len(find_change(site, line.partition("=")[0])) == ("SchedulerParameters" in given)


@pytest.mark.parametrize(
    "key", ["SelectType.x", "SchedulerParameters.", "SchedulerParameters.bf_intervall", "Nothing.x"]
)
def test_a_word_of_no_list_is_refused(conf, key):
    with pytest.raises(InputError):
        make_site(read_conf(conf(PLAIN)), settings={key: "1"})


def test_words_of_a_scenarios_own_configuration():
    """What the scenario's policy became is kept beside the one word, and told where it is lost."""

    def make(settings):
        data = {"workload": {"table": Workload.from_columns(submit=[0], run_time=[1])}, "engine": "slurm"}
        site = engine.make_site(parse(data | {"cluster": {"cores": 4}, "slurm": {"settings": settings}}))
        (line,) = [line for line in site.settings if line.startswith("SchedulerParameters=")]
        return set(line.partition("=")[2].split(",")), [change.key for change in site.changes]

    usual, _ = make({})
    assert make({"SchedulerParameters.bf_interval": 60}) == (usual | {"bf_interval=60"}, [])
    assert make({"SchedulerParameters": {"bf_interval": 60, "bf_continue": False}}) == (
        (usual - {"bf_continue"}) | {"bf_interval=60"},
        [],
    )
    assert make({"SchedulerParameters": "bf_interval=60"}) == ({"bf_interval=60"}, ["SchedulerParameters"])
    with pytest.raises(InputError, match="bf_intervall"):
        make({"SchedulerParameters.bf_intervall": 60})


def test_included_files(conf):
    conf("NodeName=n1\nPartitionName=p Nodes=n1\n", "nodes.conf")
    assert [node.name for node in make_site(read_conf(conf("Include nodes.conf\n"))).nodes] == ["n1"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ClusterName\n", ("slurm.conf:1:", "Key=Value")),
        ("ClusterName=x\n", ("no nodes",)),
        ("NodeName=n1\n", ("no partition",)),
        ("NodeName=n[1-\nPartitionName=p Nodes=ALL\n", ("slurm.conf:1:", "brackets")),
        (PLAIN + "NewThing=1\n", ("slurm.conf:13:", "NewThing", "--drop-unknown")),
        (PLAIN.replace("bf_continue", "bf_tomorrow=3"), ("slurm.conf:5:", "bf_tomorrow", "--drop-unknown")),
        (PLAIN + "NodeName=n9 Turbo=9\n", ("slurm.conf:13:", "Turbo")),
    ],
)
def test_mistakes_are_named_with_their_line(conf, text, words):
    with pytest.raises(InputError) as error:
        make_site(read_conf(conf(text)))
    for word in words:
        assert word in str(error.value)


def test_unknown_options_can_be_dropped(conf):
    text = PLAIN.replace("bf_continue", "bf_tomorrow=3") + "NewThing=1\n"
    site = make_site(read_conf(conf(text)), drop_unknown=True)
    assert {change.key for change in site.changes} >= {"NewThing", "SchedulerParameters"}
    assert any(line.startswith("SchedulerParameters=bf_interval=60") for line in site.settings)
    assert not any("tomorrow" in line for line in site.settings)


def test_topology_needs_its_file(conf):
    with pytest.raises(InputError, match=r"topology\.conf"):
        make_site(read_conf(conf(PLAIN + "TopologyPlugin=topology/tree\n")))
