"""VAP in virtual time: the bound of values, from the trace alone, and what it costs."""

import re
from unittest import mock

import numpy as np
import pytest

import pskit
from pskit.apps import apps_with_gate
from pskit.core.layout import TableSpec
from pskit.core.policies import Policy
from pskit.errors import AppError, InputError
from pskit.runtime.guard import Guarded
from tests.runtime.signs import Medians

COMPUTE = {"model": "exponential", "mean": "1s"}


def config(v0=0.3, clocks=10, clients=4, threads=1, options=None, network=None, ps=None, app=None, **run):
    return pskit.Config(
        app={"name": "tests.runtime.signs:Medians", "clocks": clocks, "step": 0.1, "options": options or {}}
        | (app or {}),
        ps={"policy": "vap", "v0": v0, "shards": 2} | (ps or {}),
        cluster={"clients": clients, "threads": threads, "placement": "separate"},
        compute=COMPUTE,
        network={"latency": {"model": "exponential", "mean": "300ms"}} | (network or {}),
        run={"trace": "full"} | run,
    )


def run(*args, **kwargs):
    return pskit.run(config(*args, **kwargs), threads=1)


def waiting_share(trace):
    split = trace.time_split()
    return split["waiting"].sum() / (split["waiting"].sum() + split["computing"].sum())


@pytest.mark.parametrize(
    "case",
    [
        {},
        {"threads": 2, "options": {"rows": 2}},
        {"options": {"twice": True, "rows": 3}, "v0": 0.6},
        {"network": {"loss": 0.1, "retransmit": "500ms"}},
        {"ps": {"push": "deltas", "v_schedule": "constant", "shards": 1}},
        {"clients": 8, "v0": 2.0, "options": {"dim": 3}},
    ],
    ids=str,
)
def test_every_view_is_within_v_of_the_reference_state(case):
    """Theorem 1's hypothesis: |view - x^_t|_inf <= v_t, with x^_t added up from the values in the trace."""
    trace = run(**case)
    starts, values = trace.columns("starts"), trace.columns("start_values")
    assert trace.manifest["gate"]["reserves"]
    reference = {}
    largest = np.zeros(len(starts["t"]) + 1)
    for t, table, row, col, view, update in zip(*values.values(), strict=True):
        key = table, row, col
        x = reference.get(key, 0.25)
        if not np.isnan(view):
            largest[t] = max(largest[t], abs(view - x))
        reference[key] = x + update
    assert (largest[1:] <= starts["v"] * (1 + 1e-9)).all()
    assert np.allclose(largest[1:], starts["distance"], atol=1e-12)
    assert (starts["overshoot"] <= 1e-12).all()
    assert (largest[1:] > 0.2 * starts["v"]).any()  # the bound is not idle
    assert pskit.audit(trace).ok


def test_the_steps_are_those_of_the_start_order():
    """Computation t takes a step of 0.1 / sqrt(t), which is what it had reserved."""
    trace = run(options={"dim": 2})
    starts, values = trace.columns("starts"), trace.columns("start_values")
    largest = np.zeros(len(starts["t"]))
    np.maximum.at(largest, values["t"] - 1, np.abs(values["update"]))
    assert np.allclose(largest, 0.1 / np.sqrt(starts["t"]))
    assert np.allclose(starts["reservation"], largest)
    assert np.allclose(starts["v"], 0.3 / np.sqrt(starts["t"]))


def test_a_tiny_threshold_is_a_serial_execution():
    starts = run(v0=1e-9).columns("starts")
    assert (starts["t_start"][1:] >= starts["t_over"][:-1]).all()
    assert (starts["distance"] == 0).all()


def test_a_huge_threshold_stalls_nobody():
    trace = run(v0=1e9)
    starts = trace.columns("starts")
    assert (starts["stalled"] == 0).all()
    assert (starts["t_start"][1:] < starts["t_over"][:-1]).mean() > 0.5


def test_stalls_fall_as_the_threshold_rises():
    shares = [waiting_share(run(v0=v0, clients=8)) for v0 in (0.02, 0.2, 0.6, 2.0, 100.0)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.7 > 0.3 > shares[-1]


def test_stalls_are_waiting():
    trace = run()
    starts, clocks = trace.columns("starts"), trace.columns("clocks")
    assert starts["stalled"].sum() > 0
    assert starts["waited"].sum() == clocks["t_wait"].sum() == trace.columns("read_totals")["waited"].sum()


def test_without_a_bound_of_gradients_nothing_is_claimed_and_overshoot_is_recorded():
    trace = run(v0=0.1, options={"unknown": True}, clients=8)
    starts = trace.columns("starts")
    assert not trace.manifest["gate"]["reserves"]
    assert (starts["overshoot"] > 0).any()
    assert (starts["unseen"] <= starts["v"]).all()
    report = pskit.audit(trace)
    assert report.ok
    assert "nothing is claimed" in report.skipped["value bound"]


def test_the_printed_condition_bounds_each_worker_and_not_their_sum():
    trace = run(v0=0.15, ps={"vap_variant": "per_worker"}, clients=8)
    starts = trace.columns("starts")
    assert (starts["unseen"] <= starts["v"]).all()
    assert (starts["distance"] > 1.5 * starts["v"]).any()
    assert pskit.audit(trace).ok


def test_the_cost_of_the_gate_is_counted():
    trace = run(clients=3, clocks=5)
    gate, starts = trace.manifest["gate"], trace.columns("starts")
    kinds = {kind: counts["messages"] for kind, counts in gate["by_kind"].items()}
    units = 2 * len(starts["t"])  # one INC, two shards
    pushes = int((trace.columns("messages")["kind"] == 3).sum())
    assert (kinds["asked"], kinds["granted"], kinds["over"]) == (15, 15, 15)
    assert (kinds["announced"], kinds["applied"]) == (units, units)
    assert 0 < kinds["seen"] <= pushes
    # Header, rows and float64 values of 5 x 2 entries over two shards, for each of 15 INCs.
    assert gate["by_kind"]["announced"]["bytes"] == 15 * (2 * 32 + 5 * (4 + 16))
    assert gate["messages"] == sum(kinds.values())


def test_it_is_the_same_run_with_every_tick_an_event():
    case = {"ps": {"shards": 9}, "options": {"dim": 12, "rows": 3}}
    fast = run(**case)
    with mock.patch.object(Policy, "applies_at_once", False):
        slow = run(**case)
    assert fast.manifest["schedule_hash"] == slow.manifest["schedule_hash"]
    for name, values in slow.columns("starts").items():
        assert np.array_equal(fast.columns("starts")[name], values, equal_nan=True), name


def test_a_run_is_repeatable_and_its_folder_can_be_audited(tmp_path):
    first, second = run(), pskit.run(config(), out=tmp_path / "run", threads=1)
    assert first.manifest["schedule_hash"] == second.manifest["schedule_hash"]
    assert first.manifest["value_hash"] == second.manifest["value_hash"]
    opened = pskit.open_trace(tmp_path / "run", verify=True)
    assert len(opened.columns("starts")["t"]) == 40
    assert pskit.audit(tmp_path / "run").ok


def test_a_built_in_application():
    trace = run(app={"name": "quadratic", "dim": 4, "clocks": 8, "step": 0.05, "options": {}}, v0=0.5)
    assert trace.status == "finished"
    assert pskit.audit(trace).ok
    assert trace.loss()["value"][-1] < trace.loss()["value"][0]


def test_a_trace_that_is_cut_off_keeps_the_first_starts(monkeypatch):
    monkeypatch.setattr("pskit.trace.starts.StartLog.__init__.__defaults__", (100, None))
    trace = run()
    starts = trace.columns("starts")
    kept = ~np.isnan(starts["distance"])
    assert kept[:10].all()
    assert not kept[10:].any()
    assert set(trace.columns("start_values")["t"].tolist()) == set(range(1, 11))
    report = pskit.audit(trace)
    assert report.ok
    assert "updates of starts add up" in report.skipped


# -- what is refused ---------------------------------------------------------------------------------


class Scripted(Medians):
    """Runs ``script(ps, table)``, a class attribute."""

    async def work(self, ps):
        await type(self).script(ps, ps.table("x"))


def refused(script, error=AppError):
    Scripted.script = staticmethod(script)
    with pytest.raises(error) as caught:
        run(clients=2, app={"name": "tests.runtime.test_sim_vap:Scripted"})
    return str(caught.value)


def test_a_second_get_of_a_computation():
    async def script(ps, x):
        await x.get([0])
        await ps.compute(tuple)
        await x.get([1])

    assert re.match(
        r"application 'tests.*:Scripted': work\(\) failed, worker \d at clock 0: a second GET of worker \d .*"
        r"one ps.get\(...\).* \(.*test_sim_vap.py, line \d+, in script\)$",
        refused(script),
    )


def test_an_inc_outside_a_computation():
    async def before(ps, x):
        x.inc([0], np.ones((1, 2)))

    async def after(ps, x):
        await x.get([0])
        await ps.clock()
        x.inc([0], np.ones((1, 2)))

    assert "worker 0 at clock 0: an INC of worker 0 at clock 0 without a GET" in refused(before)
    assert "at clock 1 without a GET" in refused(after)


def test_several_computations_in_a_clock_are_fine():
    async def script(ps, x):
        for _ in range(3):
            for row in (0, 1):
                view = await x.get([row])
                x.inc([row], await ps.compute(lambda v: -0.01 * np.sign(v), view))
            x.inc([2], np.full((1, 2), 0.01))
            await ps.clock()

    Scripted.script = staticmethod(script)
    trace = run(clients=3, v0=1.0, app={"name": "tests.runtime.test_sim_vap:Scripted"})
    assert len(trace.columns("starts")["t"]) == 3 * 3 * 2
    assert pskit.audit(trace).ok


def test_workers_without_any_computation():
    async def script(ps, x):
        await ps.clock()

    Scripted.script = staticmethod(script)
    trace = run(clients=2, app={"name": "tests.runtime.test_sim_vap:Scripted"})
    assert len(trace.columns("starts")["t"]) == 0
    assert pskit.audit(trace).ok


def test_a_cache_that_is_too_small():
    with pytest.raises(InputError, match=r"ps\.cache_rows = 4: .* must hold all 5 rows"):
        run(ps={"cache_rows": 4})
    assert run(ps={"cache_rows": 5}, clocks=2).status == "finished"


class Saying(Medians):
    claim = None

    def lipschitz_inf(self, cfg):
        return type(self).claim


@pytest.mark.parametrize("claim", [-1.0, float("nan"), float("inf"), "1", [1.0]])
def test_an_application_that_says_nonsense(claim):
    Saying.claim = claim
    with pytest.raises(AppError, match=r"lipschitz_inf\(\) failed: it must give a number of 0 or more"):
        run(app={"name": "tests.runtime.test_sim_vap:Saying"})


class Liar(Medians):
    """Says that its gradients are half of what they are."""

    def lipschitz_inf(self, cfg):
        return 0.5


def test_gradients_above_their_bound_are_found_out():
    trace = run(app={"name": "tests.runtime.test_sim_vap:Liar"})
    report = pskit.audit(trace)
    assert not report.ok
    assert report.violations[0].check == "updates within reservations", report.violations


class Integers(Medians):
    """Whole numbers, up and down."""

    def tables(self, cfg):
        return [TableSpec("x", 3, 2, "i4")]

    def init(self, ctx):
        ctx.tables["x"][:] = 5

    async def work(self, ps):
        x = ps.table("x")
        for clock in range(ps.cfg.app.clocks):
            await x.get([0, 2])
            await ps.compute(tuple)
            x.inc([0, 2], np.full((2, 2), (-1) ** (clock + ps.worker), np.int32))
            await ps.clock()

    def step_at(self, cfg, worker, clock, start):
        return 1.0


def test_integer_tables():
    trace = run(app={"name": "tests.runtime.test_sim_vap:Integers"}, v0=3.0, ps={"v_schedule": "constant"})
    assert pskit.audit(trace).ok
    assert (trace.columns("starts")["distance"] % 1 == 0).all()
    assert trace.columns("starts")["distance"].max() >= 1


def test_an_application_that_reads_twice_is_refused_before_anything_is_made(tmp_path):
    cfg = pskit.Config(app={"name": "mf", "clocks": 2}, ps={"policy": "vap"})
    message = r"^ps.policy = 'vap': the application 'mf' does not support .* reads twice.*: quadratic, abs"
    with pytest.raises(InputError, match=message):
        pskit.run(cfg, out=tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_those_that_are_said_to_have_a_gate_have_one():
    assert apps_with_gate() == ["quadratic", "absolute", "huber", "logistic"]
    for name in apps_with_gate():
        trace = run(clients=2, app={"name": name, "clocks": 2, "dim": 3})
        assert trace.status == "finished"


def test_an_application_of_ones_own_may_say_that_it_cannot_have_a_gate():
    class Twice(Scripted):
        def no_gate(self, cfg):
            return "it reads twice"

    assert Guarded(Twice(), "x:Twice").no_gate(None) == "it reads twice"
    assert Guarded(Scripted(), "x:Scripted").no_gate(None) is None
