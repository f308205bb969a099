"""Each compiled loop against its plain twin under ``.py_func``, or against an oracle in NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pskit.core import kernels

FEW = settings(max_examples=40)
SEEDS = st.integers(0, 2**32 - 1)
DTYPES = ["f4", "f8", "i4", "i8"]


def numbers(rng, shape, dtype):
    """Numbers whose sums are inexact in floats, and wrap in integers."""
    if dtype.startswith("f"):
        return (rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4, shape)).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


def some_rows(rng, n, most=None):
    count = rng.integers(0, (most or n) + 1)
    return np.sort(rng.choice(n, count, replace=False)).astype(np.int32)


def both(kernel, make):
    """Run the kernel and its twin on equal arguments; results and all arrays must agree bit for bit."""
    mine, plain = make(), make()
    with np.errstate(over="ignore"):
        results = kernel(*mine), kernel.py_func(*plain)
    for a, b in zip((results[0], *mine), (results[1], *plain), strict=True):
        assert type(a) is type(b) or np.ndim(a) == 0
        for x, y in zip(*(v if isinstance(v, tuple) else (v,) for v in (a, b)), strict=True):
            assert np.asarray(x).tobytes() == np.asarray(y, np.asarray(x).dtype).tobytes()
    return results[0], mine


@pytest.mark.parametrize(
    ("ids", "n", "expected"),
    [
        ([], 3, 1),
        ([0, 1, 2], 3, 1),
        ([0, 2], 3, 1),
        ([2, 0], 3, 0),
        ([1, 1], 3, 0),
        ([0, 3], 3, -1),
        ([-1, 0], 3, -1),
        ([2, 1, 5], 3, -1),
    ],
)
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8])
def test_ascending_within(ids, n, expected, dtype):
    if dtype is np.uint8 and min(ids, default=0) < 0:
        return
    ids = np.array(ids, dtype)
    assert kernels.ascending_within(ids, n) == kernels.ascending_within.py_func(ids, n) == expected


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_first_non_finite(bad, dtype):
    delta = np.ones((4, 3), dtype)
    assert kernels.first_non_finite(delta) == -1
    delta[3, 0] = delta[1, 2] = bad
    assert kernels.first_non_finite(delta) == kernels.first_non_finite.py_func(delta) == 1
    assert kernels.first_non_finite(np.full((2, 2), np.finfo(dtype).max, dtype)) == -1
    assert kernels.first_non_finite(delta[:0]) == -1


@FEW
@given(SEEDS, st.sampled_from(DTYPES))
def test_norms(seed, dtype):
    rng = np.random.default_rng(seed)
    delta = numbers(rng, (rng.integers(0, 6), 3), dtype)
    (squares, largest), _ = both(kernels.norms, lambda: (delta.copy(),))
    wide = delta.astype(np.float64)
    assert squares == pytest.approx((wide**2).sum(), rel=1e-12)
    assert largest == np.abs(wide).max(initial=0)


@FEW
@given(SEEDS, st.sampled_from(DTYPES))
def test_add_coalesced(seed, dtype):
    rng = np.random.default_rng(seed)
    rows, ids = some_rows(rng, 12), some_rows(rng, 12)
    if rng.random() < 0.5:
        ids = ids[np.isin(ids, rows)]
    delta, more = numbers(rng, (len(rows), 2), dtype), numbers(rng, (len(ids), 2), dtype)
    absent, (_, after, _, _) = both(
        kernels.add_coalesced, lambda: (rows.copy(), delta.copy(), ids.copy(), more.copy())
    )
    assert absent == (~np.isin(ids, rows)).sum()
    expected = delta.copy()
    if not absent:
        expected[np.isin(rows, ids)] += more
    assert np.array_equal(after, expected)


@FEW
@given(SEEDS, st.sampled_from(DTYPES))
def test_apply_delta(seed, dtype):
    rng = np.random.default_rng(seed)
    n, capacity = 8, 20
    local = some_rows(rng, n)
    delta, values = numbers(rng, (len(local), 3), dtype), numbers(rng, (capacity, 3), dtype)
    slots = rng.permutation(capacity).astype(np.int32)
    current, free = slots[:n], slots[n:]
    shared = rng.random(n) < 0.5

    def arguments():
        arrays = [current.copy(), shared.copy(), np.zeros(n, np.bool_), values.copy(), free.copy()]
        return [local.copy(), delta.copy(), *arrays, len(free)]

    n_free, (_, _, after, still_shared, dirty, now, _, _) = both(kernels.apply_delta, arguments)
    moved = local[shared[local]]
    assert n_free == len(free) - len(moved)
    with np.errstate(over="ignore"):
        assert np.array_equal(now[after[local]], values[current[local]] + delta)
    assert np.array_equal(now[current[moved]], values[current[moved]]), "a version handed out never changes"
    assert set(after[moved].tolist()) <= set(free.tolist())
    others = np.setdiff1d(np.arange(n), local)
    assert np.array_equal(after[others], current[others])
    assert dirty.nonzero()[0].tolist() == local.tolist()
    assert not still_shared[local].any()


@FEW
@given(SEEDS, st.booleans())
def test_lookup(seed, per_clock):
    rng = np.random.default_rng(seed)
    n, shards, workers = 10, 3, 2
    rows = some_rows(rng, n)
    where = np.sort(rng.permutation(len(rows))[: rng.integers(0, len(rows) + 1)]).astype(np.int32)
    need, me, now = int(rng.integers(-2, 6)), int(rng.integers(workers)), int(rng.integers(4))
    row_clock, push_clock = rng.integers(-1, 6, n, np.int32), rng.integers(-1, 6, shards, np.int32)
    row_version, push_version = rng.integers(0, 9, n), rng.integers(0, 9, shards)
    row_applied = rng.integers(0, 9, (n, workers), np.int32)
    push_applied = rng.integers(0, 9, (shards, workers), np.int32)
    slot = rng.permutation(n).astype(np.int32)
    fetched = rng.integers(-1, 5, n if per_clock else 0, np.int32)

    def arguments():
        copies = [a.copy() for a in (slot, row_clock, row_version, row_applied)]
        copies += [a.copy() for a in (push_clock, push_version, push_applied, fetched)]
        out = [np.full(len(rows), -7, t) for t in (np.int32, np.int32, np.int64, np.int32)]
        return [where.copy(), rows.copy(), need, me, shards, *copies, now, *out]

    missing, after = both(kernels.lookup, arguments)
    out_slot, out_clock, out_version, out_own = after[-4:]
    left = []
    for p in where.tolist():
        r, j = int(rows[p]), int(rows[p]) % shards
        clock = max(row_clock[r], push_clock[j])
        if row_clock[r] < 0 or clock < need or (per_clock and fetched[r] < now):
            left.append(p)
            assert out_slot[p] == -7
        else:
            own = max(row_applied[r, me], push_applied[j, me])
            version = max(row_version[r], push_version[j])
            assert (out_slot[p], out_clock[p], out_version[p], out_own[p]) == (slot[r], clock, version, own)
    assert after[0][:missing].tolist() == left


@FEW
@given(SEEDS, st.booleans())
def test_install_reply(seed, bounded):
    rng = np.random.default_rng(seed)
    n, workers = 8, 3
    rows = some_rows(rng, n)
    slots, applied = rng.integers(0, 99, len(rows), np.int32), rng.integers(0, 9, workers, np.int32)
    row_clock = rng.integers(-1, 4, n, np.int32)

    def arguments():
        used = np.zeros(n if bounded else 0, np.bool_)
        arrays = [np.zeros(n, np.int32), row_clock.copy(), np.zeros(n, np.int64)]
        return [rows, slots, 5, 17, applied, *arrays, np.zeros((n, workers), np.int32), used]

    fresh, after = both(kernels.install_reply, arguments)
    slot, clock, version, own, used = after[5:]
    assert fresh == (row_clock[rows] < 0).sum()
    assert np.array_equal(slot[rows], slots)
    assert (clock[rows] == 5).all()
    assert (version[rows] == 17).all()
    assert (own[rows] == applied).all()
    others = np.setdiff1d(np.arange(n), rows)
    assert np.array_equal(clock[others], row_clock[others])
    assert used.nonzero()[0].tolist() == (rows.tolist() if bounded else [])


@FEW
@given(SEEDS)
def test_install_push(seed):
    rng = np.random.default_rng(seed)
    rows, row_clock = some_rows(rng, 8), rng.integers(-1, 3, 8, np.int32)
    slots = rng.integers(10, 99, len(rows), np.int32)
    before = np.arange(8, dtype=np.int32)
    dropped, (_, _, slot, _) = both(kernels.install_push, lambda: (rows, slots, before.copy(), row_clock))
    cached = row_clock[rows] >= 0
    assert dropped == (~cached).sum()
    expected = before.copy()
    expected[rows[cached]] = slots[cached]
    assert np.array_equal(slot, expected)


@FEW
@given(SEEDS, st.booleans())
def test_subscribed_rows(seed, skips):
    rng = np.random.default_rng(seed)
    n, shard, shards = 7, 2, 3
    subscribed = rng.random((4, n)) < 0.5
    changed = some_rows(rng, n)
    to = some_rows(rng, 4)
    skip = rng.random((len(to), len(changed))) < 0.5 if skips else np.zeros((0, 0), np.bool_)
    current = rng.permutation(n).astype(np.int32)
    arguments = (subscribed, changed, skip, to, shard, shards, current)
    (start, rows, slots), _ = both(kernels.subscribed_rows, lambda: arguments)
    assert len(start) == len(to) + 1
    for i, client in enumerate(to.tolist()):
        wanted = [
            r
            for q, r in enumerate(changed.tolist())
            if subscribed[client, r] and not (len(skip) and skip[i, q])
        ]
        cut = slice(start[i], start[i + 1])
        assert rows[cut].tolist() == [r * shards + shard for r in wanted]
        assert slots[cut].tolist() == current[wanted].tolist()


@FEW
@given(SEEDS, st.sampled_from(DTYPES))
def test_add_own(seed, dtype):
    rng = np.random.default_rng(seed)
    view_rows = some_rows(rng, 9)
    own_from = rng.integers(0, 6, len(view_rows), np.int32)
    view = numbers(rng, (len(view_rows), 2), dtype)
    seqs = [1, 2, 4, 5]
    units = [some_rows(rng, 9) for _ in seqs]
    unit_start = np.concatenate([[0], np.cumsum([len(u) for u in units])]).astype(np.int64)
    unit_start = np.append(unit_start, 99)  # buffers are longer than what is in them
    rows = np.concatenate([*units, [3, 3]]).astype(np.int32)
    delta = numbers(rng, (len(rows), 2), dtype)
    unit_seq = np.array([*seqs, 7], np.int64)
    _, after = both(
        kernels.add_own,
        lambda: [view.copy(), view_rows, own_from, unit_start, unit_seq, len(seqs), rows, delta],
    )
    expected = view.copy()
    with np.errstate(over="ignore"):
        for u, seq in enumerate(seqs):
            for a in range(unit_start[u], unit_start[u + 1]):
                for i in np.flatnonzero(view_rows == rows[a]):
                    if seq >= own_from[i]:
                        expected[i] += delta[a]
    assert after[0].tobytes() == expected.tobytes()


@FEW
@given(SEEDS, st.sampled_from(["u4", "u8"]))
def test_changed_entries(seed, dtype):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 3, (12, 4)).astype(dtype)
    old, new = rng.integers(0, 12, (2, 5), np.int32)
    (start, cols), _ = both(kernels.changed_entries, lambda: (values, values, old, new))
    for i in range(5):
        expected = np.flatnonzero(values[old[i]] != values[new[i]])
        assert cols[start[i] : start[i + 1]].tolist() == expected.tolist()


@FEW
@given(SEEDS)
def test_second_chance(seed):
    rng = np.random.default_rng(seed)
    n = 9
    row_clock = rng.integers(-1, 3, n, np.int32)
    cached = np.flatnonzero(row_clock >= 0)
    count, hand = int(rng.integers(0, len(cached) + 1)), int(rng.integers(n))
    used = rng.random(n) < 0.5

    def arguments():
        return [row_clock.copy(), used.copy(), hand, count, np.full(count, -1, np.int32)]

    new_hand, (clock, still_used, _, _, out) = both(kernels.second_chance, arguments)
    assert 0 <= new_hand < n
    assert len(set(out.tolist())) == count
    assert set(out.tolist()) <= set(cached.tolist())
    assert (clock[out] == -1).all()
    others = np.setdiff1d(np.arange(n), out)
    assert np.array_equal(clock[others], row_clock[others])
    assert not (still_used & ~used).any()
    order = [r for r in np.roll(np.arange(n), -hand).tolist() if row_clock[r] >= 0]
    unused = [r for r in order if not used[r]]
    first = unused[:count]
    assert out.tolist()[: len(first)] == first, "one not used goes before any used one"


def test_norms_of_large_float32_updates_do_not_overflow():
    squares, largest = kernels.norms(np.full((2, 1), 1e30, np.float32))
    assert squares == pytest.approx(2e60)
    assert largest == np.float32(1e30)
