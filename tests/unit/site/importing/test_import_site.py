"""From a site's files to a scenario: what is in it, worked out by hand, and clear words for wrong files."""

import pytest
import yaml

from walltime.api import simulate
from walltime.core.errors import InputError
from walltime.pipeline import check
from walltime.scenario import load, parse
from walltime.site.files import recognise
from walltime.site.importing.scenario import import_site

CONF = """ClusterName=Small
SlurmctldHost=head
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=bf_interval=45,bf_max_job_test=50,bf_busy_nodes,bf_continue
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityWeightFairshare=5000
PriorityMaxAge=1-0
PriorityFlags=NO_FAIR_TREE
PreemptType=preempt/qos
PreemptMode=CANCEL
JobRequeue=0
Licenses=matlab:3
GresTypes=gpu
AccountingStorageEnforce=limits,qos
include nodes.conf
PartitionName=DEFAULT State=UP MaxTime=1-0
PartitionName=batch Nodes=cn[01-04] Default=YES DefaultTime=30
PartitionName=gpu Nodes=g1 MaxTime=2:00:00 PriorityTier=5 AllowAccounts=physics QOS=part
"""
NODES = """NodeName=DEFAULT Sockets=2 CoresPerSocket=4 RealMemory=8000
NodeName=g1 Gres=gpu:a100:2 Weight=10 MemSpecLimit=1000
NodeName=cn[01-04] Feature=fast,ib CoreSpecCount=1
"""
DUMP = """Cluster - 'small':Fairshare=1:QOS='normal,idle'
Parent - 'root'
Account - 'science':Fairshare=7:GrpTRES=cpu=20,mem=1T
Parent - 'science'
Account - 'physics':Fairshare=3
Account - 'biology':MaxJobs=2
Parent - 'physics'
User - 'ann':Fairshare=4:MaxSubmitJobs=9
Parent - 'biology'
User - 'bo'
User - 'cy'
"""
QOS = """Name|Priority|Preempt|GraceTime|GrpTRES|MaxTRESPU|MaxWall
normal|5|idle|00:01:00|||
idle|0||00:01:00||cpu=8,gres/gpu=1|1:00:00
part|0|||node=1,gres/gpu=2||
"""
EVENTS = """Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User
small||2026-10-01T00:00:00|Unknown||Cluster Registered TRES|
small|cn01|2026-10-14T08:00:00|2026-10-14T09:30:00|DOWN*|power|root(0)
small|cn02|2026-10-14T08:00:00|2026-10-14T09:30:00|DOWN*|power|root(0)
small|cn03|2026-10-14T10:00:00|2026-10-14T12:00:00|DRAIN|disk|root(0)
small|cn04|2026-10-15T10:00:00|Unknown|DOWN|gone|root(0)
"""
RESERVATIONS = """ReservationName=maint StartTime=2026-10-14T13:00:00 EndTime=2026-10-14T15:00:00 Duration=02:00:00
   Nodes=cn[01-04] NodeCnt=4 CoreCnt=32 Features=(null) PartitionName=(null) Flags=MAINT,SPEC_NODES
   Users=root Groups=(null) Accounts=(null) Licenses=(null) State=INACTIVE
"""
LOG = """JobID|User|Account|Partition|QOS|Submit|Start|End|Timelimit|ReqCPUS|NNodes|ReqMem|ReqTRES|State
1|ann|physics|gpu|normal|2026-10-14T07:00:00|2026-10-14T07:00:00|2026-10-14T07:10:00|01:00:00|2|1|1Gn|cpu=2,gres/gpu=1|COMPLETED
2|bo|biology|batch|idle|2026-10-14T07:01:00|2026-10-14T07:01:00|2026-10-14T07:20:00|00:30:00|7|1|1Gn|cpu=7|COMPLETED
"""
FILES = {
    **{"slurm.conf": CONF, "nodes.conf": NODES, "dump.txt": DUMP, "qos.txt": QOS, "events.txt": EVENTS},
    **{"reservations.txt": RESERVATIONS, "log.sacct": LOG},
}
GIVEN = [name for name in FILES if name != "nodes.conf"]


@pytest.fixture
def site(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def make(site, *names, **options):
    return import_site([site / name for name in names or GIVEN], folder=site, **options)


def test_the_machine(site):
    cluster = make(site).data["cluster"]
    assert cluster["name"] == "small"
    assert cluster["nodes"] == [  # of the smaller weight first, in spite of the file's order
        {"name": "cn[01-04]", "cores": 7, "memory": "8000M", "features": ["fast", "ib"]},
        {"name": "g[1]", "cores": 8, "memory": "7000M", "gpus": 2},
    ]
    assert cluster["licences"] == {"matlab": 3}
    assert cluster["sharing"] == "shared"
    assert cluster["interrupted"] == "fail"


def test_a_licence_of_a_server_has_the_name_that_a_log_gives_it(site):
    change(site, "slurm.conf", "Licenses=matlab:3", "Licenses=matlab:3,ansys@flex:2")
    change(site, "log.sacct", "cpu=2,gres/gpu=1", "cpu=2,gres/gpu=1,license/ansys@flex=1")
    made = make(site)
    assert made.data["cluster"]["licences"] == {"matlab": 3, "ansys_flex": 2}
    (site / "site.yaml").write_text(made.text)
    assert simulate(site / "site.yaml").jobs["state"].to_list() == ["completed", "completed"]


def test_resources_beyond_what_is_counted_are_left_out_and_told(site):
    (site / "nodes.conf").write_text(NODES.replace("gpu:a100:2", "gpu:a100:2,nvme:2T,scratch:1023G"))
    (site / "slurm.conf").write_text(CONF.replace("GresTypes=gpu", "GresTypes=gpu,nvme,scratch"))
    made = make(site)
    assert made.data["cluster"]["nodes"][1]["resources"] == {"scratch": 1023 << 30}
    assert any("nvme of g1" in line for line in made.findings.lines("not"))


def test_jobs_of_another_cluster_in_the_log_are_told(site):
    assert not any("other clusters" in note for note in make(site).notes)
    heads, *lines = LOG.splitlines()
    both = [f"{name}|{line}" for name, line in zip(("small", "other"), lines, strict=True)]
    (site / "log.sacct").write_text("\n".join([f"Cluster|{heads}", *both]) + "\n")
    assert any("has jobs of other clusters than small (other)" in note for note in make(site).notes)
    (site / "log.sacct").write_text("\n".join([f"Cluster|{heads}", both[0]]) + "\n")
    assert not any("other clusters" in note for note in make(site).notes)


def test_a_resource_that_no_job_uses_up_is_there_for_each_of_them(site):
    (site / "nodes.conf").write_text(NODES.replace("gpu:a100:2", "gpu:a100:2,link:fast:no_consume:4"))
    (site / "slurm.conf").write_text(CONF.replace("GresTypes=gpu", "GresTypes=gpu,link"))
    made = make(site)
    assert made.data["cluster"]["nodes"][1]["resources"] == {"link": 4 * 8}
    assert any("link of g1" in line and "no_consume" in line for line in made.findings.lines("nearly"))


def test_the_pause_of_a_job_that_is_put_back(site):
    assert make(site).data["cluster"]["requeue_delay"] == 121
    text = (site / "slurm.conf").read_text()
    for given, delay in (("socket=/run/m,cred_expire=300", 301), ("cred_expire=4", 121), ("socket=/run/m", 121)):
        (site / "slurm.conf").write_text(f"{text}\nAuthInfo={given}\n")
        made = make(site, "slurm.conf")
        assert made.data["cluster"]["requeue_delay"] == delay, given
        assert ("AuthInfo (cred_expire)" in made.findings.lines("exactly")) == ("cred_expire" in given)


def change(site, name, old, new):
    path = site / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    return make(site, "slurm.conf")


def test_threads_are_given_out_as_whole_cores(site):
    made = change(site, "nodes.conf", "CoresPerSocket=4", "CoresPerSocket=4 ThreadsPerCore=2")
    assert made.data["cluster"]["threads_per_core"] == 2
    assert [group["cores"] for group in made.data["cluster"]["nodes"]] == [14, 16]  # a core of cn is spared
    assert any(row["keyword"] == "NodeName.ThreadsPerCore" for row in made.findings.as_data()["exactly"])
    made = change(site, "nodes.conf", "NodeName=g1", "NodeName=g1 ThreadsPerCore=1")
    (row,) = [row for row in made.findings.as_data()["nearly"] if row["keyword"] == "NodeName.ThreadsPerCore"]
    assert row["how"] == "a job has whole cores of 2 threads on all nodes alike"


def test_least_loaded_nodes_of_some_partitions_of_all_or_of_none(site):
    made = change(site, "slurm.conf", "Default=YES", "Default=YES LLN=YES")
    assert "place" not in made.data["cluster"]["scheduler"]
    assert {name: queue.get("place") for name, queue in made.data["cluster"]["queues"].items()} == {
        "batch": "worst-fit",
        "gpu": None,
    }
    assert "PartitionName.LLN (batch)" in made.findings.lines("exactly")
    made = change(site, "slurm.conf", "Nodes=g1", "Nodes=g1 LLN=YES")
    assert made.data["cluster"]["scheduler"]["place"] == "worst-fit"
    assert not any("place" in queue for queue in made.data["cluster"]["queues"].values())
    made = change(site, "slurm.conf", "LLN=YES", "")
    assert "place" not in made.data["cluster"]["scheduler"]
    made = change(site, "slurm.conf", "CR_Core_Memory", "CR_Core_Memory,CR_LLN")
    assert made.data["cluster"]["scheduler"]["place"] == "worst-fit"


def test_partitions_that_give_whole_nodes(site):
    """Some of them, or all; where their nodes differ, a job is divided over them in another way."""
    made = change(site, "slurm.conf", "Nodes=g1", "Nodes=g1 OverSubscribe=EXCLUSIVE")
    assert made.data["cluster"]["sharing"] == "shared"
    assert {name: queue.get("sharing") for name, queue in made.data["cluster"]["queues"].items()} == {
        "batch": None,
        "gpu": "whole",
    }
    assert "PartitionName.OverSubscribe (gpu)" in made.findings.lines("exactly")
    assert "sharing: whole  # slurm.conf:20 OverSubscribe=EXCLUSIVE" in made.text
    made = change(site, "slurm.conf", "Nodes=g1", "Nodes=g1,cn01 MinNodes=2")
    told = "PartitionName.OverSubscribe (gpu): a job that tells no nodes has as many cores of each of its nodes"
    assert told in made.findings.lines("nearly")
    assert "min_cores" not in made.data["cluster"]["queues"]["gpu"]
    made = change(site, "slurm.conf", "Default=YES", "Default=YES OverSubscribe=EXCLUSIVE")
    assert made.data["cluster"]["sharing"] == "whole"
    assert not any("sharing" in queue for queue in made.data["cluster"]["queues"].values())


@pytest.mark.parametrize(
    ("settings", "words", "cluster", "queues"),
    [
        ("", "", {"default_memory": "all"}, {}),
        ("DefMemPerCPU=0", "", {}, {}),
        ("DefMemPerNode=0", "DefMemPerNode=0", {"default_memory": "all"}, {}),
        ("DefMemPerCPU=2G\nMaxMemPerNode=6000", "", {"default_memory": "2048M/core", "max_memory": "6000M/node"}, {}),
        ("DefMemPerNode=3000", "DefMemPerCPU=0", {"default_memory": "3000M/node"}, {"default_memory": "0/core"}),
        (
            "DefMemPerCPU=500\nMaxMemPerCPU=1000",
            "DefMemPerNode=4000 MaxMemPerCPU=UNLIMITED",
            {"default_memory": "500M/core", "max_memory": "1000M/core"},
            {"default_memory": "4000M/node"},
        ),
        ("DefMemPerGPU=4000", "", {}, {}),
        ("SelectTypeParameters=CR_Core\nDefMemPerCPU=500", "MaxMemPerNode=3000", {}, {}),
    ],
)
def test_memory_of_jobs_that_ask_for_none_and_the_most(site, settings, words, cluster, queues):
    """One word for all, or one of the partition gpu."""
    conf = site / "slurm.conf"
    conf.write_text(f"{conf.read_text()}{settings}\n".replace("Nodes=g1", f"Nodes=g1 {words}"))
    made = import_site([conf], folder=site)
    assert keys_of(made.data["cluster"]) == cluster
    assert keys_of(made.data["cluster"]["queues"]["batch"]) == {}
    assert keys_of(made.data["cluster"]["queues"]["gpu"]) == queues
    told = "\n".join(made.findings.lines("exactly") + made.findings.lines("nearly"))
    assert all(pair.split("=")[0] in told for pair in f"{settings} {words}".split() if not pair.endswith(("=0", "ED")))


def keys_of(tree):
    return {key: tree[key] for key in ("default_memory", "max_memory") if key in tree}


def test_what_partitions_say_of_memory_need_not_be_said_again(site):
    conf = site / "slurm.conf"
    conf.write_text(conf.read_text().replace("State=UP", "State=UP DefMemPerCPU=700"))
    made = import_site([conf], folder=site)
    assert keys_of(made.data["cluster"]) == {}
    assert [queue["default_memory"] for queue in made.data["cluster"]["queues"].values()] == ["700M/core"] * 2
    conf.write_text(conf.read_text().replace("DefMemPerCPU=700", "DefMemPerCPU=much"))
    with pytest.raises(InputError, match=r"DefMemPerCPU is not an amount of memory: 'much'"):
        import_site([conf], folder=site)


def test_a_log_that_tells_no_memory_does_not_make_all_jobs_ask_for_all_of_it(site):
    """What Slurm gave them by default is not known then; where the log tells memory, those without had all of it."""
    head = "JobID|Submit|Start|End|Timelimit|ReqCPUS|State"
    row = "1|2026-10-05T08:00:00|2026-10-05T08:00:00|2026-10-05T09:00:00|02:00:00|2|COMPLETED"
    for more, cell, keys in (("", "", {}), ("|ReqMem", "|0", {"default_memory": "all"})):
        (site / "log.sacct").write_text(f"{head}{more}\n{row}{cell}\n")
        made = import_site([site / "slurm.conf", site / "log.sacct"], folder=site)
        assert keys_of(made.data["cluster"]) == keys
        assert any(line.startswith("DefMemPerNode: not given") for line in made.findings.lines("nearly")) == (not keys)


@pytest.mark.parametrize(
    ("select", "sharing", "told"),
    [
        ("SelectType=select/linear\nSelectTypeParameters=CR_Memory", "whole", ()),
        ("SelectType=select/cray_aries", "whole", ()),
        ("SelectType=select/cray_aries\nSelectTypeParameters=other_cons_tres,CR_Core", "shared", ()),
        (
            "SelectType=select/cons_tres\nSelectTypeParameters=CR_Memory",
            "shared",
            ("SelectTypeParameters (CR_Memory): a core is given to one job at a time",),
        ),
        (
            "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core,MULTIPLE_SHARING_GRES_PJ",
            "shared",
            ("SelectTypeParameters (MULTIPLE_SHARING_GRES_PJ): this word is not known here",),
        ),
    ],
)
def test_how_nodes_are_given_out(site, select, sharing, told):
    words = "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory"
    (site / "slurm.conf").write_text(CONF.replace(words, select))
    made = make(site)
    assert made.data["cluster"]["sharing"] == sharing
    assert tuple(line for line in made.findings.lines("not") if line.startswith("SelectType")) == told


def test_a_plan_for_licences_is_not_made(site):
    (site / "slurm.conf").write_text(CONF.replace("bf_busy_nodes", "bf_licenses"))
    lines = make(site).findings.lines("not")
    assert any("bf_licenses: a job that waits for licences gets no place" in line for line in lines)


def test_the_queues(site):
    assert make(site).data["cluster"]["queues"] == {
        "batch": {"nodes": ["cn[01-04]"], "default": True, "max_time": "1d", "default_time": "30m", "priority": 1},
        "gpu": {
            **{"nodes": ["g1"], "max_time": "2h", "default_time": "2h", "priority": 5, "accounts": ["physics"]},
            "running_gpus": 2,  # of its quality of service, which is no job's
        },
    }


def test_a_job_without_a_limit_has_the_longest_where_no_default_is_given(site):
    queues = make(site).data["cluster"]["queues"]
    assert (queues["gpu"]["max_time"], queues["gpu"]["default_time"]) == ("2h", "2h")
    assert (queues["batch"]["max_time"], queues["batch"]["default_time"]) == ("1d", "30m")


def test_a_default_time_beyond_the_limit_is_the_limit(site):
    change(site, "slurm.conf", "State=UP MaxTime=1-0", "State=UP MaxTime=1-0 DefaultTime=3:00:00")
    queues = make(site).data["cluster"]["queues"]
    assert (queues["gpu"]["max_time"], queues["gpu"]["default_time"]) == ("2h", "2h")
    assert queues["batch"]["default_time"] == "30m"


def test_limits_of_partitions_are_whole_minutes(site):
    (site / "slurm.conf").write_text(CONF.replace("DefaultTime=30", "DefaultTime=0:30").replace("2:00:00", "30:30"))
    queues = make(site).data["cluster"]["queues"]
    assert (queues["batch"]["default_time"], queues["gpu"]["max_time"]) == ("1m", "31m")


@pytest.mark.parametrize(("flags", "formula"), [("DEPTH_OBLIVIOUS", "classic"), ("MAX_TRES", "fair-tree")])
def test_a_share_by_depth_is_no_fair_tree(site, flags, formula):
    (site / "slurm.conf").write_text(CONF.replace("NO_FAIR_TREE", flags))
    made = make(site)
    assert made.data["cluster"]["scheduler"]["order"]["fairshare"]["formula"] == formula
    assert any(line.startswith(f"PriorityFlags.{flags}") for line in made.findings.lines("not"))


def allow(site, text):
    (site / "slurm.conf").write_text(CONF.replace("AllowAccounts=physics", text))
    made = make(site)
    told = {verdict: made.findings.lines(verdict) for verdict in ("exactly", "nearly", "not")}
    where = [(verdict, line) for verdict, lines in told.items() for line in lines if "Accounts (gpu)" in line]
    return made.data["cluster"]["queues"]["gpu"].get("accounts"), where


def test_accounts_that_may_use_a_partition(site):
    assert allow(site, "AllowAccounts=physics,nobody") == (
        ["physics"],
        [("exactly", "PartitionName.AllowAccounts (gpu)")],
    )
    below = "PartitionName.AllowAccounts (gpu): accounts below them may use it, too"
    assert allow(site, "AllowAccounts=science") == (["science"], [("nearly", below)])
    none = "PartitionName.AllowAccounts (gpu): it leaves no account; all of them may use it"
    assert allow(site, "AllowAccounts=nobody") == (None, [("not", none)])
    above = "PartitionName.DenyAccounts (gpu): nor may accounts above them, by themselves"
    assert allow(site, "DenyAccounts=physics") == (["biology"], [("nearly", above)])
    only = "PartitionName.DenyAccounts (gpu)"
    assert allow(site, "DenyAccounts=Science") == (["physics", "biology"], [("exactly", only)])
    whole = "PartitionName.DenyAccounts (gpu): it leaves no account; all of them may use it"
    assert allow(site, "DenyAccounts=science,physics,biology") == (None, [("not", whole)])


def test_accounts_shares_and_limits(site):
    cluster = make(site).data["cluster"]
    assert cluster["accounts"] == {
        "science": {"shares": 7},
        "physics": {"parent": "science", "shares": 3, "users": ["ann"]},
        "biology": {"parent": "science", "users": ["bo", "cy"]},
    }
    assert cluster["shares"] == {"ann": 4}
    assert cluster["limits"] == [
        {"account": "science", "running_cores": 20, "running_memory": "1048576M", "optional": True},
        {"user": "ann", "submitted_jobs": 9, "optional": True},
        {"account": "biology", "per": "user", "running_jobs": 2, "optional": True},
        {"qos": "idle", "per": "user", "running_cores": 8, "running_gpus": 1, "optional": True},
    ]


def test_what_users_have_beside_their_accounts_is_told(site):
    lines = DUMP.replace("Fairshare=4", "Fairshare=4:Priority=7").replace("User - 'cy'", "User - 'cy':Fairshare=parent")
    (site / "dump.txt").write_text(lines + "User - 'ann'\nUser - 'di':Fairshare=2\nUser - 'ed':Fairshare=2\n")
    made = make(site)
    assert made.data["cluster"]["shares"] == {"ann": 4, "di": 2, "ed": 2}
    nearly, refused = made.findings.lines("nearly"), made.findings.lines("not")
    assert any("Fairshare (ann): one share in all accounts" in line for line in nearly)
    assert any("Fairshare (cy): parent: a user has 1 share" in line for line in nearly)
    assert any("Association.Priority (ann)" in line for line in refused)
    (site / "dump.txt").write_text(DUMP.replace("Fairshare=3", "Fairshare=3:Priority=9"))
    assert not any("Association.Priority" in line for line in make(site).findings.lines("not"))


def test_what_a_user_has_in_one_partition_alone_is_told(site):
    own = "User - 'bo':Partition='gpu':MaxJobs=1:Fairshare=3\nUser - 'di':Partition='gpu':GrpTRES=cpu=3\n"
    (site / "dump.txt").write_text(DUMP + own)
    made = make(site)
    cluster = made.data["cluster"]
    assert cluster["accounts"]["biology"]["users"] == ["bo", "cy", "di"]
    assert cluster["shares"] == {"ann": 4}
    assert {"account": "biology", "per": "user", "running_jobs": 2, "optional": True} in cluster["limits"]
    assert not any("user" in limit for limit in cluster["limits"] if limit.get("user") != "ann")
    assert any(line.startswith("Association.Partition (bo in gpu, di in gpu)") for line in made.findings.lines("not"))


def test_a_column_of_qualities_that_is_not_known_is_told(site):
    heads = "Name|ID|Prio|GrpTRESRunMin|GrpCPUs|Descr|Relative|"
    (site / "qos.txt").write_text(f"{heads}\nnormal|1|5|cpu=600||||\nidle|2|0||64|x||\n")
    made = make(site)
    assert {"qos": "normal", "running_core_minutes": 600, "optional": True} in made.data["cluster"]["limits"]
    assert "QOS.GrpCPUs (idle): this keyword is not known here" in made.findings.lines("not")
    assert not {"qos.id", "qos.descr", "qos.relative"} & made.findings.told


def test_a_limit_of_a_quality_that_a_partition_has_too_is_told(site):
    (site / "qos.txt").write_text("Name|Priority|GrpTRES|MaxTRESPU|MaxJobsPU\nnormal|5|gres/gpu=4|cpu=8|3\nidle|0|||\n"
                                  "part|0|node=1,gres/gpu=2||2\n")  # fmt: skip
    found = make(site).findings
    how = "partition gpu has such a limit, too: both hold for its jobs, in Slurm one of them"
    assert f"QOS.GrpTRES (normal): {how}" in found.lines("nearly")
    assert f"QOS.MaxJobsPU (normal): {how}" in found.lines("nearly")
    assert "QOS.MaxTRESPU (normal)" in found.lines("exactly")
    assert "QOS.GrpTRES (part)" in found.lines("exactly")


def test_limits_on_the_number_of_jobs_that_accrue_age(site):
    text = (site / "qos.txt").read_text()
    head, *lines = text.splitlines()
    cells = {"normal": "5||", "idle": "|7|", "part": "1|1|1"}
    rows = [f"{line}|{cells.get(line.partition('|')[0], '||')}" for line in lines]
    (site / "qos.txt").write_text("\n".join([f"{head}|GrpJobsAccrue|MaxJobsAccruePU|MaxJobsAccruePA", *rows]))
    dump = site / "dump.txt"
    dump.write_text(dump.read_text().replace("'biology':", "'biology':GrpJobsAccrue=0:MaxJobsAccrue=3:", 1))
    made = make(site)
    found = [limit for limit in made.data["cluster"]["limits"] if "accruing_jobs" in limit]
    assert found == [
        {"account": "biology", "accruing_jobs": 0, "optional": True},
        {"account": "biology", "per": "user", "running_jobs": 2, "accruing_jobs": 3, "optional": True},
        {"qos": "normal", "accruing_jobs": 5, "optional": True},
        {"qos": "idle", "per": "user", "running_cores": 8, "running_gpus": 1, "accruing_jobs": 7, "optional": True},
    ]
    assert any(line.startswith("QOS.GrpJobsAccrue (normal): the next job") for line in made.findings.lines("nearly"))
    assert any("of a partition's QOS" in line for line in made.findings.lines("exactly"))
    change(site, "slurm.conf", "PriorityWeightAge=1000", "PriorityWeightAge=0")
    assert "accruing" not in str(make(site).data)


def test_priority_and_preemption(site):
    scheduler = make(site).data["cluster"]["scheduler"]
    assert scheduler["order"] == {
        "name": "multifactor",
        "weights": {"age": 1000, "fairshare": 5000},
        "interval": "5m",
        "max_age": "1d",
        "qos": {"normal": 5, "idle": 0},
        "fairshare": {"formula": "classic", "half_life": "7d"},
    }
    assert scheduler["preempt"] == {
        **{"name": "qos", "ranks": {"normal": 0, "idle": -1}, "mode": "kill", "victims": "smallest"},
        "grace": "1m",
    }


@pytest.mark.parametrize(("requeued", "mode"), [("1", "requeue"), ("0", "kill")])
@pytest.mark.parametrize("own", ["", "requeue"])
def test_preempted_jobs_that_may_not_be_put_back_are_killed(site, requeued, mode, own):
    usual = "CANCEL" if own else "REQUEUE"
    text = CONF.replace("PreemptMode=CANCEL", f"PreemptMode={usual}")
    (site / "slurm.conf").write_text(text.replace("JobRequeue=0", f"JobRequeue={requeued}"))
    modes = {"Name": "PreemptMode", "normal": "cluster", "idle": own, "part": "cluster"}
    rows = (line.partition("|") for line in QOS.splitlines())
    (site / "qos.txt").write_text("".join(f"{name}|{modes[name]}|{rest}\n" for name, _, rest in rows))
    made = make(site)
    assert made.data["cluster"]["scheduler"]["preempt"]["mode"] == mode
    assert any("as JobRequeue=0 says" in line for line in made.findings.lines("nearly")) == (mode == "kill")


def test_numbers_that_the_controller_does_not_take(site):
    words = "bf_interval=0,bf_window=50000,bf_resolution=-5,bf_max_job_array_resv=0,bf_max_job_test"
    (site / "slurm.conf").write_text(CONF.replace("bf_interval=45,bf_max_job_test", words))
    made = make(site)
    check(parse(made.data))
    rhythm = made.data["cluster"]["scheduler"]["rhythm"]
    assert [rhythm[word] for word in ("bf_interval", "bf_window", "bf_resolution")] == [30, 1440, 60]
    told = "SchedulerParameters.bf_window: the controller does not take 50000, and has its default, 1440"
    assert told in made.findings.lines("exactly")
    assert "SchedulerParameters.bf_max_job_array_resv: 0: one task of an array gets a place" in made.findings.lines(
        "nearly"
    )


def test_a_backfill_interval_of_minus_one_is_no_backfilling(site):
    (site / "slurm.conf").write_text(CONF.replace("bf_interval=45", "bf_interval=-1"))
    made = make(site)
    check(parse(made.data))
    scheduler = made.data["cluster"]["scheduler"]
    assert scheduler["backfill"] == "none"
    assert not [key for key in scheduler["rhythm"] if key.startswith("bf_")]
    assert "backfill: none  # slurm.conf:5 SchedulerParameters bf_interval=-1" in made.text


def test_words_of_scheduler_parameters_may_have_large_letters(site):
    (site / "slurm.conf").write_text(CONF.replace("bf_interval=45,bf_max_job_test", "BF_Interval=45,MAX_JOB_BF"))
    made = make(site)
    assert made.data["cluster"]["scheduler"]["rhythm"]["bf_interval"] == 45
    assert made.data["cluster"]["scheduler"]["rhythm"]["bf_max_job_test"] == 50
    assert "schedulerparameters.bf_interval" in made.findings.told
    assert "SchedulerParameters.bf_interval" in made.findings.lines("exactly")
    assert not [one for one in made.data["slurm"]["settings"] if "interval" in one.lower()]


LISTED = """SelectType=select/cons_tres
PreemptType=preempt/partition_prio
PreemptMode=SUSPEND,GANG
NodeName=n[1-4] CPUs=8 Feature=x
NodeName=n[5-6] CPUs=8 State=IDLE+DRAIN
NodeName=n7 CPUs=8 State=MIXED
NodeSet=xs Feature=x
DownNodes=n[3-4] State=DRAIN Reason="disk"
PartitionName=low Nodes=xs PreemptMode=REQUEUE
PartitionName=high Nodes=ALL PriorityTier=5 PreemptMode=SUSPEND,GANG
PartitionName=safe Nodes=n7 PriorityTier=3 PreemptMode=OFF
"""


def test_what_stands_on_lines_of_its_own_is_on_a_list(site):
    (site / "slurm.conf").write_text(LISTED)
    found = make(site, "slurm.conf", "qos.txt").findings
    exactly, nearly, no = (found.lines(verdict) for verdict in ("exactly", "nearly", "not"))
    assert "NodeSet (xs)" in exactly
    assert any(line.startswith("DownNodes (n[3-4]): not in service") for line in nearly)
    assert any(line.startswith("NodeName.State (n[5-6]): drain when the file was made") for line in nearly)
    assert "NodeName.State (n7)" in exactly
    assert "PartitionName.PreemptMode (low): requeue: one mode for all partitions, suspend" in no
    assert "PartitionName.PreemptMode (safe): its jobs may be preempted by those of higher tiers" in no
    assert "PartitionName.PreemptMode (high)" in exactly
    assert any(line.startswith("QOS.Preempt (normal): nothing is preempted by QOS") for line in exactly)
    assert any(line.startswith("QOS.GraceTime (normal, idle)") for line in exactly)


def test_a_job_that_is_suspended_has_no_grace(site):
    (site / "slurm.conf").write_text(LISTED.replace("PriorityTier=5", "PriorityTier=5 GraceTime=60"))
    made = make(site, "slurm.conf")
    assert "grace" not in made.data["cluster"]["scheduler"]["preempt"]
    told = "PartitionName.GraceTime (high): it is not for jobs that are suspended"
    assert told in made.findings.lines("exactly")


def test_the_grace_is_that_of_jobs_that_are_preempted(site):
    """None of the highest tier is, and none of a QOS that no other one preempts."""
    plain = LISTED.replace("SUSPEND,GANG", "REQUEUE")
    (site / "slurm.conf").write_text(plain.replace("Tier=3", "Tier=3 GraceTime=60"))
    assert make(site, "slurm.conf").data["cluster"]["scheduler"]["preempt"]["grace"] == "1m"
    (site / "slurm.conf").write_text(plain.replace("Tier=5", "Tier=5 GraceTime=60"))
    assert "grace" not in make(site, "slurm.conf").data["cluster"]["scheduler"]["preempt"]
    (site / "slurm.conf").write_text(plain.replace("preempt/partition_prio", "preempt/qos"))
    (site / "qos.txt").write_text(
        "Name|Priority|Preempt|GraceTime\nhigh|9|normal,idle|00:00:00\nnormal|5|idle|00:00:00\nidle|0||00:02:00\n"
    )
    found = make(site, "slurm.conf", "qos.txt").findings
    assert "QOS.GraceTime (normal): one for all: 120 s" in found.lines("nearly")
    assert "QOS.GraceTime (high, idle)" in found.lines("exactly")


def test_what_is_honoured_nearly_is_not_on_the_list_of_what_is_exactly(site):
    found = make(site).findings
    assert "PreemptType" not in found.lines("exactly")
    assert any(line.startswith("PreemptType: of the lowest rank") for line in found.lines("nearly"))


def test_words_of_preempt_mode_that_make_no_room_are_told(site):
    (site / "slurm.conf").write_text(CONF.replace("PreemptMode=CANCEL", "PreemptMode=CANCEL,GANG,WITHIN"))
    made = make(site)
    assert made.data["cluster"]["scheduler"]["preempt"]["mode"] == "kill"
    told = made.findings.lines("not")
    assert "PreemptMode (GANG): jobs do not take turns on a core" in told
    assert "PreemptMode (WITHIN): jobs of one QOS do not preempt each other" in told


def test_usage_that_is_not_forgotten_and_age_that_counts_at_once(site):
    more = "PriorityMaxAge=0\nPriorityDecayHalfLife=0\nPriorityUsageResetPeriod="
    (site / "slurm.conf").write_text(CONF.replace("PriorityMaxAge=1-0", more + "NOW"))
    order = make(site).data["cluster"]["scheduler"]["order"]
    assert (order["max_age"], order["fairshare"]["half_life"]) == ("1m", "0s")
    assert "PriorityMaxAge: 0: 1m" in make(site).findings.lines("nearly")
    assert "reset" not in order["fairshare"]
    check(parse(make(site).data))
    (site / "slurm.conf").write_text(CONF.replace("PriorityMaxAge=1-0", more + "Weekly"))
    assert make(site).data["cluster"]["scheduler"]["order"]["fairshare"]["reset"] == "weekly"
    (site / "slurm.conf").write_text(CONF.replace("PriorityMaxAge=1-0", more + "fortnightly"))
    with pytest.raises(InputError, match="PriorityUsageResetPeriod is none of none, daily"):
        make(site)


def test_without_weights_jobs_come_in_the_order_of_submission(site):
    conf = (site / "slurm.conf").read_text()
    (site / "slurm.conf").write_text(conf.replace("priority/multifactor", "priority/basic"))
    made = make(site)
    assert made.data["cluster"]["scheduler"]["order"] == "submission"
    assert "PriorityType" in made.findings.lines("exactly")


def test_pairs_of_preemption_that_are_no_order_are_told(site):
    (site / "qos.txt").write_text("Name|Preempt\nnormal|idle\nidle|\nurgent|normal\n")
    made = make(site)
    assert made.data["cluster"]["scheduler"]["preempt"]["ranks"] == {"normal": 0, "idle": -1, "urgent": 1}
    assert "QOS.Preempt (urgent): ranks: it is otherwise for idle" in made.findings.lines("nearly")


def test_outages_and_reservations_by_their_dates(site):
    cluster = make(site).data["cluster"]
    down = {"nodes": ["cn[01-02]"], "at": "2026-10-14T08:00:00", "length": "90m", "known": False}
    drain = {"nodes": ["cn03"], "at": "2026-10-14T12:00:00", "length": "1s", "notice": "2h", "known": False}
    assert cluster["failures"] == [down, drain]
    window = {"name": "maint", "start": "2026-10-14T13:00:00", "length": "2h", "nodes": ["cn[01-04]"]}
    assert cluster["reservations"] == [window]


def test_an_outage_at_the_end_of_summer_time_is_an_hour_longer(site):
    (site / "events.txt").write_text("Cluster|NodeName|TimeStart|TimeEnd|State|Reason\n"
                                     "s|cn01|2026-10-25T01:00:00|2026-10-25T05:00:00|DOWN|power\n"
                                     "s|old[1-2]|2026-10-25T01:00:00|2026-10-25T05:00:00|DOWN|sold\n")  # fmt: skip
    (site / "reservations.txt").write_text(
        "ReservationName=night StartTime=2026-10-24T22:00:00 EndTime=2026-10-25T06:00:00 Duration=09:00:00\n"
        "   Nodes=cn02 Flags=MAINT,SPEC_NODES,WEEKDAY PartitionName=batch\n"
        "     NodeName=cn02 CoreIDs=0-1\n"
        "   Users=-bo Groups=staff Accounts=(null) Licenses=(null)\n"
    )
    made = make(site, timezone="Europe/Prague")
    cluster = made.data["cluster"]
    assert [(one["at"], one["length"]) for one in cluster["failures"]] == [("2026-10-25T01:00:00", "5h")]
    assert [one["length"] for one in cluster["reservations"]] == ["9h"]
    assert make(site).data["cluster"]["failures"][0]["length"] == "4h"
    assert "Event (old[1-2]): none of its nodes is there" in made.findings.lines("not")
    told = "weekday: kept as it is written, once; users -bo, groups staff, cores 0-1 are not looked at"
    assert f"Reservation (night): {told}" in made.findings.lines("nearly")


def test_nodes_that_were_switched_off_were_not_out_of_service(site):
    rows = ["cn01|{}|2026-10-14T09:00:00|POWERED_DOWN|", "cn02|{}|2026-10-14T09:00:00|DOWN+POWERED_DOWN|",
            "cn03|{}|2026-10-14T09:00:00|IDLE+DRAIN|", "cn04|{}|2026-10-14T07:00:00|DOWN|"]  # fmt: skip
    text = "NodeName|TimeStart|TimeEnd|State|Reason\n" + "\n".join(rows).format(*["2026-10-14T08:00:00"] * 4)
    (site / "events.txt").write_text(text)
    (site / "reservations.txt").write_text("No reservations in the system\n")
    made = make(site)
    assert {tuple(one["nodes"]) for one in made.data["cluster"]["failures"]} == {("cn02",), ("cn03",)}
    assert "Event (POWERED_DOWN): nodes are always powered" in made.findings.lines("not")
    assert "Event (cn04): it has no length" in made.findings.lines("not")
    assert "reservations" not in made.data["cluster"]
    (site / "events.txt").write_text(text.replace("cn03|", "cn[03|"))
    with pytest.raises(InputError, match=r"events\.txt:4: brackets do not match"):
        make(site)


def test_the_lists(site):
    made = make(site)
    assert "Event (cn04): it had no end yet" in made.findings.lines("not")
    assert "QOS.GrpTRES (part): no limit on node" in made.findings.lines("not")
    assert "QOS.Preempt (normal)" in made.findings.lines("exactly")
    assert any(line.startswith("SchedulerParameters.bf_busy_nodes: ") for line in made.findings.lines("not"))
    assert made.data["slurm"]["settings"]["SchedulerParameters.bf_busy_nodes"] is True  # the controller is told
    assert "JobRequeue" in made.findings.lines("exactly")


def test_the_text_is_the_same_scenario_with_a_comment_on_every_value(site):
    made = make(site)
    (site / "site.yaml").write_text(made.text)
    assert yaml.safe_load(made.text) == made.data
    assert load(site / "site.yaml").short() == parse(made.data | {"workload": str(site / "log.sacct")}).short()
    values = [line for line in made.text.splitlines() if line and not line.startswith("#") and not line.endswith(":")]
    assert [line for line in values if "  # " not in line] == ["  trace: log.sacct"]
    assert "slurm.conf:20 MaxTime=2:00:00" in made.text
    assert "nodes.conf:3 NodeName=cn[01-04]" in made.text


def test_the_same_scenario_is_for_both_engines(site):
    for engine in ("native", "slurm"):
        check(parse(make(site).data | {"engine": engine}))
    jobs = simulate(parse(make(site).data | {"workload": str(site / "log.sacct")})).jobs
    assert jobs["state"].to_list() == ["completed", "completed"]


def test_every_site_of_the_tests_is_a_scenario(request):
    for folder in sorted((request.path.parents[2] / "slurm" / "sites").iterdir()):
        others = [folder / name for name in ("associations.dump", "qos.txt", "topology.conf")]
        files = [folder / "slurm.conf", *(path for path in others if path.exists())]
        parse(import_site(files, drop_unknown=True, cloud=True).data)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (CONF.replace("Nodes=g1 ", ""), "the partition gpu has no nodes"),
        (CONF.replace("Nodes=g1 ", "Nodes=g[1-2] "), "a node that no NodeName describes: 'g2'"),
        (CONF.replace("bf_interval=45", "bf_interval=soon"), "has no number for bf_interval"),
        (CONF.replace("MaxTime=2:00:00", "MaxTime=long"), "not a time as Slurm writes them"),
        (CONF.replace("nodes.conf", "absent.conf"), r"absent\.conf"),
        (CONF + "TopologyPlugin=topology/tree\n", r"needs topology\.conf"),
    ],
)
def test_a_wrong_configuration_gets_a_clear_word(site, text, match):
    (site / "slurm.conf").write_text(text)
    with pytest.raises(InputError, match=match):
        make(site)


def test_wrong_files_get_a_clear_word(site):
    with pytest.raises(InputError, match=r"slurm\.conf is missing, or in its place `scontrol show config`"):
        make(site, "dump.txt", "log.sacct")
    (site / "again.txt").write_text(DUMP)
    with pytest.raises(InputError, match="two files are `sacctmgr dump`"):
        make(site, "slurm.conf", "dump.txt", "again.txt")
    with pytest.raises(InputError, match=r"absent\.txt"):
        make(site, "slurm.conf", "absent.txt")
    (site / "events.txt").write_text("Cluster|NodeName|TimeStart|TimeEnd|State\nsmall|cn01\n")
    with pytest.raises(InputError, match="has 2 columns instead of 5"):
        make(site)


SEVERAL = """SelectType=select/cons_tres
NodeName=n[1-2] CPUs=8
NodeName=n3 CPUs=8 Weight=INFINITE
PartitionName=a Nodes=n[1-2] Default=YES
PartitionName=b Nodes=ALL Default=YES
"""


def test_of_several_default_partitions_the_last_is_it(site):
    (site / "slurm.conf").write_text(SEVERAL)
    made = make(site, "slurm.conf")
    queues = made.data["cluster"]["queues"]
    assert [queues[name].get("default") for name in "ab"] == [None, True]
    assert "PartitionName.Default (a): a later partition, b, is the default" in made.findings.lines("exactly")
    assert [group["name"] for group in made.data["cluster"]["nodes"]] == ["n[1-2]", "n[3]"]


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("NodeName=n3", "NodeName=n[2-3]", "a second NodeName describes the node; the first is in line 2: 'n2'"),
        ("Weight=INFINITE", "Weight=heavy", "slurm.conf:3: cannot be read: .*'heavy'"),
        ("Nodes=ALL", "Nodes=ALL PriorityTier=high", "slurm.conf:5: cannot be read: .*'high'"),
    ],
)
def test_a_line_that_is_wrong_is_told_with_its_number(site, old, new, match):
    (site / "slurm.conf").write_text(SEVERAL.replace(old, new))
    with pytest.raises(InputError, match=match):
        make(site, "slurm.conf")


def test_blocks_of_nodes_are_told(site):
    (site / "topology.conf").write_text("BlockName=b1 Nodes=n[1-3]\nBlockSizes=1\n")
    (site / "slurm.conf").write_text("TopologyPlugin=topology/block\n" + SEVERAL)
    told = make(site, "slurm.conf", "topology.conf").findings.lines("not")
    assert "TopologyPlugin: topology/block: only the tree is known" in told


def test_switches_are_groups_of_nodes(site):
    (site / "slurm.conf").write_text(CONF + "TopologyPlugin=topology/tree\n")
    (site / "topology.conf").write_text("SwitchName=a Nodes=cn[01-02]\nSwitchName=b Nodes=cn[03-04],g1\n"
                                        "SwitchName=top Switches=a,b\n")  # fmt: skip
    cluster = make(site).data["cluster"]
    assert [group["name"] for group in cluster["nodes"]] == ["cn[01-02]", "cn[03-04]", "g[1]"]
    assert cluster["scheduler"]["place"] == "topology"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *(("slurm.conf", "slurm.conf"), ("nodes.conf", "slurm.conf"), ("dump.txt", "dump"), ("qos.txt", "qos")),
        *(("events.txt", "event"), ("reservations.txt", "reservation"), ("log.sacct", "log")),
    ],
)
def test_what_a_file_is_its_contents_tell(site, name, kind):
    assert recognise(site / name) == kind


@pytest.mark.parametrize("last", ["include nodes.conf", "PartitionName = gpu Nodes=g1", "NodeName=cn[01-04]"])
def test_slurm_conf_may_have_spaces_beside_the_sign(site, last):
    (site / "aligned.conf").write_text(f"ClusterName      = small\nSlurmctldTimeout = 120\n{last}\n")
    assert recognise(site / "aligned.conf") == "slurm.conf"
    (site / "shown.txt").write_text("ClusterName      = small\nSlurmctldTimeout = 120 sec\n")
    assert recognise(site / "shown.txt") == "show config"


@pytest.mark.parametrize(
    "text",
    [
        "AutoDetect=nvml\n",
        "Name=mps\n",
        "Name=gpu File=/dev/nvidia0\n",
        "NodeName=n1 Name=gpu File=/dev/nvidia0\n",
        "NodeName=n[1-2] AutoDetect=off Name=gpu File=/dev/nvidia[0-1]\n",
        "NodeName=n1 AutoDetect=nvml\n",
    ],
)
def test_gres_conf_is_told_from_slurm_conf(site, text):
    (site / "any.conf").write_text(text)
    assert recognise(site / "any.conf") == "gres"


def test_a_file_that_is_nothing_of_a_site_is_told(site, tmp_path):
    odd = tmp_path / "notes.doc"
    odd.write_bytes(b"\x00\x01ELF nothing of a site\n" * 20)
    with pytest.raises(InputError, match=r"notes\.doc"):
        make(site, "slurm.conf", "notes.doc")


def test_an_included_file_that_is_not_there_is_told_with_its_line(site):
    text = (site / "slurm.conf").read_text()
    (site / "slurm.conf").write_text(f"{text}\ninclude more.conf\n")
    line = len(text.splitlines()) + 2
    with pytest.raises(InputError, match=rf"slurm.conf:{line}: includes a file that is not there: 'more.conf'"):
        make(site, "slurm.conf")


def test_a_file_that_only_its_name_makes_a_log_is_refused(site):
    (site / "notes.txt").write_text("; ours\nremember to drain g1\n")
    with pytest.raises(InputError, match="neither a file of a site nor a log") as caught:
        make(site, "slurm.conf", "notes.txt")
    assert caught.value.line == 2
    (site / "jobs.txt").write_text("; ours\n" + "1 0 5 60 4 -1 -1 4 120 -1 1 1 1 -1 1 -1 -1 -1\n")
    assert make(site, "slurm.conf", "jobs.txt").data["workload"]["trace"].endswith("jobs.txt")


@pytest.mark.parametrize(
    ("name", "text", "match"),
    [
        ("events.txt", "", r"events\.txt: is empty"),
        ("empty.conf", "# nothing yet\n", r"empty\.conf: tells nothing"),
        ("cgroup.conf", "ConstrainCores=yes\n", r"cgroup\.conf: no file of a site that tells of scheduling"),
        ("hosts", "127.0.0.1 localhost\n", "hosts: neither a file of a site nor a log"),
        ("site.yaml", "cluster: {}\n", r"site\.yaml: neither a file of a site nor a log"),
    ],
)
def test_a_file_that_tells_nothing_of_a_site_is_named(site, name, text, match):
    (site / name).write_text(text)
    with pytest.raises(InputError, match=match):
        make(site, "slurm.conf", name)


@pytest.mark.parametrize(
    ("name", "place"), [("/etc/slurm/nodes.conf", "nodes.conf"), ("/etc/slurm/parts/nodes.conf", "parts/nodes.conf")]
)
def test_what_a_copied_file_includes_is_found_beside_it(site, name, place):
    (site / "nodes.conf").unlink()
    (site / "parts").mkdir()
    (site / place).write_text(NODES)
    (site / "slurm.conf").write_text(CONF.replace("nodes.conf", name))
    assert len(make(site).data["cluster"]["nodes"]) == 2


def test_a_file_that_another_one_includes_may_be_given_too(site):
    alone = make(site, "slurm.conf")
    for names in (("slurm.conf", "nodes.conf"), ("nodes.conf", "slurm.conf")):
        assert make(site, *names).text == alone.text
    (site / "other.conf").write_text("ClusterName=other\n")
    with pytest.raises(InputError, match=r"two files are slurm\.conf"):
        make(site, "slurm.conf", "nodes.conf", "other.conf")
