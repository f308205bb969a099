"""Files and overrides: what is read, and messages that name file, line, key, value and what is allowed."""

import subprocess
import sys
from pathlib import Path

import pytest

from pskit.config import Config, load_config
from pskit.config.load import parse_override
from pskit.errors import InputError

FLAGSHIP = Path(__file__).parents[2] / "experiments" / "mf.toml"


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write_config(text: str, encoding: str = "utf-8") -> str:
        Path("run.toml").write_bytes(text.encode(encoding))
        return "run.toml"

    return write_config


def message_of(path: str, *overrides: str) -> str:
    with pytest.raises(InputError) as caught:
        load_config(path, overrides)
    return str(caught.value)


def test_the_flagship_experiment() -> None:
    cfg = load_config(FLAGSHIP)
    assert (cfg.app.name, cfg.app.step, cfg.app.clock_fraction) == ("mf", 0.005, 0.1)
    assert (cfg.ps.policy, cfg.ps.slack, cfg.workers) == ("essp", 8, 16)


@pytest.mark.parametrize("policy", ["bsp", "ssp", "essp", "asp"])
def test_the_flagship_experiment_serves_every_policy(policy: str) -> None:
    assert load_config(FLAGSHIP, [f"ps.policy={policy}"]).ps.policy == policy


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_files_of_other_systems(write, newline: str, encoding: str) -> None:
    path = write(newline.join(["[ps]", "slack = 3", "[app]", 'data = "é"', ""]), encoding)
    cfg = load_config(path)
    assert (cfg.ps.slack, cfg.app.data) == (3, "é")


def test_an_empty_file_is_all_defaults(write) -> None:
    assert load_config(write("")) == Config()


def test_what_is_written_loads_as_equal(write) -> None:
    cfg = Config(
        preset="straggler",
        app={"name": "my.module:App", "options": {"depth": 3, "names": ["a", "b"], "deep": {"x": 1.5}}},
        ps={"policy": "asp", "shards": 3},
        network={
            "links": [{"src": "client:1", "dst": "shard:*", "latency": {"model": "constant", "mean": "1ms"}}]
        },
    )
    again = load_config(write(cfg.to_toml()))
    assert again == cfg
    assert again.fingerprint() == cfg.fingerprint()


def test_overrides_win_over_the_file_and_the_preset(write) -> None:
    path = write('preset = "exponential"\n[ps]\nslack = 3\n[compute]\nmean = "2s"\n')
    cfg = load_config(path, ["ps.slack=5", "network.latency.mean=5ms", "app.biases=true", "ps.slack=6"])
    assert (cfg.ps.slack, cfg.network.latency.mean, cfg.app.biases) == (6, 5_000_000, True)
    assert cfg.compute.mean == 2 * 10**9
    assert load_config(path, ["preset=near-equal"]).compute.floor == 10**9
    assert (
        load_config(path, ["compute.low=1s", "compute.high=2s", "compute.model=uniform"]).compute.low == 10**9
    )
    slow = load_config(path, ["compute.stragglers=[{worker=1, factor=3.0}]"]).compute.stragglers
    assert [s.worker for s in slow] == [1]


@pytest.mark.parametrize(
    ("assignment", "keys", "value"),
    [
        ("ps.slack=8", ["ps", "slack"], 8),
        ("app.step=1e-3", ["app", "step"], 1e-3),
        ("app.biases=true", ["app", "biases"], True),
        ("compute.mean=5ms", ["compute", "mean"], "5ms"),
        ('compute.mean="5ms"', ["compute", "mean"], "5ms"),
        ("app.data=a=b", ["app", "data"], "a=b"),
        ("app.data=", ["app", "data"], ""),
        ("app.data= some words ", ["app", "data"], "some words"),
        (" ps . slack = 8", ["ps", "slack"], 8),
        ("run.seed=1\nx=2", ["run", "seed"], "1\nx=2"),
        ("x=" + "[" * 5000, ["x"], "[" * 5000),
    ],
)
def test_an_override_is_toml_or_else_text(assignment: str, keys: list[str], value: object) -> None:
    assert parse_override(assignment) == (keys, value)


@pytest.mark.parametrize("assignment", ["ps.slack", "=3", "ps..slack=3", ".=1", ""])
def test_an_override_needs_key_and_value(write, assignment: str) -> None:
    assert "KEY=VALUE" in message_of(write(""), assignment)


FILE = """\
[ps]
policy = "ssp"
slack = 3

[compute]
mean = "1s"
stragglers = [
    {worker = 5, factor = 2.0},
]
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[ps]\nslak = 8\n",
            'run.toml, line 2: ps.slak = 8: unknown key "slak"; did you mean "slack"? '
            "Allowed: policy, slack, shards, cache_rows, push, v0, v_schedule, vap_variant.",
        ),
        (
            "[ps]\npolicy = 'ssp'\nslack = -1\n",
            "run.toml, line 3: ps.slack = -1: must be at least 0. "
            "slack is the bound on the staleness in clocks, 0 or more.",
        ),
        (
            "\n\nps.policy = 'spp'\n",
            'run.toml, line 3: ps.policy = "spp": unknown policy; did you mean "ssp"? '
            "Allowed: bsp, ssp, essp, asp, vap, module:Class.",
        ),
        (
            '[compute]\nmean = "5mss"\n',
            'run.toml, line 2: compute.mean = "5mss": "mss" is no unit of a time; did you mean "5ms"? '
            "Units: ns, us, ms, s, min, h.",
        ),
        ("[app]\nstep = nan\n", "run.toml, line 2: app.step = nan: must be a finite number."),
        ("[ps]\npolicy = 'asp'\nslack = 1\n", "run.toml, line 3: ps.slack = 1: the policy "),
        (
            "[clutser]\nclients = 3\n",
            'run.toml, line 1: clutser: unknown key "clutser"; did you mean "cluster"?',
        ),
        (
            "[[compute.pauses]]\nat = '1s'\nduration = '1s'\n",
            "run.toml, line 1: compute.pauses[0].worker: this",
        ),
        ("[run]\nseed = 2020-01-01\n", "run.toml, line 2: run.seed = 2020-01-01: must be text, a number"),
        ("[run]\nseed = " + "9" * 30, "run.toml, line 2: run.seed"),
        ("[run]\nseed = " + "9" * 5000, "run.toml: not valid TOML"),
        ("x = " + "[" * 100_000, "run.toml: not valid TOML"),
        ("[compute]\n# here\nmean = 5ms\n", "run.toml, line 3: not valid TOML: Expected newline"),
        ("[compute]\nmean = 5ms # slow\n", 'Values with a unit need quotes: "5ms".'),
        ("[ps]\nslack = 1\nslack = 2\n", "run.toml, line 3: not valid TOML: Cannot overwrite a value"),
        ("[ps", "run.toml, line 1: not valid TOML"),
        ("a = [1,\n2", "run.toml, line 2: not valid TOML"),
    ],
)
def test_the_message_names_file_line_key_and_value(write, text: str, message: str) -> None:
    assert message_of(write(text)).startswith(message) or message in message_of(write(text))


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("ps.slack=-8", "--set ps.slack=-8: ps.slack = -8: must be at least 0."),
        ("ps.slak=8", '--set ps.slak=8: ps.slak = 8: unknown key "slak"; did you mean "slack"?'),
        ("slack=8", '--set slack=8: slack = 8: unknown key "slack"; did you mean "ps.slack"?'),
        ("clustr.clients=8", '--set clustr.clients=8: clustr: unknown key "clustr"; did you mean "cluster"?'),
        ("app.step=nan", "--set app.step=nan: app.step = nan: must be a finite number."),
        ("ps=3", "--set ps=3: ps = 3: must be a table."),
        (
            "compute.mean=5",
            '--set compute.mean=5: compute.mean = 5: a time needs a unit, such as "5ms" or "1s".',
        ),
        # The override is right and the file is not any more: the message points into the file.
        ("cluster.clients=4", "run.toml, line 7: compute.stragglers[0].worker = 5: there is no such worker;"),
        (
            "compute.model=uniform",
            '--set compute.model=uniform: compute.model = "uniform": low is missing: the',
        ),
        ("ps.slack=x", '--set ps.slack=x: ps.slack = "x": must be a whole number.'),
    ],
)
def test_the_message_names_the_override(write, override: str, message: str) -> None:
    assert message_of(write(FILE), override).startswith(message)


def test_overrides_that_contradict_each_other(write) -> None:
    assert "another override has set ps to a value" in message_of(write(""), "ps=3", "ps.slack=3")


def test_files_that_cannot_be_read(write, tmp_path) -> None:
    write("")
    assert message_of("rum.toml") == "rum.toml: there is no such config file. The folder has: run.toml."
    assert "no such config file." in message_of("nowhere/run.toml")
    assert "cannot be read" in message_of(str(tmp_path))
    Path("binary.toml").write_bytes(b"\xff\xfe\x00")
    assert "not a text file in UTF-8" in message_of("binary.toml")


def test_loading_a_config_imports_nothing_slow() -> None:
    code = (
        "import sys, pskit.config; "
        "print(sorted({'numba', 'scipy', 'matplotlib', 'rich', 'typer'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=FLAGSHIP.parents[1]
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_a_file_for_the_live_runtime_serves_virtual_time_too(write) -> None:
    path = write('[run]\nruntime = "live"\ntime_scale = 0.5\n')
    assert load_config(path).run.time_scale == 0.5
    assert load_config(path, ["run.runtime=sim"]) == Config()


def test_an_experiment_of_the_reproduction_is_named_as_such(tmp_path):
    file = tmp_path / "family.toml"
    file.write_text('title = "t"\n[seeds]\nquick = 1\n[base.app]\nstep = 1.0\n[[sweeps]]\nseconds = 1\n')
    with pytest.raises(
        InputError, match=r"family.toml: this is an experiment of paper_repro.*seeds and sweeps"
    ):
        load_config(file)
