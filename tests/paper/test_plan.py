import json
import shutil

import pytest

import pskit
from pskit.config import Config
from pskit.repro import plan as planning
from pskit.repro.catalogue import Catalogue, Experiment
from pskit.repro.plan import RUNS, folder_name, is_done, make_plan

TINY = {"app": {"name": "quadratic", "dim": 2, "clocks": 2}, "cluster": {"clients": 2}}


def catalogue_of(**experiments):
    return Catalogue(figures={}, claims={}, experiments=experiments)


def experiment(*policies, seconds=1.0):
    seeds = {"quick": 1, "default": 2, "full": 3}
    sweep = {"over": {"ps.policy": list(policies)}, "seconds": seconds}
    return Experiment(title="t", seeds=seeds, base=TINY, sweeps=[sweep])


def test_equal_configs_of_several_experiments_are_one_run(tmp_path):
    catalogue = catalogue_of(a=experiment("ssp", "essp"), b=experiment("essp", "bsp"))
    plan = make_plan(catalogue, ["a", "b"], "default", tmp_path)
    assert len(plan.runs) == 6
    assert [len(plan.members[name]) for name in ("a", "b")] == [4, 4]
    assert len(set(plan.members["a"]) & set(plan.members["b"])) == 2
    assert len({run.folder for run in plan.runs.values()}) == 6
    assert plan.seconds(1) == 6.0
    assert plan.seconds(2) == 3.0


def test_only_the_experiments_asked_for(tmp_path):
    catalogue = catalogue_of(a=experiment("ssp"), b=experiment("bsp"))
    plan = make_plan(catalogue, ["b"], "quick", tmp_path)
    assert [run.cfg.ps.policy for run in plan.runs.values()] == ["bsp"]


def test_folder_names_say_what_is_in_them():
    cfg = Config(**TINY, ps={"policy": "ssp", "slack": 4}, run={"seed": 3})
    assert folder_name(cfg).startswith("quadratic-ssp-s4-seed3-")
    mine = Config(app={"name": "my.own:LinearModel"}, ps={"policy": "asp"})
    assert folder_name(mine).startswith("linearmodel-asp-seed0-")


@pytest.fixture
def made(tmp_path):
    plan = make_plan(catalogue_of(a=experiment("essp")), ["a"], "quick", tmp_path)
    (run,) = plan.runs.values()
    pskit.run(run.cfg, out=run.folder)
    return run


def test_a_finished_run_is_reused(made, tmp_path):
    assert made.folder.parent == tmp_path / RUNS
    plan = make_plan(catalogue_of(a=experiment("essp")), ["a"], "default", tmp_path)
    assert [run.done for run in plan.runs.values()] == [True, False]
    assert [run.cfg.run.seed for run in plan.missing] == [2]


def test_another_config_or_code_is_not_reused(made, monkeypatch):
    assert is_done(made.folder, made.cfg)
    assert not is_done(made.folder, Config(**TINY, run={"seed": 77}))
    monkeypatch.setattr(planning, "code_fingerprint", lambda: "changed")
    assert not is_done(made.folder, made.cfg)


@pytest.mark.parametrize(("status", "reused"), [("diverged", True), ("interrupted", False)])
def test_only_a_run_that_came_to_its_end_is_reused(made, status, reused):
    path = made.folder / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps(manifest | {"status": status}))
    assert is_done(made.folder, made.cfg) is reused


def test_a_manifest_that_was_changed_is_not_reused(made):
    path = made.folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["config"]["app"]["step"] *= 2
    path.write_text(json.dumps(manifest))
    assert not is_done(made.folder, made.cfg)


@pytest.mark.parametrize("text", ["{", "[]", "[" * 10**5, '{"format": "pskit-run"}'])
def test_a_run_is_made_where_a_damaged_one_stands(made, text):
    (made.folder / "manifest.json").write_text(text)
    assert not is_done(made.folder, made.cfg)
    made.make_room()
    made.make()
    assert is_done(made.folder, made.cfg)
    assert [path.name for path in made.folder.parent.iterdir()] == [made.folder.name]


def test_a_run_is_made_where_a_file_stands(made):
    shutil.rmtree(made.folder)
    made.folder.write_text("a file")
    assert not is_done(made.folder, made.cfg)
    made.make_room()
    made.make()
    assert is_done(made.folder, made.cfg)


def test_a_live_run_without_its_verdict_is_not_reused(made):
    """As after damage: whether it was faithful cannot be told."""
    cfg = Config(**TINY, run={"runtime": "live"})
    path = made.folder / "manifest.json"
    said = {"fingerprint": cfg.fingerprint(), "config": cfg.to_dict()}
    path.write_text(json.dumps(json.loads(path.read_text()) | said))
    assert not is_done(made.folder, cfg)


def test_a_folder_that_is_no_run_is_not_reused(made, tmp_path):
    (made.folder / "clocks.npz").unlink()
    assert not is_done(made.folder, made.cfg)
    assert not is_done(tmp_path, made.cfg)
    assert not is_done(tmp_path / "absent", made.cfg)
