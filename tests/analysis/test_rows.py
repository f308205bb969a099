"""Gamma of sampled rows, against one made of whole sets of updates."""

import numpy as np
import pytest

import pskit
from pskit.analysis.rows import NOT_CONVEX, RowMoments, row_gamma


@pytest.fixture(scope="module")
def trace():
    cfg = pskit.Config(
        app={"name": "mf", "rank": 3, "clocks": 8, "clock_fraction": 0.05, "biases": True},
        ps={"policy": "ssp", "slack": 2, "shards": 2},
        cluster={"clients": 3},
    )
    return pskit.run(cfg, threads=1)


def naive(trace, slack):
    """Gamma of every last read of a sampled row, update by update."""
    reads, updates, log = (trace.columns(n) for n in ("reads", "updates", "row_updates"))
    workers = trace.manifest["workers"]
    u = {}
    for w, c, t, r, value in zip(*log.values(), strict=True):
        u.setdefault((int(t), int(r)), {})[int(w), int(c)] = value
    found = {}
    for i in np.argsort(reads["t"], kind="stable"):
        t, row, c, p = (int(reads[n][i]) for n in ("table", "row", "clock", "worker"))
        if (t, row) not in u:
            continue
        mine = (updates["shard"] == reads["shard"][i]) & (updates["apply_index"] < reads["version"][i])
        seen = set(zip(updates["worker"][mine].tolist(), updates["clock"][mine].tolist(), strict=True))
        seen |= {(p, k) for k in range(c)}
        gap, size = np.zeros(log["u"].shape[1]), 0.0
        for (q, k), value in u[t, row].items():
            before = k < c or (k == c and q < p)
            gap = gap + (((q, k) in seen) - int(before)) * value
            size += np.linalg.norm(value) * (abs(k - c) <= slack)
        ubar = size / (workers * (2 * slack + 1))
        found[t, row, c, p] = np.linalg.norm(gap) / ubar if ubar else 0.0
    return found


def test_gamma_of_rows_update_by_update(trace):
    gamma, clock, row = row_gamma(trace.manifest, {n: trace.columns(n) for n in trace.names}, 2)
    wanted = naive(trace, 2)
    np.testing.assert_allclose(np.sort(gamma), np.sort(list(wanted.values())), rtol=1e-6, atol=1e-6)
    assert len(gamma) > 50
    assert gamma.max() > 1
    assert len(clock) == len(row) == len(gamma)


def test_the_moments_say_that_no_bound_applies(trace):
    moments = trace.moments()
    assert isinstance(moments, RowMoments)
    assert moments.note == NOT_CONVEX
    assert "no bound applies: the objective is not convex" in str(moments)
    assert 0 < moments.mu <= 3 * 5
    assert moments.ci_mu[0] < moments.mu < moments.ci_mu[1]
    assert 0 < moments.rows <= 64


def test_a_folder_gives_the_same(trace, tmp_path):
    cfg = pskit.Config(**trace.config)
    assert pskit.open_trace(pskit.run(cfg, out=tmp_path / "a", threads=1).folder).moments() == trace.moments()


def test_recorded_updates_are_those_that_were_made(trace):
    """Of a row that is recorded, all updates are: they add up to the sum of its INCs."""
    log = trace.columns("row_updates")
    for table, spec in enumerate(trace.manifest["layout"]["tables"]):
        mine = log["table"] == table
        for row in np.unique(log["row"][mine]):
            total = log["u"][mine & (log["row"] == row), : spec["cols"]].sum(axis=0)
            np.testing.assert_allclose(total, trace.table(spec["name"], "incs")[row], rtol=1e-4, atol=1e-6)


def test_a_convex_run_that_is_too_large_says_so():
    cfg = pskit.Config(app={"name": "quadratic", "dim": 70_000, "clocks": 15}, cluster={"clients": 2})
    assert "too large for whole views" in pskit.run(cfg, threads=1).moments().note
