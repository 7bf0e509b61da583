"""A site as a controller needs it: its configuration, its nodes, its accounts; and what a simulation imposes on it."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from dataclasses import dataclass, field

from walltime.site.associations import Associations
from walltime.site.nodes import Node

FOLDER, PORT, NODE_PORT, PLUGINS = "{folder}", "{port}", "{node_port}", "{plugins}"
"""Marks that are replaced when the controller is started."""


@dataclass(frozen=True)
class SettingChange:
    """Something in a site's configuration that cannot hold in a simulation, and why."""

    key: str
    old: str | None
    new: str | None
    reason: str

    def __str__(self) -> str:
        what = f"{self.key}: {self.old} -> {self.new}" if self.new is not None else f"{self.key}={self.old} dropped"
        return f"{what} ({self.reason})"


@dataclass(frozen=True)
class Site:
    """Everything that one controller is configured with.

    `settings` are the lines of slurm.conf that are the site's own, `nodes` in the controller's order. `linear` says
    whether nodes are given as a whole. `changes` tells what was replaced or dropped, for the person.
    """

    name: str
    settings: tuple[str, ...]
    nodes: tuple[Node, ...]
    partitions: tuple[str, ...] = ("batch",)
    linear: bool = False
    pool: bool = False
    """Whether its nodes stand for single cores, so that no job can ask for nodes."""
    even: bool = False
    """Whether a job with GPUs that tells no nodes is on the fewest over which it can be divided evenly."""
    strict: bool = False
    """Whether a job that asks for what no node has is turned away, and not run without it."""
    counts_gpus: bool = True
    """Whether requests for GPUs count; not where a scenario's nodes tell of nothing but cores."""
    associations: Associations | None = None
    files: dict[str, str] = field(default_factory=dict)
    changes: tuple[SettingChange, ...] = ()
    notes: tuple[str, ...] = ()
    """What else a person should know of its configuration."""
    usage: Mapping[str, float] = field(default_factory=dict)
    """What users have used before the first job, in billed seconds by `account/user`."""
    tres: tuple[str, ...] = ()
    """What is accounted for beside the built-in resources, as AccountingStorageTRES names it."""
    charges: str = "account"
    """The column of the trace that names the account which pays; none: each user's default."""
    accounts: Mapping[str, str] = field(default_factory=dict)
    """How an account of the trace is spelled here, where it is spelled otherwise."""
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Groups of users that partitions let in."""
    reservations: Mapping[str, str] = field(default_factory=dict)
    """What the controller calls a reservation to which jobs of the trace may be bound; others do not bind."""
    queues: Mapping[str, str] = field(default_factory=dict)
    """The partition for a queue of the trace that is none; `*` for all others."""
    file: str | None = None
    """The slurm.conf that it was read from."""
    overtime: float = 0.0
    """Minutes that a job may run beyond its limit; infinite where overruns are not killed."""
    counts_memory: bool = False
    """Whether memory is given out, so that a job has to ask for it."""
    licences: Mapping[str, int] = field(default_factory=dict)
    max_array: int = 1001

    def has(self, gres: str) -> bool:
        """Whether some node has a generic resource."""
        return any(one.name == gres for node in self.nodes for one in node.gres)


def imposed_settings(site: Site) -> dict[str, str]:
    """What every simulated controller is told, whatever the site says; the reasons are in `REASONS`."""
    user = pwd.getpwuid(os.getuid()).pw_name
    settings = {
        "ClusterName": site.name,
        "SlurmctldHost": "localhost(127.0.0.1)",
        "SlurmctldPort": PORT,
        "SlurmdPort": NODE_PORT,
        "AuthType": "auth/none",
        "CredType": "cred/none",
        "SlurmUser": user,
        "SlurmdUser": user,
        "PluginDir": PLUGINS,
        "StateSaveLocation": f"{FOLDER}/state",
        "SlurmdSpoolDir": f"{FOLDER}/spool",
        "SlurmctldPidFile": f"{FOLDER}/slurmctld.pid",
        "SlurmctldLogFile": f"{FOLDER}/slurmctld.log",
        "SlurmctldDebug": "info",
        "ProctrackType": "proctrack/pgid",
        "TaskPlugin": "task/none",
        "SwitchType": "switch/none",
        "MpiDefault": "none",
        "JobAcctGatherType": "jobacct_gather/none",
        "JobCompType": "jobcomp/filetxt",
        "JobCompLoc": f"{FOLDER}/jobs",
        "AccountingStorageType": "accounting_storage/none",
        "SlurmdTimeout": "0",
        "InactiveLimit": "0",
        "MessageTimeout": "100",
        "TreeWidth": "1",
        "CommunicationParameters": "NoCtldInAddrAny",
        "LaunchParameters": "disable_send_gids",
        "MailProg": "/bin/true",
    }
    if site.associations is not None:
        settings["AccountingStorageType"] = "accounting_storage/slurmdbd"
        settings["AccountingStorageHost"] = "127.0.0.1"
        settings["AccountingStoragePort"] = "1"  # nothing listens there: the controller goes by what it has saved
    return settings


PATHS = "a folder of the simulation's own"
IDENTITY = "the simulation is alone on the loopback, and needs no secret"
NODES = "one process stands for all nodes, and runs nothing"
ACCOUNTING = "no database: associations come from a file, usage is counted from the start"
TIME = "time stands still while messages travel"
REASONS = {
    **dict.fromkeys(("SlurmctldHost", "SlurmctldPort", "SlurmdPort", "CommunicationParameters"), IDENTITY),
    **dict.fromkeys(("AuthType", "CredType", "SlurmUser", "SlurmdUser"), IDENTITY),
    **dict.fromkeys(("PluginDir", "StateSaveLocation", "SlurmdSpoolDir", "SlurmctldPidFile"), PATHS),
    **dict.fromkeys(("SlurmctldLogFile", "SlurmctldDebug", "JobCompType", "JobCompLoc"), PATHS),
    **dict.fromkeys(("ProctrackType", "TaskPlugin", "SwitchType", "MpiDefault", "JobAcctGatherType"), NODES),
    **dict.fromkeys(("LaunchParameters", "TreeWidth", "MailProg"), NODES),
    **dict.fromkeys(("AccountingStorageType", "AccountingStorageHost", "AccountingStoragePort"), ACCOUNTING),
    **dict.fromkeys(("SlurmdTimeout", "InactiveLimit", "MessageTimeout"), TIME),
}


SCRIPTS = "scripts and programs of the site are not run"
POWER = "nodes are always powered"
MEASURES = "there is nothing to measure on emulated nodes"
PEERS = "the simulated controller is alone"
MACHINE = "has no meaning on emulated nodes"
DROPPED = {
    **dict.fromkeys(
        ("Prolog", "PrologSlurmctld", "PrologFlags", "Epilog", "EpilogSlurmctld", "TaskProlog", "TaskEpilog"), SCRIPTS
    ),
    **dict.fromkeys(("SrunProlog", "SrunEpilog", "ResvProlog", "ResvEpilog", "HealthCheckProgram"), SCRIPTS),
    **dict.fromkeys(("HealthCheckInterval", "HealthCheckNodeState", "RebootProgram", "UnkillableStepProgram"), SCRIPTS),
    **dict.fromkeys(("JobSubmitPlugins", "CliFilterPlugins", "PlugStackConfig", "SlurmctldPlugstack"), SCRIPTS),
    **dict.fromkeys(("PrEpPlugins", "PrEpParameters", "SlurmctldPrimaryOnProg", "SlurmctldPrimaryOffProg"), SCRIPTS),
    **dict.fromkeys(("MailDomain", "PrologEpilogTimeout", "BurstBufferType", "BurstBufferParameters"), SCRIPTS),
    **dict.fromkeys(("CertmgrType", "CertmgrParameters"), SCRIPTS),
    **dict.fromkeys(("SuspendProgram", "ResumeProgram", "ResumeFailProgram", "SuspendTime", "SuspendRate"), POWER),
    **dict.fromkeys(("ResumeRate", "ResumeTimeout", "SuspendTimeout", "SuspendExcNodes", "SuspendExcParts"), POWER),
    **dict.fromkeys(("PowerPlugin", "PowerParameters", "NodeFeaturesPlugins"), POWER),
    **dict.fromkeys(("JobAcctGatherFrequency", "JobAcctGatherParams", "AcctGatherEnergyType"), MEASURES),
    **dict.fromkeys(("AcctGatherProfileType", "AcctGatherInterconnectType", "AcctGatherInfinibandType"), MEASURES),
    **dict.fromkeys(("AcctGatherFilesystemType", "AcctGatherNodeFreq", "ExtSensorsType", "ExtSensorsFreq"), MEASURES),
    **dict.fromkeys(("ControlMachine", "ControlAddr", "BackupController", "BackupAddr", "SlurmctldAddr"), PEERS),
    **dict.fromkeys(("FederationParameters", "SlurmctldTimeout", "AccountingStorageBackupHost"), PEERS),
    **dict.fromkeys(("AccountingStorageExternalHost", "AccountingStoragePass", "AccountingStorageUser"), PEERS),
    **dict.fromkeys(("AccountingStorageLoc", "JobCompHost", "JobCompPass", "JobCompPort", "JobCompUser"), PEERS),
    **dict.fromkeys(("JobCompParams", "AuthAltTypes", "AuthAltParameters"), PEERS),
    **dict.fromkeys(("JobCredentialPrivateKey", "JobCredentialPublicCertificate", "CryptoType"), PEERS),
    **dict.fromkeys(
        ("SlurmdLogFile", "SlurmdPidFile", "SlurmdDebug", "SlurmdSyslogDebug", "SlurmdParameters"), MACHINE
    ),
    **dict.fromkeys(("SlurmctldSyslogDebug", "SlurmSchedLogFile", "SlurmSchedLogLevel", "DebugFlags"), MACHINE),
    **dict.fromkeys(("TaskPluginParam", "JobContainerType", "SwitchParameters", "MpiParams", "UsePAM"), MACHINE),
    **dict.fromkeys(("LaunchType", "BcastParameters", "BcastExclude", "SbcastParameters", "X11Parameters"), MACHINE),
    **dict.fromkeys(("CpuFreqDef", "CpuFreqGovernors", "GpuFreqDef", "CoreSpecPlugin", "RoutePlugin"), MACHINE),
    **dict.fromkeys(
        (
            "FrontendName",
            "LogTimeFormat",
            "FastSchedule",
            "SallocDefaultCommand",
            "KeepAliveTime",
            "UnkillableStepTimeout",
        ),
        MACHINE,
    ),
}
"""What is taken out of a site's configuration, and why."""
