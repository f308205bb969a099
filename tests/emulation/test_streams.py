import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pskit.emulation.streams import Stream, derive, open_unit, words

KEYS = st.lists(st.one_of(st.integers(-5, 5), st.text(max_size=3)), max_size=4).map(tuple)


def test_golden_words() -> None:
    assert derive(0, ()) == (6967353690867122194, 7851331309782325734)
    assert derive(7, ("network", -3)) == (14066188664452600998, 11928696154295997828)
    assert Stream(0).bits(3).tolist() == [7133964466555225260, 4280363875625477355, 6397133333459170175]
    assert Stream(7, "network", "latency", "client", 3).bits(3).tolist() == [
        401065977636945711,
        3401544046208132933,
        436243209907200143,
    ]


def test_golden_values() -> None:
    stream = Stream(2014, "golden")
    assert [u.hex() for u in stream.uniform(3).tolist()] == [
        "0x1.9b30e71a19c31p-1",
        "0x1.95bb408ab3a3ap-2",
        "0x1.c69b9e24cc431p-1",
    ]
    assert [z.hex() for z in stream.normal(3).tolist()] == [
        "0x1.0d0995c10f31ep+0",
        "-0x1.f26ee84f0a630p-3",
        "-0x1.197f76390cfcap+0",
    ]
    assert stream.integers(6, 1000).tolist() == [485, 106, 26, 805, 180, 846]
    assert stream.integers(3, 2**32).tolist() == [1741957380, 3058583336, 1158117484]
    assert stream.permutation(8).tolist() == [6, 5, 0, 1, 4, 2, 7, 3]


@given(KEYS, KEYS)
def test_different_keys_name_different_streams(a: tuple[int | str, ...], b: tuple[int | str, ...]) -> None:
    assert (derive(1, a) == derive(1, b)) == (a == b)


def test_keys_of_different_cuts_and_types_differ() -> None:
    keys = [
        ("ab", "c"),
        ("a", "bc"),
        ("abc",),
        (1,),
        ("1",),
        (1, 2),
        (12,),
        (),
        ("",),
        (";i1",),
        ("a;s1:b",),
        ("a", "b"),
    ]
    assert len({derive(1, key) for key in keys} | {derive(2, ())}) == len(keys) + 1


def test_a_key_must_be_of_integers_and_strings() -> None:
    with pytest.raises(TypeError):
        Stream(1, 1.5)  # type: ignore[arg-type]
    assert Stream(1, np.int64(3)).bits(1) == Stream(1, 3).bits(1)  # type: ignore[arg-type]


@given(st.lists(st.integers(0, 20), max_size=8), st.sampled_from(["bits", "uniform", "normal"]))
def test_cutting_a_sequence_into_calls_changes_nothing(sizes: list[int], method: str) -> None:
    pieces = Stream(5, "x")
    parts = [getattr(pieces, method)(n) for n in sizes]
    whole = getattr(Stream(5, "x"), method)(sum(sizes))
    assert np.array_equal(np.concatenate([*parts, whole[:0]]), whole)
    assert pieces.position == sum(sizes)


def test_position_can_be_set_and_wraps_around() -> None:
    stream = Stream(5, "x")
    start = stream.bits(4)
    stream.position = 2
    assert np.array_equal(stream.bits(2), start[2:])
    stream.position = 2**64 - 1
    assert stream.bits(3)[1:].tolist() == start[:2].tolist()


def test_child_continues_the_key_and_ignores_the_position() -> None:
    parent = Stream(5, "x")
    parent.bits(10)
    assert np.array_equal(parent.child("y", 1).bits(4), Stream(5, "x", "y", 1).bits(4))
    assert parent.position == 10


def test_many_streams_at_once_equal_one_at_a_time() -> None:
    keys = np.array([derive(3, ("link", i)) for i in range(5)], dtype=np.uint64)
    counters = np.arange(7, dtype=np.uint64)
    together = words(keys[:, :1], keys[:, 1:], counters)
    assert np.array_equal(together, [Stream(3, "link", i).bits(7) for i in range(5)])


def test_open_unit_never_reaches_its_ends() -> None:
    u = open_unit(np.array([0, 2**64 - 1], dtype=np.uint64))
    assert u.tolist() == [2.0**-53, 1.0 - 2.0**-53]


@given(st.integers(1, 2**32), st.integers(0, 2**32))
def test_integers_are_the_exact_product(high: int, seed: int) -> None:
    wanted = [word * high >> 64 for word in Stream(seed).bits(5).tolist()]
    assert Stream(seed).integers(5, high).tolist() == wanted


@given(st.integers(0, 50), st.integers(0, 2**32))
def test_permutation_has_every_number_once(n: int, seed: int) -> None:
    order = Stream(seed).permutation(n)
    assert order.dtype == np.int64
    assert sorted(order.tolist()) == list(range(n))


@pytest.mark.parametrize("high", [0, -1, 2**32 + 1])
def test_integers_refuses_an_empty_or_too_large_range(high: int) -> None:
    with pytest.raises(ValueError, match="high"):
        Stream(1).integers(1, high)


def test_a_negative_count_is_refused() -> None:
    with pytest.raises(ValueError, match="-1"):
        Stream(1).uniform(-1)


# Statistics with fixed seeds: the thresholds are generous, and a result never varies.


def test_every_bit_is_fair_and_unlike_its_neighbours() -> None:
    n = 100_000
    bits = np.unpackbits(Stream(1, "fair").bits(n).view(np.uint8)).reshape(n, 64).astype(np.float64)
    deviation = 0.5 / np.sqrt(n)
    assert np.all(np.abs(bits.mean(axis=0) - 0.5) < 5 * deviation)
    centred = bits - 0.5
    for lag in (1, 2, 3):
        covariance = centred[lag:].T @ centred[:-lag] / (n - lag)
        assert np.all(np.abs(covariance) < 6 * 0.25 / np.sqrt(n))


def test_streams_with_neighbouring_keys_and_seeds_are_uncorrelated() -> None:
    n = 2000
    u = np.array([Stream(seed, "x", i).uniform(n) for seed in range(5) for i in range(20)])
    correlation = np.corrcoef(u)[np.triu_indices(len(u), 1)]
    assert np.all(np.abs(correlation) < 6 / np.sqrt(n))
    first = np.array([Stream(1, "first", i).uniform(1)[0] for i in range(5000)])
    assert stats.kstest(first, "uniform").pvalue > 1e-3


def test_uniform_and_normal_have_their_distributions() -> None:
    u = Stream(1, "u").uniform(200_000)
    assert u.min() >= 0.0
    assert u.max() < 1.0
    assert stats.kstest(u, "uniform").pvalue > 1e-3
    assert stats.kstest(Stream(1, "z").normal(200_000), "norm").pvalue > 1e-3


def test_integers_and_permutations_are_equally_likely() -> None:
    counts = np.bincount(Stream(1, "i").integers(60_000, 60), minlength=60)
    assert stats.chisquare(counts).pvalue > 1e-3
    stream = Stream(1, "p")
    orders = [tuple(stream.permutation(4).tolist()) for _ in range(4800)]
    tally = [orders.count(order) for order in set(orders)]
    assert len(tally) == 24
    assert stats.chisquare(tally).pvalue > 1e-3
