import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from pskit.errors import InputError
from pskit.trace.npz import LazyNpz, read_npz, write_npz

dtypes = st.sampled_from(["<i8", "<i4", "|u1", "|b1", "<f8", "<f4", "<U3"])
contents = st.dictionaries(
    st.text("abc:/_ ü", min_size=1, max_size=5),
    dtypes.flatmap(lambda d: arrays(d, array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=5))),
    max_size=4,
)
same_folder = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def assert_equal(got, expected):
    assert list(got) == list(expected)
    for name, values in expected.items():
        np.testing.assert_array_equal(got[name], values)
        assert got[name].dtype == values.dtype


@same_folder
@given(contents)
def test_arrays_come_back(tmp_path, content):
    write_npz(tmp_path / "x.npz", content)
    assert_equal(read_npz(tmp_path / "x.npz"), content)
    assert_equal(LazyNpz(tmp_path / "x.npz", lambda arrays: None), content)


@same_folder
@given(contents, st.data())
def test_damaged_bytes_are_refused_or_harmless(tmp_path, content, data):
    """A flipped bit either shows, or sits where nothing depends on it (a time stamp of the archive)."""
    path = tmp_path / "x.npz"
    write_npz(path, content)
    raw = bytearray(path.read_bytes())
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(raw)
    try:
        got = read_npz(path)
    except InputError as error:
        got, message = {}, str(error)
    else:
        message = f"{path.parent} {path.name}"
    assert str(path.parent) in message
    assert path.name in message
    for name in content.keys() & got.keys():  # the name itself may be what changed
        np.testing.assert_array_equal(got[name], content[name])


def test_missing_and_pickled_files_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"no file x\.npz"):
        read_npz(tmp_path / "x.npz")
    np.savez(tmp_path / "x.npz", a=np.array([{}], dtype=object))
    with pytest.raises(InputError, match=r"x\.npz is damaged"):
        read_npz(tmp_path / "x.npz")
    with pytest.raises(ValueError, match="pickle"):
        write_npz(tmp_path / "y.npz", {"a": np.array([{}], dtype=object)})
