"""Random streams keyed by (seed, name, entity): what one stream draws never depends on another's consumption."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from walltime.core.errors import InputError

GOLDEN = 0x9E3779B97F4A7C15
WORD = (1 << 64) - 1


def read_seed(value: int | str, name: str = "a seed") -> int:
    """The number of a seed, which the message of a mistake calls `name`: of a whole number
    itself, of any other text one that is the same wherever it is read."""
    if isinstance(value, int):
        number = value
    elif value.strip().isascii() and value.strip().removeprefix("-").isdigit() and len(value) < 40:
        number = int(value)
    elif not value.strip():
        raise InputError(f"{name} is a whole number of 0 or more, or a text", value=value)
    else:
        number = int.from_bytes(hashlib.blake2b(value.encode("utf-8", "replace"), digest_size=6).digest(), "little")
    if number < 0:
        raise InputError(f"{name} is a whole number of 0 or more, or a text", value=value)
    return number


def stream(seed: int, name: str, entity: str | int = "") -> np.random.Generator:
    """The generator of one random variable of one entity (a node, a user, a job); always the same for the same key."""
    key = hashlib.blake2b(f"{seed}\0{name}\0{entity}".encode(), digest_size=16).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(key, "little")))


def uniforms(seed: int, name: str, entities: np.ndarray) -> np.ndarray:
    """One uniform draw in [0, 1) for each entity number, a function of (seed, name, entity number) alone.

    For a draw per job: two workloads that share a job share its draw, whatever else they contain.
    """
    state = np.asarray(entities).astype(np.uint64) + np.uint64(key_of(seed, name))
    with np.errstate(over="ignore"):  # wrapping on purpose
        draws: np.ndarray = as_uniform(scatter(state))
    return draws


def key_of(seed: int, name: str) -> int:
    """What is added to the number of an entity before it is scattered."""
    return int.from_bytes(hashlib.blake2b(f"{seed}\0{name}".encode(), digest_size=8).digest(), "little")


# SplitMix64 (G. L. Steele and others, "Fast splittable pseudorandom number generators", OOPSLA 2014), of whole numbers
# below 2**64 and of arrays of np.uint64. Compiled modules have the same in C (random.pxd), where numbers wrap by
# themselves.


def wrap(number: Any) -> Any:
    """Modulo 2**64."""
    return number & WORD


def advance(state: Any) -> Any:
    """The next state of a stream; its draw is `mix` of it."""
    return wrap(state + GOLDEN)


def mix(state: Any) -> Any:
    """The draw that belongs to a state."""
    state = wrap((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9)
    state = wrap((state ^ (state >> 27)) * 0x94D049BB133111EB)
    return state ^ (state >> 31)


def scatter(number: Any) -> Any:
    """The draw that belongs to a number, of which the next one's tells nothing."""
    return mix(wrap(number * GOLDEN))


def as_uniform(draw: Any) -> Any:
    """A draw as a number from 0 up to, and without, 1."""
    return (draw >> 11) * (1.0 / (1 << 53))
