"""G23: dependence makes the printed Theorem 5 false; diagnostics say so, the run-level tail holds."""

from types import SimpleNamespace

import numpy as np
import pytest

import theory

P, S, ETA = 2, 8, 1.0


def one_kind(T: int, slow: bool) -> SimpleNamespace:
    """The closed-form run of the golden case with a slow or a fast network."""
    t = np.arange(T)
    g = np.where((t // 160) % 2 == 0, 1.0, -1.0)
    quiet = int(0.05 * T) // 320 * 320
    g[:quiet] *= 1e-9
    u = -ETA / np.sqrt(t + 1.0) * g
    x = np.concatenate([[0.0], np.cumsum(u)])
    clock, worker = np.divmod(t, P)
    sums = np.concatenate([np.zeros((1, P)), np.cumsum(u.reshape(-1, P), axis=0)])
    other = np.maximum(clock - S, 0) if slow else clock
    view = sums[clock, worker] + sums[other, 1 - worker]
    return SimpleNamespace(g=g, x=x, u=u, view=view, quiet=quiet, gamma=theory.gamma(x, view, u, P, S).gamma)


def both(T: int) -> tuple[SimpleNamespace, SimpleNamespace, float]:
    slow, fast = one_kind(T, True), one_kind(T, False)
    late = slow.x[slow.quiet :]
    return slow, fast, (late.max() + late.min()) / 2


@pytest.mark.parametrize("T", [40000, 160000])
def test_golden(golden, T):
    wanted = golden["thm5_counterexample_runlevel"][1][str(T)]
    slow, fast, star = both(T)
    pooled = np.concatenate([slow.gamma, fast.gamma])
    F2 = max(((star - run.x) ** 2 / 2).max() for run in (slow, fast))
    assert pooled.mean() == pytest.approx(wanted["mu"], rel=1e-9)
    assert pooled.var() == pytest.approx(wanted["var"], rel=1e-9)
    assert pytest.approx(wanted["F2"], rel=1e-9) == F2
    center = theory.thm5_center(ETA, 1, F2, T, pooled.mean())
    assert float(center) == pytest.approx(wanted["center"], rel=1e-9)
    regret = float(np.sum(slow.g * (slow.view - star))) / T
    assert regret == pytest.approx(wanted["Rslow"], rel=1e-9)
    tail = theory.thm5_tail(wanted["tau"], ETA, 1, P, S, T, pooled.mean(), pooled.var(), method="paper")
    assert float(tail) == pytest.approx(wanted["bound"], rel=1e-7)  # the float64 tau has lost digits
    assert regret >= float(center) + wanted["tau"] * (1 - 1e-12)  # half of the runs: true probability 1/2


def test_diagnostics_flag_it_and_run_tail_holds():
    T = 3200
    slow, fast, star = both(T)
    pick = np.random.default_rng(0).random(60) < 0.5
    gamma = np.where(pick[:, None], slow.gamma, fast.gamma)
    report = theory.check_assumptions(gamma, P, S, ETA, 1.0)
    assert report.A1["f_ratio"] > 100
    assert report.A1["dispersion_index"] > 100
    assert "A1 fails" in report.verdict
    regrets = np.where(pick, *(float(np.sum(r.g * (r.view - star))) / T for r in (slow, fast)))
    middle = (regrets.max() + regrets.min()) / 2
    tail = theory.run_tail(regrets, middle, 0.01)
    assert 0.5 <= float(tail) < 0.75


def test_diagnostics_leave_iid_alone():
    rng = np.random.default_rng(1)
    report = theory.check_assumptions(rng.gamma(2, 1, (40, 800)), 4, 3, 0.5, 1.0)
    assert "A1 not rejected" in report.verdict
    assert report.A1["dispersion_index"] == pytest.approx(1, abs=0.6)
    assert report.A1["tau_int"] == pytest.approx(1, abs=0.3)
    assert report.A2 is None
