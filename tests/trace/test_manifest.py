import json

import pytest

from pskit.trace import machine
from pskit.trace.hashing import code_fingerprint, run_value_hash
from pskit.trace.manifest import layout_of
from tests.trace.synthetic import LAYOUT, make_run

KEYS = {
    "status",
    "config",
    "fingerprint",
    "code",
    "seed",
    "schedule_hash",
    "value_hash",
    "workers",
    "layout",
    "trace",
    "command",
    "created",
    "wall_seconds",
    "memory",
    "git",
    "versions",
    "threads",
    "machine",
}


def test_a_manifest_says_everything_in_plain_json():
    run = make_run(4)
    manifest = run["manifest"]
    assert set(manifest) == KEYS | {"emulated_ns"}  # pskit.run adds it
    assert json.loads(json.dumps(manifest, allow_nan=False)) == manifest
    assert manifest["code"] == code_fingerprint()
    assert manifest["value_hash"] == run_value_hash(run["tables"], run["columns"]["metrics"])
    assert manifest["memory"] == {"estimate_bytes": 1000, "peak_bytes": None}
    assert manifest["trace"]["mode"] == "summary"
    assert manifest["trace"]["sampling"]["reads"]["total"] == run["columns"]["read_totals"]["rows"].sum()


def test_the_layout_comes_back():
    described = json.loads(json.dumps(make_run()["manifest"]))
    layout = layout_of(described)
    assert layout.tables == LAYOUT.tables
    assert layout.shards == LAYOUT.shards


def test_an_unknown_status_is_refused():
    with pytest.raises(ValueError, match="status"):
        make_run(status="lost")


def test_the_machine_is_described_without_its_name():
    described = machine.machine()
    assert described["cpu"]
    assert described["llvm_cpu"]
    assert isinstance(described["cpu_features"]["found"], list)
    assert machine.platform.node() not in json.dumps(described).split('"')


def test_versions_and_threads_are_there(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    assert machine.threads()["OMP_NUM_THREADS"] == "7"
    assert machine.threads()["MKL_NUM_THREADS"] is None
    assert machine.threads()["numba"] >= 1
    monkeypatch.setattr(machine, "PACKAGES", ("numpy", "not-a-package-at-all"))
    found = machine.versions()
    assert found["numpy"]
    assert found["not-a-package-at-all"] is None


def test_the_commit_is_unknown_without_git(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert machine.git_commit.__wrapped__() == {"commit": None, "dirty": None}


@pytest.mark.parametrize(("changes", "dirty"), [("", False), (" M recorder.py\n", True)])
def test_the_commit_says_whether_the_code_differs_from_it(monkeypatch, changes, dirty):
    answers = {"ls-files": "machine.py\n", "rev-parse": "abc123\n", "status": changes}
    monkeypatch.setattr(machine, "_git", lambda folder, command, *_: answers[command])
    assert machine.git_commit.__wrapped__() == {"commit": "abc123", "dirty": dirty}


def test_a_repository_of_somebody_else_does_not_count(monkeypatch):
    answers = {"ls-files": None, "rev-parse": "abc123\n", "status": ""}
    monkeypatch.setattr(machine, "_git", lambda folder, command, *_: answers[command])
    assert machine.git_commit.__wrapped__() == {"commit": None, "dirty": None}


def test_an_unknown_processor_is_no_error(monkeypatch):
    monkeypatch.setattr(machine.platform, "processor", lambda: "")

    class Missing:
        def __init__(self, _):
            pass

        def read_text(self, **_):
            raise FileNotFoundError

    monkeypatch.setattr(machine, "Path", Missing)
    assert machine._cpu_model() == "unknown"
