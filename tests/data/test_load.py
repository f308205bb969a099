import os
from pathlib import Path

import numpy as np
import pytest

from pskit.data import load, load_ratings
from pskit.data.ratings import content_hash
from pskit.errors import InputError


def test_ml_small_is_the_set_it_claims_to_be() -> None:
    ratings = load_ratings("ml-small")
    assert (ratings.n_users, ratings.n_items, len(ratings)) == (671, 9066, 100_004)
    doubled = (ratings.value * 2).astype("<i4")
    assert content_hash(ratings.user, ratings.item, doubled) == (
        "3bb868e7e3be42a9330549878c65a076cd55cc02755a131ab512aa537ce61414"
    )
    assert ratings.source == "ml-small"
    assert np.mean(ratings.value, dtype=np.float64) == pytest.approx(3.5436, abs=5e-5)
    assert (ratings.user_ids[[0, -1]].tolist(), ratings.item_ids[[0, -1]].tolist()) == ([1, 671], [1, 163949])
    assert ratings.sha256 == "3e42fb534b2c2e62de7b6fc3c2511abf0692480f01c1c7db2d6851e32d00d1ac"


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"no ratings file 'ml-smal'.*embedded data set: ml-small"):
        load_ratings("ml-smal")


def test_damage_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(load.EMBEDDED, "ml-small", ("ml_latest_small_2016.npz", "0" * 64))
    with pytest.raises(InputError, match=r"ml-small .* is damaged"):
        load_ratings("ml-small")


def test_a_path_that_is_too_long() -> None:
    with pytest.raises(InputError, match=r"^ratings file 'x+\.\.\.' cannot be read: File name too long"):
        load_ratings("x" * 100_000)


@pytest.mark.parametrize("linked", [False, True])
def test_a_pipe_is_not_waited_for(tmp_path: Path, linked: bool) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    if linked:
        path = tmp_path / "link"
        path.symlink_to("pipe")
    with pytest.raises(InputError, match="is a pipe, device or socket"):
        load_ratings(path)


def test_a_device_is_no_file() -> None:
    with pytest.raises(InputError, match="'/dev/null' is a pipe, device or socket"):
        load_ratings("/dev/null")
