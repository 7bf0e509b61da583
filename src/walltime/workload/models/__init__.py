"""Models of workloads: fitted ones from files, and published ones by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from walltime.core.errors import InputError

if TYPE_CHECKING:
    from walltime.workload.models.distribution import How
    from walltime.workload.models.empirical import Structure
    from walltime.workload.models.sample import JobModel

PUBLISHED = {
    "lublin": "Lublin and Feitelson (2003), jobs of no type",
    "lublin-batch": "the same, batch jobs",
    "lublin-interactive": "the same, interactive jobs",
    "lublin-mixed": "the same, batch and interactive jobs together",
}
"""Models with published parameters."""


def load_model(name: str | Path, structure: Structure = "users", bins: How | None = None) -> JobModel:
    """A published model by its name, or a fitted one from its file (.json).

    `structure` and `bins` are for fitted ones: `users` or ScSF's `independent` distributions, and how a value is drawn
    inside its bin.
    """
    if str(name) in PUBLISHED:
        from walltime.workload.models.lublin import LublinModel

        if structure != "users" or bins is not None:
            raise InputError("structure and bins are for fitted models; this one is published", value=str(name))
        return LublinModel(str(name))
    if not str(name).lower().endswith(".json"):
        raise InputError("no such model; a fitted one is a file that ends in .json", value=str(name), choices=PUBLISHED)
    from walltime.workload.models.empirical import FittedModel
    from walltime.workload.models.file import read_model

    return FittedModel(read_model(name), structure, bins)
