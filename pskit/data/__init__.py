"""Data sets: embedded ones (terms in `NOTICE` beside this file) and a user's own files."""

from pskit.data.load import load_ratings
from pskit.data.ratings import Ratings

__all__ = ["Ratings", "load_ratings"]
