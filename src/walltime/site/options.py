"""The words that each release of Slurm knows in slurm.conf, so that others are named before anything is started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


def _words(text: str) -> list[str]:
    return text.split()


_SETTINGS = _words("""
AccountingStorageBackupHost AccountingStorageEnforce AccountingStorageExternalHost AccountingStorageHost
AccountingStorageLoc AccountingStorageParameters AccountingStoragePass AccountingStoragePort AccountingStorageTRES
AccountingStorageType AccountingStorageUser AccountingStoreFlags AccountingStoreJobComment AcctGatherEnergyType
AcctGatherFilesystemType AcctGatherInfinibandType AcctGatherInterconnectType AcctGatherNodeFreq AcctGatherProfileType
AllowSpecResourcesUsage AuthAltParameters AuthAltTypes AuthInfo AuthType BackupAddr BackupController BatchStartTimeout
BcastExclude BcastParameters BurstBufferParameters BurstBufferType CliFilterPlugins ClusterName
CommunicationParameters CompleteWait ControlAddr ControlMachine CoreSpecPlugin CpuFreqDef CpuFreqGovernors CredType
CryptoType DebugFlags DefCPUPerGPU DefMemPerCPU DefMemPerGPU DefMemPerNode DependencyParameters DisableRootJobs
EioTimeout EnforcePartLimits Epilog EpilogMsgTime EpilogSlurmctld ExtSensorsFreq ExtSensorsType
FairShareDampeningFactor FastSchedule FederationParameters FirstJobId GetEnvTimeout GpuFreqDef GresTypes
GroupUpdateForce GroupUpdateTime HealthCheckInterval HealthCheckNodeState HealthCheckProgram InactiveLimit
InteractiveStepOptions JobAcctGatherFrequency JobAcctGatherParams JobAcctGatherType JobCompHost JobCompLoc
JobCompParams JobCompPass JobCompPort JobCompType JobCompUser JobContainerType JobCredentialPrivateKey
JobCredentialPublicCertificate JobFileAppend JobRequeue JobSubmitPlugins KeepAliveTime KillOnBadExit KillWait
LaunchParameters LaunchType Licenses LogTimeFormat MCSParameters MCSPlugin MailDomain MailProg MaxArraySize MaxDBDMsgs
MaxJobCount MaxJobId MaxMemPerCPU MaxMemPerNode MaxNodeCount MaxStepCount MaxTasksPerNode MessageTimeout MinJobAge
MpiDefault MpiParams NodeFeaturesPlugins OverTimeLimit PlugStackConfig PluginDir PowerParameters PowerPlugin
PrEpParameters PrEpPlugins PreemptExemptTime PreemptMode PreemptType PriorityCalcPeriod PriorityDecayHalfLife
PriorityFavorSmall PriorityFlags PriorityMaxAge PriorityParameters PrioritySiteFactorParameters
PrioritySiteFactorPlugin PriorityType PriorityUsageResetPeriod PriorityWeightAge PriorityWeightAssoc
PriorityWeightFairshare PriorityWeightJobSize PriorityWeightPartition PriorityWeightQOS PriorityWeightTRES PrivateData
ProctrackType Prolog PrologEpilogTimeout PrologFlags PrologSlurmctld PropagatePrioProcess PropagateResourceLimits
PropagateResourceLimitsExcept RebootProgram ReconfigFlags RequeueExit RequeueExitHold ResumeFailProgram ResumeProgram
ResumeRate ResumeTimeout ResvEpilog ResvOverRun ResvProlog ReturnToService RoutePlugin SallocDefaultCommand
SbcastParameters SchedulerAuth SchedulerParameters SchedulerTimeSlice SchedulerType ScronParameters SelectType
SelectTypeParameters SlurmSchedLogFile SlurmSchedLogLevel SlurmUser SlurmctldAddr SlurmctldDebug SlurmctldHost
SlurmctldLogFile SlurmctldParameters SlurmctldPidFile SlurmctldPlugstack SlurmctldPort SlurmctldPrimaryOffProg
SlurmctldPrimaryOnProg SlurmctldSyslogDebug SlurmctldTimeout SlurmdDebug SlurmdLogFile SlurmdParameters SlurmdPidFile
SlurmdPort SlurmdSpoolDir SlurmdSyslogDebug SlurmdTimeout SlurmdUser SrunEpilog SrunPortRange SrunProlog
StateSaveLocation SuspendExcNodes SuspendExcParts SuspendProgram SuspendRate SuspendTime SuspendTimeout
SwitchParameters SwitchType TCPTimeout TaskEpilog TaskPlugin TaskPluginParam TaskProlog TmpFS TopologyParam
TopologyPlugin TrackWCKey TreeWidth UnkillableStepProgram UnkillableStepTimeout UsePAM VSizeFactor WaitTime
X11Parameters DownNodes FrontendName NodeName NodeSet PartitionName
""")

_NODE = _words("""
NodeName BcastAddr Boards CPUSpecList CPUs CoreSpecCount CoresPerSocket CpuBind Feature Features Gres MemSpecLimit
NodeAddr NodeHostname Port Procs RealMemory Reason Sockets SocketsPerBoard State TRESWeights ThreadsPerCore TmpDisk
Weight
""")

_PARTITION = _words("""
PartitionName AllocNodes AllowAccounts AllowGroups AllowQos Alternate CpuBind DefCPUPerGPU DefMemPerCPU DefMemPerGPU
DefMemPerNode Default DefaultTime DenyAccounts DenyQos DisableRootJobs ExclusiveUser GraceTime Hidden LLN
MaxCPUsPerNode MaxMemPerCPU MaxMemPerNode MaxNodes MaxTime MinNodes Nodes OverSubscribe OverTimeLimit PreemptMode
Priority PriorityJobFactor PriorityTier QOS ReqResv ResumeTimeout RootOnly SelectTypeParameters Shared State
SuspendTime SuspendTimeout TRESBillingWeights
""")

_LINES = {
    "nodename": _NODE,
    "partitionname": _PARTITION,
    "nodeset": ["NodeSet", "Feature", "Nodes"],
    "downnodes": ["DownNodes", "Reason", "State"],
}
"""Lines that describe one thing with several words, by their first word."""

_SCHEDULER = _words("""
allow_zero_lic assoc_limit_stop batch_sched_delay= bb_array_stage_cnt= bf_busy_nodes bf_continue bf_hetjob_immediate
bf_hetjob_prio bf_interval= bf_job_part_count_reserve= bf_licenses bf_max_job_array_resv= bf_max_job_assoc=
bf_max_job_part= bf_max_job_start= bf_max_job_test= bf_max_job_user= bf_max_job_user_part= bf_max_time=
bf_min_age_reserve= bf_min_prio_reserve= bf_node_space_size= bf_one_resv_per_job bf_resolution= bf_running_job_reserve
bf_window= bf_window_linear= bf_yield_interval= bf_yield_sleep= build_queue_timeout= correspond_after_task_cnt=
default_queue_depth= defer delay_boot= disable_job_shrink disable_remote_singleton enable_user_top
ignore_prefer_validation kill_invalid_depend max_array_tasks= max_depend_depth= max_rpc_cnt= max_rpc_count=
max_sched_time= max_script_size= max_switch_wait= no_backup_scheduling
pack_serial_at_end partition_job_depth= permit_job_expansion preempt_reorder_count= preempt_send_user_signal
preempt_strict_order preempt_youngest_first reduce_completing_frag sbatch_wait_nodes
sched_interval= sched_max_job_start= sched_min_interval= spec_cores_first step_retry_count= step_retry_time=
whole_hetjob whole_pack
""")
_CONTROLLER = _words("""
allow_user_triggers cloud_dns cloud_reg_addrs enable_configless enable_rpc_queue idle_on_node_suspend
max_dbd_msg_action node_reg_mem_percent= power_save_interval= power_save_min_interval= preempt_send_user_signal
reboot_from_controller user_resv_delete
""")
_PRIORITY = _words("""
ACCRUE_ALWAYS CALCULATE_RUNNING DEPTH_OBLIVIOUS FAIR_TREE INCR_ONLY MAX_TRES NO_FAIR_TREE NO_NORMAL_ALL NO_NORMAL_ASSOC
NO_NORMAL_PART NO_NORMAL_QOS NO_NORMAL_TRES SMALL_RELATIVE_TO_TIME
""")
_PARAMETERS = {
    "SchedulerParameters": _SCHEDULER,
    "SlurmctldParameters": _CONTROLLER,
    "PriorityFlags": _PRIORITY,
    "DependencyParameters": _words("disable_remote_singleton kill_invalid_depend max_depend_depth="),
    "TopologyParam": _words("Dragonfly NoCtldInAddrAny NoInAddrAny TopoOptional"),
}
"""Lists of words, of which the controller ignores those that it does not know; `word=` takes a number."""

RENAMED = {"max_job_bf": "bf_max_job_test"}
"""Words of SchedulerParameters of older releases, and what they are called now."""
FOREIGN = _words("""
disable_hetjob_steps enable_hetjob_steps ignore_numa inventory_interval no_env_cache nohold_on_prolog_fail
requeue_setup_env_fail salloc_wait_nodes
""")
"""Words of SchedulerParameters that other programs act on, or older releases did: not the controller."""


@dataclass(frozen=True)
class ReleaseWords:
    """What one release knows: settings, lines of several words by their first one, and lists of words by setting."""

    release: str
    settings: list[str]
    lines: Mapping[str, list[str]]
    parameters: Mapping[str, list[str]]
    select: str
    """How nodes are chosen where SelectType is not given."""
    replaced: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Settings of which a value is gone: that value, and the one in its place."""
    known: Mapping[str, str] = field(init=False)
    """The settings as Slurm spells them, by their names in small letters."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "known", {name.lower(): name for name in self.settings})


def _change(words: list[str], gone: str = "", new: str = "") -> list[str]:
    """A list of words of a later release."""
    return sorted({*words} - {*_words(gone)} | {*_words(new)}, key=str.lower)


_22_05 = ReleaseWords("22.05", _SETTINGS, _LINES, _PARAMETERS, "select/linear")
_24_11 = ReleaseWords(
    "24.11",
    _change(
        _SETTINGS,
        "SchedulerAuth SlurmctldPlugstack",
        "CertmgrParameters CertmgrType DataParserParameters HashPlugin MaxBatchRequeue PreemptParameters "
        "SuspendExcStates TLSParameters TLSType",
    ),
    {
        **_LINES,
        "nodename": _change(_NODE, new="RestrictedCoresPerGPU"),
        "partitionname": _change(_PARTITION, new="ExclusiveTopo MaxCPUsPerSocket PowerDownOnIdle"),
    },
    {
        **_PARAMETERS,
        "SchedulerParameters": _change(
            _SCHEDULER,
            new="bf_allow_magnetic_slot bf_topopt_enable bf_topopt_iterations= defer_batch extra_constraints "
            "ignore_constraint_validation max_submit_line_size= nohold_on_prolog_fail time_min_as_soft_limit",
        ),
        "SlurmctldParameters": _change(
            _CONTROLLER,
            new="disable_triggers enable_job_state_cache enable_stepmgr max_powered_nodes= no_quick_restart "
            "rl_bucket_size= rl_enable rl_log_freq= rl_refill_period= rl_refill_rate= rl_table_size= "
            "validate_nodeaddr_threads= conmgr_threads= conmgr_max_connections= conmgr_use_poll",
        ),
        "TopologyParam": _change(_PARAMETERS["TopologyParam"], new="RoutePart RouteTree SwitchAsNodeRank"),
        "PreemptParameters": _words(
            "min_exempt_priority= reclaim_licenses reorder_count= send_user_signal strict_order youngest_first"
        ),
    },
    "select/cons_tres",
    {"SelectType": ("select/cons_res", "select/cons_tres"), "TopologyPlugin": ("topology/none", "topology/default")},
)
WORDS = {words.release: words for words in (_22_05, _24_11)}

LISTS = {
    **dict.fromkeys(
        _words("""
AccountingStorageEnforce AccountingStorageParameters AccountingStorageTRES AccountingStoreFlags AuthAltParameters
AuthAltTypes AuthInfo BcastExclude BcastParameters BurstBufferParameters CliFilterPlugins CommunicationParameters
DebugFlags DependencyParameters FederationParameters GresTypes HealthCheckNodeState JobAcctGatherParams JobCompParams
JobSubmitPlugins LaunchParameters MCSParameters MpiParams NodeFeaturesPlugins PowerParameters PrEpParameters
PrEpPlugins PreemptMode PriorityFlags PriorityParameters PrioritySiteFactorParameters PriorityWeightTRES PrivateData
PrologFlags PropagateResourceLimits PropagateResourceLimitsExcept ReconfigFlags RequeueExit RequeueExitHold
SbcastParameters SchedulerParameters ScronParameters SelectTypeParameters SlurmctldParameters SlurmctldPlugstack
SlurmdParameters SuspendExcNodes SuspendExcParts SwitchParameters TaskPlugin TaskPluginParam TopologyParam
X11Parameters
"""),
        "=",
    ),
    "Licenses": ":",
}
"""Settings that are lists of words with commas between, and what stands between a word and its value."""
