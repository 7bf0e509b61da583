"""A site's slurm.conf: read as Slurm reads it, changed only where it must be, everything told."""

import pytest

from walltime.core.errors import InputError
from walltime.core.workload import Workload
from walltime.scenario import parse
from walltime.site.associations import Associations
from walltime.site.conf import read_conf
from walltime.site.gres import Gres
from walltime.slurm.conf.simulated import make_site
from walltime.slurm.translate import site as sites

PLAIN = """
ClusterName=Site          # a comment
SlurmctldHost=head GresTypes=gpu,fpga
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
    assert site.nodes[3].gres == (Gres("gpu", "a100", 4), Gres("fpga", None, 1))
    assert site.partitions == ("batch", "gpu")
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
        site = sites.make_site(parse(data | {"cluster": {"cores": 4}, "slurm": {"settings": settings}}))
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


# ---- what sites have beside the plain things


def test_nodes_that_are_not_there_are_no_capacity(conf):
    text = """
SuspendExcNodes=c[1-2]
NodeName=c[1-5] CPUs=4 State=CLOUD
NodeName=f[1-9] CPUs=4 State=FUTURE
NodeName=DEFAULT State=CLOUD
NodeName=d1 CPUs=4
PartitionName=p Nodes=ALL
"""
    site = make_site(read_conf(conf(text)))
    assert [node.name for node in site.nodes] == ["c1", "c2"]
    assert {"NodeName=c[1-2] CPUs=4 NodeAddr=127.0.0.1 State=UNKNOWN", "NodeName=d1 CPUs=4 NodeAddr=127.0.0.1 "
            "State=FUTURE", "NodeName=c[3-5] CPUs=4 NodeAddr=127.0.0.1 State=FUTURE"} < set(site.settings)  # fmt: skip
    assert any("f[1-9]" in note for note in site.notes)
    told = [str(change) for change in site.changes]
    assert any("c[3-5]" in text and "--cloud" in text for text in told)
    assert len(make_site(read_conf(conf(text)), cloud=True).nodes) == 6
    with pytest.raises(InputError, match="--cloud"):
        make_site(read_conf(conf("NodeName=c1 State=CLOUD\nPartitionName=p Nodes=ALL\n")))


def test_gres_conf_tells_the_cores_beside_a_card(conf):
    text = "GresTypes=gpu,nvme\nNodeName=n1 Sockets=2 CoresPerSocket=4 Gres=gpu:a:4,nvme:2T\nPartitionName=p Nodes=n1\n"
    assert any("gres.conf" in note for note in make_site(read_conf(conf(text))).notes)
    conf("Name=gpu Type=a File=/dev/c[0-1] Cores=0-3\nNodeName=n1 Name=gpu Type=a File=/dev/c[2-3] Cores=4-7\n"
         "NodeName=n2 Name=gpu File=/dev/c0\n", "gres.conf")  # fmt: skip
    site = make_site(read_conf(conf(text)))
    assert site.nodes[0].gres == (Gres("gpu", "a", 2, "0-3"), Gres("gpu", "a", 2, "4-7"),
                                  Gres("nvme", None, 2 << 40, files=False))  # fmt: skip
    assert site.notes == ()
    conf("Name=gpu Type=a File=/dev/c[0-1]\nAutoDetect=nvml\n", "gres.conf")
    site = make_site(read_conf(conf(text)))
    assert site.nodes[0].gres[0] == Gres("gpu", "a", 4)  # slurm.conf is right, and both are told
    assert [note.partition(" ")[0] for note in site.notes] == ["gres.conf:", "n1:"]
    conf("Name=gpu Type=a File=/dev/c[0-3] Cores=0-9\n", "gres.conf")
    with pytest.raises(InputError, match=r"gres\.conf.*8 cores.*'0-9'"):
        make_site(read_conf(conf(text)))


def test_what_is_given_out_has_to_be_named(conf):
    site = make_site(read_conf(conf("NodeName=n1 Gres=gpu:2\nPartitionName=p Nodes=n1\n")))
    assert not site.has("gpu")
    assert any("GresTypes" in note for note in site.notes)


def test_memory_that_is_not_told(conf):
    text = (
        "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\nNodeName=n[1-2]\nPartitionName=p Nodes=ALL\n"
    )
    assert any("RealMemory" in note for note in make_site(read_conf(conf(text))).notes)


def test_words_of_other_releases_are_translated(conf):
    text = PLAIN.replace("bf_continue", "max_job_bf=9,salloc_wait_nodes") + "AccountingStoreJobComment=YES\n"
    site = make_site(read_conf(conf(text)))
    assert "SchedulerParameters=bf_interval=60,bf_max_job_test=9" in site.settings
    assert "AccountingStoreFlags=job_comment" in site.settings
    assert {change.key for change in site.changes} >= {"AccountingStoreJobComment", "SchedulerParameters"}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("PriorityFlags=FAIR_TREE,FAIREST\n", ("FAIREST", "PriorityFlags")),
        ("SlurmctldParameters=enable_configles\n", ("did you mean 'enable_configless'",)),
        ("TopologyParam=SwitchAsNodeRank\n", ("SwitchAsNodeRank",)),
        ("SchedulerParameters=bf_interval=abc\n", ("bf_interval=abc", "number")),
        ("SchedulerParameters=bf_interval=abc,defr\nNewThing=1\n", ("NewThing", "also bf_interval=abc, defr")),
    ],
)
def test_words_without_effect_are_named(conf, line, words):
    with pytest.raises(InputError) as error:
        make_site(read_conf(conf(PLAIN + line)))
    for word in (*words, "--drop-unknown"):
        assert word in str(error.value)
    assert make_site(read_conf(conf(PLAIN + line)), drop_unknown=True)


def test_a_quality_of_a_partition_has_to_be_described(conf):
    text = PLAIN + "PartitionName=best Nodes=g1 QOS=gold AllowQos=normal\n"
    with pytest.raises(InputError, match=r"slurm\.conf:13: .*best.*--qos FILE.*'gold'"):
        make_site(read_conf(conf(text)), Associations())
    told = {change.key: change for change in make_site(read_conf(conf(text))).changes}
    assert "--qos" in told["QOS"].reason
