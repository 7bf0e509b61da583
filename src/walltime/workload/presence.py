"""The former name of `synthesis.workflow_mix`; it stays for code that imports it."""

from walltime.workload.synthesis.workflow_mix import WAYS, Mix, add_workflows

__all__ = ["WAYS", "Mix", "add_workflows"]
