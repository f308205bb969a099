import csv
import math
from importlib import import_module

import matplotlib
import pytest

from figures import kit
from figures.measures import ages
from pskit.repro import drawing
from pskit.repro.catalogue import load_catalogue
from tests.figures.conftest import ROOT
from tests.paper.synthetic import ensemble, trace_of

CATALOGUE = load_catalogue(ROOT / "figures" / "figures.toml", ROOT / "experiments")


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", CATALOGUE.figures)
def test_the_quick_profile_is_enough_for_every_figure(name):
    runs = ensemble(CATALOGUE, *CATALOGUE.figures[name].experiments, profile="quick")
    with kit.styled():
        import_module(f"figures.{name}").draw(runs, kit.Sheet())


@pytest.mark.parametrize("name", CATALOGUE.figures)
def test_every_figure_is_written(name, tmp_path):
    entry = CATALOGUE.figures[name]
    runs = ensemble(CATALOGUE, *entry.experiments)
    drawn = drawing.draw(name, entry, runs, tmp_path)
    assert drawn.files == [f"{name}.png", f"{name}.pdf", f"{name}.csv"]
    assert (tmp_path / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "figures" / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    rows = rows_of(tmp_path / "figures" / f"{name}.csv")
    assert rows
    for row in rows:
        assert row["panel"]
        assert row["series"]
        assert not math.isnan(float(row["y"]))
    assert "P = 16" in drawn.caption
    assert "Seed" in drawn.caption


def test_a_figure_without_its_runs_says_so(tmp_path):
    runs = ensemble(CATALOGUE, "fig1-left-regimes")
    drawn = drawing.draw("mf_slack", CATALOGUE.figures["mf_slack"], runs, tmp_path)
    assert drawn.files == []
    assert drawn.caption.startswith("Not drawn: no run with")
    assert not (tmp_path / "figures").exists()


def test_the_histogram_holds_what_the_traces_say(tmp_path):
    runs = ensemble(CATALOGUE, "fig1-left")
    drawing.draw("staleness_histogram", CATALOGUE.figures["staleness_histogram"], runs, tmp_path)
    rows = rows_of(tmp_path / "figures" / "staleness_histogram.csv")
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


def test_every_policy_has_its_own_colour_and_marker():
    looks = kit.LOOKS.values()
    assert len({look.colour for look in looks}) == len({look.marker for look in looks}) == len(looks)


def test_drawing_leaves_the_style_of_others_alone(tmp_path):
    before = dict(matplotlib.rcParams)
    runs = ensemble(CATALOGUE, "fig2-mf-10", profile="quick")
    drawing.draw("mf_slack", CATALOGUE.figures["mf_slack"], runs, tmp_path)
    assert dict(matplotlib.rcParams) == before


def test_the_same_runs_give_the_same_files(tmp_path):
    runs = ensemble(CATALOGUE, "fig2-mf-10", profile="quick")
    for folder in ("a", "b"):
        drawing.draw("mf_slack", CATALOGUE.figures["mf_slack"], runs, tmp_path / folder)
    for suffix in (".png", ".pdf", ".csv"):
        one, other = (tmp_path / folder / "figures" / f"mf_slack{suffix}" for folder in "ab")
        assert one.read_bytes() == other.read_bytes()
