"""`pskit explore`, and `pskit report` of what it found."""

import io
import json

import pytest
from rich.console import Console
from typer.testing import CliRunner

from pskit import cli
from pskit.console import explore as shown
from pskit.errors import InputError
from pskit.explore import Progress, System, explore
from tests.explore.mutants import MUTANTS

LAX = next(m for m in MUTANTS if m.name == "one clock too lax")
SMALL = ["explore", "--policy", "ssp", "--slack", "0", "--shards", "1", "--clocks", "1"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *args: CliRunner().invoke(cli.app, list(args))


def test_a_system_without_a_violation(run, tmp_path):
    result = run(*SMALL)
    assert result.exit_code == 0, result.output
    assert "ssp, slack 0; 2 clients x 1 workers, 1 shards x 1 rows; 1 clocks" in result.output
    verdict = explore(System("ssp", slack=0, shards=1, clocks=1))
    names = "(states that differ in names only count once: 2 ways)"
    assert f"{verdict.states} states {names}, {verdict.transitions} transitions" in result.output
    assert "no violation, and from each the end is reached" in result.output
    assert list(tmp_path.iterdir()) == []


def test_a_violation_is_shown_saved_and_shown_again(run, tmp_path):
    with LAX.planted():
        result = run(*SMALL, "--trace", "lax.json")
        assert result.exit_code == cli.FAILED
        again = run("report", "lax.json")
    assert "violation: InvariantBroken: SSP guarantee" in result.output
    assert "3  shard 0 to client 0: arrives: reply with rows [0]" in result.output
    assert "saved as lax.json; `pskit report lax.json` shows it again" in result.output
    assert json.loads((tmp_path / "lax.json").read_text())["steps"][0]["event"] == "worker 0 goes on"
    assert again.exit_code == 0
    assert "5  worker 0 goes on: GET of rows [0]" in again.output
    assert "SSP guarantee" in again.output
    assert "no violation" in run("report", "lax.json").output  # by the core as it is


def test_a_search_that_gives_up(run):
    result = run("explore", "--max-states", "100")
    assert result.exit_code == 0
    assert "given up before the end (--max-states): no violation so far" in result.output


def test_all_that_can_be_asked_for(run):
    flags = ["--deltas", "--evictions", "--lossy"]
    sizes = ["--capacity", "1", "--clients", "1", "--threads", "2", "--rows", "2", "--shards", "1"]
    result = run("explore", "--leave", "0:0", "--script", "1:I0 L", "--max-states", "50", *flags, *sizes)
    assert result.exit_code == 0, result.output
    assert (
        "essp with deltas, slack 1; 1 clients x 2 workers, 1 shards x 2 rows; 2 clocks; caches of 1 rows;"
        " evictions; lossy; worker 0: G0,1 L; worker 1: I0 L\n"
    ) in result.output


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--policy", "sap"], "no policy 'sap'"),
        (["--v0", "1"], "v0: policy 'essp' has no gate"),
        (["--policy", "vap", "--variant", "sum"], "variant must be one of aggregate, per_worker"),
        (["--policy", "bsp", "--slack", "1"], "takes no slack"),
        (["--leave", "0"], "--leave '0': expected WORKER:CLOCKS, such as 0:1"),
        (["--leave", "0:x"], "expected WORKER:CLOCKS"),
        (["--script", "C L"], "--script 'C L': expected WORKER:SCRIPT, such as 0:C L"),
        (["--leave", "0:1", "--script", "0:L"], "worker 0 has a script already"),
        (["--leave", "2:1"], r"there are no workers [2]: the workers are 0 to 1"),
        (["--script", "0:G0"], "must be L"),
    ],
)
def test_wrong_input(run, args, message):
    result = run("explore", *args)
    assert result.exit_code == cli.WRONG_INPUT
    assert message in result.stderr


def test_a_file_that_is_no_trace(run, tmp_path):
    (tmp_path / "x.json").write_text("no")
    result = run("report", "x.json")
    assert result.exit_code == cli.WRONG_INPUT
    assert "x.json is no explorer trace" in result.stderr


def test_progress_is_a_line_every_few_seconds():
    times = iter([0.0, 1.0, 6.0, 7.0])
    out = io.StringIO()
    with shown.showing_search(Console(file=out), clock=lambda: next(times)) as show:
        for states in (10, 2000, 3000):
            show(Progress(states, states // 2, 3 * states, 7))
    assert out.getvalue() == "2,000 states, 1,000 ahead, 6,000 transitions, depth 7, 6 s\n"


def test_scripts_by_worker():
    assert shown.scripts_of(["1:2"], ["0:C L"], 2, 1, 2, 1) == {
        0: "C L",
        1: "G0,1 I0,1 C G0,1 I0,1 C G0,1 L",
    }
    assert (
        shown.described(System("bsp")) == "bsp, slack 0; 2 clients x 1 workers, 2 shards x 1 rows; 2 clocks"
    )
    with pytest.raises(InputError, match="no workers"):
        shown.scripts_of(["9:2"], [], 2, 1, 2, 1)
