import numpy as np
import pytest

from pskit.data.samples import read_samples
from pskit.errors import InputError


@pytest.mark.parametrize(
    "text",
    [
        "1 2 3\n-1 0.5 1e2\n",
        "1,2,3\n-1,.5,100\n",
        "y,x1,x2\r\n1, 2 ,3\r\n\r\n-1,0.5,+1e2",
        "# mine\ntarget a b\n1\t2\t3\n\n-1 \t 0.5  100\n",
        "\ufeff1 2 3\n-1 0.5 1E2\n",
    ],
)
def test_the_forms_of_a_file(tmp_path, text):
    file = tmp_path / "samples.txt"
    file.write_bytes(text.encode())
    found = read_samples(file)
    assert found.targets.tolist() == [1, -1]
    assert found.rows.tolist() == [[2, 3], [0.5, 100]]
    assert found.rows.dtype == found.targets.dtype == np.float64
    assert found.source == "samples.txt"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no samples"),
        ("# nothing\n\n", "has no samples"),
        ("y x\n", "has no samples"),
        ("1 2\n3 x\n", "line 2: 'x' is not a number"),
        ("1 2\n\n3 nan\n", "line 3: nan is not a finite number"),
        ("1 inf\n", "line 1: inf is not a finite number"),
        ("nan 1\n", "line 1: nan is not a finite number"),
        ("1 1e200\n", "line 1: 1e200 is not a finite number of usual size"),
        ("1 1_000\n", "line 1: '1_000' is not a number"),
        ("1,,2\n", "line 1: '' is not a number"),
        ("1 2 3\n1 2\n", "line 2: 2 fields, where the first sample has 3"),
        ("1\n2\n", "line 1: 1 field, where a target and at least one feature"),
        ("y x\ny x\n", "line 2: 'y' is not a number"),
        ("1 0\n2 0\n", "all features are 0"),
        ("1 1e-310\n2 0\n", "no feature is above 1e-310, and 1e-150 is the least"),
    ],
)
def test_what_is_wrong_with_a_file(tmp_path, text, message):
    file = tmp_path / "bad.txt"
    file.write_text(text)
    with pytest.raises(InputError, match=message) as error:
        read_samples(file)
    assert "bad.txt" in str(error.value)


def test_files_that_are_none(tmp_path):
    with pytest.raises(InputError, match=r"no samples file '.*missing'; give the path"):
        read_samples(tmp_path / "missing")
    with pytest.raises(InputError, match="no samples file"):
        read_samples(tmp_path)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="byte 0 is not UTF-8 text"):
        read_samples(tmp_path / "binary")
