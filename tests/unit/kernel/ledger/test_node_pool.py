"""The pool of nodes, against a plain list."""

from __future__ import annotations

import numpy as np
import pytest

from walltime.core.random import stream
from walltime.kernel.ledger.node_pool import NodePool, RoughRoom


@pytest.mark.parametrize("size", [1, 31, 32, 33, 70, 1100])
def test_the_pool_answers_like_a_list(size):
    random = stream(size, "pool")
    top = int(random.integers(1, 70))
    free = random.integers(0, top + 1, size)
    free[0] = top
    pool = NodePool(free, True, True)
    for _ in range(300):
        node, value = int(random.integers(size)), int(random.integers(0, top + 1))
        pool.set(node, value)
        free[node] = value
        least, begin = int(random.integers(0, top + 1)), int(random.integers(size))
        assert pool.free_cores().tolist() == free.tolist()
        assert pool.total == free.sum()
        assert pool.at_least(least) == (free >= least).sum()
        assert bool(pool.enough(least, 3)) == ((free >= least).sum() >= 3)
        assert pool.first_with(least, begin) == _first((free >= least) & (np.arange(size) >= begin))
        assert pool.first_of(least, begin) == _first((free == least) & (np.arange(size) >= begin))
        assert pool.level_from(least) == min(free[free >= least], default=-1)
        assert pool.level_to(least) == max(free[free <= least], default=-1)
        wanted = int(random.integers(1, 1 + min(size, 40)))
        fitting = "".join("x" if value >= max(least, 1) else "." for value in free)
        assert pool.first_run(wanted, max(least, 1)) == fitting.find("x" * wanted)
        mark = pool.assumed
        for other in random.integers(size, size=5):
            pool.assume(int(other), int(random.integers(0, top + 1)))
        pool.undo(mark)


def _first(good: np.ndarray) -> int:
    return int(np.argmax(good)) if good.any() else -1


@pytest.mark.parametrize("size", [1, 32, 33, 70])
def test_rough_room_misses_no_node_that_has_room(size):
    random = stream(size, "rough room")
    most = [64, 1 << 60, 3]
    rough = RoughRoom(size, most)
    free = np.zeros((size, 3), np.int64)
    for _ in range(300):
        node, kind = int(random.integers(size)), int(random.integers(3))
        free[node, kind] = int(most[kind] * random.random() ** 3) - int(random.integers(0, 2))
        rough.set(node, kind, int(free[node, kind]))
        each = [int(amount * random.random() ** 3) for amount in most]
        rough.ask(np.array(each), 0, 0)
        found = [node for node in range(size) if rough.among(node // 32) >> node % 32 & 1]
        assert set(np.flatnonzero((free >= each).all(axis=1))) <= set(found) <= set(range(size))
        sure = [-1 if amount < largest / 500 else amount / 1.42 - 1 for amount, largest in zip(each, most, strict=True)]
        assert (free[found] >= sure).all()
