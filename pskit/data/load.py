"""Ratings by name: an embedded data set or a file."""

from importlib.resources import files
from pathlib import Path

import numpy as np

from pskit.data.ratings import Ratings, Triples, content_hash
from pskit.data.text import read_ratings
from pskit.errors import InputError

# name -> file in this package, content hash over int32 user, item and doubled rating
EMBEDDED = {
    "ml-small": (
        "ml_latest_small_2016.npz",
        "3bb868e7e3be42a9330549878c65a076cd55cc02755a131ab512aa537ce61414",
    )
}


def load_ratings(name_or_path: str | Path) -> Ratings:
    """Load an embedded data set by its name, or else a user's file by its path.

    Files: MovieLens csv or RecBole `.inter` (with header), `::` or TAB separated `user item rating
    timestamp`, and `row col value` separated by blanks; the format is detected. An embedded name wins; write
    `./ml-small` for a file of that name.

    Raises
    ------
    InputError
        Neither an embedded data set nor a readable file, or bad content (with file, line and reason).
    """
    if str(name_or_path) in EMBEDDED:
        return _load_embedded(str(name_or_path))
    path = Path(name_or_path)
    if not _exists(path):
        raise InputError(
            f"no ratings file {str(path)!r}; give the path of a file, or the name of an embedded data set: "
            f"{', '.join(EMBEDDED)}"
        )
    return read_ratings(path)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:  # a name that is too long, a folder that may not be entered
        shown = str(path) if len(str(path)) < 200 else f"{str(path)[:200]}..."
        raise InputError(f"ratings file {shown!r} cannot be read: {error.strerror}") from error


def _load_embedded(name: str) -> Ratings:
    file, expected = EMBEDDED[name]
    with (
        files("pskit.data").joinpath(file).open("rb") as stream,
        np.load(stream, allow_pickle=False) as columns,
    ):
        user, item, doubled = (columns[name].astype("<i4") for name in ("user", "item", "rating_x2"))
        user_ids, item_ids = columns["user_ids"], columns["movie_ids"]
    if content_hash(user, item, doubled) != expected:
        raise InputError(
            f"the embedded data set {name} ({file}) is damaged: its content hash differs; reinstall"
        )
    return Ratings.from_ids(Triples(user_ids[user], item_ids[item], doubled.astype(np.float32) / 2), name)
