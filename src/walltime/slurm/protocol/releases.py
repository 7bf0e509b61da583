"""The releases of Slurm that are spoken here."""

from __future__ import annotations

from walltime.core.errors import InputError
from walltime.slurm.protocol.dialect import JOB_DESCRIPTION_38, Dialect
from walltime.slurm.protocol.dialect_24_11 import JOB_DESCRIPTION_42, Dialect42

DIALECTS: dict[str, Dialect] = {
    "22.05": Dialect("22.05.8", 38 << 8, JOB_DESCRIPTION_38),
    "24.11": Dialect42("24.11.5", 42 << 8, JOB_DESCRIPTION_42),
}
NEEDED = "another needs a dialect of its messages (slurm/protocol/dialect.py) and of its saved files"


def find_release(product: str) -> str:
    """The first two numbers of a release such as 22.05.8."""
    return ".".join(product.split(".")[:2])


def find_dialect(product: str) -> Dialect:
    """The dialect of a release such as 22.05.8; raises InputError for one that is not spoken."""
    release = find_release(product)
    if release not in DIALECTS:
        what = f"this release of Slurm is not spoken here; {NEEDED}"
        raise InputError(what, value=product, choices=tuple(DIALECTS))
    return DIALECTS[release]
