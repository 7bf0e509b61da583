"""Which rows of a workload a rule means: by their users, groups, accounts, queues, sizes and times."""

from __future__ import annotations

from typing import Any

import numpy as np

from walltime.core.time import microseconds
from walltime.core.workload import Workload
from walltime.rules.accounts import Charges

Array = np.ndarray[Any, Any]


def match_size(rule: Any, batch: Workload) -> Array:
    """Rows whose cores and requested time are within the rule's bounds."""
    cores, time = batch.column("cores"), batch.column("requested_time")
    mask = np.ones(len(batch), bool)
    if rule.min_cores is not None:
        mask &= cores >= rule.min_cores
    if rule.max_cores is not None:
        mask &= cores <= rule.max_cores
    if rule.min_time is not None:
        mask &= time >= microseconds(rule.min_time)
    if rule.max_time is not None:
        mask &= time <= microseconds(rule.max_time)
    return mask


def match_people(rule: Any, batch: Workload, charges: Charges) -> Array:
    """Rows whose user, group and account are among those that the rule names."""
    mask = np.ones(len(batch), bool)
    if rule.users is not None:
        mask &= match_label(batch, "user", rule.users)
    if rule.groups is not None:
        mask &= match_label(batch, "group", rule.groups)
    if rule.accounts is not None:
        mask &= charges.among(rule.accounts)
    return mask


def match_any(rule: Any, batch: Workload, charges: Charges) -> Array:
    """Rows whose user, group or account is among those that the rule names."""
    mask = np.zeros(len(batch), bool)
    if rule.users is not None:
        mask |= match_label(batch, "user", rule.users)
    if rule.groups is not None:
        mask |= match_label(batch, "group", rule.groups)
    if rule.accounts is not None:
        mask |= charges.among(rule.accounts)
    return mask


def match_label(batch: Workload, kind: str, names: tuple[str, ...]) -> Array:
    """Rows whose label of a kind is one of these."""
    codes = [code for code, name in enumerate(batch.label_names(kind)) if name in names]
    return np.isin(batch.column(kind), codes)
