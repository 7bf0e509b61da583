"""The pool of nodes, against a plain list."""

from __future__ import annotations

import numpy as np
import pytest

from walltime.core.random import stream
from walltime.kernel.ledger.node_pool import NodePool


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
        mark = pool.assumed
        for other in random.integers(size, size=5):
            pool.assume(int(other), int(random.integers(0, top + 1)))
        pool.undo(mark)


def _first(good: np.ndarray) -> int:
    return int(np.argmax(good)) if good.any() else -1
