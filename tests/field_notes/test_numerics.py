"""Steps that are too large for so many workers and so much staleness: what happens, and what is shown."""

import re

import numpy as np
import pytest

import pskit
from pskit.console import facts
from tests.field_notes.runs import STEADY, quadratic

LABEL = "step x workers x mean age"


def effective(trace: pskit.Trace) -> float:
    """The number that a report shows."""
    return float(facts.facts(trace)[LABEL])


@pytest.mark.field_note(
    18,
    "An asynchronous run that does not converge is said to have diverged, and its report shows the loss "
    "together with the measured age and with step x workers x mean age.",
)
def test_a_report_shows_the_staleness_beside_the_loss():
    trace = quadratic("asp", workers=16, step=0.2)
    shown = facts.facts(trace)
    assert shown["status"] == "diverged"
    assert float(shown["final loss"]) > 10 * trace.loss()["value"][0]
    assert shown["mean age"] == f"{trace.staleness().mean():.4g} clocks"
    assert effective(trace) == pytest.approx(0.2 * 16 * trace.staleness().mean(), rel=1e-3)
    assert effective(trace) > 1


@pytest.mark.field_note(
    19,
    "Thirty asynchronous workers and a large step: the first INC that is not a number is refused, the run "
    "ends as diverged, and says worker, clock, table and row. A smaller step cures it.",
)
def test_thirty_asynchronous_workers():
    # Evaluated at the start only, so that it is the INC and not the loss that is found out.
    trace = quadratic("asp", workers=30, step=2e3, clocks=200, run={"eval_every": 1000})
    assert trace.status == "diverged"
    (detail,) = trace.columns("faults")["detail"].tolist()
    assert re.fullmatch(r"worker \d+ at clock \d+: INC of a non-finite value to row \d+ of table 'x'", detail)
    assert np.isfinite(trace.table("x")).all()
    assert 0 < trace.columns("clocks")["clock"].max() < 199
    assert quadratic("asp", workers=30, step=0.005, clocks=100).final_loss() < 0.1


@pytest.mark.field_note(
    20,
    "A sweep over the number of workers at one step: the number in the report grows with it, and past the "
    "limit the run is marked, not just worse.",
)
def test_more_workers_at_the_same_step():
    runs = {workers: quadratic("ssp", workers, step=0.06, ps={"slack": 4}) for workers in (1, 4, 16, 64)}
    steps = [effective(trace) for trace in runs.values()]
    assert steps == sorted(steps)
    assert {workers: trace.status for workers, trace in runs.items()} == {
        1: "finished",
        4: "finished",
        16: "diverged",
        64: "diverged",
    }
    assert max(steps[:2]) < 1 < min(steps[2:])


@pytest.mark.field_note(
    21, "Steps of all workers add up: in lockstep, n workers are one worker with n times the step."
)
@pytest.mark.parametrize("workers", [2, 5, 16])
def test_n_workers_are_one_with_n_times_the_step(workers):
    even = {"compute": STEADY}
    many = quadratic("bsp", workers, step=0.01, **even)
    one = quadratic("bsp", 1, step=0.01 * workers, **even)
    assert np.allclose(many.loss()["value"], one.loss()["value"], rtol=1e-9)


@pytest.mark.field_note(
    21,
    "The same step with the same workers converges on fresh copies and diverges on old ones; the report's "
    "number says which is which.",
)
def test_staleness_makes_a_good_step_a_bad_one():
    fresh = quadratic("bsp", 16, step=0.06)
    old = quadratic("ssp", 16, step=0.06, ps={"slack": 8})
    assert (fresh.status, old.status) == ("finished", "diverged")
    assert effective(fresh) == 0
    assert effective(old) > 1


@pytest.mark.field_note(
    22, "The default step of matrix factorization is safe: with defaults alone the loss falls from the start."
)
def test_the_default_step_is_safe():
    trace = pskit.run(pskit.Config(app={"name": "mf", "clocks": 12}))
    loss = trace.loss()["value"]
    assert trace.status == "finished"
    assert loss[-1] < 0.8 * loss[0]
    assert not trace.diverged()
