"""Walltime tells you what would happen to a batch cluster before you touch it.

>>> import walltime
>>> jobs = walltime.Workload.from_columns(submit=[0, 1], run_time=[10, 5], requested_time=[10, 5], cores=[3, 2])
>>> walltime.simulate(jobs, cores=4, policy="easy").jobs["wait"].to_list()
[0.0, 9.0]
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from walltime.analysis.audit.schedule import audit
    from walltime.analysis.compare import compare
    from walltime.analysis.plots import plot
    from walltime.analysis.report import write_report
    from walltime.api import Result, load, simulate
    from walltime.calibration import calibrate
    from walltime.core.errors import InputError, WalltimeError
    from walltime.core.plugins import allow_plugins
    from walltime.core.workload import Workload
    from walltime.experiments.answers.decomposition import decompose
    from walltime.experiments.answers.sides import judge
    from walltime.experiments.definition import load_experiment
    from walltime.experiments.reporting import plot_experiment, report_experiment
    from walltime.experiments.store import Store
    from walltime.experiments.sweep import sweep
    from walltime.explaining import explain
    from walltime.policy.api import Policy
    from walltime.policy.users import Reaction
    from walltime.prediction import predict
    from walltime.scenario import Scenario
    from walltime.workload.anonymise import anonymise
    from walltime.workload.compare import compare_workloads
    from walltime.workload.formats import read as read_workload
    from walltime.workload.formats import write as write_workload
    from walltime.workload.models import load_model
    from walltime.workload.models.fit import fit as fit_model
    from walltime.workload.synthesis import generate_workload

    __version__: str

# Imported when first used, so that `import walltime` and `walltime --help` are quick.
_WHERE = {
    "audit": "walltime.analysis.audit.schedule:audit",
    "compare": "walltime.analysis.compare:compare",
    "calibrate": "walltime.calibration:calibrate",
    "explain": "walltime.explaining:explain",
    "plot": "walltime.analysis.plots:plot",
    "predict": "walltime.prediction:predict",
    "write_report": "walltime.analysis.report:write_report",
    "Result": "walltime.api:Result",
    "load": "walltime.api:load",
    "simulate": "walltime.api:simulate",
    "InputError": "walltime.core.errors:InputError",
    "WalltimeError": "walltime.core.errors:WalltimeError",
    "allow_plugins": "walltime.core.plugins:allow_plugins",
    "Store": "walltime.experiments.store:Store",
    "decompose": "walltime.experiments.answers.decomposition:decompose",
    "plot_experiment": "walltime.experiments.reporting:plot_experiment",
    "report_experiment": "walltime.experiments.reporting:report_experiment",
    "judge": "walltime.experiments.answers.sides:judge",
    "load_experiment": "walltime.experiments.definition:load_experiment",
    "sweep": "walltime.experiments.sweep:sweep",
    "Workload": "walltime.core.workload:Workload",
    "Policy": "walltime.policy.api:Policy",
    "Reaction": "walltime.policy.users:Reaction",
    "Scenario": "walltime.scenario:Scenario",
    "anonymise": "walltime.workload.anonymise:anonymise",
    "compare_workloads": "walltime.workload.compare:compare_workloads",
    "fit_model": "walltime.workload.models.fit:fit",
    "generate_workload": "walltime.workload.synthesis:generate_workload",
    "load_model": "walltime.workload.models:load_model",
    "read_workload": "walltime.workload.formats:read",
    "tune_workload": "walltime.tuning:tune_workload",
    "write_workload": "walltime.workload.formats:write",
}

__all__ = [
    "InputError",
    "Policy",
    "Reaction",
    "Result",
    "Scenario",
    "Store",
    "WalltimeError",
    "Workload",
    "__version__",
    "allow_plugins",
    "anonymise",
    "audit",
    "calibrate",
    "compare",
    "compare_workloads",
    "decompose",
    "explain",
    "fit_model",
    "generate_workload",
    "judge",
    "load",
    "load_experiment",
    "load_model",
    "plot",
    "plot_experiment",
    "predict",
    "read_workload",
    "report_experiment",
    "simulate",
    "sweep",
    "tune_workload",
    "write_report",
    "write_workload",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value = _find_version()
    elif name in _WHERE:
        module, _, attribute = _WHERE[name].partition(":")
        value = getattr(importlib.import_module(module), attribute)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def _find_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("walltime")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "unknown"
