"""The Python, TOML and commands of docs/reference do what the pages say."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np

import pskit
import theory
from pskit.convex import ensemble, measure
from tests.runtime.live.waiting import PATIENCE, wait_for

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
MF = Path(__file__).parents[2] / "experiments" / "mf.toml"


def block(page, language, beginning):
    """The block of a page in this language that begins like this."""
    text = (REFERENCE / page).read_text(encoding="utf-8")
    found = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    (one,) = [source for source in found if source.startswith(beginning)]
    return one


def in_the_project(source):
    """The page's text, whose folder is that of the project."""
    return source.replace("experiments/mf.toml", str(MF))


def test_a_run_is_stored_and_opened_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for beginning in ("import pskit", "tree = "):
        exec(compile(in_the_project(block("python.md", "python", beginning)), "python.md", "exec"), names)
    assert names["trace"].status == "finished"
    assert names["curve"]["clock"][-1] == 20
    assert (names["cfg"].ps.slack, names["tighter"].ps.slack) == (8, 2)


def test_every_public_name_is_on_the_page():
    text = (REFERENCE / "python.md").read_text(encoding="utf-8")
    assert [name for name in pskit.__all__ if f"`{name}`" not in text] == ["Session"]  # `session` makes it


def commands(beginning, *more):
    """Commands of a block of live.md, as arguments of the interpreter; the first one with ``more``."""
    lines = in_the_project(block("live.md", "sh", beginning)).splitlines()
    first, *others = (shlex.split(line, comments=True)[1:] for line in lines)
    code = [sys.executable, "-c", "import pskit.cli\nif __name__ == '__main__': pskit.cli.main()"]
    return [[*code, *arguments] for arguments in ([*first, *more], *others)]


def test_a_live_run_is_recorded_looked_at_replayed_and_stepped_through(tmp_path, monkeypatch, capsys):
    """On three machines in place of sixteen, and for some clocks only."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(MF.parents[1]))
    name = f"pskit-docs-{os.getpid()}"
    small = ("--set", "cluster.clients=3", "--set", "app.clocks=15", "--quiet")
    publish = "pskit run experiments/mf.toml --set run.runtime=live --set run.publish"
    record, replay, audit = commands(
        "pskit run experiments/mf.toml --set run.runtime=live --set run.record", *small
    )
    (published,) = commands(publish)
    assert [key for key in published if key.startswith("run.")] == ["run.runtime=live", "run.publish=NAME"]
    with subprocess.Popen(
        [*record, "--set", f"run.publish={name}"], stderr=subprocess.PIPE, text=True
    ) as run:
        wait_for(lambda: run.poll() is not None or has_begun(name), "the first clock")
        source = block("live.md", "python", "with pskit.attach").replace("NAME", name)
        exec(compile(source, "live.md", "exec"), {"pskit": pskit})
        assert (run.communicate(timeout=PATIENCE)[1], run.returncode) == ("", 0)
    for command in (replay, audit):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
    live, again = pskit.open_trace("runs/live"), pskit.open_trace("runs/again")
    assert again.manifest["replay_of"] == live.manifest["schedule_hash"] != again.manifest["schedule_hash"]
    assert again.manifest["value_hash"] == live.manifest["value_hash"]
    exec(compile(block("live.md", "python", "simulation ="), "live.md", "exec"), {"pskit": pskit})
    steps = [re.fullmatch(r"(\d+) \[(\d+)\]", line) for line in capsys.readouterr().out.splitlines()]
    now, clock = np.array([(int(step[1]), int(step[2])) for step in steps]).T
    assert (np.diff(now) >= 0).all()
    assert (np.diff(clock) >= 0).all()
    assert (clock[0], clock[-1] >= 15) == (0, True)


def has_begun(name):
    try:
        with pskit.attach(name) as viewer:
            return viewer.status == "running" and viewer.clocks.min() > 0
    except pskit.InputError:
        return False


def test_a_session():
    session = {"pskit": pskit, "out": []}
    source = block("live.md", "python", "cfg = ").replace("t.get(3)", "out.append(t.get(3))")
    exec(compile(in_the_project(source), "live.md", "exec"), session)
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
