"""Natural mistakes in Python: one line that names the argument, what was given and what is allowed."""

import subprocess
import sys
from pathlib import Path

import pytest

import pskit
from pskit.convex import ensemble, measure

CFG = pskit.Config(app={"name": "quadratic", "clocks": 3, "dim": 4}, cluster={"clients": 2})
SPEC = pskit.TableSpec("w", 1, 1)
MF = str(Path(__file__).parents[1] / "experiments" / "mf.toml")
CONFIG = r"expected a pskit.Config, such as pskit.load_config\(FILE\).*; got "
FOLDER = r"the folder of a run: expected a path, such as .*; got "


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pskit.run("experiments/mf.toml"), rf"run\(cfg\): {CONFIG}'experiments/mf.toml' of type str"),
        (lambda: pskit.run({"app": {}}), rf"run\(cfg\): {CONFIG}"),
        (lambda: pskit.run(CFG, out=3), f"{FOLDER}3 of type int"),
        (
            lambda: pskit.run(CFG, threads=0),
            r"run\(cfg, threads=...\): expected a whole number, 1 or more; got 0",
        ),
        (lambda: pskit.run(CFG, threads="2"), r"got '2' of type str"),
        (
            lambda: pskit.run(CFG, progress=True),
            r"progress=...\): expected a function of three arguments; got True",
        ),
        (lambda: pskit.session("x.toml"), rf"session\(cfg\): {CONFIG}'x.toml'"),
        (
            lambda: pskit.session(CFG, workers=0),
            r"workers=...\): expected a list of ids of workers.*; got 0 of",
        ),
        (lambda: pskit.session(CFG, workers="0"), r"expected a list of ids of workers.*; got '0' of"),
        (
            lambda: pskit.session(CFG, workers=[[1]]),
            r"workers = \[\[1\]\]: .* one or more of the workers 0 to 1",
        ),
        (
            lambda: pskit.session(CFG, SPEC),
            r"session\(cfg, tables\): expected a list of TableSpec.*of type TableSpec",
        ),
        (
            lambda: pskit.session(CFG, 3),
            r"session\(cfg, tables\): expected a list of TableSpec.*; got 3 of type int",
        ),
        (lambda: pskit.session(CFG, {"w": 1}), r"expected a list of TableSpec.*of type dict"),
        (lambda: pskit.session(CFG, [SPEC], out=3), f"{FOLDER}3 of type int"),
        (
            lambda: ensemble({"a": CFG}, seeds=5),
            r"ensemble\(configs, seeds\): .*such as range\(5\); got 5 of type int",
        ),
        (
            lambda: ensemble({"a": CFG}, seeds=[1], noise_seeds=5),
            r"noise_seeds=...\): expected a list of whole numb",
        ),
        (lambda: ensemble(CFG, seeds=[1]), r"ensemble\(configs\): expected a dict of configs"),
        (lambda: ensemble({"a": MF}, seeds=[1]), rf"ensemble\(configs\), key 'a': {CONFIG}"),
        (
            lambda: ensemble({"a": CFG}, seeds=[1], jobs=0),
            r"jobs=...\): expected a whole number, 1 or more; got 0",
        ),
        (
            lambda: ensemble({"a": CFG}, seeds=[1], slack="x"),
            r"slack: expected a whole number of clocks.*; got 'x'",
        ),
        (lambda: measure(CFG), r"measure\(trace\): expected a trace"),
        (lambda: pskit.replay(None), f"{FOLDER}None of type NoneType"),
        (lambda: pskit.open_replay(3), f"{FOLDER}3"),
        (lambda: pskit.open_trace(CFG), f"{FOLDER}.*of type Config"),
        (lambda: pskit.audit(CFG), r"audit\(run\): expected a trace, or the path of a run folder; got "),
        (lambda: pskit.load_config(CFG), r"load_config\(path\): expected the path of a TOML file; got "),
        (
            lambda: pskit.load_config(MF, "ps.slack=3"),
            r"load_config\(path, overrides\): .*; got 'ps.slack=3' of type s",
        ),
        (lambda: pskit.load_config(MF, {"ps.slack": 3}), r"load_config\(path, overrides\): .* of type dict"),
        (lambda: pskit.load_config(MF, None), r"load_config\(path, overrides\): .* of type NoneType"),
        (lambda: pskit.load_config(MF, [("ps.slack", 3)]), r"expected texts such as .* of type tuple"),
    ],
)
def test_an_argument_of_another_kind_is_wrong_input(call, message, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(pskit.InputError, match=message) as caught:
        call()
    assert len(str(caught.value).splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_runs_and_ensembles_say_what_they_are() -> None:
    (runs,) = ensemble({"a": CFG}, seeds=range(2)).values()
    one = (
        f"<ConvexRun: seed 0, 2 workers x 3 clocks, slack 8, 4 unknowns, R/T = {runs.first.mean_regret:.4g}>"
    )
    assert repr(runs.first) == one
    assert repr(runs) == f"<Ensemble of 2 runs, the first {one}>"


def test_all_public_names_are_shown_before_they_are_used() -> None:
    code = "import pskit, sys; print(*sorted(set(pskit.__all__) - set(dir(pskit))), 'numpy' in sys.modules)"
    root = Path(pskit.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root)
    assert done.stdout.split() == ["False"], done.stderr
