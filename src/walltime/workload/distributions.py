"""The usual distributions, drawn so that a value depends on its stream's name and its entity's number alone.

A description is a number (always that), or a mapping with a name and parameters: `{name: exponential, mean: 10}`. Where
one uniform number is enough a value is the inverse of the distribution at that number, so that two workloads that share
a seed differ in a distribution's parameters and in nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.random import uniforms


@dataclass(frozen=True)
class Draws:
    """Independent uniform numbers in [0, 1) for each of the entities, as many as are asked for."""

    seed: int
    name: str
    entities: np.ndarray

    def uniform(self, which: int = 0) -> np.ndarray:
        """The which-th number of each entity."""
        return uniforms(self.seed, f"{self.name}/{which}", self.entities)

    def some(self, chosen: np.ndarray) -> Draws:
        """The draws of the chosen entities."""
        return Draws(self.seed, self.name, self.entities[chosen])


@dataclass(frozen=True)
class Distribution:
    """A distribution of numbers that are not negative: its `mean`, and `draw`, a number for each entity."""

    name: str
    parameters: Mapping[str, Any]
    mean: float
    draw: Callable[[Draws], np.ndarray] = field(compare=False, repr=False)

    @property
    def constant(self) -> bool:
        """Whether it is always the same number."""
        return self.name == "deterministic"

    def short(self) -> Any:
        """The form in which a file writes it."""
        return self.parameters["value"] if self.constant else {"name": self.name, **self.parameters}


def parse_distribution(given: Any) -> Distribution:
    """The distribution that a number or a mapping describes; raises InputError with what is wrong."""
    if isinstance(given, Distribution):
        return given
    if isinstance(given, int | float) and not isinstance(given, bool):
        given = {"name": "deterministic", "value": given}
    if not isinstance(given, Mapping) or not isinstance(given.get("name"), str):
        raise InputError("is not a number, nor a mapping with the name of a distribution", value=given)
    name = given["name"]
    if name not in KINDS:
        raise InputError("unknown distribution", value=name, choices=KINDS)
    parameters = {str(key): value for key, value in given.items() if key != "name"}
    make, forms = KINDS[name]
    if set(parameters) not in [set(form) for form in forms]:
        wanted = ", or ".join(" and ".join(form) for form in forms)
        raise InputError(f"{name} takes {wanted}", value=", ".join(parameters) or "nothing")
    mean, draw = make(**parameters)
    return Distribution(name, parameters, mean, draw)


_Made = tuple[float, Callable[[Draws], np.ndarray]]


def _positive(name: str, value: Any, zero: bool = False) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"{name} is not a number", value=value)
    if value < 0 or (value == 0 and not zero):
        raise InputError(f"{name} must {'not be negative' if zero else 'be above zero'}", value=value)
    return float(value)


def _numbers(name: str, values: Any, zero: bool = False) -> np.ndarray:
    if not isinstance(values, list | tuple) or not values:
        raise InputError(f"{name} is not a list of numbers", value=values)
    return np.array([_positive(name, value, zero) for value in values])


def _exponentials(draws: Draws, which: int = 0) -> np.ndarray:
    """Exponential numbers of mean one."""
    return np.asarray(-np.log1p(-draws.uniform(which)))


def _normals(draws: Draws, first: int = 0) -> np.ndarray:
    """Standard normal numbers from two uniform ones each (Box and Muller)."""
    radius = np.sqrt(2 * _exponentials(draws, first))
    return np.asarray(radius * np.cos(2 * np.pi * draws.uniform(first + 1)))


def _deterministic(value: Any) -> _Made:
    always = _positive("value", value, zero=True)
    return always, lambda draws: np.full(len(draws.entities), always)


def _uniform(low: Any, high: Any) -> _Made:
    least, most = _positive("low", low, zero=True), _positive("high", high)
    if least >= most:
        raise InputError("low is not below high", value=low)
    return (least + most) / 2, lambda draws: least + (most - least) * draws.uniform()


def _exponential(mean: Any) -> _Made:
    middle = _positive("mean", mean)
    return middle, lambda draws: middle * _exponentials(draws)


def _erlang(mean: Any, stages: Any) -> _Made:
    middle = _positive("mean", mean)
    if isinstance(stages, bool) or not isinstance(stages, int) or not 1 <= stages <= 1000:
        raise InputError("stages is not a whole number from 1 to 1000", value=stages)

    def draw(draws: Draws) -> np.ndarray:
        return np.asarray(middle / stages * sum(_exponentials(draws, stage) for stage in range(stages)))

    return middle, draw


def _hyper_exponential(mean: Any = None, cv: Any = None, means: Any = None, weights: Any = None) -> _Made:
    """Branches of given means; from mean and cv (standard deviation over mean), two with balanced means."""
    if means is None:
        middle, spread = _positive("mean", mean), _positive("cv", cv)
        if spread < 1:
            raise InputError("cv of a hyper-exponential distribution must be at least 1", value=cv)
        square = spread * spread
        share = 0.5 * (1 + math.sqrt((square - 1) / (square + 1)))
        branches, chances = np.array([middle / (2 * share), middle / (2 * (1 - share))]), np.array([share, 1 - share])
    else:
        branches, chances = _numbers("means", means), _numbers("weights", weights, zero=True)
        if len(branches) != len(chances) or not chances.sum():
            raise InputError("weights are not one for each of the means", value=weights)
        chances = chances / chances.sum()

    def draw(draws: Draws) -> np.ndarray:
        index = np.searchsorted(np.cumsum(chances)[:-1], draws.uniform(1), side="right")
        return np.asarray(branches[index] * _exponentials(draws))

    return float(branches @ chances), draw


def _normal(mean: Any, sd: Any, minimum: Any = 0) -> _Made:
    """Numbers below the minimum are the minimum."""
    middle, spread, least = _positive("mean", mean), _positive("sd", sd), _positive("minimum", minimum, zero=True)
    edge = (least - middle) / spread
    below = 0.5 * math.erfc(-edge / math.sqrt(2))
    density = math.exp(-edge * edge / 2) / math.sqrt(2 * math.pi)
    real = least * below + middle * (1 - below) + spread * density
    return real, lambda draws: np.maximum(least, middle + spread * _normals(draws))


def _lognormal(mean: Any = None, cv: Any = None, median: Any = None, sigma: Any = None) -> _Made:
    if median is None:
        middle, spread = _positive("mean", mean), math.sqrt(math.log1p(_positive("cv", cv) ** 2))
        scale = math.log(middle) - spread * spread / 2
    else:
        scale, spread = math.log(_positive("median", median)), _positive("sigma", sigma)
        middle = math.exp(scale + spread * spread / 2)
    return middle, lambda draws: np.exp(scale + spread * _normals(draws))


def _weibull(shape: Any, mean: Any = None, scale: Any = None) -> _Made:
    power = _positive("shape", shape)
    ratio = math.gamma(1 + 1 / power)
    size = _positive("mean", mean) / ratio if scale is None else _positive("scale", scale)
    return size * ratio, lambda draws: size * _exponentials(draws) ** (1 / power)


def _gamma(shape: Any, mean: Any = None, scale: Any = None) -> _Made:
    power = _positive("shape", shape)
    size = _positive("mean", mean) / power if scale is None else _positive("scale", scale)
    return size * power, lambda draws: size * _standard_gamma(draws, power)


def _standard_gamma(draws: Draws, shape: float) -> np.ndarray:
    """Marsaglia and Tsang's rejection, each entity with numbers of its own: one that is refused tries again alone."""
    if shape < 1:
        return np.asarray(_standard_gamma(draws, shape + 1) * draws.uniform(0) ** (1 / shape))
    d = shape - 1 / 3
    c = 1 / math.sqrt(9 * d)
    out, left, attempt = np.zeros(len(draws.entities)), np.arange(len(draws.entities)), 1
    while len(left):
        mine = draws.some(left)
        normal = _normals(mine, attempt)
        v = (1 + c * normal) ** 3
        with np.errstate(invalid="ignore", divide="ignore"):
            good = (v > 0) & (np.log1p(-mine.uniform(attempt + 2)) < 0.5 * normal**2 + d - d * v + d * np.log(v))
        out[left[good]] = d * v[good]
        left, attempt = left[~good], attempt + 3
    return out


def _pareto(shape: Any, mean: Any = None, minimum: Any = None) -> _Made:
    power = _positive("shape", shape)
    if minimum is None:
        if power <= 1:
            raise InputError("a Pareto distribution of shape 1 or less has no mean; give its minimum", value=shape)
        least = _positive("mean", mean) * (power - 1) / power
    else:
        least = _positive("minimum", minimum)
    middle = math.inf if power <= 1 else least * power / (power - 1)
    return middle, lambda draws: least * (1 - draws.uniform()) ** (-1 / power)


def _empirical(values: Any, weights: Any = None) -> _Made:
    numbers = _numbers("values", values, zero=True)
    chances = np.ones(len(numbers)) if weights is None else _numbers("weights", weights, zero=True)
    if len(chances) != len(numbers) or not chances.sum():
        raise InputError("weights are not one for each of the values", value=weights)
    chances = chances / chances.sum()
    ladder = np.cumsum(chances)[:-1]
    return float(numbers @ chances), lambda draws: numbers[np.searchsorted(ladder, draws.uniform(), side="right")]


KINDS: dict[str, tuple[Callable[..., _Made], list[tuple[str, ...]]]] = {
    "deterministic": (_deterministic, [("value",)]),
    "uniform": (_uniform, [("low", "high")]),
    "exponential": (_exponential, [("mean",)]),
    "erlang": (_erlang, [("mean", "stages")]),
    "hyper-exponential": (_hyper_exponential, [("mean", "cv"), ("means", "weights")]),
    "normal": (_normal, [("mean", "sd"), ("mean", "sd", "minimum")]),
    "lognormal": (_lognormal, [("mean", "cv"), ("median", "sigma")]),
    "weibull": (_weibull, [("shape", "mean"), ("shape", "scale")]),
    "gamma": (_gamma, [("shape", "mean"), ("shape", "scale")]),
    "pareto": (_pareto, [("shape", "mean"), ("shape", "minimum")]),
    "empirical": (_empirical, [("values",), ("values", "weights")]),
}
"""How each distribution is made, and which parameters it may be given together."""
