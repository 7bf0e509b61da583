"""The scenario: its models, and the ways from and to YAML."""

from walltime.scenario.brokering import Binding, Brokering, GlobalQueue, Migration
from walltime.scenario.cluster import Cluster, Nodes, Scheduler
from walltime.scenario.disruptions import Checkpoint, Draw, Failures, Reservation
from walltime.scenario.execution import Execution
from walltime.scenario.model import Record, Scenario
from walltime.scenario.part import Part
from walltime.scenario.reading.loading import dump, load, load_cluster, parse, resolve
from walltime.scenario.reading.override import override, parse_setting
from walltime.scenario.rules import Account, Caps, Limit, Queue, Route
from walltime.scenario.workload.source import Generate, WorkloadSpec

__all__ = [
    "Account",
    "Binding",
    "Brokering",
    "Caps",
    "Checkpoint",
    "Cluster",
    "Draw",
    "Execution",
    "Failures",
    "Generate",
    "GlobalQueue",
    "Limit",
    "Migration",
    "Nodes",
    "Part",
    "Queue",
    "Record",
    "Reservation",
    "Route",
    "Scenario",
    "Scheduler",
    "WorkloadSpec",
    "dump",
    "load",
    "load_cluster",
    "override",
    "parse",
    "parse_setting",
    "resolve",
]
