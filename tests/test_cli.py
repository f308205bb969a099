"""The command line end to end, with a small application of the user's own."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import pskit
from pskit import cli
from pskit.config import load_config

APP = '''
import signal

import numpy as np
from pskit import TableSpec


class Toy:
    """Gradient descent on half the squared norm."""

    def tables(self, cfg):
        return [TableSpec("x", 6, 2, "f8")]

    def init(self, ctx):
        ctx.tables["x"][:] = 1.0

    async def work(self, ps):
        table, rows = ps.table("x"), np.arange(6)
        for _ in range(ps.cfg.app.clocks):
            x = await table.get(rows)
            table.inc(rows, await ps.compute(lambda x: -ps.cfg.app.step * x, x, cost=6))
            await ps.clock()

    def objective(self, tables):
        return {"loss": float((tables["x"] ** 2).sum())}


class Interrupted(Toy):
    def objective(self, tables):
        self.calls = getattr(self, "calls", 0) + 1
        if self.calls == 4:
            signal.raise_signal(signal.SIGINT)
        return super().objective(tables)


class Exits(Toy):
    async def work(self, ps):
        await ps.clock()
        raise SystemExit(0)


class Huge(Toy):
    def tables(self, cfg):
        return [TableSpec("x", 10**12, 1)]


class Stopped(Toy):
    def tables(self, cfg):
        raise KeyboardInterrupt
'''
CONFIG = """\
app = {name = "toy_application:Toy", clocks = 12, step = 0.02}
cluster.clients = 3
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with the application and a config; forgets the module afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    Path("toy_application.py").write_text(APP)
    Path("toy.toml").write_text(CONFIG)
    yield tmp_path
    sys.modules.pop("toy_application", None)


def pskit_command(*arguments: str):
    return CliRunner().invoke(cli.app, list(arguments), prog_name="pskit", env={"COLUMNS": "80"})


@pytest.mark.parametrize("command", [[], ["run"], ["report"], ["compare"], ["doctor"], ["bench"]])
def test_help_fits_a_screen(command: list[str]) -> None:
    result = pskit_command(*command, "--help")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80


def test_starting_is_quick() -> None:
    code = (
        "import sys, pskit.cli; "
        "print(sorted({'numba', 'numpy', 'scipy', 'matplotlib', 'pydantic'} & set(sys.modules)))"
    )
    root = Path(pskit.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root)
    assert done.stdout.strip() == "[]", done.stderr


def test_run_writes_a_folder_and_prints_a_summary(folder) -> None:
    result = pskit_command("run", "toy.toml", "--set", "ps.slack=2", "--out", "out/a")
    assert result.exit_code == 0, result.stderr
    manifest = json.loads(Path("out/a/manifest.json").read_text())
    assert manifest["status"] == "finished"
    assert load_config("out/a/config.toml") == load_config("toy.toml", ["ps.slack=2"])
    for text in ("status", "finished", "slack 2", "final loss", "mean age", "messages", "out/a"):
        assert text in result.stdout
    assert manifest["schedule_hash"] in result.stdout
    assert manifest["value_hash"] in result.stdout
    assert result.stderr == ""


def test_the_default_folder_names_what_was_run(folder) -> None:
    assert pskit_command("run", "toy.toml", "--quiet").stdout == ""
    fingerprint = load_config("toy.toml").fingerprint()
    assert Path(f"runs/toy-essp-s8-{fingerprint[:8]}/manifest.json").is_file()
    asp = load_config("toy.toml", ["ps.policy=asp"])
    assert cli.default_folder(Path("x/toy.toml"), asp) == Path(f"runs/toy-asp-{asp.fingerprint()[:8]}")


def test_a_folder_in_use_needs_force(folder) -> None:
    assert pskit_command("run", "toy.toml", "--out", "a", "--quiet").exit_code == 0
    again = pskit_command("run", "toy.toml", "--out", "a")
    assert again.exit_code == 2
    assert again.stderr.startswith("error: a: this folder is not empty")
    forced = pskit_command("run", "toy.toml", "--out", "a", "--force", "--set", "run.seed=5", "--quiet")
    assert forced.exit_code == 0
    assert json.loads(Path("a/manifest.json").read_text())["seed"] == 5


def test_a_diverged_run_ends_with_3(folder) -> None:
    result = pskit_command("run", "toy.toml", "--set", "app.step=9.0", "--out", "a")
    assert result.exit_code == 3
    assert "diverged" in result.stdout
    assert Path("a/manifest.json").is_file()


def test_an_interrupted_run_ends_with_130_and_keeps_its_trace(folder) -> None:
    result = pskit_command("run", "toy.toml", "--set", "app.name=toy_application:Interrupted", "--out", "a")
    assert result.exit_code == 130
    assert result.stderr.strip() == "interrupted; the trace so far is in a"
    assert pskit.open_trace("a").status == "interrupted"
    assert pskit_command("report", "a").exit_code == 0


@pytest.mark.parametrize("debug", [False, True])
def test_a_fault_of_the_application_ends_with_1_and_one_paragraph(folder, debug) -> None:
    name = ("--set", "app.name=toy_application:Exits", "--quiet", *(["--debug"] if debug else []))
    result = pskit_command("run", "toy.toml", *name, "--out", "a")
    assert result.exit_code == 1
    last = result.stderr.strip().splitlines()[-1]
    what = "application 'toy_application:Exits': work() failed, worker 0 at clock 1: SystemExit: 0"
    line = 1 + APP[: APP.index("raise SystemExit")].count("\n")
    hint = "" if debug else " (--debug shows the traceback)"
    assert last == f"error: {what} (toy_application.py, line {line}, in work){hint}"
    assert ("Traceback" in result.stderr) == debug
    assert not Path("a").exists()


def test_what_cannot_fit_ends_with_2(folder) -> None:
    huge = pskit_command("run", "toy.toml", "--set", "app.name=toy_application:Huge")
    assert (huge.exit_code, "at most 2147483647 rows" in huge.stderr) == (2, True)
    Path("wide.toml").write_text('app = {name = "quadratic", dim = 1000000000}')
    wide = pskit_command("run", "wide.toml")
    assert (wide.exit_code, "this run needs about" in wide.stderr) == (2, True)


def test_an_interruption_before_the_start_leaves_nothing(folder) -> None:
    result = pskit_command("run", "toy.toml", "--set", "app.name=toy_application:Stopped", "--out", "a")
    assert result.exit_code == 130
    assert result.stderr.strip() == "interrupted; nothing was written"
    assert not Path("a").exists()


def test_an_interruption_while_saving_tells_the_older_run_from_this_one(folder, monkeypatch) -> None:
    interrupted = ("run", "toy.toml", "--set", "app.name=toy_application:Interrupted", "--out", "a")
    assert pskit_command(*interrupted).exit_code == 130
    before = Path("a/manifest.json").read_bytes()

    def interrupt(path, arrays):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("pskit.trace.store.write_npz", interrupt)
        result = pskit_command(*interrupted, "--force")
    assert result.exit_code == 130
    assert result.stderr.strip() == "interrupted; nothing was written, a has the older run"
    assert Path("a/manifest.json").read_bytes() == before
    again = pskit_command(*interrupted, "--force")
    assert again.stderr.strip() == "interrupted; the trace so far is in a"
    assert Path("a/manifest.json").read_bytes() != before


def test_an_interruption_right_after_saving_says_where_the_trace_is(folder, monkeypatch) -> None:
    real = pskit.run

    def interrupted(*args, **options):
        real(*args, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(pskit, "run", interrupted, raising=False)
    result = pskit_command("run", "toy.toml", "--out", "a")
    assert result.exit_code == 130
    assert result.stderr.strip() == "interrupted; the trace is in a"


@pytest.mark.parametrize("command", ["report", "compare", "audit"])
def test_a_damaged_run_folder_is_wrong_input(folder, command) -> None:
    pskit_command("run", "toy.toml", "--out", "a", "--quiet")
    good = json.loads(Path("a/manifest.json").read_text())
    for key in ("emulated_ns", "status", "layout", "config", "wall_seconds", "workers", "trace"):
        for manifest in ({k: v for k, v in good.items() if k != key}, {**good, key: [7]}):
            Path("a/manifest.json").write_text(json.dumps(manifest))
            result = pskit_command(command, "a", *(["a"] if command == "compare" else []))
            assert result.exit_code == 2, result.output
            assert key in result.stderr
            assert "a: the file manifest.json" in result.stderr
            assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("place", ["/proc/x", "/dev/null/x", "p/" + "n" * 256])
def test_a_place_that_cannot_be_is_refused_before_the_run(folder, place) -> None:
    result = pskit_command("run", "toy.toml", "--set", "app.name=toy_application:Stopped", "--out", place)
    assert result.exit_code == 2
    assert "no folder can be made there" in result.stderr
    assert not Path("p").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "missing.toml"], "error: missing.toml: there is no such config file."),
        (["run", "toy.toml", "--set", "ps.slak=1"], 'did you mean "slack"'),
        (["run", "toy.toml", "--set", "ps.slack"], "KEY=VALUE"),
        (["run", "toy.toml", "--set", "app.name=toy_application:Toi"], "toy_application:Toi"),
        (["run", "toy.toml", "--set", "app.name=no_such_module:Toy"], "no_such_module"),
        (["report", "nowhere"], "nowhere: there is no such run folder"),
        (["compare", "nowhere", "there"], "nowhere: there is no such run folder"),
        (["report", "."], "no run folder"),
        (["bench", "no-such-benchmark"], "benchmark"),
    ],
)
def test_wrong_input_is_one_paragraph_and_2(folder, arguments: list[str], message: str) -> None:
    result = pskit_command(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""


@pytest.mark.parametrize("arguments", [["rum"], ["run"], ["run", "toy.toml", "--sett", "x=1"], ["report"]])
def test_wrong_usage_is_2(arguments: list[str]) -> None:
    assert pskit_command(*arguments).exit_code == 2


def test_debug_shows_the_traceback(folder) -> None:
    plain = pskit_command("run", "toy.toml", "--set", "ps.slak=1")
    debug = pskit_command("run", "toy.toml", "--set", "ps.slak=1", "--debug")
    assert "Traceback" not in plain.stderr
    assert "Traceback" in debug.stderr
    assert debug.stderr.endswith(plain.stderr)


def test_report_and_compare(folder) -> None:
    for policy in ("ssp", "essp"):
        done = pskit_command("run", "toy.toml", "--set", f"ps.policy={policy}", "--out", policy, "--quiet")
        assert done.exit_code == 0
    report = pskit_command("report", "essp")
    assert report.exit_code == 0
    for text in ("age of reads", "differential", "loss", "push", "waiting"):
        assert text in report.stdout
    comparison = pskit_command("compare", "ssp", "essp")
    assert comparison.exit_code == 0
    for text in ("ps.policy", "loss at clock", "final loss", "mean age", "messages", "schedule hash"):
        assert text in comparison.stdout
    assert "app.step" not in comparison.stdout


def test_comparing_a_run_with_itself(folder) -> None:
    pskit_command("run", "toy.toml", "--out", "a", "--quiet")
    result = pskit_command("compare", "a", "./a/")
    assert result.exit_code == 0
    assert "no difference" in result.stdout
    assert [line.split()[-1] for line in result.stdout.splitlines() if "hash" in line] == ["yes", "yes"]


POLICY = """
from pskit.core.policies import ESSP


class Own(ESSP):
    name = "own"
"""


def test_a_policy_of_ones_own_is_found_in_the_working_folder_by_every_command(folder, tmp_path) -> None:
    Path("toy_policy.py").write_text(POLICY)
    Path("toy.toml").write_text(CONFIG + "ps.policy = 'toy_policy:Own'\n")
    command = [sys.executable, "-c", "import sys; sys.path.pop(0); from pskit.cli import main; main()"]
    environment = {**os.environ, "PYTHONPATH": str(Path(pskit.__file__).parents[1]), "COLUMNS": "80"}

    def done(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        ended = subprocess.run([*command, *arguments], capture_output=True, text=True, env=environment)
        assert ended.returncode == code, ended.stderr
        return ended

    done("run", "toy.toml", "--out", "a", "--quiet")
    done("audit", "a")
    done("report", "a")
    done("compare", "a", "a")
    Path("elsewhere").mkdir()
    ended = subprocess.run(
        [*command, "run", "../toy.toml"], capture_output=True, text=True, env=environment, cwd="elsewhere"
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith('error: ../toy.toml, line 3: ps.policy = "toy_policy:Own": no policy')
    assert "modules are looked for where Python does (PYTHONPATH), then in the working folder" in ended.stderr


def test_the_working_folder_is_the_last_place_to_look_in(folder, monkeypatch) -> None:
    monkeypatch.setattr(sys, "path", ["first"])
    pskit_command("report", "nowhere")
    pskit_command("report", "nowhere")
    assert sys.path == ["first", str(folder)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("app.data=nope.csv", "error: app.data = \"nope.csv\": no ratings file 'nope.csv'"),
        (
            "app.data=bad.csv",
            "error: app.data = \"bad.csv\": ratings file 'bad.csv', line 2: the item id 'x'",
        ),
    ],
)
def test_what_is_wrong_with_a_file_names_its_key(folder, given, message) -> None:
    Path("bad.csv").write_text("1,2,3\n1,x,3\n")
    result = pskit_command("run", "toy.toml", "--set", "app.name=mf", "--set", given, "--out", "a")
    assert result.exit_code == 2
    assert result.stderr.startswith(message)
    assert not Path("a").exists()


def test_losses_side_by_side_are_those_of_evaluated_clocks(folder) -> None:
    for name, every in (("often", 1), ("seldom", 4)):
        done = pskit_command("run", "toy.toml", "--set", f"run.eval_every={every}", "--out", name, "--quiet")
        assert done.exit_code == 0
    table = pskit_command("compare", "often", "seldom").stdout.split("loss at clock")[1].split("identical")[0]
    rows = [line.split() for line in table.splitlines() if line.strip()[:1].isdigit()]
    assert [int(row[0]) for row in rows] == [0, 4, 8, 12]
    assert all(one == other for _, one, other in rows)
    report = pskit_command("report", "seldom").stdout
    assert re.search(r"^evaluations +4, the last at clock 12$", report, re.MULTILINE)


def test_doctor() -> None:
    result = pskit_command("doctor")
    assert result.exit_code == 0
    for text in ("Python", "processors", "memory", "shared memory", "numba", "thread settings"):
        assert text in result.stdout
    assert {line.split()[0] for line in result.stdout.splitlines()} <= {"ok", "note", "bad"}


BENCHMARK = '''
"""Two numbers."""

from pskit.console.bench import Ratio

SECONDS = 7


def measure():
    return [Ratio("one / other", 2.0, 1.5, 2.5, ">= 1.8", True), Ratio("other / one", 0.5, 0.4, 0.6)]
'''


def test_bench(folder, monkeypatch) -> None:
    place = folder / "benchmarks"
    place.mkdir()
    (place / "two.py").write_text(BENCHMARK)
    (place / "_shared.py").write_text("raise AssertionError")
    monkeypatch.setattr("pskit.console.bench.FOLDER", place)
    result = pskit_command("bench", "two", "--json", "out.json")
    assert result.exit_code == 0, result.stderr
    assert "one / other: 2 (1.5 to 2.5)  target >= 1.8  met" in result.stdout
    assert result.stderr == "two: about 7 s on two idle cores\n"
    ratios = json.loads(Path("out.json").read_text())["benchmarks"]["two"]["ratios"]
    assert [ratio["value"] for ratio in ratios] == [2.0, 0.5]
    assert "one / other" in pskit_command("bench").stdout
    wrong = pskit_command("bench", "tow")
    assert wrong.exit_code == 2
    assert 'did you mean "two"?' in wrong.stderr
