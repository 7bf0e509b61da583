"""The former name of `synthesis.workflow_mix`; it stays for those who import it."""

from walltime.workload.synthesis.workflow_mix import WAYS, Mix, add_workflows

__all__ = ["WAYS", "Mix", "add_workflows"]
