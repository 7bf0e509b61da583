"""What a running controller tells is the same site as its files."""

import pytest

from walltime.core.errors import InputError
from walltime.site.associations import read_associations
from walltime.site.files import recognise
from walltime.site.importing.scenario import import_site
from walltime.site.scontrol import read_assoc_mgr

CONF = """SelectType=select/cons_tres
SelectTypeParameters=CR_CORE_MEMORY
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=60,bf_continue
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityMaxAge=2-00:00:00
GresTypes=gpu
AccountingStorageEnforce=associations,limits,qos
NodeName=cn[001-002] CPUs=16 Sockets=2 CoresPerSocket=8 RealMemory=64000 Features=skylake
NodeName=gpu01 CPUs=16 Sockets=2 CoresPerSocket=8 RealMemory=64000 Gres=gpu:4 Weight=10
PartitionName=batch Nodes=cn[001-002] Default=YES MaxTime=2-00:00:00
PartitionName=short Nodes=cn[001-002],gpu01 MaxTime=02:00:00 PriorityTier=10
"""
CONFIG = """Configuration data as of 2026-10-14T08:00:00
AccountingStorageEnforce = associations,limits,qos
GresTypes               = gpu
PriorityMaxAge          = 2-00:00:00
PriorityParameters      = (null)
PriorityType            = priority/multifactor
PriorityWeightAge       = 1000
SchedulerParameters     = bf_interval=60,bf_continue
SchedulerTimeSlice      = 30 sec
SchedulerType           = sched/backfill
SelectType              = select/cons_tres
SelectTypeParameters    = CR_CORE_MEMORY
"""
NODES = """NodeName=cn001 Arch=x86_64 CoresPerSocket=8
   CPUAlloc=2 CPUEfctv=16 CPUTot=16 CPULoad=0.00
   AvailableFeatures=skylake
   ActiveFeatures=skylake
   Gres=(null)
   RealMemory=64000 AllocMem=4000 FreeMem=64000 Sockets=2 Boards=1
   State=MIXED ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A
   Partitions=batch,short

NodeName=cn002 Arch=x86_64 CoresPerSocket=8
   CPUAlloc=0 CPUTot=16 AvailableFeatures=skylake Gres=(null)
   RealMemory=64000 Sockets=2 Boards=1 State=IDLE ThreadsPerCore=1 Weight=1

NodeName=gpu01 Arch=x86_64 CoresPerSocket=8 CPUTot=16 AvailableFeatures=(null) Gres=gpu:4
   RealMemory=64000 Sockets=2 Boards=1 State=DOWN* ThreadsPerCore=1 Weight=10
"""
PARTITIONS = """PartitionName=batch
   AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL
   AllocNodes=ALL Default=YES QoS=N/A
   DefaultTime=NONE DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 Hidden=NO
   MaxNodes=UNLIMITED MaxTime=2-00:00:00 MinNodes=0 LLN=NO MaxCPUsPerNode=UNLIMITED
   Nodes=cn[001-002]
   PriorityJobFactor=1 PriorityTier=1 RootOnly=NO ReqResv=NO OverSubscribe=NO
   OverTimeLimit=NONE PreemptMode=OFF
   State=UP TotalCPUs=32 TotalNodes=2 SelectTypeParameters=NONE
   JobDefaults=(null)
   DefMemPerNode=UNLIMITED MaxMemPerNode=UNLIMITED

PartitionName=short
   AllowGroups=ALL Default=NO MaxTime=02:00:00 Nodes=cn[001-002],gpu01 PriorityJobFactor=1 PriorityTier=10 State=UP
"""
MANAGER = """Current Association Manager state

User Records

UserName=ann(20002) DefAccount=physics DefWckey= AdminLevel=None

Association Records

ClusterName=c Account=root UserName= Partition= Priority=0 ID=1
    SharesRaw/Norm/Level/Factor=1/0.00/1/0.00
    ParentAccount= Lft=1 DefAssoc=No
    GrpTRES=cpu=N(342),mem=N(684000)
ClusterName=c Account=physics UserName= Partition= Priority=0 ID=6
    SharesRaw/Norm/Level/Factor=40/0.40/101/0.00
    ParentAccount=root(1) Lft=10 DefAssoc=No
    GrpJobs=N(12) GrpJobsAccrue=N(0)
    GrpTRES=cpu=256(206),mem=N(412000),gres/gpu=N(1)
    MaxJobs= MaxJobsAccrue= MaxSubmitJobs= MaxWallPJ=
ClusterName=c Account=physics UserName=ann(20002) Partition= Priority=0 ID=7
    SharesRaw/Norm/Level/Factor=1/0.50/2/0.20
    ParentAccount=physics(6) Lft=11 DefAssoc=Yes
    MaxJobs=20(7) MaxJobsAccrue= MaxSubmitJobs= MaxWallPJ=

QOS Records

QOS=normal(1)
    GrpJobs=N(14) GrpJobsAccrue=N(0) GrpSubmitJobs=N(14) GrpWall=N(788.77)
    GrpTRES=cpu=N(203)
    MaxWallPJ=480
    PreemptMode=OFF
    Priority=10
    User Limits
      20002
        MaxJobsPU=N(4) MaxJobsAccruePU=N(0) MaxSubmitJobsPU=N(4)
        MaxTRESPU=cpu=512(85),mem=N(170000)
"""
DUMP = """Cluster - 'c'
Parent - 'root'
Account - 'physics':Fairshare=40:GrpTRES=cpu=256
Parent - 'physics'
User - 'ann':DefaultAccount='physics':MaxJobs=20
"""


def test_scontrol_tells_the_same_site_as_the_files(tmp_path):
    texts = {"conf": CONF, "config": CONFIG, "nodes": NODES, "partitions": PARTITIONS}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    files = import_site([tmp_path / "conf"]).data["cluster"]
    told = import_site([tmp_path / name for name in ("nodes", "config", "partitions")])
    queues = {name: {key: value for key, value in queue.items() if key != "job_factor"} for name, queue in
              told.data["cluster"]["queues"].items()}  # fmt: skip
    assert told.data["cluster"] | {"queues": queues} == files
    assert [group["name"] for group in told.data["cluster"]["nodes"]] == ["cn[001-002]", "gpu[01]"]
    assert any(
        line.startswith("NodeName.State (gpu01): down when the file was made") for line in told.findings.lines("nearly")
    )


def test_a_setting_of_a_later_release_is_named_as_in_a_file(tmp_path):
    for name, text in (("config", CONFIG), ("nodes", NODES), ("parts", PARTITIONS)):
        (tmp_path / name).write_text(text)
    more = "MaxBatchRequeue         = 5\nPreemptParameters       = (null)\nSLURM_VERSION           = 24.11.3\n"
    (tmp_path / "config").write_text(CONFIG + more)
    files = [tmp_path / name for name in ("config", "nodes", "parts")]
    with pytest.raises(InputError, match=r"config:\d+: Slurm 22.05 does not know this keyword; Slurm 24.11 does"):
        import_site(files)
    assert "maxbatchrequeue" in import_site(files, release="24.11").findings.told
    assert any("MaxBatchRequeue" in note for note in import_site(files, drop_unknown=True).notes)


def test_what_a_file_is(tmp_path):
    kinds = {"show config": CONFIG, "show node": NODES, "show partition": PARTITIONS, "show assoc_mgr": MANAGER}
    for kind, text in kinds.items():
        (tmp_path / "file").write_text(text)
        assert recognise(tmp_path / "file") == kind


def test_the_association_manager_tells_the_same_as_a_dump(tmp_path):
    (tmp_path / "manager").write_text(MANAGER)
    (tmp_path / "dump").write_text(DUMP)
    told, dumped = read_assoc_mgr(tmp_path / "manager"), read_associations(tmp_path / "dump")
    assert told.entries == dumped.entries
    (normal,) = told.qualities
    assert normal.limits == {"MaxWall": "480", "MaxTRESPU": "cpu=512", "Priority": "10", "PreemptMode": "cluster"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"jobs": [{"job_id": 1, "job_state": ["RUNNING"]}]}', "for the scenario's key `start`"),
        ('{\n "nodes": [{"name": "cn1", "alloc_cpus": 0}]}', "without --json"),
        ('{"partitions": [{"nodes": {"allowed_allocation": ""}}]}', "without --json"),
    ],
)
def test_what_slurm_prints_as_json_is_no_log(tmp_path, text, said):
    (tmp_path / "told.json").write_text(text)
    with pytest.raises(InputError, match=said):
        recognise(tmp_path / "told.json")
    (tmp_path / "jobs.json").write_text('{"nb_res": 4, "jobs": [], "profiles": {}}')
    assert recognise(tmp_path / "jobs.json") == "log"
