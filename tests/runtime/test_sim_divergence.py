"""How a run ends that does not converge, or that cannot go on."""

import math

import numpy as np
import pytest

import pskit
from pskit.apps import register_app
from pskit.core.policies import register_policy
from pskit.core.policies.ssp import SSP
from pskit.errors import AppError
from pskit.runtime.base import Stuck
from tests.runtime.apps import Scripted
from tests.runtime.simulate import config, ps, simulate


def run(script, loss=lambda tables: 1.0, **given):
    return simulate(config(**given), Scripted(script, loss))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["ssp", "essp-deltas", "bsp", "asp"])
def test_a_non_finite_inc_ends_the_run_and_says_where(bad, name):
    done = []

    async def script(ps):
        for clock in range(10):
            x = await ps.table("x").get([0, 1, 2])
            delta = await ps.compute(np.zeros_like, x)
            if (ps.worker, clock) == (1, 3):
                delta[2] = bad
            ps.table("n").inc([0], [[1]])
            ps.table("x").inc([0, 1, 2], delta)
            await ps.clock()
            done.append(ps.worker)

    end = run(script, ps=ps(name, 2))
    assert end.outcome.status == "diverged"
    faults = {k: v.tolist() for k, v in end.columns["faults"].items()}
    assert (faults["what"], faults["worker"], faults["clock"]) == (["non-finite"], [1], [3])
    assert (faults["table"], faults["row"]) == (["x"], [2])
    assert faults["t"] == [end.outcome.emulated]
    assert "worker 1 at clock 3: INC of a non-finite value to row 2 of table 'x'" in faults["detail"][0]
    assert done.count(1) == 3
    assert np.isfinite(end.outcome.final["x"]).all()
    assert np.isfinite(end.outcome.incs["x"]).all()
    assert len(end.columns["updates"]["t_inc"]) > 0, "the trace is kept"


def test_at_the_very_first_step():
    """Workers that have not even started are no trouble."""

    async def script(ps):
        ps.table("x").inc([0], [[math.nan]])
        await ps.clock()

    end = run(script)
    assert (end.outcome.status, end.outcome.emulated) == ("diverged", 0)
    assert end.columns["faults"]["worker"].tolist() == [0]


def excursion(clock):
    """Adds 100 to x[0] and takes it away again some clocks later."""
    return {2: 100.0, 5: -100.0}.get(clock, 0.0)


async def with_excursion(ps):
    for clock in range(8):
        await ps.table("x").get([0])
        await ps.compute(tuple)
        if ps.worker == 0:
            ps.table("x").inc([0], [[excursion(clock)]])
        await ps.clock()


def loss_of_x(tables):
    return float(tables["x"][0, 0])


def test_a_loss_above_the_factor_marks_the_run_but_it_goes_on():
    end = run(with_excursion, loss_of_x, ps=ps("ssp", 1))
    assert end.outcome.status == "diverged"
    assert end.columns["clocks"]["clock"].max() == 7
    assert len(end.columns["clocks"]["clock"]) == 3 * 8
    losses = end.columns["metrics"]["value"]
    assert (losses[0], losses.max(), losses[-1]) == (1.0, 101.0, 1.0)
    assert len(end.columns["faults"]["t"]) == 0


def test_a_higher_factor_accepts_it():
    end = run(with_excursion, loss_of_x, ps=ps("ssp", 1), run={"diverge_factor": 102.0})
    assert end.outcome.status == "finished"


def test_just_the_factor_is_not_above_it():
    end = run(with_excursion, loss_of_x, ps=ps("ssp", 1), run={"diverge_factor": 101.0})
    assert end.outcome.status == "finished"


def test_a_loss_that_is_not_finite_ends_the_run():
    async def script(ps):
        for _ in range(8):
            await ps.table("x").get([0])
            await ps.compute(tuple)
            ps.table("x").inc([0], [[1e308]])  # finite, but two of them are not
            await ps.clock()

    with np.errstate(over="ignore"):
        end = run(script, loss_of_x, ps=ps("ssp", 1))
    assert end.outcome.status == "diverged"
    assert end.columns["clocks"]["clock"].max(initial=0) < 7
    assert not np.isfinite(end.columns["metrics"]["value"][-1])


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_first_loss_that_is_not_finite_starts_nothing(bad):
    started = []

    async def script(ps):
        started.append(ps.worker)

    end = run(script, lambda tables: bad)
    assert (end.outcome.status, started) == ("diverged", [])


def test_it_ends_as_diverged_for_users_too(monkeypatch):
    async def script(ps):
        await ps.clock()
        ps.table("x").inc([1], [[math.inf]])

    monkeypatch.setattr("pskit.apps._REGISTERED", {})
    register_app("explodes", lambda: Scripted(script))
    trace = pskit.run(config("explodes"))
    assert trace.status == "diverged"
    assert trace.columns("faults")["table"].tolist() == ["x"]


def test_waiting_for_ever_is_said_and_not_endured(monkeypatch):
    monkeypatch.setattr("pskit.core.policies._POLICIES", {"ssp": SSP})

    @register_policy
    class Forgetful(SSP):
        name = "forgetful"

        def on_rise(self, shard):
            pass

    async def script(ps):
        for _ in range(3):
            await ps.table("x").get([0, 2])
            await ps.compute(tuple)
            await ps.clock()

    message = r"but 3 workers wait: worker 0 at clock 1 waits for 2 rows.*Shard clocks: \{0: 1\}"
    with pytest.raises(Stuck, match=message):
        run(script, ps={"policy": "forgetful", "slack": 0})


def test_only_what_ps_offers_may_be_awaited():
    class Other:
        def __await__(self):
            yield self

    async def script(ps):
        await Other()

    with pytest.raises(AppError, match="worker 0 at clock 0: it awaited a Other; await only what ps offers"):
        run(script)


@pytest.mark.parametrize("where", ["work", "compute"])
def test_an_applications_own_error_comes_out_with_its_place(where):
    def fail(*_):
        raise ZeroDivisionError("mine")

    async def script(ps):
        await ps.table("x").get([0])
        if where == "work":
            fail()
        await ps.compute(fail)

    with pytest.raises(AppError, match="failed, worker 0 at clock 0: ZeroDivisionError: mine") as caught:
        run(script)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
