"""What each keyword of Slurm decides about scheduling, what it is where it is not given, and what becomes of it here.

The lists of `options` say which keywords a release knows; every one of them has its place in this table. A keyword
whose fate depends on its value is told by the code that imports it; the table has the usual answer.
"""

from __future__ import annotations

from typing import NamedTuple

EXACTLY, NEARLY, NOT, NOTHING = "exactly", "nearly", "not", "nothing"
"""Verdicts: honoured as Slurm does, nearly so, not at all; or the keyword decides nothing about scheduling."""


class Effect(NamedTuple):
    """The verdict on a keyword, and how or why."""

    verdict: str
    how: str = ""


def _all(text: str, verdict: str, how: str = "") -> dict[str, Effect]:
    return dict.fromkeys(text.split(), Effect(verdict, how))


INSTANT = "deciding takes no simulated time"
TOLD = "a log tells what each job was given"
LET_IN = "jobs of a log were let in by it already"
EVENLY = "a job that tells no nodes is divided evenly over the fewest that have so much"
GROWN = "every core is taken for a task of its own, which gets more cores"
TOO_MUCH = "a job that asks for more is rejected when it is submitted"
POWER = "nodes are always powered"
ONE = "there is one cluster"
CODE = "programs of the site are not run"
GANG = "jobs do not take turns on a core"

SETTINGS = {
    **_all("GresTypes Licenses PriorityType PriorityDecayHalfLife PriorityFavorSmall PriorityMaxAge", EXACTLY),
    **_all("PriorityWeightAge PriorityWeightAssoc PriorityWeightFairshare PriorityWeightJobSize", EXACTLY),
    **_all("PriorityWeightPartition PriorityWeightQOS PriorityUsageResetPeriod JobRequeue SchedulerType", EXACTLY),
    **_all("AccountingStorageEnforce FairShareDampeningFactor PriorityCalcPeriod PreemptType PreemptMode", EXACTLY),
    **_all("SelectType SelectTypeParameters TopologyPlugin PriorityWeightTRES", EXACTLY),
    **_all("NodeName NodeSet PartitionName", EXACTLY),
    **_all("DownNodes", NEARLY, "not in service when the file was made; outages come from `sacctmgr show event`"),
    **_all("SchedulerParameters PriorityFlags", EXACTLY, "word by word"),
    **_all("EnforcePartLimits", NEARLY, "a job beyond the limits of its partition is rejected when it is submitted"),
    **_all("DefMemPerCPU", EXACTLY),
    **_all("DefMemPerNode", NEARLY, EVENLY),
    **_all("DefMemPerGPU DefCPUPerGPU", NEARLY, TOLD),
    **_all("MaxMemPerCPU", NEARLY, GROWN),
    **_all("MaxMemPerNode", NEARLY, TOO_MUCH),
    **_all("MaxTasksPerNode", NEARLY, LET_IN),
    **_all("KillWait", NEARLY, "a job that is killed is gone at once"),
    **_all("OverTimeLimit", EXACTLY),
    **_all("CompleteWait", NOT, "nodes are free when their job has ended"),
    **_all("JobSubmitPlugins", NOT, f"{CODE}; {LET_IN}"),
    **_all("PrioritySiteFactorPlugin PrioritySiteFactorParameters PriorityParameters", NOT, CODE),
    **_all("BurstBufferType BurstBufferParameters", NOT, "burst buffers are not simulated"),
    **_all("DependencyParameters", NOT, "a job whose dependency can never be met is cancelled"),
    **_all("FederationParameters", NOT, ONE),
    **_all("MaxJobCount", NOT, "any number of jobs is in the system"),
    **_all("MCSPlugin MCSParameters", NOT, "jobs of all labels share nodes"),
    **_all("NodeFeaturesPlugins", NOT, "the properties of a node do not change"),
    **_all("PreemptExemptTime", NOT, "a job may be preempted from its start on"),
    **_all("RequeueExit RequeueExitHold", NOT, "exit codes are not simulated"),
    **_all("ResvOverRun", NOT, "a job ends with its reservation"),
    **_all("SchedulerTimeSlice", NOT, GANG),
    **_all("SuspendProgram SuspendTime SuspendTimeout SuspendRate SuspendExcNodes SuspendExcParts", NOT, POWER),
    **_all("ResumeProgram ResumeFailProgram ResumeTimeout ResumeRate PowerPlugin PowerParameters", NOT, POWER),
    **_all("AllowSpecResourcesUsage CoreSpecPlugin", NOT, "cores of the system are never given to jobs"),
    **_all("TopologyParam", NOT, "the tree of switches alone is looked at"),
    **_all("MaxArraySize", NOT, "arrays of any size are taken"),
    **_all("InactiveLimit", NOT, "every job is a batch job"),
    **_all("SlurmctldParameters", NOT, "word by word"),
    **_all("FastSchedule", NOTHING),
    **_all("ReturnToService", NEARLY, "a node is back when the list of outages says so"),
    **_all("UnkillableStepTimeout BatchStartTimeout", NOT, "every job starts and ends when it should"),
    **_all(
        """
        AccountingStorageBackupHost AccountingStorageExternalHost AccountingStorageHost AccountingStorageLoc
        AccountingStorageParameters AccountingStoragePass AccountingStoragePort AccountingStorageTRES
        AccountingStorageType AccountingStorageUser AccountingStoreFlags AccountingStoreJobComment
        AcctGatherEnergyType AcctGatherFilesystemType AcctGatherInfinibandType AcctGatherInterconnectType
        AcctGatherNodeFreq AcctGatherProfileType AuthAltParameters AuthAltTypes AuthInfo AuthType BackupAddr
        BackupController BcastExclude BcastParameters CliFilterPlugins ClusterName CommunicationParameters
        ControlAddr ControlMachine CpuFreqDef CpuFreqGovernors CredType CryptoType DebugFlags DisableRootJobs
        EioTimeout Epilog EpilogMsgTime EpilogSlurmctld ExtSensorsFreq ExtSensorsType FirstJobId FrontendName
        GetEnvTimeout GpuFreqDef GroupUpdateForce GroupUpdateTime HealthCheckInterval HealthCheckNodeState
        HealthCheckProgram InteractiveStepOptions JobAcctGatherFrequency JobAcctGatherParams JobAcctGatherType
        JobCompHost JobCompLoc JobCompParams JobCompPass JobCompPort JobCompType JobCompUser JobContainerType
        JobCredentialPrivateKey JobCredentialPublicCertificate JobFileAppend KeepAliveTime KillOnBadExit
        LaunchParameters LaunchType LogTimeFormat MailDomain MailProg MaxDBDMsgs MaxJobId MaxNodeCount MaxStepCount
        MessageTimeout MinJobAge MpiDefault MpiParams PlugStackConfig PluginDir PrEpParameters PrEpPlugins PrivateData
        ProctrackType Prolog PrologEpilogTimeout PrologFlags PrologSlurmctld PropagatePrioProcess
        PropagateResourceLimits PropagateResourceLimitsExcept RebootProgram ReconfigFlags ResvEpilog ResvProlog
        RoutePlugin SallocDefaultCommand SbcastParameters SchedulerAuth ScronParameters SlurmSchedLogFile
        SlurmSchedLogLevel SlurmUser SlurmctldAddr SlurmctldDebug SlurmctldHost SlurmctldLogFile SlurmctldPidFile
        SlurmctldPlugstack SlurmctldPort SlurmctldPrimaryOffProg SlurmctldPrimaryOnProg SlurmctldSyslogDebug
        SlurmctldTimeout SlurmdDebug SlurmdLogFile SlurmdParameters SlurmdPidFile SlurmdPort SlurmdSpoolDir
        SlurmdSyslogDebug SlurmdTimeout SlurmdUser SrunEpilog SrunPortRange SrunProlog StateSaveLocation
        SwitchParameters SwitchType TCPTimeout TaskEpilog TaskPlugin TaskPluginParam TaskProlog TmpFS TrackWCKey
        TreeWidth UnkillableStepProgram UsePAM VSizeFactor WaitTime X11Parameters
        """,
        NOTHING,
    ),
}

NODE = {
    **_all("NodeName CPUs Procs Boards Sockets SocketsPerBoard CoresPerSocket RealMemory Gres", EXACTLY),
    **_all("ThreadsPerCore", EXACTLY),
    **_all("Feature Features CoreSpecCount CPUSpecList MemSpecLimit State", EXACTLY),
    **_all("Weight", NEARLY, "nodes of a smaller weight come first in the list of nodes"),
    **_all("TmpDisk", NOT, "logs do not tell how much of it jobs ask for"),
    **_all("BcastAddr CpuBind NodeAddr NodeHostname Port Reason TRESWeights", NOTHING),
}

PARTITION = {
    **_all("PartitionName Nodes Default DefaultTime MaxTime Priority PriorityJobFactor PriorityTier QOS", EXACTLY),
    **_all("AllowAccounts DenyAccounts State GraceTime PreemptMode OverSubscribe Shared LLN", EXACTLY),
    **_all("MaxNodes MinNodes", NEARLY, "so many nodes' cores, whatever nodes a job is spread over"),
    **_all("DefMemPerCPU", EXACTLY),
    **_all("DefMemPerNode", NEARLY, EVENLY),
    **_all("DefMemPerGPU DefCPUPerGPU", NEARLY, TOLD),
    **_all("MaxMemPerCPU", NEARLY, GROWN),
    **_all("MaxMemPerNode", NEARLY, TOO_MUCH),
    **_all("AllowQos DenyQos AllowGroups AllocNodes RootOnly ReqResv", NEARLY, LET_IN),
    **_all("Alternate", NOT, "jobs of a partition that is down wait"),
    **_all("ExclusiveUser", NOT, "users share nodes"),
    **_all("MaxCPUsPerNode", NOT, "a partition may have all cores of its nodes"),
    **_all("OverTimeLimit", NOT, "one time for all partitions"),
    **_all("SelectTypeParameters", NOT, "one way for all partitions"),
    **_all("TRESBillingWeights", NOT, "fair share charges cores"),
    **_all("ResumeTimeout SuspendTime SuspendTimeout", NOT, POWER),
    **_all("CpuBind DisableRootJobs Hidden", NOTHING),
}

SCHEDULER = {
    **_all("bf_continue defer preempt_youngest_first", EXACTLY),
    **_all("batch_sched_delay default_queue_depth sched_interval sched_min_interval partition_job_depth", EXACTLY),
    **_all("sched_max_job_start bf_interval bf_window bf_window_linear bf_resolution bf_max_job_test", EXACTLY),
    **_all("bf_max_job_start bf_max_job_user bf_max_job_part bf_max_job_user_part bf_max_job_assoc", EXACTLY),
    **_all("bf_job_part_count_reserve bf_min_age_reserve bf_min_prio_reserve", EXACTLY),
    **_all("bf_max_job_array_resv", EXACTLY),
    **_all("bf_max_time bf_yield_interval bf_yield_sleep max_sched_time max_rpc_cnt max_rpc_count", NOT, INSTANT),
    **_all("build_queue_timeout", NOT, INSTANT),
    **_all("assoc_limit_stop", NEARLY, "a job at a limit on the number of jobs lets others go on"),
    **_all(
        "bf_busy_nodes pack_serial_at_end spec_cores_first reduce_completing_frag", NOT, "nodes are chosen in one way"
    ),
    **_all("bf_hetjob_immediate bf_hetjob_prio whole_hetjob whole_pack", NOT, "the parts of a job are one job"),
    **_all("bf_licenses", NOT, "a job that waits for licences gets no place"),
    **_all("bf_node_space_size", NOT, "a plan is as long as it has to be"),
    **_all("bf_one_resv_per_job", NOT, "a job that names several partitions is planned in each"),
    **_all("bf_running_job_reserve", NOT, "only whole nodes of running jobs are planned with"),
    **_all("bb_array_stage_cnt", NOT, "burst buffers are not simulated"),
    **_all("delay_boot", NOT, POWER),
    **_all("enable_user_top", NOT, "users do not move their jobs"),
    **_all("kill_invalid_depend", NEARLY, "a job whose dependency can never be met is cancelled, also without it"),
    **_all("max_switch_wait", NOT, "a job does not wait for fewer switches"),
    **_all("no_backup_scheduling", NOT, "there is one controller"),
    **_all("preempt_reorder_count preempt_strict_order", NOT, "the jobs to be preempted are looked for once"),
    **_all("preempt_send_user_signal", NOT, "jobs do not react to signals"),
    **_all("correspond_after_task_cnt disable_remote_singleton max_depend_depth max_array_tasks", NOTHING),
    **_all("allow_zero_lic disable_job_shrink ignore_prefer_validation max_script_size permit_job_expansion", NOTHING),
    **_all("sbatch_wait_nodes step_retry_count step_retry_time", NOTHING),
}

PRIORITY = {
    **_all("ACCRUE_ALWAYS FAIR_TREE NO_FAIR_TREE SMALL_RELATIVE_TO_TIME", EXACTLY),
    **_all("CALCULATE_RUNNING", NOT, "priorities of running jobs decide nothing here"),
    **_all("DEPTH_OBLIVIOUS", NOT, "classic shares, which are smaller the deeper an account is in the tree"),
    **_all("INCR_ONLY", NOT, "priorities may fall"),
    **_all("MAX_TRES", NOT, "fair share charges cores"),
    **_all(
        "NO_NORMAL_ALL NO_NORMAL_ASSOC NO_NORMAL_PART NO_NORMAL_QOS NO_NORMAL_TRES", NOT, "factors are over the largest"
    ),
}

CONTROLLER = {
    **_all("idle_on_node_suspend power_save_interval power_save_min_interval", NOT, POWER),
    **_all("preempt_send_user_signal", NOT, "jobs do not react to signals"),
    **_all(
        "allow_user_triggers cloud_dns cloud_reg_addrs enable_configless enable_rpc_queue max_dbd_msg_action", NOTHING
    ),
    **_all("node_reg_mem_percent reboot_from_controller user_resv_delete", NOTHING),
}

LISTS = {
    "SchedulerParameters": SCHEDULER,
    "PriorityFlags": PRIORITY,
    "SlurmctldParameters": CONTROLLER,
    "DependencyParameters": {
        **_all("kill_invalid_depend", NEARLY, "a job whose dependency can never be met is cancelled, also without it"),
        **_all("disable_remote_singleton max_depend_depth", NOTHING),
    },
    "TopologyParam": {
        **_all("Dragonfly TopoOptional", NOT, "the tree of switches alone is looked at"),
        **_all("NoCtldInAddrAny NoInAddrAny", NOTHING),
    },
}
"""Settings that are told word by word."""

PER_JOB = f"no limits on a single job; {LET_IN}"
TOTALS = "no limits on what was used in the past"
ACCRUE = "the next job accrues age as soon as there is room, not from the controller's next pass on"
ASSOCIATION = {
    **_all("GrpTRES GrpTRESRunMins GrpJobs GrpSubmitJobs MaxJobs MaxSubmitJobs Priority", EXACTLY),
    **_all("GrpTRESMins GrpWall", NOT, TOTALS),
    **_all("GrpJobsAccrue MaxJobsAccrue", NEARLY, ACCRUE),
    **_all("MaxTRESPerJob MaxTRESPerNode MaxTRESMinsPerJob MaxWallDurationPerJob", NEARLY, PER_JOB),
    **_all("MaxTRESRunMins", NOT, "no such limit of each user"),
    **_all("MinPrioThreshold", NOT, "every priority may be planned for"),
}
QOS = {
    **_all("Priority Preempt PreemptMode GraceTime GrpTRES GrpTRESRunMins GrpJobs GrpSubmit", EXACTLY),
    **_all("MaxTRESPU MaxJobsPU MaxSubmitPU MaxTRESPA MaxJobsPA MaxSubmitPA MaxTRESRunMinsPU", EXACTLY),
    **_all("MaxTRESRunMinsPA", EXACTLY),
    **_all("MaxTRES MaxTRESPerNode MaxTRESMins MaxWall MinTRES", NEARLY, PER_JOB),
    **_all("GrpTRESMins GrpWall", NOT, TOTALS),
    **_all("GrpJobsAccrue MaxJobsAccruePA MaxJobsAccruePU", NEARLY, ACCRUE),
    **_all("UsageFactor UsageThres LimitFactor", NOT, "what jobs use counts alike in every QOS"),
    **_all("PreemptExemptTime", NOT, "a job may be preempted from its start on"),
    **_all("MinPrioThres", NOT, "every priority may be planned for"),
    **_all("Flags", NOT, "one set of rules for every QOS"),
}

USUAL = {
    **{"bf_interval": "30", "bf_window": "1440", "bf_resolution": "60", "bf_max_job_test": "500"},
    **{"bf_max_job_array_resv": "20", "bf_yield_interval": "2000000", "bf_yield_sleep": "500000"},
    **dict.fromkeys(("bf_max_job_part", "bf_max_job_start", "bf_max_job_user", "bf_max_job_user_part"), "0"),
    **dict.fromkeys(("bf_max_job_assoc", "bf_job_part_count_reserve", "bf_min_age_reserve"), "0"),
    **dict.fromkeys(("bf_min_prio_reserve", "partition_job_depth", "sched_max_job_start", "max_rpc_cnt"), "0"),
    **{"batch_sched_delay": "3", "default_queue_depth": "100", "sched_interval": "60", "sched_min_interval": "2"},
    "build_queue_timeout": "2000000",
}
"""What the controller takes for a word of SchedulerParameters that is not given; both releases agree."""
BOUNDS = {
    **{"bf_interval": (1, 10_800), "bf_window": (1, 43_200), "bf_resolution": (1, 3600), "bf_max_job_test": (1, 10**6)},
    **{
        "bf_job_part_count_reserve": (0, 100_000),
        "bf_max_job_start": (0, 10_000),
        "bf_min_age_reserve": (0, 2_592_000),
    },
    **{"bf_max_job_array_resv": (0, 1000)},
}
"""The least and the most that the controller takes; for another number it has what it takes where none is given."""
FOLLOWING = {"bf_max_time": "bf_interval", "bf_node_space_size": "bf_max_job_test"}
"""Words that are as large as another one where they are not given."""

_DEFAULTS = {
    "SchedulerType": "sched/backfill",
    "PriorityCalcPeriod": "5",
    "PriorityDecayHalfLife": "7-0",
    "PriorityMaxAge": "7-0",
    "PriorityUsageResetPeriod": "NONE",
    "PreemptMode": "OFF",
    "PreemptType": "preempt/none",
    "JobRequeue": "1",
    "AccountingStorageEnforce": "none",
    "OverTimeLimit": "0",
    "TopologyPlugin": "topology/none",
}
DEFAULTS = {
    "22.05": _DEFAULTS | {"SelectType": "select/linear", "PriorityType": "priority/basic"},
    "24.11": _DEFAULTS
    | {
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_CORE_MEMORY",
        "PriorityType": "priority/multifactor",
        "TopologyPlugin": "topology/default",
    },
}
"""What settings are where the file does not say, by release: as its controller tells when it is asked."""
