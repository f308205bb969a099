"""Which values a run records, and that this changes nothing else."""

import numpy as np
import pytest

import pskit
from pskit.apps import make_app
from pskit.core.layout import Layout
from pskit.runtime.guard import Guarded
from pskit.runtime.recording import attach_logs
from pskit.trace.recorder import Recorder
from tests.runtime.apps import Drift
from tests.runtime.simulate import config, simulate


def logs(cfg, app):
    layout = Layout(app.tables(cfg))
    recorder = Recorder(layout, cfg.workers)
    attach_logs(recorder, cfg, app, layout)
    return recorder.steps is not None, recorder.rows is not None


@pytest.mark.parametrize("wrap", [lambda app: app, lambda app: Guarded(app, "it")])
def test_a_convex_run_that_fits_records_all_others_some_rows(wrap):
    small = pskit.Config(app={"name": "quadratic", "dim": 3, "clocks": 5})
    assert logs(small, wrap(make_app("quadratic"))) == (True, False)
    large = pskit.Config(app={"name": "quadratic", "dim": 30_000, "clocks": 5})
    assert logs(large, wrap(make_app("quadratic"))) == (False, True)
    full = pskit.Config(app={"name": "quadratic", "dim": 30_000, "clocks": 5}, run={"trace": "full"})
    assert logs(full, wrap(make_app("quadratic"))) == (True, False)
    assert logs(config("tests.runtime.apps:Drift"), wrap(Drift())) == (False, True)


def test_recording_changes_neither_schedule_nor_values():
    cfg = config("quadratic", clocks=12)
    plain = simulate(cfg, make_app("quadratic"))  # without logs
    assert "views" not in plain.columns
    recorded = pskit.run(cfg, threads=1)
    assert recorded.manifest["schedule_hash"] == plain.schedule_hash
    assert np.array_equal(recorded.table("x"), plain.outcome.final["x"])


class TwoIncs:
    """Says less than it does: its second INC of a clock has no step."""

    def terms(self, cfg):
        return make_app("quadratic").terms(cfg)

    def tables(self, cfg):
        return [pskit.TableSpec("x", 2, 1, "f8")]

    def init(self, ctx):
        pass

    async def work(self, ps):
        x = ps.table("x")
        for _ in range(ps.cfg.app.clocks):
            view = await x.get([0, 1])
            await ps.compute(tuple)
            x.inc([0, 1], -0.1 * view - 0.1)
            ps.took_step(0.1, view + 1.0, 0.0)
            x.inc([0], [[0.5]])
            await ps.clock()

    def objective(self, tables):
        return {"loss": 1.0}


def test_an_update_that_no_step_tells_of_is_found_by_the_audit():
    cfg = pskit.Config(
        app={"name": f"{__name__}:TwoIncs", "dim": 2, "clocks": 4, "noise": 0.0}, cluster={"clients": 2}
    )
    report = pskit.audit(pskit.run(cfg, threads=1))
    assert [v.check for v in report.violations] == ["gradients are the updates", "views decode"]
    assert "step and gradient make it one of norm" in report.story


class WrongSize(TwoIncs):
    """A gradient with a number too many."""

    async def work(self, ps):
        await ps.table("x").get([0, 1])
        ps.took_step(0.1, np.zeros(3), 0.0)


def test_a_gradient_of_another_size_is_a_fault_of_the_application():
    cfg = pskit.Config(app={"name": f"{__name__}:WrongSize", "dim": 2, "clocks": 1}, cluster={"clients": 1})
    with pytest.raises(pskit.AppError, match="a gradient of 3 numbers, the tables hold 2"):
        pskit.run(cfg, threads=1)
