"""Which ratings are held out for the test loss."""

import numpy as np
from numpy.typing import NDArray

from pskit.data.ratings import Ratings


def held_out(ratings: Ratings, share: float) -> NDArray[np.bool_]:
    """Mark about ``share`` of the ratings: (n,) bool.

    The choice is a hash of user and item, so it depends on nothing but the pair and the share: test losses of
    runs with other seeds or sizes compare, and a larger share contains a smaller one. The hash is the
    finaliser of SplitMix64 [Steele, Lea, Flood, OOPSLA 2014].
    """
    x = ratings.user.astype(np.uint64) << np.uint64(32) | ratings.item.astype(np.uint64)
    x += np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return (x >> np.uint64(11)).astype(np.float64) * 2.0**-53 < share
