import math

import numpy as np
import pytest

from pskit.repro.claims import CHECKS, convergence, staleness
from pskit.repro.claims.parts import AS_BEFORE, number, part
from pskit.repro.claims.verdict import FAIL, FINDING, NOT_TESTED, PASS, as_json, judge
from pskit.repro.ensemble import Absent, Ensemble
from tests.paper.synthetic import ensemble, paper_ages, paper_losses, trace_of

TRACED = [name for name in CHECKS if name.startswith("F")]
"""Claims about traces; those about batches of runs have tests of their own."""
EXPECTED = dict.fromkeys(TRACED, PASS) | {"F1L-4": FINDING}


def verdict(catalogue, name, make=trace_of, profile="default", failures=None):
    runs = ensemble(catalogue, *catalogue.claims[name].experiments, profile=profile, make=make)
    return judge(catalogue, name, runs, failures or {})


@pytest.mark.parametrize("profile", ["quick", "default"])
@pytest.mark.parametrize("name", TRACED)
def test_the_paper_as_it_is_gives_what_is_expected(catalogue, name, profile):
    found = verdict(catalogue, name, profile=profile)
    assert found.status == EXPECTED[name], found.why
    assert found.seeds >= 1
    assert 1 <= len(found.decisive) <= 2
    assert all(part.binding for part in found.decisive)


def swapped(cfg):
    """SSP behaves like ESSP and the other way round."""
    other = {"ssp": "essp", "essp": "ssp"}.get(cfg.ps.policy, cfg.ps.policy)
    ps = cfg.ps.model_copy(update={"policy": other})
    like = cfg.model_copy(update={"ps": ps})
    return trace_of(cfg, shares=lambda clock: paper_ages(like, clock), losses=paper_losses(like))


@pytest.mark.parametrize("name", ["F1L-1", "F1L-2", "F1L-4", "F2M-1", "F2M-2", "F2M-3"])
def test_the_opposite_of_the_paper_fails(catalogue, name):
    found = verdict(catalogue, name, make=swapped)
    assert found.status == FAIL
    assert "not as expected" in found.why


def test_the_same_onset_for_both_minibatches_fails(catalogue):
    def always_at_16(cfg):
        losses = paper_losses(
            cfg.model_copy(update={"app": cfg.app.model_copy(update={"clock_fraction": 0.1, "step": 0.005})})
        )
        return trace_of(cfg, losses=losses)

    assert verdict(catalogue, "F2M-4", make=always_at_16).status == FAIL


def test_equal_speed_fails(catalogue, monkeypatch):
    monkeypatch.setattr("tests.paper.synthetic.SECONDS_PER_CLOCK", {"bsp": 1.0, "ssp": 1.0, "essp": 1.0})
    assert verdict(catalogue, "F2M-5").status == FAIL


def test_the_majority_of_seeds_decides_unless_the_limit_is_within_their_interval(catalogue):
    def one_seed_is_odd(cfg):
        return swapped(cfg) if cfg.run.seed == 1 else trace_of(cfg)

    def most_seeds_are_odd(cfg):
        return trace_of(cfg) if cfg.run.seed == 1 else swapped(cfg)

    assert verdict(catalogue, "F1L-1", make=one_seed_is_odd, profile="full").status == PASS
    found = verdict(catalogue, "F1L-1", make=one_seed_is_odd)  # of five, whose interval spans all
    assert found.status == NOT_TESTED
    assert found.why.startswith(
        "from 5 seeds the median is as expected, but the interval holds the limit: TV"
    )
    assert found.decisive == [part for part in found.parts if part.doubtful]
    assert verdict(catalogue, "F1L-1", make=most_seeds_are_odd).status == FAIL


def test_what_no_slack_changes_is_no_other_evidence(catalogue):
    def slower_at_8(cfg):
        return trace_of(cfg, losses=paper_losses(cfg) * (1.001 if cfg.ps.slack == 8 else 1.0))

    notes = {part.what: part.note for part in verdict(catalogue, "F2M-2").parts}
    assert notes["final loss, ESSP s = 0 / BSP"] == ""
    assert notes["final loss, ESSP s = 8 / BSP"] == AS_BEFORE
    notes = {part.what: part.note for part in verdict(catalogue, "F2M-2", make=slower_at_8).parts}
    assert notes["final loss, ESSP s = 8 / BSP"] == ""
    assert notes["final loss, ESSP s = 48 / BSP"] == AS_BEFORE


def test_at_a_step_without_bsp_nobody_knows_what_breaks_ssp(catalogue):
    name = "onset at 1% / onset at 10%, step 0.02"
    quick, default = (
        {part.what: part for part in verdict(catalogue, "F2M-4", profile=profile).parts}[name]
        for profile in ("quick", "default")
    )
    assert (quick.carries, default.carries) == (False, True)
    assert "at 10% BSP not run in this profile, ESSP not run in this profile; at 1% BSP 0 of 1" in quick.note
    assert "at 10% BSP 0 of 5 runs, ESSP 0 of 5 runs; at 1% BSP 0 of 5 runs" in default.note


@pytest.mark.parametrize(
    ("values", "limits", "met", "doubtful"),
    [
        ([0.99, 1.01, 1.02], {"low": 1.0}, True, True),
        ([1.0, 1.01, 1.02], {"low": 1.0}, True, False),
        ([1.0, 1.01, 1.02], {"low": 1.0, "strict": True}, True, True),
        ([0.98, 0.99, 1.02], {"low": 1.0}, False, False),
        ([0.5, 0.9, 1.1], {"high": 1.0}, True, True),
        ([2.0, 3.0, math.inf], {"low": 1.0}, True, False),
        ([0.3, 0.5, 0.7], {"low": 0.35, "high": 0.65}, True, False),  # an allowance: the median decides
        ([1.01], {"low": 1.0}, True, False),
        ([-1.0, 0.0, 1.0], {}, True, False),
    ],
)
def test_a_limit_within_the_interval_decides_nothing(values, limits, met, doubtful):
    found = part("x", values, **limits)
    assert (found.met, found.doubtful) == (met, doubtful)


def test_what_is_not_built_is_not_tested(catalogue):
    found = judge(catalogue, "X-1", Ensemble([]), {})
    assert (found.status, found.why, found.parts) == (NOT_TESTED, catalogue.claims["X-1"].untested, [])


def test_runs_that_a_profile_lacks_leave_the_claim_untested(catalogue):
    found = judge(catalogue, "F2M-1", Ensemble([]), {})
    assert found.status == NOT_TESTED
    assert "this profile has no run" in found.why


def test_a_run_that_could_not_be_made_leaves_the_claim_untested(catalogue):
    found = verdict(catalogue, "F2M-1", failures={"mf-ssp": "ProtocolError: stuck"})
    assert (found.status, found.broken) == (NOT_TESTED, True)
    assert not verdict(catalogue, "F2M-1").broken
    assert "mf-ssp: ProtocolError: stuck" in found.why


@pytest.mark.parametrize(
    ("name", "decisive"),
    [
        ("F2M-3", ["excursion, SSP s = 8", "excursion, ESSP s = 8"]),
        ("F2M-5", ["seconds to the target, BSP / SSP, 10%", "seconds to the target, SSP / ESSP, 10%"]),
    ],
)
def test_the_numbers_that_carry_a_claim(catalogue, name, decisive):
    assert [part.what for part in verdict(catalogue, name).decisive] == decisive


def test_what_is_not_as_expected_decides(catalogue):
    found = verdict(catalogue, "F2M-2", make=swapped)
    assert found.status == FAIL
    assert found.decisive == [part for part in found.parts if not part.met]


def test_a_stopped_run_has_no_final_loss(catalogue):
    def stops(cfg):
        if (cfg.ps.policy, cfg.ps.slack) != ("ssp", 48) or cfg.run.seed == 5:
            return trace_of(cfg)
        return trace_of(cfg, losses=np.linspace(1, 0.9, 101), stopped=90 + cfg.run.seed)

    found = verdict(catalogue, "F2M-1", make=stops)
    assert found.status == PASS
    (number,) = found.decisive
    assert number.estimate.value == math.inf
    notes = ", ".join(f"seed {seed} at clock {90 + seed}" for seed in (1, 2, 3, 4))
    assert number.interval().startswith("not finite [")
    assert number.interval().endswith(f", not finite] (not finite, stopped: {notes})")
    assert "not finite (> 2)" in found.why


def test_no_onset_names_the_slacks_that_were_run(catalogue):
    def falls(cfg):
        return trace_of(cfg, losses=np.linspace(1, 0.7, cfg.app.clocks + 1))

    found = verdict(catalogue, "F2M-4", make=falls)
    texts = {part.what: part.interval() for part in found.parts}
    onset = "onset at 1%, step 0.005: smallest s that diverges"
    assert texts[onset] == "none of those run (run: s = 8, 48, 64)"


def test_json_has_the_first_decisive_number(catalogue):
    found = verdict(catalogue, "F1L-1")
    tree = as_json(found)
    assert tree["value"] == found.decisive[0].estimate.value
    assert tree["ci"][0] <= tree["value"] <= tree["ci"][1]
    assert tree["parts"][-1]["expected"] is None  # 1% is shown, and nothing is expected of it


def test_the_exponent_of_a_known_growth():
    class Known:
        def staleness(self):
            return self

        def between(self, first, last):
            return self

        def mean_by_clock(self):
            clock = np.arange(1, 601)
            return {"clock": clock, "mean": 1.5 + np.where(clock > 1, 0.8 * clock**0.4, 0.0)}

    assert staleness.exponent(Known(), (1, 1), (10, 600)) == pytest.approx(0.4, abs=0.01)


def test_no_onset_is_infinite(catalogue):
    runs = ensemble(
        catalogue, "fig2-mf-1", make=lambda cfg: trace_of(cfg, losses=np.linspace(1, 0.7, cfg.app.clocks + 1))
    )
    assert convergence.onsets(runs, 0.01, 0.02) == [math.inf] * 5


def test_selecting():
    runs = Ensemble([])
    with pytest.raises(Absent, match="no run with policy ssp, slack 4"):
        runs.select(policy="ssp", slack=4)


def test_selecting_by_application(catalogue):
    runs = ensemble(catalogue, "fig1-left-regimes", "fig1-left")
    assert runs.values("app") == ["mf", "quadratic"]
    quadratic = runs.select(app="quadratic", policy="essp", slack=1000)
    assert [t.config["run"]["seed"] for t in quadratic] == [11, 12, 13, 14, 15]


@pytest.mark.parametrize(
    ("limits", "text", "inside", "outside"),
    [
        ({"high": 2.0}, "<= 2", 2.0, 2.1),
        ({"low": 2.0}, ">= 2", 2.0, 1.9),
        ({"low": 2.0, "strict": True}, "> 2", math.inf, 2.0),
        ({"high": 2.0, "strict": True}, "< 2", -1.0, 2.0),
        ({"low": 1.0, "high": 2.0}, "1 to 2", 1.5, 2.5),
    ],
)
def test_ranges(limits, text, inside, outside):
    good, bad = part("x", [inside], **limits), part("x", [outside], **limits)
    assert good.expected() == text
    assert good.met
    assert not bad.met


def test_a_number_without_range_is_only_shown():
    shown = part("x", [1.0, 2.0, 3.0])
    assert (shown.binding, shown.met, shown.expected(), shown.interval()) == (False, True, "", "2 [1, 3]")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.12345, "0.1235"),
        (12.3, "12.3"),
        (1234.6, "1235"),
        (1e-7, "1.0e-07"),
        (math.inf, "infinite"),
    ],
)
def test_numbers(value, text):
    assert number(value) == text
