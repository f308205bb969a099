"""F1L-3: what live runs say of the claim, and when they say nothing."""

import pytest

from figures.measures import FAITHFUL, distance, paired_distances, seed_distances
from pskit.repro import drawing
from pskit.repro.catalogue import Claim
from pskit.repro.claims.verdict import FAIL, NOT_TESTED, PASS, judge
from pskit.repro.command import print_report
from pskit.repro.ensemble import Ensemble
from pskit.repro.live import IMPOSSIBLE
from pskit.repro.report.content import Report, interval_head
from pskit.runtime.live import fidelity
from tests.paper.synthetic import ensemble, paper_ages, trace_of


def verdict(catalogue, make=trace_of, profile="default", failures=None):
    return judge(
        catalogue, "F1L-3", ensemble(catalogue, "fig1-live", profile=profile, make=make), failures or {}
    )


def older(cfg):
    """Ages one clock above what they are to be."""
    return trace_of(cfg, shares=lambda clock: [0.0, *paper_ages(cfg, clock)])


def test_the_word_is_that_of_the_runtime():
    assert FAITHFUL == fidelity.FAITHFUL


def test_the_distance_of_two_runs_counted_by_hand(catalogue):
    (cfg, _), (other, _) = catalogue.experiments["fig1-live"].configs("quick")[:2]
    # Clock 0 is left out: it alone would make them differ more.
    one = trace_of(cfg, shares=lambda clock: [1.0] if clock == 0 else [0.5, 0.5])
    two = trace_of(other, shares=lambda clock: [0.0, 1.0] if clock == 0 else [0.2, 0.5, 0.3])
    assert distance(one, two) == pytest.approx(0.3, abs=1e-12)


def test_live_runs_are_compared_with_their_own_seed_and_seeds_in_disjoint_pairs(catalogue):
    def spread(cfg):
        share = cfg.run.seed / 10 + 0.05 * (cfg.run.runtime == "live")
        return trace_of(cfg, shares=lambda clock: [1 - share, share])

    same = ensemble(catalogue, "fig1-live", make=spread).select(policy="ssp", preset="near-equal")
    assert paired_distances(same) == pytest.approx([0.05, 0.05])
    assert seed_distances(same) == pytest.approx([0.1, 0.1, 0.1])  # 1 and 2, 3 and 4, 5 and 6


def test_the_sampling_noise_stands_beside_the_distance(catalogue):
    found = verdict(catalogue)
    assert found.status == PASS
    names = [f"{policy}, {preset}" for preset in ("near-equal", "straggler") for policy in ("SSP", "ESSP")]
    assert [part.what for part in found.parts if part.binding] == [
        f"TV live / virtual time, same seed, {name}" for name in names
    ]
    assert [part.what for part in found.parts if not part.binding] == [
        f"TV between two seeds in virtual time, {name}" for name in names
    ]
    assert [part.what.rpartition(", ")[2] for part in found.decisive] == ["near-equal"] * 2


def test_live_runs_that_differ_fail(catalogue):
    def make(cfg):
        return older(cfg) if cfg.run.runtime == "live" and cfg.ps.policy == "essp" else trace_of(cfg)

    found = verdict(catalogue, make)
    assert found.status == FAIL
    # All at age 1 or 2, at clock 1 at age 1 only; a clock later live: 50 of 99 parts are elsewhere.
    assert "ESSP, near-equal 0.5051 (<= 0.1)" in found.why


@pytest.mark.parametrize("said", ["strained", "not faithful"])
def test_a_run_that_is_not_faithful_says_nothing(catalogue, said):
    def make(cfg):
        return (
            trace_of(cfg, shares=lambda clock: [0.0] * 9 + [1.0], verdict=said)
            if live(cfg)
            else trace_of(cfg)
        )

    def live(cfg):
        return cfg.run.runtime == "live" and cfg.preset == "straggler"

    found = verdict(catalogue, make)
    assert (found.status, found.parts) == (NOT_TESTED, [])
    late = {"strained": "10.0%", "not faithful": "40.0%"}[said]
    assert found.why.startswith(
        "2 live runs did not keep the times of the config, which says nothing of the claim; "
        f"the worst (SSP, straggler, seed 1): {said}, since 1% of messages and computations were late "
        f"by {late}"
    )


def test_a_faithful_run_that_differs_fails_whatever_the_others_are(catalogue):
    def make(cfg):
        if cfg.run.runtime == "sim":
            return trace_of(cfg)
        return older(cfg) if cfg.preset == "near-equal" else trace_of(cfg, verdict="strained")

    assert verdict(catalogue, make).status == FAIL


def test_one_seed_of_two_is_left_out_and_named(catalogue):
    def make(cfg):
        second = cfg.run.runtime == "live" and cfg.run.seed == 2
        return trace_of(cfg, shares=lambda clock: [1.0], verdict="strained") if second else trace_of(cfg)

    found = verdict(catalogue, make)
    assert found.status == PASS
    assert {(p.estimate.n, p.note) for p in found.decisive} == {(1, "left out: seed 2: strained")}


def test_a_machine_without_live_runs_leaves_the_claim_untested(catalogue):
    why = f"{IMPOSSIBLE}/dev/shm has 64 MB"
    runs = Ensemble([])
    found = judge(catalogue, "F1L-3", runs, {"a": why, "b": why})
    assert (found.status, found.why, found.broken) == (NOT_TESTED, why, False)
    assert judge(catalogue, "F1L-3", runs, {"a": why, "b": "RunFailed: client 1 died"}).broken


def test_the_head_of_the_numbers_allows_for_single_seeds_among_several(catalogue):
    def spread(cfg):
        share = 0.02 * cfg.run.seed * (cfg.run.runtime == "live")
        return trace_of(cfg, shares=lambda clock: [1 - share, share])

    assert interval_head(verdict(catalogue, spread)) == "median [50% interval], or value of one seed"
    assert interval_head(verdict(catalogue, spread, profile="quick")) == "value of one seed"


def test_the_command_says_why_a_claim_that_was_tried_is_not_tested(catalogue, tmp_path, capsys):
    tried = verdict(catalogue, lambda cfg: trace_of(cfg, verdict="strained"))
    later = Claim(paper="p", expected="e", untested="not built")
    never = tried._replace(id="V-9", claim=later, why=later.untested)
    counts = dict.fromkeys(("total", "reused", "made", "failed"), 6)
    print_report(Report("default", (), [tried, never], [], counts, 1.0, 1.0, {}), tmp_path)
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("F1L-3   NOT TESTED  6 live runs did not keep the times")
    assert second.startswith("0 PASS, 0 FINDING, 0 FAIL, 2 NOT TESTED")


def test_the_caption_has_every_verdict(catalogue, tmp_path):
    def make(cfg):
        return trace_of(cfg, verdict="strained" if cfg.preset == "straggler" else "faithful")

    runs = ensemble(catalogue, "fig1-live", make=make)
    caption = drawing.draw("live_histogram", catalogue.figures["live_histogram"], runs, tmp_path).caption
    late = "1.0% of a clock late, 0.04 s per emulated second"
    assert f"ESSP, near-equal workers, seed 2: faithful ({late})" in caption
    assert caption.count("faithful (") == 4
    assert caption.count("strained (10.0% of a clock late, 0.03 s per emulated second)") == 2
