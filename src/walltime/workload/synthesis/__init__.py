"""Synthetic workloads: what a model makes for a machine, and what is put between its jobs."""

from walltime.workload.synthesis.machine import Plan, generate_workload, synthesize

__all__ = ["Plan", "generate_workload", "synthesize"]
