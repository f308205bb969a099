"""The Python and TOML of docs/reference that needs no live run: it does what the pages say."""

import re
import tomllib
from pathlib import Path

import numpy as np

import pskit
import theory
from pskit.convex import ensemble, measure

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def block(page, language, beginning):
    """The block of a page in this language that begins like this."""
    text = (REFERENCE / page).read_text(encoding="utf-8")
    found = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    (one,) = [source for source in found if source.startswith(beginning)]
    return one


def test_a_session():
    session = {"pskit": pskit, "cfg": pskit.Config(ps={"policy": "essp", "slack": 2}), "out": []}
    source = block("live.md", "python", "with pskit.session").replace("t.get(3)", "out.append(t.get(3))")
    exec(compile(source, "live.md", "exec"), session)
    (row,) = session["out"]
    assert row.shape == (4,)


def test_shaped_staleness_is_what_the_config_asks_for():
    sections = tomllib.loads(block("convex.md", "toml", "[ps]"))
    cfg = pskit.Config(app={"name": "quadratic", "clocks": 60}, **sections)
    late = pskit.run(cfg, threads=1).staleness().between(18, 10**6)
    assert np.unique(late.ages).size == 1
    assert 1 <= late.ages[0] <= 18


def test_ensembles_and_steps_give_what_the_page_names():
    cfg = pskit.Config(app={"name": "absolute", "clocks": 10}, ps={"policy": "ssp", "slack": 2})
    runs = ensemble({"ssp": cfg}, seeds=range(3), jobs=1)
    assert runs["ssp"].mean_regret.shape == (3,)
    assert len(theory.thm6_terms(**runs["ssp"].variance())) == 7
    trace = pskit.run(cfg, threads=1)
    steps = trace.steps()
    for name in ("x", "views", "g", "f", "eta", "included", "order", "gamma", "counts", "read_start"):
        assert getattr(steps, name) is not None
    assert trace.moments().mu >= 0
    assert set(measure(trace).levels()) >= {"C0", "C1", "C2"}
