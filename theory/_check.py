"""Input checks shared by every formula: a ValueError names the argument, the value and the rule.

Each function returns the checked value as a float64 array (0-d for a number), so that a formula can be
written once for numbers and for sweeps.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
_LARGEST_WHOLE = 2.0**53
_LONGEST = 10**7
Values = float | FloatArray
"""What a formula gives back: a float for numbers, an array for a sweep."""


def numbers(name: str, value: ArrayLike) -> FloatArray:
    """Convert to float64; refuse what is ragged, not a number, empty, NaN or infinite."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except OverflowError:  # a Python int, which may have any length
        raise ValueError(
            f"{name}: got a whole number of more than 308 digits, but must be below 1.8e308"
        ) from None
    except (TypeError, ValueError):
        if isinstance(value, Sequence) and not isinstance(value, str):
            lengths = sorted({np.shape(row) for row in value if not np.isscalar(row)})
            if len(lengths) > 1:
                raise ValueError(
                    f"{name}: got rows of unequal shape {lengths}, but every seed must have the same length"
                ) from None
        raise ValueError(f"{name}: got {value!r}, but must be a number or a rectangular array") from None
    if array.size == 0:
        raise ValueError(
            f"{name}: got an empty array of shape {array.shape}, but must hold at least one value"
        )
    require(name, array, np.isfinite(array), "finite")
    return array


def require(name: str, array: FloatArray, ok: NDArray[np.bool_] | np.bool_, rule: str) -> None:
    """Raise for the first entry of `array` where `ok` is false; the two broadcast."""
    if np.all(ok):
        return
    values, flags = np.broadcast_arrays(array, ok)
    index = tuple(int(i) for i in np.argwhere(~flags)[0])
    where = f" at index {index}" if values.ndim else ""
    raise ValueError(f"{name}: got {float(values[index]):g}{where}, but must be {rule}")


def positive(name: str, value: ArrayLike) -> FloatArray:
    """Finite and > 0."""
    array = numbers(name, value)
    require(name, array, array > 0, "> 0")
    return array


def non_negative(name: str, value: ArrayLike) -> FloatArray:
    """Finite and >= 0."""
    array = numbers(name, value)
    require(name, array, array >= 0, ">= 0")
    return array


def whole(name: str, value: ArrayLike, least: int) -> FloatArray:
    """Whole numbers >= `least` (kept as float64: exact up to 2**53)."""
    array = numbers(name, value)
    require(name, array, (array >= least) & (array == np.floor(array)), f"a whole number >= {least}")
    require(name, array, array <= _LARGEST_WHOLE, "2^53 at most, about 9.007e15: above, counts are not exact")
    return array


def one_whole(name: str, value: ArrayLike, least: int) -> int:
    """A single whole number >= `least`."""
    array = whole(name, value, least)
    if array.ndim:
        raise ValueError(f"{name}: got an array of shape {array.shape}, but must be one whole number")
    return int(array)


def one_length(name: str, value: ArrayLike) -> int:
    """A single whole number >= 1, for formulas that build arrays of that size."""
    count = one_whole(name, value, 1)
    if count > _LONGEST:
        raise ValueError(
            f"{name}: got {count:g}, but must be {_LONGEST:g} at most, as an array has that length"
        )
    return count


def fraction(name: str, value: ArrayLike) -> FloatArray:
    """Strictly between 0 and 1 (a level or a probability of error)."""
    array = numbers(name, value)
    require(name, array, (array > 0) & (array < 1), "> 0 and < 1")
    return array


def law(name: str, probs: ArrayLike) -> FloatArray:
    """Probabilities (K,) that are >= 0 and add up to 1 within 1e-9; returned divided by their sum."""
    array = numbers(name, probs)
    if array.ndim != 1:
        raise ValueError(f"{name}: got shape {array.shape}, but must be one-dimensional")
    require(name, array, array >= 0, ">= 0")
    total = float(array.sum())
    if abs(total - 1) > 1e-9:
        raise ValueError(f"{name}: got a sum of {total:.12g}, but probabilities must add up to 1")
    return array / total


def shape(name: str, array: FloatArray, wanted: tuple[int | None, ...]) -> FloatArray:
    """Check the last axes of `array` against `wanted` (None: any length)."""
    tail = array.shape[-len(wanted) :]
    if array.ndim < len(wanted) or any(w is not None and w != n for w, n in zip(wanted, tail, strict=True)):
        text = ", ".join("*" if w is None else str(w) for w in wanted)
        raise ValueError(f"{name}: got shape {array.shape}, but must be (..., {text})")
    return array


def steps(name: str, eta_t: ArrayLike, length: int | None = None) -> FloatArray:
    """A step schedule: positive array (T,)."""
    array = positive(name, eta_t)
    if array.ndim != 1 or (length is not None and array.shape != (length,)):
        wanted = "T" if length is None else str(length)
        raise ValueError(f"{name}: got shape {array.shape}, but must be ({wanted},), one step per read")
    return array


def sweep(**arguments: FloatArray) -> tuple[int, ...]:
    """Shape to which the named arguments broadcast."""
    try:
        return np.broadcast_shapes(*(a.shape for a in arguments.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {a.shape}" for name, a in arguments.items() if a.ndim)
        raise ValueError(
            f"{shapes}: got shapes that do not broadcast, but a sweep needs shapes that do"
        ) from None


def unwrap(array: FloatArray) -> Values:
    """Plain float for a 0-d array."""
    return float(array) if np.ndim(array) == 0 else array
