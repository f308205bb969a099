import hashlib
from pathlib import Path

import numpy as np
import pytest

from pskit.trace import hashing
from pskit.trace.hashing import code_fingerprint, file_sha256, run_value_hash, source_fingerprint, value_hash


def test_value_hash_is_over_little_endian_tables_then_losses():
    a, b = np.array([[1.5, -2.0]], np.float32), np.array([[3], [4]], np.int64)
    raw = a.astype("<f4").tobytes() + b.astype("<i8").tobytes() + np.array([0.5], "<f8").tobytes()
    assert value_hash([a, b], np.array([0.5])) == hashlib.sha256(raw).hexdigest()
    assert value_hash([a.astype(">f4"), b.astype(">i8")], np.array([0.5], ">f8")) == value_hash(
        [a, b], np.array([0.5])
    )
    assert value_hash([np.asfortranarray(np.ones((2, 3)) * [1, 2, 3])], np.zeros(0)) == value_hash(
        [np.ones((2, 3)) * [1, 2, 3]], np.zeros(0)
    )


def test_the_value_hash_of_a_run_takes_final_tables_and_losses_only():
    final = {"final:U": np.ones((2, 2)), "final:V": np.zeros((1, 2))}
    metrics = {"name": np.array(["loss", "test_loss", "loss"]), "value": np.array([3.0, 9.0, 2.0])}
    got = run_value_hash({"initial:U": np.zeros((2, 2)), **final}, metrics)
    assert got == value_hash(final.values(), np.array([3.0, 2.0]))


@pytest.fixture
def sources(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "sub" / "b.py").write_text("y = 2\n")
    return tmp_path


@pytest.mark.parametrize(
    "change",
    [
        lambda p: (p / "a.py").write_text("x = 2\n"),
        lambda p: (p / "sub" / "c.py").write_text(""),
        lambda p: (p / "sub" / "b.py").unlink(),
        lambda p: (p / "a.py").rename(p / "sub" / "a.py"),
    ],
)
def test_the_code_fingerprint_sees_each_source_file(sources, change):
    before = source_fingerprint(sources)
    change(sources)
    assert source_fingerprint(sources) != before


def test_the_code_fingerprint_sees_sources_only(sources):
    before = source_fingerprint(sources)
    (sources / "notes.txt").write_text("x")
    (sources / "__pycache__").mkdir()
    (sources / "__pycache__" / "a.pyc").write_bytes(b"x")
    assert source_fingerprint(sources) == before
    assert len(code_fingerprint()) == 64


def test_file_sha256(tmp_path):
    (tmp_path / "x").write_bytes(b"abc" * 100_000)
    assert file_sha256(tmp_path / "x") == hashlib.sha256(b"abc" * 100_000).hexdigest()


def test_rooms_may_be_left_out_of_a_source_fingerprint(tmp_path: Path) -> None:
    for name in ("core/a.py", "console/b.py", "core/console/c.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    before = source_fingerprint(tmp_path, ["console"])
    (tmp_path / "console/b.py").write_text("x = 2\n")
    assert source_fingerprint(tmp_path, ["console"]) == before
    (tmp_path / "core/console/c.py").write_text("x = 2\n")
    assert source_fingerprint(tmp_path, ["console"]) != before


def test_what_is_left_out_of_the_code_fingerprint_exists() -> None:
    root = Path(hashing.__file__).parents[1]
    assert all((root / name).exists() for name in hashing.AFTER_A_RUN)
