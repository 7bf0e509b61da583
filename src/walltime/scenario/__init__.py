"""The scenario: its models, and the ways from and to YAML."""

from walltime.scenario.loading import dump, load, load_cluster, parse, resolve
from walltime.scenario.model import (
    Cluster,
    Execution,
    Generate,
    Nodes,
    Part,
    Record,
    Scenario,
    Scheduler,
    WorkloadSpec,
)
from walltime.scenario.override import override, parse_setting

__all__ = [
    "Cluster",
    "Execution",
    "Generate",
    "Nodes",
    "Part",
    "Record",
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
