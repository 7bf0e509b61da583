"""Analyses: functions from a result to figures by name, or to a table. Ours by name, those of installed packages by
theirs, others as `module:attribute`. Sweeps, `walltime analyse`, `compare` and `report` use the same."""

from walltime.analysis.analyses.registry import BUILT_IN, GROUP, Found, analyse, find_analysis

__all__ = ["BUILT_IN", "GROUP", "Found", "analyse", "find_analysis"]
