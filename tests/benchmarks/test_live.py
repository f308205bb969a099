"""The pieces of the benchmarks of the live runtime, small."""

import numpy as np
import pytest

from benchmarks import delays, live_mf, ops


def test_operations_time_themselves() -> None:
    seconds = ops.on_live()
    assert set(seconds) == {*ops.OURS, *ops.IN_NUMPY}
    assert all(0 < value < 1 for value in seconds.values())


@pytest.mark.parametrize(("what", "rows"), ops.IN_NUMPY)
def test_in_numpy_touches_only_what_it_should(what, rows, monkeypatch) -> None:
    monkeypatch.setattr(ops, "TIMES", {1: 2, ops.MANY: 2})
    array = np.zeros((ops.ROWS, ops.COLS), np.float32)
    assert ops.in_numpy(what, array, rows) > 0
    assert array.sum() == (2 * 0.5 * rows * ops.COLS if what == ops.ADD else 0)


def test_nothing_is_early() -> None:
    seen = delays.delays(2, "2ms", 5)
    assert seen.messages > 20
    assert seen.early == 0
    assert 0 <= seen.p50 <= seen.p99 <= seen.latest


def test_records_go_through_ring_and_pipe() -> None:
    assert delays.through_ring(2000) > 0
    assert delays.through_pipe(2000) > 0


def test_factors_are_learnt_by_two_workers(monkeypatch) -> None:
    """In virtual time: the application is the same."""
    for name, value in {"RATINGS": 1000, "USERS": 60, "ITEMS": 80, "RANK": 4}.items():
        monkeypatch.setattr(live_mf, name, value)
    live_mf.share.cache_clear()
    try:
        own = [live_mf.share(worker) for worker in range(live_mf.WORKERS)]
        assert 850 < sum(len(one.triples.value) for one in own) < 1100
        assert not set(own[0].triples.user) & set(own[1].triples.user), "users are parted"
        for one in own:
            pairs = one.triples.user.astype(int) * 80 + one.triples.item
            assert len(np.unique(pairs)) == len(pairs)
            assert len(one.batches) == live_mf.CLOCKS_PER_EPOCH
            assert sum(len(batch.value) for batch in one.batches) == len(one.triples.value)
        cfg = live_mf.live_config(30)
        virtual = cfg.model_copy(
            update={
                "run": cfg.run.model_copy(update={"runtime": "sim", "time_scale": None}),
                "compute": cfg.compute.model_copy(update={"model": "constant", "mean": 10**6}),
            }
        )
        trace = live_mf.run(virtual)
        u, v = trace.table("U"), trace.table("V")
        error = [
            one.triples.value - live_mf.BASE - np.einsum("ij,ij->i", u[one.triples.user], v[one.triples.item])
            for one in own
        ]
        u0, v0 = live_mf.factors()
        before = own[0].triples.value - live_mf.BASE
        before -= np.einsum("ij,ij->i", u0[own[0].triples.user], v0[own[0].triples.item])
        assert np.mean(error[0] ** 2) < np.mean(before**2)
        assert live_mf.raw(2, shared=True)() > 0
    finally:
        live_mf.share.cache_clear()
