"""The workload model of Lublin and Feitelson: sizes, run times that depend on them, and arrivals with a daily cycle.

U. Lublin and D. G. Feitelson, The workload on parallel supercomputers: modeling the characteristics of rigid jobs,
Journal of Parallel and Distributed Computing 63 (2003). The parameters are the published ones, for batch jobs,
interactive jobs, and jobs of no type; those of sizes were found on machines of 128 nodes and keep their distance from
the largest size on others.

- Size: 1 with probability `serial`; else 2^x, x of a two-stage uniform distribution, rounded with probability `power`.
- Run time: exp of a mixture of two gamma distributions, the first with probability p = slope · size + offset; at most
  e^12 seconds.
- Arrivals: exp of a gamma variable is a gap on a clock that runs with the day's cycle, itself a gamma density over 48
  half hours that begin at bucket 11.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from walltime.core.errors import InputError
from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.workload.models.sample import Sample

BUCKETS = 48
_BUCKET = 86_400 / BUCKETS
_DAY_BEGINS = 11  # the bucket from which the density of arrivals is laid over the day
_LONGEST = 12.0  # logarithm of the longest run time
_LONGEST_GAP = 13.0  # logarithm of the longest gap


@dataclass(frozen=True)
class Parameters:
    """One type of jobs, as published."""

    serial: float
    power: float
    low: float
    middle: float
    high: float
    first: float
    """Probability of the lower of the two uniform stages, [low, middle] and [middle, high]."""
    run: tuple[tuple[float, float], tuple[float, float]]
    """Shape and scale of the two gamma distributions."""
    slope: float
    offset: float
    gap: tuple[float, float]
    """Shape and scale of the logarithm of a gap at rush hours."""
    ratio: float
    """What the shape of the gap is multiplied by, for all hours."""
    cycle: tuple[float, float]
    """Shape and scale of the density of arrivals over the day."""


BATCH = Parameters(
    0.2927, 0.6686, 1.2, 5.0, 7.0, 0.875, ((6.57, 0.823), (639.1, 0.0156)), -0.003, 0.6986,
    (6.0415, 0.8531), 1.0519, (6.1271, 5.2740),
)  # fmt: skip
INTERACTIVE = Parameters(
    0.1541, 0.625, 1.0, 3.0, 5.5, 0.705, ((3.8351, 0.6605), (7.073, 0.6856)), -0.0118, 0.9156,
    (6.5510, 0.6621), 0.9797, (8.9186, 3.6680),
)  # fmt: skip
TYPELESS = Parameters(
    0.244, 0.576, 0.8, 4.5, 7.0, 0.86, ((4.2, 0.94), (312.0, 0.03)), -0.0054, 0.78,
    (10.2303, 0.4871), 1.0225, (8.1737, 3.9631),
)  # fmt: skip

TYPES = {"lublin": ("all",), "lublin-batch": ("batch",), "lublin-interactive": ("interactive",),
         "lublin-mixed": ("batch", "interactive")}  # fmt: skip
_PARAMETERS = {"batch": BATCH, "interactive": INTERACTIVE, "all": TYPELESS}
_PUBLISHED_SIZE = 7.0  # log2 of the nodes that the sizes were found on


class LublinModel:
    """Jobs of one type or a mixture; `lublin` is the published fit to jobs of no type."""

    def __init__(self, name: str = "lublin") -> None:
        if name not in TYPES:
            raise InputError("unknown form of the Lublin-Feitelson model", value=name, choices=TYPES)
        self.name = name
        self.types = TYPES[name]

    @property
    def title(self) -> str:
        return f"Lublin-Feitelson model ({self.name})"

    @property
    def jobs_per_day(self) -> float:
        """The published rate: what arrives at the published gaps."""
        return sum(86_400 / _mean_gap(_PARAMETERS[kind]) for kind in self.types)

    def clock(self, days: int) -> np.ndarray:
        mixed = np.zeros(BUCKETS)
        for kind in self.types:
            mixed += cycle(_PARAMETERS[kind]) / _mean_gap(_PARAMETERS[kind])
        hours = mixed.reshape(24, 2).mean(axis=1)
        return np.tile(hours / hours.mean(), days)

    def draw(self, jobs: int, span: float, cores: int, seed: int, name: str) -> Sample:
        """Gaps are stretched by one factor so that `jobs` of them fill the span; the day's cycle stays."""
        rates = [1 / _mean_gap(_PARAMETERS[kind]) for kind in self.types]
        parts = []
        for code, (kind, rate) in enumerate(zip(self.types, rates, strict=True)):
            count = max(1, round(jobs * rate / sum(rates)))
            submit = arrivals(_PARAMETERS[kind], count, seed, f"{name}.{kind}", span)
            columns = draw_jobs(_PARAMETERS[kind], count, cores, seed, f"{name}.{kind}")
            columns |= {"submit": submit, "queue": np.full(count, code, np.int32)}
            parts.append(columns)
        joined = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
        inside = np.flatnonzero(joined["submit"] < span * SECOND)
        order = inside[np.argsort(joined["submit"][inside], kind="stable")]
        labels = {"queue": list(self.types)}
        return Sample({key: values[order] for key, values in joined.items()}, labels)


def draw_jobs(parameters: Parameters, count: int, cores: int, seed: int, name: str) -> dict[str, np.ndarray]:
    """Sizes and run times."""
    size = draw_sizes(parameters, count, cores, seed, name)
    return {"cores": size, "run_time": draw_run_times(parameters, size, seed, name)}


def draw_sizes(parameters: Parameters, count: int, cores: int, seed: int, name: str) -> np.ndarray:
    """Processors of each job; the published sizes moved so that the largest is the machine's."""
    random = stream(seed, f"{name}.cores")
    move = math.log2(cores) - _PUBLISHED_SIZE
    high = max(parameters.high + move, 0.0)
    middle = max(parameters.middle + move, min(parameters.low, high))
    low = min(parameters.low, middle)
    kind = random.random(count)
    lower = random.random(count) < parameters.first
    place = random.random(count)
    exponent = np.where(lower, low + place * (middle - low), middle + place * (high - middle))
    exponent = np.where(kind <= parameters.serial + parameters.power, np.floor(exponent + 0.5), exponent)
    size = np.floor(np.exp2(exponent) + 0.5)
    return np.asarray(np.clip(np.where(kind <= parameters.serial, 1, size), 1, cores), np.int64)


def draw_run_times(parameters: Parameters, size: np.ndarray, seed: int, name: str) -> np.ndarray:
    """Microseconds; whole seconds, at least one; draws beyond e^12 s are drawn again."""
    random = stream(seed, f"{name}.run_time")
    share = np.clip(parameters.slope * size + parameters.offset, 0, 1)
    log = np.full(len(size), np.inf)
    again = np.arange(len(size))
    while len(again):
        short = random.random(len(again)) <= share[again]
        (shape1, scale1), (shape2, scale2) = parameters.run
        drawn = np.where(short, random.gamma(shape1, scale1, len(again)), random.gamma(shape2, scale2, len(again)))
        log[again] = drawn
        again = again[drawn > _LONGEST]
    return np.asarray(np.maximum(np.floor(np.exp(log)), 1).astype(np.int64) * SECOND)


def arrivals(parameters: Parameters, count: int, seed: int, name: str, span: float | None = None) -> np.ndarray:
    """Microseconds of `count` submissions from midnight; with `span`, stretched so that they fill so many seconds."""
    random = stream(seed, f"{name}.submit")
    shape, scale = parameters.gap[0] * parameters.ratio, parameters.gap[1]
    log = random.gamma(shape, scale, count + 1)
    while (again := log > _LONGEST_GAP).any():
        log[again] = random.gamma(shape, scale, int(np.count_nonzero(again)))
    points = np.cumsum(np.exp(log)) / _BUCKET
    cumulated = np.concatenate([[0.0], np.cumsum(cycle(parameters))])
    if span is not None:
        whole, part = divmod(span, 86_400)
        points *= (whole * BUCKETS + np.interp(part / _BUCKET, np.arange(BUCKETS + 1), cumulated)) / points[-1]
    days, rest = np.divmod(points[:count], float(BUCKETS))
    inside = np.interp(rest, cumulated, np.arange(BUCKETS + 1))
    return np.asarray(np.floor((days * BUCKETS + inside) * _BUCKET).astype(np.int64) * SECOND)


def cycle(parameters: Parameters) -> np.ndarray:
    """The weight of each half hour of the day, from midnight; their mean is 1."""
    shape, scale = parameters.cycle
    weights = np.empty(BUCKETS)
    for index in range(_DAY_BEGINS, BUCKETS + _DAY_BEGINS):
        share = gamma_cdf((index + 0.5) / scale, shape) - gamma_cdf((index - 0.5) / scale, shape)
        weights[(index - 1) % BUCKETS] = share
    return np.asarray(weights / weights.mean())


def gamma_cdf(x: float, shape: float) -> float:
    """The distribution of a gamma variable of scale 1, by the series of the lower incomplete gamma function."""
    if x <= 0:
        return 0.0
    term = total = 1 / shape
    for step in range(1, 2000):
        term *= x / (shape + step)
        total += term
        if term < total * 1e-14:
            break
    return min(1.0, total * math.exp(-x + shape * math.log(x) - math.lgamma(shape)))


def _mean_gap(parameters: Parameters) -> float:
    """Seconds between submissions in the mean: that of exp of the truncated gamma variable, by integration."""
    shape, scale = parameters.gap[0] * parameters.ratio, parameters.gap[1]
    log = np.linspace(1e-6, _LONGEST_GAP, 20_001)
    density = np.exp((shape - 1) * np.log(log) - log / scale)
    return float(np.sum(density * np.exp(log)) / np.sum(density))
