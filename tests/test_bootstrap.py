"""bootstrap.py with made-up installers; the real installation is the test marked slow."""

import ast
import os
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest

import bootstrap

ROOT = Path(__file__).parent.parent
PYPROJECT = """
dependencies = [
    "numpy>=2.0",
    "typing-extensions>=4",
]

[project.optional-dependencies]
test = [
    "hypothesis>=6.100",
]
dev = [
    "ruff>=0.12",
]
"""
PINS = {"numpy": "2.4.6", "typing_extensions": "4.16.0", "hypothesis": "6.170.17", "ruff": "0.17.6"}


class Machine:
    """A project folder and stand-ins for the commands that set-up runs."""

    def __init__(self, root, monkeypatch):
        self.root = root
        self.environment = bootstrap.Environment(str(root))
        self.monkeypatch = monkeypatch
        self.site = Path(self.environment._folders()[0])
        self.commands = []
        self.broken = {}
        self.pins = dict(PINS)
        (root / "pyproject.toml").write_text(PYPROJECT)
        (root / "constraints.txt").write_text("numpy==2.4.6\n")
        self.uv_is_there = False
        monkeypatch.setattr(bootstrap, "ROOT", str(root))
        monkeypatch.setattr(bootstrap, "run", self.run)
        monkeypatch.setattr("shutil.which", lambda name: "uv" if name == "uv" and self.uv_is_there else None)
        monkeypatch.setattr(os, "execv", self.execv)
        monkeypatch.setattr(sys, "orig_argv", ["python3", "-X", "dev", "-m", "tests", "-k", "a b"])
        monkeypatch.setattr(sys, "path", self.bare_path())

    def bare_path(self):
        """sys.path of a Python with nothing installed."""
        return [folder for folder in sys.path if "-packages" not in folder]

    def run(self, command, log):
        """Do on disk what the command would do, or fail as told."""
        step = "venv" if "venv" in command else "project" if "--editable" in command else "packages"
        tool = "uv" if command[0] == "uv" or "--without-pip" in command else "pip"
        self.commands.append(f"{tool} {step}")
        if (error := self.broken.pop(f"{tool} {step}", None)) is not None:
            raise error
        if step == "venv":
            put(self.environment.python)
        if step == "packages":
            assert command[command.index("--constraint") + 1] == str(self.root / "constraints.txt")
            for name, version in self.pins.items():
                self.add(name, version)

    def add(self, name, version):
        put(self.site / f"{name}-{version}.dist-info" / "METADATA")

    def enter(self):
        """From now on this process is the environment's interpreter."""
        self.monkeypatch.setattr(sys, "prefix", self.environment.path)
        self.monkeypatch.setattr(sys, "path", [str(self.site), *self.bare_path()])

    def execv(self, python, command):
        raise Restarted(python, command)


class Restarted(Exception):
    """os.execv was called; a real one does not return."""


def put(path):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).touch()


@pytest.fixture
def machine(tmp_path, monkeypatch):
    return Machine(tmp_path, monkeypatch)


def stamp(machine):
    return Path(machine.environment.stamp).read_text()


def test_requirement_lists_are_those_of_the_real_parser():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for name, expected in {"dependencies": project["dependencies"], **extras}.items():
        assert bootstrap.requirements(str(ROOT), name) == expected


def test_every_requirement_is_pinned():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    for requirement in chain(project["dependencies"], *project["optional-dependencies"].values()):
        name, bound = requirement.split(">=")
        assert bootstrap.release(pins[name]) >= bootstrap.release(bound)


@pytest.mark.parametrize(
    ("version", "expected"),
    [("2.4.6", (2, 4, 6)), ("4", (4,)), ("1.0rc1", (1, 0)), ("2026.9.1.post1", (2026, 9, 1)), ("", ())],
)
def test_release(version, expected):
    assert bootstrap.release(version) == expected


def test_missing_knows_names_versions_and_precedence(tmp_path):
    for entry in ("a/Foo_Bar-1.10.dist-info", "a/old-0.9.egg-info", "b/old-2.0.dist-info", "b/notes.txt"):
        put(tmp_path / entry)
    folders = [str(tmp_path / name) for name in ("a", "b", "no-such-folder")]
    assert bootstrap.missing(folders, ["foo-bar>=1.9", "old>=1", "absent>=0"]) == ["old", "absent"]


def test_nothing_happens_where_the_dependencies_are(machine, monkeypatch, capsys):
    for name, version in PINS.items():
        put(machine.root / "site" / f"{name}-{version}.dist-info")
    monkeypatch.setattr(sys, "path", [str(machine.root / "site"), *machine.bare_path()])
    bootstrap.ensure("test")
    assert machine.commands == []
    assert not Path(machine.environment.path).exists()
    assert capsys.readouterr() == ("", "")


def test_the_fast_path_imports_nothing(tmp_path):
    code = """
import sys
before = set(sys.modules)
import bootstrap
bootstrap.ensure("test")
print(*set(sys.modules) - before)
"""
    for requirement in bootstrap.requirements(str(ROOT), "dependencies", "test"):
        put(tmp_path / f"{requirement.replace('>=', '-')}.dist-info")
    for name in ("bootstrap.py", "pyproject.toml"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environ, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["bootstrap"]


@pytest.mark.parametrize("tool", ["pip", "uv"])
def test_a_bare_machine_gets_an_environment_and_the_same_command(machine, tool, capsys):
    machine.uv_is_there = tool == "uv"
    with pytest.raises(Restarted) as restart:
        bootstrap.ensure("test")
    assert machine.commands == [f"{tool} venv", f"{tool} packages", f"{tool} project"]
    python = machine.environment.python
    assert restart.value.args == (python, [python, "-X", "dev", "-m", "tests", "-k", "a b"])
    said = capsys.readouterr().err
    assert f"by {tool}" in said
    assert len(said.splitlines()) == 2


def test_a_finished_environment_is_used_again(machine, capsys):
    for _ in range(2):
        with pytest.raises(Restarted):
            bootstrap.ensure("test")
    assert len(machine.commands) == 3
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_inside_the_finished_environment_nothing_happens(machine):
    with pytest.raises(Restarted):
        bootstrap.ensure("test")
    machine.enter()
    bootstrap.ensure("test")
    assert len(machine.commands) == 3


@pytest.mark.parametrize("step", ["pip venv", "pip packages", "pip project"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), bootstrap.StepError("pip", ["no network"])])
def test_an_environment_left_half_made_is_never_believed(machine, step, error):
    machine.broken[step] = error
    with pytest.raises(SystemExit) as end:
        bootstrap.ensure("test")
    assert end.value.code == (130 if isinstance(error, KeyboardInterrupt) else 2)
    assert stamp(machine) == "unfinished\n"
    leftover = Path(machine.environment.path) / "leftover" / "file"
    put(leftover)
    # Not even by a process that runs in it and finds all packages there.
    for name, version in PINS.items():
        machine.add(name, version)
    machine.enter()
    machine.commands.clear()
    with pytest.raises(Restarted):
        bootstrap.ensure("test")
    assert machine.commands == ["pip venv", "pip packages", "pip project"]
    assert not leftover.exists()


def test_a_kill_between_folder_and_stamp_leaves_something_to_build_on(machine):
    Path(machine.environment.path).mkdir()
    with pytest.raises(Restarted):
        bootstrap.ensure("test")


@pytest.mark.parametrize("change", ["pins", "python", "place", "interpreter gone", "package gone"])
def test_an_environment_for_something_else_is_rebuilt(machine, change, monkeypatch):
    with pytest.raises(Restarted):
        bootstrap.ensure("test")
    if change == "pins":
        (machine.root / "constraints.txt").write_text("numpy==2.4.7\n")
    elif change == "python":
        text = stamp(machine).replace(sys.implementation.cache_tag, "cpython-39")
        Path(machine.environment.stamp).write_text(text)
    elif change == "place":
        moved = machine.root.with_name("moved")
        machine.root.rename(moved)
        monkeypatch.setattr(bootstrap, "ROOT", str(moved))
        machine.root, machine.environment = moved, bootstrap.Environment(str(moved))
        machine.site = Path(machine.environment._folders()[0])
    elif change == "interpreter gone":
        Path(machine.environment.python).unlink()
    else:
        (machine.site / "numpy-2.4.6.dist-info").rename(machine.root / "numpy")
    machine.commands.clear()
    with pytest.raises(Restarted):
        bootstrap.ensure("test")
    assert machine.commands == ["pip venv", "pip packages", "pip project"]


def test_somebody_elses_environment_is_left_alone(machine, capsys):
    theirs = Path(machine.environment.path) / "bin" / "precious"
    put(theirs)
    with pytest.raises(SystemExit) as end:
        bootstrap.ensure("test")
    assert end.value.code == 2
    assert "was not made by this script" in capsys.readouterr().err
    assert [path.name for path in theirs.parent.parent.rglob("*")] == ["bin", "precious"]


def test_pip_is_tried_when_uv_fails(machine, capsys):
    machine.uv_is_there = True
    machine.broken["uv packages"] = bootstrap.StepError("uv", ["no route to the index"])
    with pytest.raises(Restarted):
        bootstrap.ensure("test")
    assert machine.commands == ["uv venv", "uv packages", "pip venv", "pip packages", "pip project"]
    assert "no route to the index" in capsys.readouterr().err


def test_a_failure_shows_the_command_its_last_lines_and_the_log(machine, capsys):
    machine.broken["pip packages"] = bootstrap.StepError(
        "pip install things", ["line one", "no such package"]
    )
    with pytest.raises(SystemExit):
        bootstrap.ensure("test")
    said = capsys.readouterr().err
    for part in ("pip install things", "no such package", machine.environment.log):
        assert part in said


def test_a_folder_that_cannot_be_written_is_a_message(machine, monkeypatch, capsys):
    def refuse(path, exist_ok):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "makedirs", refuse)
    with pytest.raises(SystemExit) as end:
        bootstrap.ensure("test")
    assert end.value.code == 2
    assert "Permission denied" in capsys.readouterr().err


def test_constraints_that_lack_a_requirement_do_not_loop(machine, capsys):
    del machine.pins["hypothesis"]
    with pytest.raises(SystemExit) as end:
        bootstrap.ensure("test")
    assert end.value.code == 2
    assert "hypothesis" in capsys.readouterr().err


def test_run_keeps_the_output_and_raises_its_tail(tmp_path):
    log = tmp_path / "log"
    bootstrap.run([sys.executable, "-c", "print('fine')"], str(log))
    with pytest.raises(bootstrap.StepError) as failure:
        bootstrap.run([sys.executable, "-c", "print('first'); raise SystemExit('last')"], str(log))
    assert sorted(failure.value.tail) == ["first", "last"]
    assert "fine" in log.read_text()
    with pytest.raises(bootstrap.StepError):
        bootstrap.run([str(tmp_path / "no-such-command")], str(log))


@pytest.mark.parametrize("newer", [None, "python3.12"])
def test_an_old_python_is_told_what_to_do(newer, monkeypatch, capsys):
    def call(command, **pipes):
        return 0 if command[0] == newer else 127  # a version manager's shim for a version it has not

    monkeypatch.setattr("shutil.which", lambda name: name)
    monkeypatch.setattr(subprocess, "call", call)
    with pytest.raises(SystemExit) as end:
        bootstrap.refuse_old_python((3, 9))
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert "3.9" in said
    assert (newer or "Install a newer one") in said


@pytest.mark.parametrize("name", ["bootstrap.py", "paper_repro.py", "tests/__init__.py", "tests/__main__.py"])
def test_what_an_old_python_sees_is_in_its_grammar(name):
    source = (ROOT / name).read_text()
    ast.parse(source, feature_version=(3, 7))
    assert "from __future__ import annotations" not in source


@pytest.mark.slow
def test_from_a_bare_python_to_running_tests(tmp_path):
    """The real thing: needs the package index and about a minute."""
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    tree = tmp_path / "tree"
    for name in ("pskit", "theory", "tests"):
        (tree / name).mkdir(parents=True)
        (tree / name / "__init__.py").write_text('__version__ = "0"\n')
    (tree / "tests" / "test_it.py").write_text("def test_it():\n    import numpy, pskit\n")
    for name in (
        "bootstrap.py",
        "pyproject.toml",
        "constraints.txt",
        "README.md",
        "LICENSE",
        "NOTICE",
        "tests/__main__.py",
    ):
        (tree / name).write_bytes((ROOT / name).read_bytes())
    python = bare / ("Scripts" if os.name == "nt" else "bin") / "python"
    command = [str(python), "-m", "tests", "-q", "-p", "no:cacheprovider"]
    first = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    assert first.returncode == 0, first.stdout + first.stderr
    assert "1 passed" in first.stdout
    assert "bootstrap: making .venv" in first.stderr
    second = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    assert (second.returncode, second.stderr) == (0, "")
    own = bootstrap.Environment(str(tree))
    listing = bootstrap.installed(own._folders())
    pins = dict(
        line.split("==") for line in (tree / "constraints.txt").read_text().splitlines() if "==" in line
    )
    unpinned = set(listing) - set(pins) - {"pip", "setuptools", "pskit-emulator"}
    assert not unpinned
    assert not {name for name, version in listing.items() if pins.get(name, version) != version}
