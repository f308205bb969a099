"""Live runs of a report: one is really made; the rest is about verdicts, which a stub gives."""

import json
import multiprocessing

import pytest

import pskit
from pskit.config import Config
from pskit.errors import InputError, RunFailed
from pskit.repro import live
from pskit.repro.live import IMPOSSIBLE, make_live
from pskit.repro.pipeline import announce
from pskit.repro.plan import RETRY_FACTOR, Plan, PlannedRun, folder_name, is_done
from tests.paper.synthetic import fidelity_of

TINY = {"app": {"name": "quadratic", "dim": 2, "clocks": 3}, "cluster": {"clients": 2}}


def config(seed=1, scale=0.05, clients=2):
    run = {"runtime": "live", "time_scale": scale, "seed": seed}
    return Config(**TINY | {"cluster": {"clients": clients}}, run=run)


def planned(folder, **keys):
    cfg = config(**keys)
    return PlannedRun(cfg, folder / folder_name(cfg), 1.0, False)


class Stub:
    """In place of `pskit.run`: writes a run in virtual time as a live one with the next of some verdicts."""

    def __init__(self, *verdicts):
        self.verdicts, self.calls = list(verdicts), []

    def __call__(self, cfg, out=None, force=False):
        if out is None:
            return  # the warm-up
        self.calls.append((cfg.run.seed, cfg.run.time_scale))
        verdict = self.verdicts.pop(0)
        if isinstance(verdict, BaseException):
            raise verdict
        pskit.run(Config(**TINY, run={"seed": cfg.run.seed}), out=out, force=force)
        path = out / "manifest.json"
        said = json.loads(path.read_text()) | {
            "fingerprint": cfg.fingerprint(),
            "config": cfg.to_dict(),
            "fidelity": fidelity_of(cfg, verdict),
        }
        path.write_text(json.dumps(said))


@pytest.fixture
def stubbed(monkeypatch):
    def put(*verdicts):
        stub = Stub(*verdicts)
        monkeypatch.setattr(live, "run", stub)
        return stub

    return put


def test_a_live_run_is_made_and_kept_with_its_verdict(tmp_path):
    run, reports = planned(tmp_path, clients=1), []
    (outcome,) = make_live([run], reports.append)
    assert (outcome.run, outcome.error) == (run, "")
    assert reports == [None, outcome]
    made = pskit.open_trace(run.folder, verify=True)
    assert made.config["run"]["runtime"] == "live"
    assert is_done(run.folder, run.cfg) is (made.manifest["fidelity"]["verdict"] == "faithful")
    assert not multiprocessing.active_children()


def test_a_faithful_run_has_one_try(stubbed, tmp_path):
    stub, run = stubbed("faithful"), planned(tmp_path)
    make_live([run], lambda outcome: None)
    assert stub.calls == [(1, 0.05)]
    assert run.result() == run.folder


def test_a_strained_run_is_tried_once_more_with_time_stretched(stubbed, tmp_path):
    stub, run = stubbed("strained", "faithful"), planned(tmp_path)
    make_live([run], lambda outcome: None)
    assert stub.calls == [(1, 0.05), (1, pytest.approx(0.05 * RETRY_FACTOR))]
    assert run.result() != run.folder
    assert pskit.open_trace(run.result()).manifest["fidelity"]["verdict"] == "faithful"
    assert not is_done(run.folder, run.cfg)


def test_on_a_busy_machine_only_the_first_is_tried_twice(stubbed, tmp_path):
    runs = [planned(tmp_path, seed=seed) for seed in (1, 2)]
    stub = stubbed("strained", "not faithful", "strained")
    outcomes = make_live(runs, lambda outcome: None)
    assert [seed for seed, _ in stub.calls] == [1, 1, 2]
    assert [outcome.error for outcome in outcomes] == ["", ""]
    assert [run.result() for run in runs] == [run.folder for run in runs]


def test_errors_are_told_apart(stubbed, tmp_path):
    runs = [planned(tmp_path, seed=seed) for seed in (1, 2, 3)]
    stub = stubbed(RunFailed("client 1 was killed"), InputError("/dev/shm is full"), "faithful")
    outcomes = make_live(runs, lambda outcome: None)
    assert [o.error for o in outcomes] == [
        "RunFailed: client 1 was killed",
        f"{IMPOSSIBLE}/dev/shm is full",
        "",
    ]
    assert len(stub.calls) == 3


def test_the_announcement_counts_live_runs_one_after_another(tmp_path):
    sims = {str(i): PlannedRun(Config(**TINY), tmp_path, 3.0, False) for i in range(2)}
    alone = planned(tmp_path)
    assert announce(Plan({"a": alone}, {}), 4) == (
        "1 run: 1 to make, 1 of them live, which come first, one after another, about 11 s on an idle machine"
    )
    text = announce(Plan({"a": alone, **sims}, {}), 1)
    assert text.startswith("3 runs: 3 to make in one process, 1 of them live")
    assert text.endswith("about 17 s on an idle machine")
