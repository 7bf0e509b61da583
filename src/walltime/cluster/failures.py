"""When nodes fail and come back, as random processes that no scheduler can move."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from walltime.core.random import stream
from walltime.core.time import SECOND

_AT_ONCE = 8  # draws


class Length(Protocol):
    """A random length of time, as a scenario describes it."""

    @property
    def distribution(self) -> str: ...

    @property
    def mean(self) -> float: ...

    @property
    def shape(self) -> float | None: ...

    @property
    def sigma(self) -> float | None: ...


def draw(length: Length, generator: np.random.Generator, size: int) -> np.ndarray[Any, Any]:
    """So many lengths in microseconds, each at least one."""
    if length.distribution == "constant":
        drawn = np.full(size, length.mean)
    elif length.distribution == "exponential":
        drawn = generator.exponential(length.mean, size)
    elif length.distribution == "weibull":
        shape = length.shape or 1.0
        drawn = generator.weibull(shape, size) * (length.mean / math.gamma(1 + 1 / shape))
    else:
        sigma = length.sigma or 1.0
        drawn = generator.lognormal(math.log(length.mean) - sigma * sigma / 2, sigma, size)
    return np.asarray(np.maximum(1, np.rint(drawn * SECOND)), np.int64)


def renewals(
    seed: int, source: int, group: int, between: Length, repair: Length, cluster: str = ""
) -> Iterator[tuple[int, int]]:
    """When a group of nodes is down, as (failure, return) in microseconds, for ever.

    It works for a length `between` from the last return on, and is down for one of `repair`. What is drawn depends on
    the seed, the number of the source, the number of the group's first node, and, of several clusters, the name alone.
    """
    name = f"failures {cluster} {source}" if cluster else f"failures {source}"
    works = stream(seed, f"{name} between", group)
    rests = stream(seed, f"{name} repair", group)
    time = 0
    while True:
        for up, down in zip(draw(between, works, _AT_ONCE), draw(repair, rests, _AT_ONCE), strict=True):
            fails = time + int(up)
            time = fails + int(down)
            yield fails, time
