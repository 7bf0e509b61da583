"""Random streams keyed by (seed, name, entity): what one stream draws never depends on another's consumption."""

from __future__ import annotations

import hashlib

import numpy as np

from walltime.core.errors import InputError


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
    key = hashlib.blake2b(f"{seed}\0{name}".encode(), digest_size=8).digest()
    state = np.asarray(entities).astype(np.uint64) + np.uint64(int.from_bytes(key, "little"))
    with np.errstate(over="ignore"):  # SplitMix64's finaliser, wrapping on purpose
        state = state * np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    state ^= state >> np.uint64(31)
    return (state >> np.uint64(11)).astype(np.float64) * (1.0 / (1 << 53))
