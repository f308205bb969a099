"""Batches of runs: made, written whole, used again, and one run of them again by itself."""

import json

import numpy as np
import pytest

import pskit
from pskit.config import Config, load_config
from pskit.errors import InputError
from pskit.repro import batches
from pskit.repro.batches import COLUMNS, CONFIG, ENSEMBLES, is_made, open_batch, planned, seeded
from pskit.repro.catalogue import Catalogue, Experiment
from pskit.repro.ensemble import Ensemble
from pskit.repro.places import MANIFEST
from pskit.repro.plan import make_plan
from pskit.repro.runner import Runner

CONFIG_OF_RUNS = Config(
    app={"name": "absolute", "dim": 2, "noise": 0.0, "clocks": 4, "step": 0.1, "schedule": "inverse-sqrt-t"},
    ps={"policy": "ssp", "slack": 2},
    cluster={"clients": 2},
    run={"eval_every": 4, "diverge_factor": 1e6},
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    batch = planned(CONFIG_OF_RUNS, range(3, 6), "run.seed", "theorem5", 0.1, tmp_path_factory.mktemp("out"))
    assert not batch.done
    batch.make()
    return batch


@pytest.fixture
def copy(made, tmp_path):
    """Another folder with the same batch in it, to be harmed."""
    batch = planned(CONFIG_OF_RUNS, range(3, 6), "run.seed", "theorem5", 0.1, tmp_path)
    batch.folder.mkdir(parents=True)
    for path in made.folder.iterdir():
        (batch.folder / path.name).write_bytes(path.read_bytes())
    assert is_made(batch)
    return batch


def test_a_batch_holds_a_row_for_each_seed(made):
    assert made.folder.name.startswith("absolute-ssp-s2-seeds3-5-")
    assert sorted(path.name for path in made.folder.iterdir()) == [COLUMNS, CONFIG, MANIFEST]
    batch = made.open()
    assert batch.seeds == [3, 4, 5]
    assert {len(values) for values in batch.columns.values()} == {3}
    assert batch.manifest["workers"] == 2
    assert batch.manifest["data"].startswith("absolute loss")
    assert batch.config["run"]["seed"] == 3


def test_any_run_of_it_can_be_made_with_its_trace(made):
    """The command that the manifest gives, with another seed."""
    batch = made.open()
    assert batch.manifest["one_run"] == "pskit run config.toml --set run.seed=3 --out one"
    cfg = load_config(made.folder / CONFIG, ["run.seed=5"])
    one = pskit.convex.measure(pskit.run(cfg, threads=1), "population")
    assert batch.columns["regret"][2] == one.mean_regret
    assert batch.columns["F2"][2] == one.F2


def test_the_same_batch_is_used_again_and_no_other(made):
    out = made.folder.parents[1]

    def again(cfg=CONFIG_OF_RUNS, seeds=range(3, 6), varies="run.seed", measure="theorem5"):
        return planned(cfg, seeds, varies, measure, 0.1, out)

    assert again().done
    assert not again(seeds=range(3, 7)).done
    assert not again(seeds=range(4, 6)).done
    assert not again(varies="app.noise_seed").done
    assert not again(measure="variance").done
    assert not again(cfg=seeded(CONFIG_OF_RUNS, "app.noise_seed", 1)).done


def test_other_code_makes_it_again(copy, monkeypatch):
    monkeypatch.setattr(batches, "measuring_code", lambda measure: "changed")
    assert not is_made(copy)


def test_the_code_of_another_measure_is_of_no_account():
    codes = {batches.measuring_code(name) for name in ("theorem5", "shaped", "counterexample")}
    assert len(codes) == 3


@pytest.mark.parametrize("name", [COLUMNS, MANIFEST])
@pytest.mark.parametrize("harm", ["cut", "changed", "gone"])
def test_a_damaged_batch_is_made_again(copy, name, harm):
    path = copy.folder / name
    content = path.read_bytes()
    copy.make_room()
    assert path.exists()
    if harm == "gone":
        path.unlink()
    elif harm == "cut":
        path.write_bytes(content[: len(content) // 2])
    else:
        path.write_bytes(content.replace(b"regret", b"regrets", 1).replace(b'"key": "', b'"key": "x', 1))
    assert not is_made(copy)
    copy.make_room()
    copy.make()
    assert is_made(copy)


@pytest.mark.parametrize(
    "change",
    [
        {"config": {}},
        {"seeds": [3, 4, 6]},
        {"varies": "app.noise_seed"},
        {"measure": "variance"},
        {"workers": None},
        {"sha256": 3},
        {"sha256": {}},
        {"format": None},
    ],
)
def test_a_manifest_that_says_something_else_is_not_used(copy, change):
    path = copy.folder / MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    assert not is_made(copy)


def test_columns_of_other_runs_are_not_taken(copy):
    """A whole and readable file, but not the one that was written."""
    columns = dict(copy.open().columns)
    batches.write_npz(copy.folder / COLUMNS, columns | {"regret": columns["regret"] + 1})
    with pytest.raises(InputError, match=r"columns.npz is not as it was written"):
        open_batch(copy.folder)


def test_something_else_is_no_batch(tmp_path):
    with pytest.raises(InputError, match=r"its manifest.json cannot be read"):
        open_batch(tmp_path)
    (tmp_path / MANIFEST).write_text(json.dumps({"format": "something else"}))
    with pytest.raises(InputError, match="as this version writes it"):
        open_batch(tmp_path)


def test_an_error_leaves_no_folder(tmp_path, monkeypatch):
    def fails(configs):
        raise ArithmeticError("as planted")

    monkeypatch.setitem(batches.MEASURES, "theorem5", fails)
    batch = planned(CONFIG_OF_RUNS, range(2), "run.seed", "theorem5", 0.1, tmp_path)
    with pytest.raises(ArithmeticError):
        batch.make()
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_measure_is_refused(tmp_path):
    with pytest.raises(InputError, match="measure 'speed'; there are counterexample, theorem5"):
        planned(CONFIG_OF_RUNS, range(2), "run.seed", "speed", 0.1, tmp_path)


@pytest.fixture
def catalogue():
    experiment = Experiment(
        title="t",
        measure="theorem5",
        batch=2,
        first_seed=5,
        seeds={"quick": 2, "default": 5, "full": 5},
        base=CONFIG_OF_RUNS.to_dict(),
        sweeps=[
            {"over": {"ps.policy": ["ssp", "essp"]}},
            {"set": {"ps.slack": 1}, "profiles": ["full"]},
            {"set": {"ps.slack": 4}, "seeds": {"default": 1}},
        ],
    )
    return Catalogue(figures={}, claims={}, experiments={"a": experiment})


def test_seeds_are_cut_into_batches(catalogue):
    def seeds(profile):
        found = catalogue.experiments["a"].batches(profile)
        return [(cfg.ps.policy, cfg.ps.slack, list(seeds)) for cfg, seeds, _ in found]

    both = [(policy, 2, some) for policy in ("ssp", "essp") for some in ([5, 6], [7, 8], [9])]
    assert seeds("default") == [*both, ("ssp", 4, [5])]
    assert seeds("quick") == [("ssp", 2, [5, 6]), ("essp", 2, [5, 6]), ("ssp", 4, [5, 6])]
    assert len(seeds("full")) == 12
    one_by_one = {
        (c.ps.policy, c.ps.slack, c.run.seed) for c, _ in catalogue.experiments["a"].configs("full")
    }
    assert one_by_one == {(p, s, seed) for p, s, some in seeds("full") for seed in some}


def test_worker_processes_make_batches_and_an_ensemble_joins_them(catalogue, tmp_path):
    plan = make_plan(catalogue, ["a"], "default", tmp_path)
    assert (len(plan.runs), plan.size) == (7, 11)
    outcomes = Runner(2).make(plan.missing)
    assert [o.error for o in outcomes] == [""] * 7
    assert len(list((tmp_path / ENSEMBLES).iterdir())) == 7
    plan = make_plan(catalogue, ["a"], "default", tmp_path)
    assert plan.missing == []
    runs = Ensemble([plan.runs[key].open() for key in reversed(plan.members["a"])])
    ssp = runs.select(policy="ssp", slack=2)
    assert ssp.column("seed").tolist() == ssp.seeds == [5, 6, 7, 8, 9]
    alone = pskit.convex.measure(pskit.run(seeded(CONFIG_OF_RUNS, "run.seed", 8), threads=1), "population")
    assert ssp.column("regret")[3] == alone.mean_regret
    assert np.unique(ssp.column("regret")).size == 5
