import re

import pytest

from pskit.config import Config, load_config
from pskit.errors import InputError
from pskit.repro.catalogue import Experiment, load_catalogue, with_keys
from pskit.repro.claims import CHECKS

# The table of claims that the project set out with.
COUNTS = {"F1L": 4, "F1R": 2, "F2M": 5, "F2L": 2, "T5": 4, "T6": 4, "V": 3, "X": 4}
CLAIMS = [f"{group}-{i}" for group, count in COUNTS.items() for i in range(1, count + 1)]


def test_every_claim_is_listed(catalogue):
    assert sorted(catalogue.claims) == sorted(CLAIMS)


def test_a_claim_is_checked_or_says_why_not(catalogue):
    for name, claim in catalogue.claims.items():
        assert bool(claim.untested) != (name in CHECKS), name
        assert bool(claim.untested) != bool(claim.experiments), name
        assert claim.untested or catalogue.figure_of(name), f"no figure shows {name}"
        assert claim.met == "PASS" or claim.explanation, f"{name} is a finding without explanation"


def test_every_figure_has_its_module(catalogue, root):
    helpers = {"__init__", "floors", "kit", "measures", "tails", "variances"}
    modules = {path.stem for path in (root / "figures").glob("*.py")} - helpers
    assert modules == set(catalogue.figures)


def test_choosing_by_id_and_by_beginning(catalogue):
    assert catalogue.choose(["F2M-3"]) == ["F2M-3"]
    assert catalogue.choose(["T5", "V-1"]) == ["T5-1", "T5-2", "T5-3", "T5-4", "V-1"]
    assert catalogue.choose([]) == list(catalogue.claims)


def test_an_unknown_claim_is_refused_with_the_list(catalogue):
    with pytest.raises(InputError, match=r"'F9'.*F1L-1, F1L-2"):
        catalogue.choose(["F1L", "F9"])


def test_figures_and_experiments_that_claims_need(catalogue):
    assert catalogue.figures_for(["F1L-2"]) == ["staleness_histogram"]
    assert catalogue.needs(["F1L-2"], ["staleness_histogram"]) == ["fig1-left"]
    assert catalogue.needs(["T5-1"], []) == ["theorem5-tail"]
    assert catalogue.needs(["X-1"], []) == []


def test_a_figure_is_drawn_wherever_its_runs_are_made(catalogue):
    assert list(catalogue.figures) == catalogue.figures_for(list(catalogue.claims))
    fig2 = catalogue.figures_for(catalogue.choose(["F2M"]))
    assert fig2 == ["mf_convergence", "mf_slack", "mf_onset", "mf_speedup"]
    for only in (["F1L"], ["F2M-4"], ["T6"], ["V-2"], ["F1L-1", "F2M-1"]):
        claims = catalogue.choose(only)
        figures = catalogue.figures_for(claims)
        made = set(catalogue.needs(claims, ()))
        assert {n for n, f in catalogue.figures.items() if made.issuperset(f.experiments)} <= set(figures)
        assert all(catalogue.figure_of(claim) in figures for claim in claims)
    assert "readme" in catalogue.figures_for(["F1L-1", "F2M-1"])


def test_profiles_grow(catalogue):
    for name, experiment in catalogue.experiments.items():
        quick, default, full = (
            {(cfg.fingerprint(), seed) for cfg, seeds, _ in experiment.batches(profile) for seed in seeds}
            for profile in ("quick", "default", "full")
        )
        assert quick <= default <= full, name
        assert experiment.seeds["default"] >= 5, name


def test_experiments_of_one_claim_have_the_same_seeds(catalogue):
    for name, claim in catalogue.claims.items():
        needed = [catalogue.experiments[e] for e in claim.experiments]
        seeds = [experiment.seeds for experiment in needed if not experiment.measure]
        assert all(s == seeds[0] for s in seeds), f"{name} compares seed by seed"


def test_the_config_of_one_run_is_a_run_of_the_report(catalogue, root):
    report = {cfg.fingerprint() for cfg, _ in catalogue.experiments["fig2-mf-10"].configs("default")}
    for overrides in ([], ["ps.slack=48"], ["ps.policy=ssp", "ps.slack=48"]):
        assert load_config(root / "experiments" / "mf.toml", overrides).fingerprint() in report


def test_no_worker_has_a_shard_on_its_machine(catalogue):
    for experiment in catalogue.experiments.values():
        assert {cfg.cluster.placement for cfg, *_ in experiment.batches("full")} == {"separate"}


def test_numbers_set_after_a_look_are_judged_on_other_seeds(catalogue):
    later = {name: claim for name, claim in catalogue.claims.items() if claim.set_after}
    assert {"F1L-4", "T6-2", "T6-4", "V-2", "V-3"} <= set(later)
    for claim in ("F1L-4", "T6-2", "T6-4", "V-2", "V-3"):
        for name in later[claim].experiments:
            batches = catalogue.experiments[name].batches("full")
            seeds = {seed for _, some, _ in batches for seed in some}
            assert not seeds & {1, 2, 3}


def test_an_experiment_is_no_config(root):
    with pytest.raises(InputError, match=r"fig2-mf-10.toml: this is an experiment of paper_repro.py"):
        load_config(root / "experiments" / "fig2-mf-10.toml")


def test_a_sweep_is_every_combination():
    experiment = Experiment(
        title="t",
        seeds={"quick": 1, "default": 2, "full": 3},
        base={"app": {"clocks": 7}},
        sweeps=[
            {"set": {"app.step": 0.1}, "over": {"ps.policy": ["ssp", "essp"], "ps.slack": [1, 2]}},
            {"set": {"ps.policy": "bsp"}, "profiles": ["full"]},
        ],
    )
    found = [(c.ps.policy, c.ps.slack, c.run.seed) for c, _ in experiment.configs("default")]
    assert found == [(p, s, seed) for seed in (1, 2) for p in ("ssp", "essp") for s in (1, 2)]
    assert all(c.app.clocks == 7 and c.app.step == 0.1 for c, _ in experiment.configs("default"))
    assert [c.ps.policy for c, _ in experiment.configs("full")].count("bsp") == 3


def test_a_sweep_may_have_fewer_seeds():
    experiment = Experiment(
        title="t",
        seeds={"quick": 1, "default": 3, "full": 3},
        sweeps=[{"set": {"ps.policy": "ssp"}}, {"set": {"ps.policy": "essp"}, "seeds": {"default": 2}}],
    )
    found = [(c.ps.policy, c.run.seed) for c, _ in experiment.configs("default")]
    assert found == [("ssp", 1), ("essp", 1), ("ssp", 2), ("essp", 2), ("ssp", 3)]
    assert len(experiment.configs("full")) == 6


def test_a_live_run_has_a_counterpart_in_virtual_time(catalogue):
    for profile, most in (("quick", 15), ("default", 40)):
        configs = catalogue.experiments["fig1-live"].configs(profile)
        virtual = {cfg.fingerprint() for cfg, _ in configs if cfg.run.runtime == "sim"}
        live = [(cfg, seconds) for cfg, seconds in configs if cfg.run.runtime == "live"]
        for cfg, _ in live:
            run = {"run.runtime": "sim", "run.time_scale": None, "run.on_death": None}
            assert Config(**with_keys(cfg.to_dict(), run)).fingerprint() in virtual
            assert (cfg.workers, cfg.app.clocks, cfg.ps.slack) == (8, 100, 8)
        assert 0 < sum(seconds for _, seconds in live) <= most


def test_keys_do_not_change_the_base():
    base = {"app": {"name": "mf"}, "preset": "near-equal"}
    assert with_keys(base, {"app.step": 1.0, "ps.slack": 2}) == {
        "app": {"name": "mf", "step": 1.0},
        "preset": "near-equal",
        "ps": {"slack": 2},
    }
    assert base == {"app": {"name": "mf"}, "preset": "near-equal"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("figures = [", "not valid TOML"),
        ("[claims.A]\nexpected = 'x'\n[figures]\n", "claims.A.paper"),
        ("[claims]\n[figures.f]\ntitle='t'\ncaption='c'\nexperiments=[]\nclaims=['B']", "unknown claims: B"),
        ("[claims.A]\npaper='p'\nexpected='x'\nexperiments=['none']\n[figures]", "none.toml: cannot be read"),
        ("[claims.A]\npaper='p'\nexpected='x'\ntolerence={}\n[figures]", "tolerence"),
    ],
)
def test_a_faulty_catalogue_is_refused(tmp_path, text, complaint):
    file = tmp_path / "figures.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=re.escape(complaint)):
        load_catalogue(file, tmp_path)
