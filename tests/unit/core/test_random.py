"""Draws by SplitMix64."""

import numpy as np

from walltime.core.random import advance, as_uniform, key_of, mix, scatter, uniforms


def test_a_stream_draws_what_its_authors_say():
    first, second = advance(0), advance(advance(0))
    assert [mix(first), mix(second)] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]


def test_numbers_and_arrays_of_them_are_scattered_alike():
    numbers = [0, 1, 12_345, (1 << 64) - 1]
    with np.errstate(over="ignore"):
        assert scatter(np.array(numbers, np.uint64)).tolist() == [scatter(number) for number in numbers]
    key = key_of(7, "noise")
    assert uniforms(7, "noise", np.arange(3)).tolist() == [as_uniform(scatter((key + i) % 2**64)) for i in range(3)]
