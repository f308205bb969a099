import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pskit.emulation.fan import LARGEST_BLOCK, Fan, block_of
from pskit.emulation.streams import Stream, derive, open_unit


def scaled(u: np.ndarray) -> np.ndarray:
    return (u * 2.0**40).astype(np.int64)


def alone(i: int, n: int) -> list[int]:
    return scaled(open_unit(Stream(9, "s", i).bits(n))).tolist()


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 60)), max_size=30))
def test_sequences_do_not_depend_on_each_other(draws: list[tuple[int, int]]) -> None:
    fan = Fan([derive(9, ("s", i)) for i in range(5)], scaled)
    got: list[list[int]] = [[] for _ in range(5)]
    for i, n in draws:
        if i == 5:
            for one, value in zip(got, fan.next_of_all().tolist(), strict=True):
                one.append(value)
        else:
            got[i] += [fan.next(i) for _ in range(n)]
    for i in range(5):
        assert got[i] == alone(i, len(got[i]))


def test_a_long_sequence_beside_idle_ones() -> None:
    fan = Fan([derive(9, ("s", i)) for i in range(300)], scaled)
    assert [fan.next(7) for _ in range(5 * LARGEST_BLOCK)] == alone(7, 5 * LARGEST_BLOCK)
    assert [fan.next(8) for _ in range(3)] == alone(8, 3)


def test_sequences_in_step_share_their_passes() -> None:
    passes = []
    fan = Fan([derive(9, ("s", i)) for i in range(8)], lambda u: passes.append(u.shape) or scaled(u))
    extra = 0
    for _ in range(200):
        fan.next_of_all()
        extra += fan.next(3) > 0  # one is drawn from more often, and drags the others along
    assert extra == 200
    assert len(passes) < 40


def test_blocks_yield_python_integers() -> None:
    values = list(block_of(np.array([1, -(2**62)])))
    assert values == [1, -(2**62)]
    assert all(type(value) is int for value in values)
