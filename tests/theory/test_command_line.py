"""python -m theory, and what importing the package loads."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from theory import METHODS
from theory.__main__ import main
from theory._commands import COMMANDS
from theory._latex import FORMULAS

RUN = ["--eta", ".5", "--L", "1", "--P", "4", "--s", "3", "--T", "1000"]
TAIL = [*RUN, "--mu-gamma", "3", "--var-gamma", "2.5", "--tau", ".02"]
LAW = ["--law", "1:.3125,3:.375,5:.3125", "--chi", "3", "--F2", "1"]
CALLS = {
    "thm1": ["--eta", ".5", "--L", "1", "--F2", "1", "--d", "3", "--v0", "1", "--T", "100", "--r", "2"],
    "thm2": [
        "--d",
        "2",
        "--v0",
        "1",
        "--t",
        "4",
        "--sd-t",
        ".3",
        "--sd-next",
        ".2",
        "--eta-t",
        ".1",
        "--M",
        "1",
    ],
    "thm3": [*RUN, "--F2", "1"],
    "thm5": [*TAIL, *LAW],
    "thm5-counts": [*RUN, "--mu-k", "5", "--var-k", "4", "--tau", ".05"],
    "thm5-steps": [*RUN, "--mu-eta", "2.3", "--var-eta", "2", "--tau", ".05"],
    "run-tail": ["--k", "3", "--n", "100", "--delta", ".05"],
    "lemma4": ["--P", "4", "--s", "3", "--T", "400"],
    "lemma-a1": ["--x", "1,2", "--view=-1,1", "--g", "0,1", "--x-star", "0,0", "--eta", ".1"],
    "lemma-a2": ["--M3", ".1", "--rho", ".3"],
}


@pytest.fixture
def calls(tmp_path):
    rng = np.random.default_rng(0)
    x, h, delta, after = rng.normal(size=(4, 6, 2))
    g = h + delta / 2
    path = tmp_path / "ensemble.npz"
    np.savez(path, x=x, x_next=x - 0.1 * g, g=g, h=h, delta=delta, delta_next=after)
    return CALLS | {"thm6": ["--ensemble", str(path), "--eta", ".1"]}


def test_an_eta_of_nothing_is_not_the_one_left_out(capsys):
    for option in ("--eta", "--L"):
        with pytest.raises(SystemExit) as ended:
            main(["lemma4", *CALLS["lemma4"], option, "0"])
        assert ended.value.code == 2
        assert f"{option[2:]}: got 0, but must be > 0" in capsys.readouterr().err


def test_every_command_is_tried(calls):
    assert set(calls) == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_text_json_and_latex_agree(name, calls, capsys):
    assert main([name, *calls[name]]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"{name}: ")
    assert main([name, *calls[name], "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["command"] == name
    assert main([name, *calls[name], "--latex"]) == 0
    latex = capsys.readouterr().out
    assert latex.count(r"\begin{align*}") == latex.count(r"\end{align*}") == len(record["results"])
    assert latex.count("{") == latex.count("}")
    for symbol in ("<", ">", "~"):
        assert symbol not in "".join(line for line in latex.splitlines() if not line.startswith("%"))
    for result in record["results"]:
        assert f"{result['value']:.12g}" in text
        assert result["source"] in text
        assert result["assumptions"]


def test_formulas_are_all_used(calls, capsys):
    names = set()
    for name in COMMANDS:
        main([name, *calls[name], "--json"])
        names |= {r["name"] for r in json.loads(capsys.readouterr().out)["results"]}
    main(["thm1", *CALLS["thm1"], "--per-pair", "--P", "4", "--json"])
    names |= {r["name"] for r in json.loads(capsys.readouterr().out)["results"]}
    assert names == set(FORMULAS)


def test_golden_case(golden, capsys):
    main(["thm5", *TAIL, "--json"])
    values = {r["name"]: r["value"] for r in json.loads(capsys.readouterr().out)["results"]}
    assert values["paper"] == pytest.approx(float(golden["thm5_tail_paper"][1]["bound"]), rel=1e-12)
    assert set(values) == set(METHODS) - {"cramer", "chi_bernstein"}
    main(["thm5", *TAIL, *LAW, "--json"])
    values = {r["name"]: r["value"] for r in json.loads(capsys.readouterr().out)["results"]}
    assert set(values) == {*METHODS, "centre printed", "centre exact"}
    assert values["centre printed"] == pytest.approx(float(golden["thm5_center"][1]["paper"]), rel=1e-12)


def test_numbers_are_put_in(capsys):
    main(["lemma-a2", "--M3", "1e-7", "--rho", ".3", "--latex"])
    assert r"\frac{(1\cdot 10^{-7})}{2} \cdot 0.3^2" in capsys.readouterr().out


def test_vacuous_is_said(capsys):
    arguments = ["thm5", *TAIL[:-1], "1e-12"]
    main(arguments)
    assert "VACUOUS: says nothing" in capsys.readouterr().out
    main([*arguments, "--json"])
    assert json.loads(capsys.readouterr().out)["results"][0]["vacuous"] is True


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["thm5", *TAIL[:-1], "-.02"], "tau: got -0.02, but must be > 0"),
        (["thm5", *TAIL[:-1], "nan"], "tau: got nan, but must be finite"),
        (["thm5", *TAIL[:-1], "x"], "--tau: invalid float value: 'x'"),
        (["thm5", *RUN], "required: --mu-gamma, --var-gamma, --tau"),
        (["thm5", *TAIL, "--law", "1,2"], "must be value:probability"),
        (["thm3", *RUN[:-1], "10.5", "--F2", "1"], "--T: got 10.5, but must be a whole number"),
        (["thm6", "--ensemble", "nowhere.npz", "--eta", ".1"], "nowhere.npz"),
        (["thm6", "--ensemble", os.devnull, "--eta", ".1"], "No data left"),
        (
            ["lemma-a1", "--x=1e308,1e308", "--view=1,2", "--g=1,2", "--x-star=1,2", "--eta=.5"],
            "not a number",
        ),
        (["thm7"], "invalid choice: 'thm7'"),
        ([], "required: COMMAND"),
    ],
)
def test_bad_input_is_one_line_and_code_2(arguments, words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert words in printed.err


def test_ensemble_without_an_array(tmp_path, capsys):
    np.savez(tmp_path / "e.npz", x=np.zeros((2, 1)))
    with pytest.raises(SystemExit):
        main(["thm6", "--ensemble", str(tmp_path / "e.npz"), "--eta", ".1"])
    assert "got no array x_next, g, h" in capsys.readouterr().err


def test_import_loads_nothing_slow_or_foreign():
    slow = "{'pskit', 'sympy', 'scipy.stats', 'scipy.optimize', 'scipy.special'}"
    code = f"import sys, theory; print({slow} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_module_runs():
    done = subprocess.run(
        [sys.executable, "-m", "theory", "lemma-a2", "--M3", "2", "--rho", "3"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "9 " in done.stdout
