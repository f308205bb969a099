import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pskit.emulation.fan import LARGEST_BLOCK, Fan, block_of
from pskit.emulation.streams import Stream, derive, open_unit


def scaled(u: np.ndarray) -> np.ndarray:
    return (u * 2.0**40).astype(np.int64)


def alone(i: int, n: int) -> list[int]:
    return scaled(open_unit(Stream(9, "s", i).bits(n))).tolist()


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 60)), max_size=30))
def test_sequences_do_not_depend_on_each_other(draws: list[tuple[int, int]]) -> None:
    fan = Fan([derive(9, ("s", i)) for i in range(5)], scaled)
    sequences = [fan.sequence(i) for i in range(5)]
    got: list[list[int]] = [[] for _ in range(5)]
    for i, n in draws:
        got[i] += itertools.islice(sequences[i], n)
    for i in range(5):
        assert got[i] == alone(i, len(got[i]))


def test_a_long_sequence_beside_idle_ones() -> None:
    fan = Fan([derive(9, ("s", i)) for i in range(300)], scaled)
    long, idle = fan.sequence(7), fan.sequence(8)
    assert list(itertools.islice(long, 5 * LARGEST_BLOCK)) == alone(7, 5 * LARGEST_BLOCK)
    assert list(itertools.islice(idle, 3)) == alone(8, 3)


def test_blocks_yield_python_integers() -> None:
    values = list(block_of(np.array([1, -(2**62)])))
    assert values == [1, -(2**62)]
    assert all(type(value) is int for value in values)
