"""The worker processes are real; their runs take milliseconds."""

import errno
import multiprocessing
import os
import signal

import pytest

import pskit
from pskit.apps.quadratic import Quadratic
from pskit.config import Config
from pskit.errors import InputError
from pskit.repro.plan import PlannedRun
from pskit.repro.runner import WARM_UP_CLOCKS, Runner, WorkerFailure, sweep, warm_up_configs


class Sudden(Quadratic):
    """Ends its process in the middle of a run, but not while that only warms up."""

    async def work(self, ps):
        if ps.cfg.app.clocks > WARM_UP_CLOCKS:
            os._exit(7)
        await super().work(ps)


class Faulty(Quadratic):
    """Raises in the middle of a run, but not while that only warms up."""

    async def work(self, ps):
        if ps.cfg.app.clocks > WARM_UP_CLOCKS:
            raise ArithmeticError("as planted")
        await super().work(ps)


def planned(folder, app="quadratic", clocks=5, seed=1):
    app = {"name": app, "clocks": clocks}
    return PlannedRun(Config(app=app, cluster={"clients": 3}, run={"seed": seed}), folder, 0.1, False)


def test_runs_are_made_in_parallel(tmp_path):
    runs = [planned(tmp_path / f"run{seed}", seed=seed) for seed in (1, 2, 3)]
    reports = []
    outcomes = Runner(2, reports.append).make(runs)
    assert sorted(o.run.folder.name for o in outcomes) == ["run1", "run2", "run3"]
    assert all(not o.error and o.seconds > 0 for o in outcomes)
    assert reports[0] is None
    assert reports[1:] == outcomes
    here = pskit.run(runs[0].cfg)
    there = pskit.open_trace(runs[0].folder, verify=True)
    assert there.manifest["schedule_hash"] == here.manifest["schedule_hash"]
    assert there.manifest["value_hash"] == here.manifest["value_hash"]


def test_a_run_that_raises_and_a_process_that_ends_are_reported_and_the_rest_goes_on(tmp_path):
    runs = [planned(tmp_path / f"run{seed}", seed=seed) for seed in (1, 2)]
    runs.append(planned(tmp_path / "faulty", "tests.paper.test_runner:Faulty"))
    runs.append(planned(tmp_path / "sudden", "tests.paper.test_runner:Sudden"))
    errors = {o.run.folder.name: o.error for o in Runner(1).make(runs)}
    assert errors.pop("faulty").startswith(
        "AppError: application 'tests.paper.test_runner:Faulty': work() failed, "
        "worker 0 at clock 0: ArithmeticError: as planted"
    )
    assert errors == {
        "run1": "",
        "run2": "",
        "sudden": "its process ended with exit code 7",
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run1", "run2"]


def test_an_interrupt_ends_the_processes(tmp_path):
    runs = [planned(tmp_path / "short", seed=1), planned(tmp_path / "long", clocks=10**6, seed=2)]

    def interrupt(outcome):
        if outcome is not None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Runner(2, interrupt).make(runs)
    assert not multiprocessing.active_children()
    assert [path.name for path in tmp_path.iterdir()] == ["short"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_wrong_input_comes_out_as_such(tmp_path):
    cfg = Config(app={"name": "mf", "data": str(tmp_path / "no_such_file.csv")})
    with pytest.raises(InputError, match="no_such_file"):
        Runner(1).make([PlannedRun(cfg, tmp_path / "run", 0.1, False)])


def test_what_cannot_be_written_ends_the_batch(tmp_path):
    """As a full disk does: the next run could not be written either."""
    with pytest.raises(InputError, match=r"run: no run can be written there \(Device or resource busy\)"):
        Runner(1).make([Unwritable(planned(tmp_path / "run"))])
    assert not multiprocessing.active_children()


class Unwritable:
    """A run that everything is right with until it is to be written."""

    def __init__(self, run):
        self.cfg, self.folder, self.seconds = run.cfg, run.folder, run.seconds

    def make(self):
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))


class Broken(Quadratic):
    """Does not even start."""

    def tables(self, cfg):
        raise ArithmeticError("as planted")


def test_what_cannot_even_warm_up_ends_the_batch(tmp_path):
    with pytest.raises(WorkerFailure, match="ArithmeticError: as planted"):
        Runner(2).make([planned(tmp_path / "run", "tests.paper.test_runner:Broken")])
    assert not multiprocessing.active_children()


def test_the_warm_up_covers_every_application_and_policy(tmp_path):
    runs = [planned(tmp_path, seed=seed) for seed in (1, 2)]
    runs.append(PlannedRun(Config(ps={"policy": "bsp"}), tmp_path, 1.0, False))
    tiny = [Config(**tree) for tree in warm_up_configs(runs)]
    assert {(c.app.name, c.ps.policy) for c in tiny} == {("quadratic", "essp"), ("mf", "bsp")}
    assert all(c.app.clocks == WARM_UP_CLOCKS and c.cluster.clients == 2 for c in tiny)


def test_sweeping_leaves_everything_else(tmp_path):
    for name in (".run.partial-1", "run", ".other.partial-1"):
        (tmp_path / name).mkdir()
    sweep(tmp_path / "run")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other.partial-1", "run"]
