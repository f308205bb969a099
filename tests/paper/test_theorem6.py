"""The claims T6-1 to T6-4: what passes, what fails, and what is not tested."""

import math

import numpy as np
import pytest

from pskit.analysis.variance import TERMS, checkpoints
from pskit.repro.claims.verdict import FAIL, FINDING, NOT_TESTED, PASS, judge
from pskit.repro.ensemble import Ensemble
from tests.paper.batches import batches

EXPECTED = {"T6-1": PASS, "T6-2": FINDING, "T6-3": PASS, "T6-4": FINDING}


def verdict(catalogue, name, profile="default", **changes):
    experiments = catalogue.claims[name].experiments
    return judge(catalogue, name, batches(catalogue, *experiments, profile=profile, **changes), {})


@pytest.mark.parametrize("profile", ["quick", "default"])
@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_expected(catalogue, name, profile):
    found = verdict(catalogue, name, profile)
    assert found.status == EXPECTED[name], found.why
    assert 1 <= len(found.decisive) <= 2
    assert all(part.binding for part in found.decisive)


def test_numbers_of_an_ensemble_name_its_runs(catalogue):
    assert verdict(catalogue, "T6-1").seeds == 200
    assert verdict(catalogue, "T6-1").decisive[0].interval() == "1.0e-15"
    assert verdict(catalogue, "T6-2").seeds == 5


@pytest.mark.parametrize("name", EXPECTED)
def test_without_runs_nothing_is_tested(catalogue, name):
    found = judge(catalogue, name, Ensemble([]), {})
    assert (found.status, found.parts) == (NOT_TESTED, [])
    assert "this profile has no run with" in found.why


def at_one_place(name, value):
    """A change of one entry of a column."""

    def change(columns):
        if name not in columns:
            return columns
        column = columns[name].copy()
        column[(column.shape[0] - 9, 0) if column.ndim == 2 else -9] = value
        return columns | {name: column}

    return change


@pytest.mark.parametrize("value", [2e-10, math.nan, math.inf])
@pytest.mark.parametrize("name", ["closure", "closure_view", "final_error", "view_error"])
def test_one_error_above_rounding_fails(catalogue, name, value):
    found = verdict(catalogue, "T6-1", change=at_one_place(name, value))
    assert found.status == FAIL
    assert len(found.decisive) == 3  # of each ensemble


def powers(regime, row, by):
    """Another power of the step in one term."""

    def change(columns):
        table, steps = columns[regime].copy(), columns[f"{regime}_steps"]
        table[..., row] *= steps**by
        return columns | {regime: table}

    return change


@pytest.mark.parametrize("name", ["fresh_noise", "stale1", "stale2", "stale3"])
@pytest.mark.parametrize(("regime", "by"), [("interpolating", 0.06), ("floor", -0.11)])
def test_another_power_fails(catalogue, regime, by, name):
    change = powers(regime, TERMS.index(f"ref:{name}"), by)
    found = verdict(catalogue, "T6-2", change=change)
    assert found.status == FAIL
    assert any(f"in {name}, {regime}" in part.what for part in found.decisive)


def test_powers_are_taken_at_equal_distance(catalogue):
    def nearer_with_larger_steps(columns):
        table = columns["interpolating"] * columns["interpolating_steps"][:, None] ** -0.1
        return columns | {"interpolating": table}

    assert verdict(catalogue, "T6-2", change=nearer_with_larger_steps).status == FINDING


@pytest.mark.parametrize("factor", [0.4, -1.0, 1.4])
def test_another_share_of_staleness_fails(catalogue, factor):
    def scaled(columns):
        table = columns["floor"].copy()
        table[..., TERMS.index("ref:stale1")] *= factor
        return columns | {"floor": table}

    found = verdict(catalogue, "T6-2", change=scaled)
    assert found.status == FAIL
    assert all("stale1 / fresh noise" in part.what for part in found.decisive)


@pytest.mark.parametrize("name", ["z_mean", "z_var"])
def test_a_curve_off_by_four_errors_fails(catalogue, name):
    for z, status in ((3.99, PASS), (4.0, FAIL), (-5.0, FAIL), (math.inf, FAIL)):
        found = verdict(catalogue, "T6-3", change=lambda c, z=z: c | {name: np.full_like(c[name], z)})
        assert found.status == status, z


def test_what_does_not_differ_between_the_policies_yet_counts_once(catalogue):
    def off(columns, place):
        z = columns["z_var"].copy()
        z[place] = 5.0
        return columns | {"z_var": z}

    def missed(place):
        found = verdict(catalogue, "T6-3", change=lambda c: off(c, place))
        return [part.what for part in found.parts if not part.met]

    first, second = checkpoints(401)[:2]
    assert missed(first) == ["largest |z| of tr Cov, SSP"]
    assert missed(second) == ["largest |z| of tr Cov, SSP", "largest |z| of tr Cov, ESSP"]
    notes = {part.what: part.note for part in verdict(catalogue, "T6-3").parts}
    assert notes["largest |z| of tr Cov, SSP"] == ""
    assert notes["largest |z| of tr Cov, ESSP"] == "at 19 of 20 checkpoints; at the others it is SSP's number"


def test_the_error_of_the_iid_law_is_reported(catalogue):
    found = verdict(catalogue, "T6-3")
    values = {part.what: part.estimate.value for part in found.parts}
    assert values["error of the iid law at the last checkpoint, SSP"] == pytest.approx(-0.05)
    assert values["the iid law's tr Cov, in standard errors of these runs, ESSP"] == pytest.approx(1.0)


def test_moments_that_predict_everything_are_not_the_finding(catalogue):
    found = verdict(catalogue, "T6-4", change=lambda c: c | {"predicted": c["terms"]})
    assert found.status == FAIL
    assert {part.what.split()[0] for part in found.decisive} == {"ref:stale1", "view:cross"}


@pytest.mark.parametrize("factor", [0.8, 1.2, math.nan])
def test_a_displacement_of_another_size_fails(catalogue, factor):
    name = "predicted_var_delta"
    found = verdict(catalogue, "T6-4", change=lambda c: c | {name: factor * c["var_delta"]})
    assert found.status == FAIL
    assert all("Var(delta)" in part.what for part in found.decisive)


def test_a_term_off_the_recursion_fails(catalogue):
    def off(columns):
        z = columns["z_terms"].copy()
        z[TERMS.index("ref:stale2")] = 4.5
        return columns | {"z_terms": z}

    found = verdict(catalogue, "T6-4", change=off)
    assert found.status == FAIL
    assert all("ref:stale2" in part.what for part in found.decisive)
