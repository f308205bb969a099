"""The doctor on machines that lack something."""

import multiprocessing
import os
from types import SimpleNamespace

import pytest

from pskit.console import doctor


def finding(what: str) -> doctor.Finding:
    return next(f for f in doctor.examine() if f.what == what)


def test_this_machine_can_run() -> None:
    assert [f for f in doctor.examine() if f.verdict == "bad"] == []


def test_little_shared_memory_is_noted(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(doctor, "SHARED_MEMORY", tmp_path / "none")
    assert finding("shared memory").verdict == "note"
    monkeypatch.setattr(doctor, "SHARED_MEMORY", tmp_path)
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: SimpleNamespace(free=64 << 20))
    assert finding("shared memory")[:3] == ("note", "shared memory", "67.1 MB free")


def test_a_missing_package_is_bad_or_noted(monkeypatch) -> None:
    monkeypatch.setattr(doctor, "_version", lambda name: None)
    assert finding("numba").verdict == "bad"
    assert finding("pandas").verdict == "note"


def test_one_processor_and_no_forkserver(monkeypatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: ["spawn"])
    assert finding("processors").verdict == "note"
    assert "spawn" in finding("start of processes").meaning


@pytest.mark.parametrize("name", doctor.THREAD_VARIABLES)
def test_thread_settings_are_shown(monkeypatch, name: str) -> None:
    monkeypatch.setenv(name, "7")
    assert f"{name}=7" in finding("thread settings").found
