"""Keyed, counter-based random streams, equal to the last bit on every platform.

Word i of a stream is a fixed function of (seed, key, i) and of nothing else: a stream has no state but its
position, so adding an entity or a purpose never shifts the numbers of another, and drawing in blocks of any
size gives the same numbers. NumPy's own generators are not used: their distributions may change between
versions.

The function: the counter runs through a Weyl sequence from a 64-bit start, is mixed (the finaliser of
SplitMix64), offset by a second 64-bit word and mixed again (the finaliser of MurmurHash3). Both words come
from a BLAKE2b hash of seed and key. The second word keeps two streams apart even where their Weyl sequences
overlap.
[G. L. Steele, D. Lea, C. H. Flood, Fast splittable pseudorandom number generators, OOPSLA 2014; D. Stafford's
mix 13]
"""

from hashlib import blake2b
from operator import index

import numpy as np
from numpy.typing import NDArray

from pskit.emulation.elementary import Floats, normal_quantile

Words = NDArray[np.uint64]
KeyPart = int | str

WEYL = 0x9E3779B97F4A7C15
MASK = 0xFFFFFFFFFFFFFFFF
SPLITMIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), 31)
MURMUR = ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53), 33)


def derive(seed: int, key: tuple[KeyPart, ...]) -> tuple[int, int]:
    """Start and offset of the stream named by seed and key, two 64-bit words.

    The encoding is injective: 1 and "1", ("ab", "c") and ("a", "bc") name different streams.

    Raises
    ------
    TypeError
        A part of the key is neither an integer nor a string.
    """
    text = f"{index(seed)}"
    for part in key:
        text += f";s{len(part)}:{part}" if isinstance(part, str) else f";i{index(part)}"
    digest = blake2b(text.encode(), digest_size=16).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")


def words(start: Words, offset: Words, counters: Words) -> Words:
    """Random words of one stream, or of many streams at once.

    Parameters
    ----------
    start, offset : uint64 arrays, from :func:`derive`
    counters : uint64 array, positions in the streams; the three shapes broadcast

    Returns
    -------
    uint64 array of the common shape
    """
    x = start + counters * np.uint64(WEYL)
    _mix(x, SPLITMIX)
    x += offset
    _mix(x, MURMUR)
    return x


def _mix(x: Words, constants: tuple[tuple[int, int], tuple[int, int], int]) -> None:
    """Two rounds of xor-shift and multiply and a last xor-shift, in place, modulo 2^64."""
    for shift, factor in constants[:2]:
        x ^= x >> np.uint64(shift)
        x *= np.uint64(factor)
    x ^= x >> np.uint64(constants[2])


def open_unit(bits: Words) -> Floats:
    """Map words to the centres of 2^52 equal cells of (0, 1): u is never 0 or 1, and 1 - u is exact."""
    return ((bits >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


class Stream:
    """Independent random numbers for one entity and purpose.

    Parameters
    ----------
    seed : int
    *key : int or str
        Who draws and for what, for example ``Stream(7, "network", "latency", "client", 3)``.

    Attributes
    ----------
    position : int
        Number of 64-bit words drawn so far; may be set.

    Every method draws one word per number and advances the position, so the sequence does not depend on how
    it is cut into calls.
    """

    __slots__ = ("_offset", "_start", "key", "position", "seed")

    def __init__(self, seed: int, *key: KeyPart) -> None:
        self.seed = seed
        self.key = key
        self.position = 0
        start, offset = derive(seed, key)
        self._start = np.array([start], dtype=np.uint64)
        self._offset = np.array([offset], dtype=np.uint64)

    def child(self, *key: KeyPart) -> "Stream":
        """Make the stream whose key continues this one's; it does not depend on this one's position."""
        return Stream(self.seed, *self.key, *key)

    def bits(self, n: int) -> Words:
        """Draw ``n`` words: (n,) uint64.

        Raises
        ------
        ValueError
            ``n`` is negative.
        """
        n = index(n)
        if n < 0:
            raise ValueError(f"cannot draw {n} numbers")
        first = self.position & MASK
        self.position += n
        # The Weyl sequence has period 2^64, as has the counter: wrapping around is harmless.
        counters = np.arange(n, dtype=np.uint64)
        counters += np.uint64(first)
        return words(self._start, self._offset, counters)

    def uniform(self, n: int) -> Floats:
        """Draw ``n`` numbers in [0, 1), multiples of 2^-53: (n,) float64."""
        return (self.bits(n) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def normal(self, n: int) -> Floats:
        """Draw ``n`` standard normal numbers by inversion, up to 8.2 in absolute value: (n,) float64."""
        return normal_quantile(open_unit(self.bits(n)))

    def integers(self, n: int, high: int) -> NDArray[np.int64]:
        """Draw ``n`` integers in [0, high): (n,) int64.

        Multiplies instead of dividing, floor(word * high / 2^64), by 32-bit halves; the bias is below high /
        2^64.

        Raises
        ------
        ValueError
            ``high`` is not between 1 and 2^32.
        """
        if not 1 <= high <= 2**32:
            raise ValueError(f"integers(n, high) needs 1 <= high <= 2**32, not {high}")
        bits = self.bits(n)
        factor, half = np.uint64(high), np.uint64(32)
        low = ((bits & np.uint64(0xFFFFFFFF)) * factor) >> half
        return (((bits >> half) * factor + low) >> half).astype(np.int64)

    def permutation(self, n: int) -> NDArray[np.int64]:
        """Draw a random order of 0..n-1: (n,) int64."""
        return np.argsort(self.bits(n), kind="stable").astype(np.int64)
