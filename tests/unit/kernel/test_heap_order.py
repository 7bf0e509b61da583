"""Events leave the heap in the order of (time, seq), each with its own slot and stamp."""

import random

import pytest

from walltime.kernel.heap import EventHeap


@pytest.mark.parametrize("seed", range(12))
def test_events_leave_in_order_of_time_and_entry(seed):
    draw = random.Random(seed)
    heap, there = EventHeap(), []
    for seq in range(1500):
        if there and draw.random() < 0.4:
            there.sort()
            heap.pop()
            assert (heap.time, heap.seq, heap.slot, heap.stamp) == there.pop(0)
        entry = (draw.randrange(1 << draw.choice((2, 20, 60))), seq, draw.randrange(99), draw.randrange(99))
        heap.push(*entry)
        there.append(entry)
    for entry in sorted(there):
        heap.pop()
        assert (heap.time, heap.seq, heap.slot, heap.stamp) == entry
    assert heap.size == 0
