"""The whole command, on an experiment so small that it takes a second."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from pskit.repro.command import main

FIGURES = """
[figures.age_regimes]
title = "t"
caption = "c"
experiments = ["small"]
claims = ["F1L-4"]

[claims.F1L-4]
paper = "p"
expected = "e"
experiments = ["small"]
met = "FINDING"
explanation = "because."
tolerance = { steady_growth = 9.0, exponent = [-9.0, 9.0], floor_clocks = [1, 1], fit_clocks = [2, 40], \
binding_slack = 4, bound_share = LIMIT, straggler_share = 0.1 }

[claims.V-1]
paper = "p"
expected = "e"
untested = "not built"
"""
SMALL = """
title = "small"
seeds = { quick = 1, default = 2, full = 3 }
[base.app]
name = "quadratic"
dim = 2
step = 0.001
clocks = CLOCKS
[base.cluster]
clients = 3
[[sweeps]]
over = { "preset" = ["near-equal", "exponential", "straggler"], "ps.policy" = ["essp"], "ps.slack" = [4] }
[[sweeps]]
set = { "preset" = "exponential", "ps.policy" = "essp", "ps.slack" = 900 }
"""


@pytest.fixture
def project(tmp_path):
    def make(limit="0.0", clocks=60):
        root = tmp_path / "project"
        for folder in ("figures", "experiments"):
            (root / folder).mkdir(parents=True, exist_ok=True)
        (root / "figures" / "figures.toml").write_text(FIGURES.replace("LIMIT", limit))
        (root / "experiments" / "small.toml").write_text(SMALL.replace("CLOCKS", str(clocks)))
        return root

    return make


def test_from_nothing_to_a_report_and_again(project, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(project(), ["--quick", "--out", str(out), "--jobs", "1"]) == 0
    first = capsys.readouterr()
    assert "4 runs: 4 to make" in first.err
    assert "1 FINDING" in first.out
    assert sorted(path.name for path in out.iterdir()) == [
        "figures",
        "report.html",
        "report.json",
        "report.md",
        "runs",
    ]
    assert len(list((out / "runs").iterdir())) == 4
    assert sorted(p.suffix for p in (out / "figures").iterdir()) == [".csv", ".pdf", ".png"]

    assert main(project(), ["--quick", "--out", str(out)]) == 0
    again = capsys.readouterr()
    assert "4 runs, all reused" in again.err
    assert again.out.splitlines()[0] == first.out.splitlines()[0]
    assert json.loads((out / "report.json").read_text())["runs"]["reused"] == 4

    # A claim that is not as recorded ends in 1; the runs of the quick profile are part of the default's.
    assert main(project(limit="50.0"), ["--out", str(out), "--only", "F1L", "--jobs", "2"]) == 1
    failed = capsys.readouterr()
    assert "8 runs: 4 reused, 4 to make" in failed.err
    assert "F1L-4   FAIL     not as expected: independent times, s = 4" in failed.out


def test_damaged_runs_are_made_again_and_an_unwritable_place_is_said(project, tmp_path, capsys):
    out = tmp_path / "out"
    again = ["--quick", "--out", str(out), "--jobs", "1"]
    assert main(project(), again) == 0
    good = capsys.readouterr().out.splitlines()[1]
    runs = sorted((out / "runs").iterdir())
    (runs[0] / "manifest.json").write_text("{")
    shutil.rmtree(runs[1])
    runs[1].write_text("a file")
    assert main(project(), again) == 0
    text = capsys.readouterr()
    assert "2 reused, 2 to make" in text.err
    assert text.out.splitlines()[1] == good

    shutil.rmtree(out / "runs")
    (out / "runs").write_text("a file")
    before = (out / "report.json").read_bytes()
    assert main(project(), again) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"paper_repro.py: {out / 'runs'}")
    assert (out / "report.json").read_bytes() == before


def test_listing(project, capsys):
    assert main(project(), ["--list"]) == 0
    text = capsys.readouterr().out
    assert "F1L-4" in text
    assert "not tested: not built" in text
    assert main(project(), ["--list", "--only", "V"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("V-1")
    assert "F1L-4" not in text
    assert main(project(), ["--list", "--only", "X"]) == 2
    assert "no claim begins with 'X'" in capsys.readouterr().err


def test_only_what_is_not_tested_runs_nothing(project, tmp_path, capsys):
    assert main(project(), ["--only", "V", "--out", str(tmp_path / "out")]) == 0
    assert "0 PASS, 0 FINDING, 0 FAIL, 1 NOT TESTED" in capsys.readouterr().out
    assert not (tmp_path / "out" / "runs").exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--only", "F9"], "no claim begins with 'F9'; there are F1L-4, V-1"),
        (["--out", "FILE"], "this is a file"),
        (["--out", "FOREIGN"], "holds no report"),
    ],
)
def test_wrong_input(project, tmp_path, capsys, arguments, complaint):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "thesis.tex").write_text("mine")
    places = {"FILE": str(tmp_path / "file"), "FOREIGN": str(tmp_path / "foreign")}
    arguments = [places.get(a, a) for a in arguments]
    if "--out" not in arguments:
        arguments += ["--out", str(tmp_path / "out")]
    assert main(project(), arguments) == 2
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert [path.name for path in (tmp_path / "foreign").iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    "arguments", [["--jobs", "0"], ["--jobs", "x"], ["--quick", "--full"], ["--nonsense"]]
)
def test_wrong_options(project, arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(project(), arguments)
    assert ended.value.code == 2


@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")
def test_an_interrupt_ends_cleanly(project, tmp_path, root):
    """Ctrl-C while runs are being made: code 130, no traceback, no half-written folder, no process left."""
    script = (
        "import sys; from pathlib import Path; from pskit.repro.command import main\n"
        "if __name__ == '__main__': sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))\n"
    )
    (tmp_path / "script.py").write_text(script)
    out = tmp_path / "out"
    command = [
        sys.executable,
        str(tmp_path / "script.py"),
        str(project(clocks=10**6)),
        "--quick",
        "--out",
        str(out),
    ]
    environment = os.environ | {"PYTHONPATH": str(root)}
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    assert process.stderr.readline().startswith("profile quick")
    assert "to make" in process.stderr.readline()
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)
    text, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (
        errors
        == "paper_repro.py: interrupted. 0 of 4 runs are there and will be reused; start again to go on.\n"
    )
    assert text == ""
    assert not out.exists() or not any(path.is_dir() for path in (out / "runs").glob("*"))
