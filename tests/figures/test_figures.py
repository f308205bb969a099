import math

import matplotlib
import numpy as np
import pytest

from figures import age_regimes, kit, mf_onset, mf_slack, staleness_histogram, theorem5_shaped, vap_floor
from figures.measures import ages, excursion, final_loss, stopped_at
from figures.mf_convergence import NEAR, WIDE, Curve, line, over_seconds
from pskit.config import Config
from pskit.repro.batches import Batch
from pskit.repro.ensemble import Ensemble
from pskit.runtime.live.fidelity import LIMITS
from tests.figures.made_up import BATCHED, CATALOGUE, drawn, rows_of, runs_of
from tests.paper.synthetic import ensemble, trace_of

CLUSTERS = {
    "live": "P = 8. shards: 1, placement separate.",
    "theorem5": "shards: 1, placement separate.",
    "theorem6": "P = 4. shards: 1, placement separate. s = 3.",
    "vap": "P = 8. shards: 1, placement separate.",
}
"""By the first word of a figure's name, what its caption says of the cluster."""
USUAL_CLUSTER = "P = 16. shards: 1, placement separate."
SAYS = {
    "theorem5_tail": ["C1 2.6x"],
    "theorem5_protocol": ["Dispersion index of gamma"],
    "theorem5_counterexample": [
        "20 emulated runs, 10 of them slow, equal to the closed form within 1e-15",
    ],
    "theorem5_shaped": ["29 of the runs were made by it, too, and differ by 1e-16 at most"],
    "theorem6_band": ["SSP 1e-15 (200 runs)", "step 0.1. "],
    "theorem6_exact": ["SSP -5.0% at the worst checkpoint", "At t = 7 nothing differs yet"],
    "theorem6_moments": ["at least so many times", "SSP 1000 [988, 1012] and 1000 [988, 1012]; ESSP 900 "],
    "theorem6_slopes": ["on the left are 2.00, 2.00, 3.00, 4.00."],
    "vap_bound": ["0 are further away than v_t; the regret reaches 50% of the bound"],
    "vap_price": ["Per computation 13.0 messages and 624 bytes, beside 10.0 and 700", "step 0.06. "],
    "vap_floor": ["VAP 1.00 to 1.30 at latency .2 clock", "step 0.06, 0.18. ", "Seeds: 6, 4, 4 from left"],
    "age_regimes": ["s = 16, 1000. step 0.001, 0.005. "],
    "mf_convergence": ["s = 0, 8, 16, 48, 64. step 0.005, 0.02. "],
    "mf_slack": ["step 0.005. "],
    "mf_speedup": ["s = 0, 8. step 0.005. "],
    "readme": ["s = 0, 8, 16, 48. step 0.005. "],
}
"""What a caption says of the runs of the default profile that are shown."""
SAYS_NOT = {
    "theorem5_protocol": "huber",
    "theorem6_band": "logistic",
    "vap_price": "mean-reverting",
    "vap_floor": "mean-reverting",
}
"""What is said of other runs of the same experiments."""


@pytest.mark.parametrize("profile", ["quick", "default"])
@pytest.mark.parametrize("name", CATALOGUE.figures)
def test_every_figure_is_written(name, profile, tmp_path):
    found = drawn(name, tmp_path, profile)
    assert found.files == [f"{name}.png", f"{name}.pdf", f"{name}.csv"]
    assert (tmp_path / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "figures" / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    rows = rows_of(name, tmp_path)
    assert rows
    for row in rows:
        assert row["panel"]
        assert row["series"]
        assert not math.isnan(float(row["y"]))
    assert CLUSTERS.get(name.partition("_")[0], USUAL_CLUSTER) in found.caption
    assert (". v0 = 0.25, " in found.caption) == name.startswith("vap")
    assert ("Seeds " if profile == "default" else "Seed") in found.caption
    if profile == "default":
        assert all(words in found.caption for words in SAYS.get(name, [])), found.caption
    assert name not in SAYS_NOT or SAYS_NOT[name] not in found.caption


@pytest.mark.parametrize("name", [*BATCHED, "mf_slack"])
def test_a_figure_without_its_runs_says_so(name, tmp_path):
    runs = Ensemble([]) if name in BATCHED else ensemble(CATALOGUE, "fig1-left-regimes")
    found = drawn(name, tmp_path, runs=runs)
    assert found.files == []
    assert found.caption.startswith("Not drawn: no run with")
    assert not (tmp_path / "figures").exists()


def test_the_histogram_holds_what_the_traces_say(tmp_path):
    runs = runs_of("staleness_histogram")
    drawn("staleness_histogram", tmp_path, runs=runs)
    rows = rows_of("staleness_histogram", tmp_path)
    panel = [r for r in rows if r["panel"] == "s = 8, one clock = 10% of the data"]
    essp = {int(r["x"]): float(r["y"]) for r in panel if r["series"] == "ESSP"}
    truth = ages(next(iter(runs.select(policy="essp", slack=8, fraction=0.1)))).histogram("paper")
    assert list(essp) == list(range(-9, 0))
    assert essp == pytest.approx({d: truth.get(d, 0.0) for d in essp})


def test_a_run_that_ended_early_is_infinite_from_there_on():
    cfg, _ = CATALOGUE.experiments["fig2-mf-10"].configs("quick")[0]
    other = cfg.model_copy(update={"run": cfg.run.model_copy(update={"seed": 9})})
    whole, cut = trace_of(cfg), trace_of(other, losses=[1.0, 0.95, 0.9, 0.8, math.nan])
    clocks, seconds, losses = kit.common_grid([whole, cut])
    assert clocks.tolist() == list(range(0, cfg.app.clocks + 1, cfg.run.eval_every))
    assert losses[1, :2].tolist() == [1.0, 0.9]
    assert all(math.isinf(value) for value in losses[1, 2:])
    assert math.isnan(seconds[1, -1])


def test_a_stopped_run_is_infinite_whatever_it_was_last():
    cfg, _ = CATALOGUE.experiments["fig2-mf-10"].configs("quick")[0]
    cut = trace_of(cfg, losses=[0.9] * 101, stopped=41)
    clocks, seconds, losses = kit.common_grid([cut])
    assert clocks[-1] == cfg.app.clocks
    assert losses[0, :21].tolist() == [0.9] * 21
    assert all(math.isinf(value) for value in losses[0, 21:])
    assert (stopped_at(cut), final_loss(cut), excursion(cut)) == (41, math.inf, math.inf)
    time, curves = over_seconds(seconds, losses)
    assert curves[0, time < seconds[0, 20]].tolist() == [0.9] * 100
    assert stopped_at(trace_of(cfg)) is None


def excursion_and_end(cfg, end):
    """A loss that leaves both axes, comes back and stays at `end`."""
    losses = np.full(cfg.app.clocks + 1, 1.0)
    losses[40:60] = 50.0
    losses[70:] = end
    return trace_of(cfg, losses=losses)


@pytest.mark.parametrize(("end", "arrows"), [(0.9, 0), (70.0, 1), (math.inf, 1)])
def test_a_curve_is_drawn_to_its_end_and_an_arrow_says_that_it_left_for_good(end, arrows):
    cfg, _ = CATALOGUE.experiments["fig2-mf-10"].configs("quick")[0]
    clocks, _, losses = kit.common_grid([excursion_and_end(cfg, end)])
    for ends in (WIDE, NEAR):
        sheet = kit.Sheet()
        ((axes,),) = sheet.axes(1, 1, 2)
        line(axes, "p", Curve("ssp", 8, 0.5, "-"), clocks, losses, ends, sheet)
        assert len(axes.texts) == arrows
        (drawn,) = axes.lines
        assert drawn.get_xdata().tolist() == clocks.tolist()
        assert [row[3] for row in sheet._rows] == losses[0].tolist()


def test_the_line_of_medians_breaks_where_one_is_off_the_axis():
    sheet = kit.Sheet()
    ((axes,),) = sheet.axes(1, 1, 2)
    values = {8: np.array([2.0]), 16: np.array([math.inf]), 32: np.array([3.0])}
    mf_slack.points(axes, "p", "ssp", values, [8, 16, 32], sheet)
    assert np.isnan(axes.lines[0].get_ydata()).tolist() == [False, True, False]
    assert len(axes.texts) == 1
    assert [row[3] for row in sheet._rows] == [2.0, math.inf, 3.0]


def test_what_a_caption_says_of_results_comes_from_the_runs():
    quick, default = (ensemble(CATALOGUE, "fig2-mf-10", "fig2-mf-1", profile=p) for p in ("quick", "default"))
    assert "at 10%, step 0.02 BSP stays smooth" in mf_onset.remarks(default)
    assert "at 10%, step 0.02 BSP is not run" in mf_onset.remarks(quick)
    at_large = [
        t for t in default if (t.config["app"]["clock_fraction"], t.config["app"]["step"]) == (0.1, 0.02)
    ]
    blown = Ensemble([trace_of(Config(**t.config), losses=[1.0, 20.0]) for t in at_large])
    assert (
        mf_onset.remarks(blown) == "At 10%, step 0.02 BSP diverges itself in 5 of 5 runs: the step breaks it."
    )
    configs = [cfg for cfg, _ in CATALOGUE.experiments["fig2-mf-10"].configs("quick")]
    at_8 = [trace_of(cfg, stopped=70) for cfg in configs if cfg.ps.slack == 8]
    assert mf_slack.remarks(quick) == "Every run has a finite final loss."
    stopped = Ensemble([*(t for t in quick if t.config["ps"]["slack"] != 8), *at_8])
    assert "SSP s = 8: 1 of 1, at clock 70" in mf_slack.remarks(stopped)
    ages = staleness_histogram.remarks(ensemble(CATALOGUE, "fig1-left"))
    assert ages.startswith("ESSP over these slacks: at 10% its peak is at -2, its mean age 1.5;")
    assert "80% of the slack from clock" in age_regimes.remarks(ensemble(CATALOGUE, "fig1-left-regimes"))


def test_a_figure_of_one_seed_says_that_it_has_no_bars():
    quick = vap_floor.remarks(vap_floor.shown(runs_of("vap_floor", "quick")))
    assert quick.endswith("Seeds: 2, 1, 1 from left to right; of one seed there is no interval, so no bar.")
    assert vap_floor.remarks(vap_floor.shown(runs_of("vap_floor"))).endswith("4 from left to right.")


def test_words_for_slow_runs_are_those_of_the_runs():
    def with_ages(*ages):
        """The runs, those of "2 or 18" with these ages."""
        runs = runs_of("theorem5_shaped", "quick")
        (first,) = runs.select(drawn="run", far=18)
        columns = {"age": np.array(ages), "age_square": np.square(ages)}
        others = [batch for batch in runs if batch is not first]
        return Ensemble([*others, Batch(first.manifest, first.columns | columns)])

    text = theorem5_shaped.far_tail(with_ages(2.0, 2.0, 18.0, 2.0))
    assert text.startswith('"2 or 18" has a variance of 48.0 beside ')
    assert "but only 1 of 4 runs are slow" in text
    text = theorem5_shaped.far_tail(with_ages(2.0, 2.0, 2.0))
    assert text == 'None of these 3 runs of "2 or 18" is slow; one in sixteen is to be.'


def test_the_caption_has_the_limits_of_fidelity():
    (_, late, overran), (_, strained_late, strained_overran) = LIMITS
    caption = " ".join(CATALOGUE.figures["live_histogram"].caption.split())
    assert f"at most {late:.0%} of a clock" in caption
    assert f"in at most {overran:.0%} of the clocks" in caption
    assert f"*strained* up to {strained_late:.0%} and {strained_overran:.0%}" in caption


def test_every_policy_has_its_own_colour_and_marker():
    looks = kit.LOOKS.values()
    assert len({look.colour for look in looks}) == len({look.marker for look in looks}) == len(looks)


def test_drawing_leaves_the_style_of_others_alone(tmp_path):
    before = dict(matplotlib.rcParams)
    drawn("mf_slack", tmp_path, "quick")
    assert dict(matplotlib.rcParams) == before


def test_the_same_runs_give_the_same_files(tmp_path):
    runs = runs_of("mf_slack", "quick")
    for folder in ("a", "b"):
        drawn("mf_slack", tmp_path / folder, runs=runs)
    for suffix in (".png", ".pdf", ".csv"):
        one, other = (tmp_path / folder / "figures" / f"mf_slack{suffix}" for folder in "ab")
        assert one.read_bytes() == other.read_bytes()
