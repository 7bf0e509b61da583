"""Synthetic workloads: what a model makes for a machine, and what is put between its jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from walltime.workload.synthesis.machine import SynthesisPlan, generate_workload, synthesize

__all__ = ["SynthesisPlan", "generate_workload", "synthesize"]


def __getattr__(name: str) -> Any:  # imported when first used: most runs make no jobs
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from walltime.workload.synthesis import machine

    return getattr(machine, name)
