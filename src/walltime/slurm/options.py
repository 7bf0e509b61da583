"""The words that Slurm 22.05 knows in slurm.conf, so that newer ones are named before anything is started."""

from __future__ import annotations


def _words(text: str) -> list[str]:
    return text.split()


SETTINGS = _words("""
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

NODE = _words("""
NodeName BcastAddr Boards CPUSpecList CPUs CoreSpecCount CoresPerSocket CpuBind Feature Features Gres MemSpecLimit
NodeAddr NodeHostname Port Procs RealMemory Reason Sockets SocketsPerBoard State TRESWeights ThreadsPerCore TmpDisk
Weight
""")

PARTITION = _words("""
PartitionName AllocNodes AllowAccounts AllowGroups AllowQos Alternate CpuBind DefCPUPerGPU DefMemPerCPU DefMemPerGPU
DefMemPerNode Default DefaultTime DenyAccounts DenyQos DisableRootJobs ExclusiveUser GraceTime Hidden LLN
MaxCPUsPerNode MaxMemPerCPU MaxMemPerNode MaxNodes MaxTime MinNodes Nodes OverSubscribe OverTimeLimit PreemptMode
Priority PriorityJobFactor PriorityTier QOS ReqResv ResumeTimeout RootOnly SelectTypeParameters Shared State
SuspendTime SuspendTimeout TRESBillingWeights
""")

LINES = {
    "nodename": NODE,
    "partitionname": PARTITION,
    "nodeset": ["NodeSet", "Feature", "Nodes"],
    "downnodes": ["DownNodes", "Reason", "State"],
}
"""Lines that describe one thing with several words, by their first word."""

SCHEDULER_PARAMETERS = _words("""
allow_zero_lic assoc_limit_stop batch_sched_delay bb_array_stage_cnt bf_busy_nodes bf_continue bf_hetjob_immediate
bf_hetjob_prio bf_interval bf_job_part_count_reserve bf_licenses bf_max_job_array_resv bf_max_job_assoc bf_max_job_part
bf_max_job_start bf_max_job_test bf_max_job_user bf_max_job_user_part bf_max_time bf_min_age_reserve
bf_min_prio_reserve bf_node_space_size bf_one_resv_per_job bf_resolution bf_running_job_reserve bf_window
bf_window_linear bf_yield_interval bf_yield_sleep build_queue_timeout correspond_after_task_cnt default_queue_depth
defer delay_boot disable_hetjob_steps disable_job_shrink disable_remote_singleton enable_hetjob_steps enable_rpc_queue
enable_user_top ignore_constraint_validation ignore_numa ignore_prefer_validation inventory_interval
kill_invalid_depend max_array_tasks max_depend_depth max_rpc_cnt max_sched_time max_script_size max_switch_wait
no_backup_scheduling nohold_on_prolog_fail pack_serial_at_end partition_job_depth permit_job_expansion
preempt_reorder_count preempt_send_user_signal preempt_strict_order preempt_youngest_first reduce_completing_frag
requeue_setup_env_fail salloc_wait_nodes sbatch_wait_nodes sched_interval sched_max_job_start sched_min_interval
spec_cores_first step_retry_count step_retry_time time_min_as_soft_limit whole_hetjob whole_pack
""")
"""The controller ignores others without a word, so they have to be told here."""

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
