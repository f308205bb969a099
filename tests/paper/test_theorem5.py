"""The claims T5-1 to T5-4: what passes, what fails, and what is not tested."""

import math

import numpy as np
import pytest

from pskit.repro.claims.verdict import FAIL, FINDING, NOT_TESTED, PASS, judge
from pskit.repro.ensemble import Ensemble
from tests.paper.batches import MADE, batches

EXPECTED = {"T5-1": PASS, "T5-2": FINDING, "T5-3": FINDING, "T5-4": FINDING}


def verdict(catalogue, name, profile="default", **changes):
    experiments = catalogue.claims[name].experiments
    return judge(catalogue, name, batches(catalogue, *experiments, profile=profile, **changes), {})


@pytest.fixture
def changed(monkeypatch):
    """Made-up columns of a measure become ``change(cfg, seeds, columns)``."""

    def use(measure, change):
        make = MADE[measure]
        monkeypatch.setitem(MADE, measure, lambda cfg, seeds: change(cfg, seeds, make(cfg, seeds)))

    return use


@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_expected(catalogue, name):
    found = verdict(catalogue, name)
    assert found.status == EXPECTED[name], found.why
    assert 1 <= len(found.decisive) <= 2
    assert all(part.binding for part in found.decisive)


def test_few_seeds_leave_probabilities_untested_and_the_rest_tested(catalogue):
    found = {name: verdict(catalogue, name, "quick") for name in EXPECTED}
    assert {name: v.status for name, v in found.items()} == EXPECTED | {
        "T5-1": NOT_TESTED,
        "T5-3": NOT_TESTED,
    }
    assert found["T5-1"].why.startswith(
        "this profile has 6 seeds; this claim needs 400: 200 to make the bounds"
    )
    assert found["T5-3"].why == "this profile has 10 seeds; this claim needs 1000: for quantiles in the tail"


@pytest.mark.parametrize("name", EXPECTED)
def test_without_runs_nothing_is_tested(catalogue, name):
    found = judge(catalogue, name, Ensemble([]), {})
    assert (found.status, found.parts) == (NOT_TESTED, [])


# --- T5-1 -------------------------------------------------------------------------------------------------


def scaled(columns, factor):
    regret = columns["regret"] * factor
    return columns | {"regret": regret, "C0": regret}


def missed(found):
    assert found.status == FAIL
    assert found.decisive == [part for part in found.parts if not part.met]
    return {part.what for part in found.decisive}


def test_fresh_runs_of_another_law_violate_the_bounds(catalogue, changed):
    changed("theorem5", lambda cfg, seeds, c: scaled(c, np.where(np.array(seeds) > 200, 1.2, 1.0)))
    names = missed(verdict(catalogue, "T5-1"))
    for bound in ("run-level bound", "certificate C0"):
        for policy in ("SSP", "ESSP"):
            where = f"{policy}, {bound} at q90 of the training runs"
            assert f"P(as many fresh runs beyond x), {where}" in names


def test_bounds_far_above_the_tail_fail(catalogue, changed):
    changed("theorem5", lambda cfg, seeds, c: scaled(c, np.where(np.array(seeds) > 200, 0.8, 1.0)))
    names = missed(verdict(catalogue, "T5-1"))
    assert "bound / observed tail, SSP, run-level bound at q50 of the training runs" in names
    assert not any(name.startswith("P(") for name in names)


def test_a_certificate_that_is_not_the_regret_fails(catalogue):
    names = missed(verdict(catalogue, "T5-1", change=lambda c: c | {"C0": 1.01 * c["regret"]}))
    assert {"SSP: largest |C0 / R - 1|", "ESSP: largest |C0 / R - 1|"} <= names


def test_a_bound_that_says_something_is_not_vacuous(catalogue):
    names = missed(verdict(catalogue, "T5-1", change=lambda c: c | {"C1": 0.9 * c["regret"]}))
    assert names == {f"{policy}: level of C1, smallest of all runs / x" for policy in ("SSP", "ESSP")}


def test_policies_that_are_alike_fail(catalogue, changed):
    changed("theorem5", lambda cfg, seeds, c: scaled(c, 0.3 / np.median(c["regret"])))
    assert missed(verdict(catalogue, "T5-1")) == {"R/T, q90 of ESSP / q10 of SSP"}


# --- T5-2 -------------------------------------------------------------------------------------------------


def test_another_order_than_the_paper_has_fails(catalogue, changed):
    def swapped(cfg, seeds, columns):
        return scaled(columns, 2.0 if cfg.ps.policy == "essp" else 0.5)

    changed("theorem5", swapped)
    assert missed(verdict(catalogue, "T5-2")) == {"R/T, ESSP / SSP, s = 8, P = 4"}


def test_uncorrelated_gamma_fails(catalogue):
    def independent(columns):
        return columns | ({"autocorrelation": 0 * columns["regret"]} if "regret_after" in columns else {})

    names = missed(verdict(catalogue, "T5-2", change=independent))
    where = "s = 8, P = 4, absolute loss"
    assert names == {f"autocorrelation of gamma at lag P, {policy}, {where}" for policy in ("SSP", "ESSP")}


@pytest.mark.parametrize(
    ("column", "value"), [("closed_bound", 1e-5), ("difference", 1e-8), ("difference", math.inf)]
)
def test_a_counterexample_that_is_none_fails(catalogue, changed, column, value):
    def change(cfg, seeds, columns):
        wrong = columns[column].copy()
        wrong[-1 if column == "closed_bound" else slice(None)] = value
        return columns | {column: wrong}

    changed("counterexample", change)
    assert len(missed(verdict(catalogue, "T5-2"))) == 1


def test_the_dispersion_index_needs_several_seeds(catalogue):
    def shown(profile):
        parts = verdict(catalogue, "T5-2", profile).parts
        return [part for part in parts if part.what.startswith("dispersion index")]

    assert len(shown("default")) == 15
    assert not any(part.binding for part in shown("default"))
    assert shown("quick") == []


# --- T5-3 -------------------------------------------------------------------------------------------------


def test_one_order_in_both_ways_of_drawing_fails(catalogue, changed):
    once = {}

    def alike(cfg, seeds, columns):
        law = cfg.network.staleness
        if law.drawn == "run":
            once[law.law] = columns["regret"]
        return columns | {"regret": np.resize(once[law.law], len(seeds))}

    changed("shaped", alike)
    names = missed(verdict(catalogue, "T5-3"))
    assert names == {f"q{q}, within every run: heavy tail / fixed" for q in (90, 98)}


@pytest.mark.parametrize(("factor", "status"), [(1.25, FINDING), (1.6, FAIL)])
def test_intervals_that_are_not_apart_fail(catalogue, changed, factor, status):
    def slower_fixed(cfg, seeds, columns):
        law = cfg.network.staleness
        larger = (law.law, law.drawn) == ("fixed", "run")
        return columns | {"regret": columns["regret"] * (factor if larger else 1.0)}

    changed("shaped", slower_fixed)
    found = verdict(catalogue, "T5-3")
    assert found.status == status
    apart = "q90, once per run: lower end of uniform / upper end of fixed"
    assert (apart in {part.what for part in found.parts if not part.met}) is (status == FAIL)


def test_a_difference_to_the_emulator_fails(catalogue):
    change = {"change": lambda c: c | {"difference": np.full(len(c["regret"]), 1e-8)}}
    (name,) = missed(verdict(catalogue, "T5-3", **change))
    assert name.startswith("R/T against the emulator, largest relative difference in ")


# --- T5-4 -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("app", "noise", "by", "status"),
    [
        ("absolute", 0.0, -0.09, FINDING),
        ("absolute", 0.0, -0.11, FAIL),
        ("absolute", 0.0, 0.11, FAIL),
        ("huber", 0.0, 0.06, FAIL),
        ("huber", 0.1, 0.11, FAIL),
        ("absolute", 0.1, -0.21, FAIL),
    ],
)
def test_another_slope(catalogue, changed, app, noise, by, status):
    def steeper(cfg, seeds, columns):
        if (cfg.app.name, cfg.app.noise) != (app, noise):
            return columns
        return columns | {"regret_after": columns["regret_after"] * columns["reads"] ** float(by)}

    changed("theorem5", steeper)
    assert verdict(catalogue, "T5-4").status == status
