"""`Bound`: a number that says what it assumes and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from theory._check import FloatArray, Values, unwrap


@dataclass(frozen=True, eq=False, slots=True)
class Bound(NDArrayOperatorsMixin):
    """An upper bound.

    Attributes
    ----------
    value : float or (...) float64
        The bound, exactly as the formula gives it: never clipped.
    assumptions : tuple of str
        Everything that must hold for `value` to be a bound.
    source : str
        Where the formula comes from: `[1410.8043, Thm 5]` is the paper, `corrected` and `new` say the rest.
    trivial : float, (...) float64 or None
        What is true without any theorem (1 for a probability). None: no such value is known.
    details : mapping
        Named pieces: the terms of a sum, `log` of a probability that underflows, a step size.

    Notes
    -----
    A bound takes part in arithmetic and comparisons as its `value` (the result is a plain number or array).
    """

    value: Values
    assumptions: tuple[str, ...]
    source: str
    trivial: Values | None = None
    details: Mapping[str, Values] = field(default_factory=dict)

    @property
    def vacuous(self) -> bool | NDArray[np.bool_]:
        """True where the bound says no more than what is known anyway."""
        if self.trivial is None:
            flags = np.zeros(np.shape(self.value), dtype=np.bool_)
        else:
            flags = np.asarray(np.greater_equal(self.value, self.trivial))
        return bool(flags) if flags.ndim == 0 else flags

    def __float__(self) -> float:
        if np.size(self.value) != 1:
            raise TypeError(f"a bound over a sweep of shape {np.shape(self.value)} is not one number")
        return float(np.asarray(self.value).reshape(()))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        return np.array(self.value, dtype=dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        plain = [i.value if isinstance(i, Bound) else i for i in inputs]
        return getattr(ufunc, method)(*plain, **kwargs)

    def __str__(self) -> str:
        flags = np.asarray(self.vacuous)
        note = "" if not flags.any() else " (vacuous)" if flags.ndim == 0 else f" ({flags.sum()} vacuous)"
        return f"{self.value}{note} {self.source}"


def probability(exponent: FloatArray, assumptions: tuple[str, ...], source: str) -> Bound:
    """The bound exp(-exponent) on a probability, with its natural logarithm in `details["log"]`."""
    with np.errstate(under="ignore"):
        value = np.exp(-exponent)
    return Bound(unwrap(value), assumptions, source, 1.0, {"log": unwrap(-exponent)})


CONVEX = "each f_t convex and L-Lipschitz on all of R^d, no projection"
DISTANCE = "D(x*, x_t) = |x* - x_t|^2 / 2 <= F2 for t = 1..T, F2 not random"
OWN = "every worker sees its own updates"
"""Assumptions that several theorems share."""


def regret(
    terms: Mapping[str, FloatArray], trivial: FloatArray, assumptions: tuple[str, ...], source: str
) -> Bound:
    """The bound sum(terms) on a regret; `trivial` is the distance bound L T sqrt(2 F2) on the regret at x_t.

    The regret at the views exceeds that at the references x_t by at most the term `staleness`, which is
    therefore on both sides: the bound is vacuous when the other terms reach `trivial`.
    """
    total = np.asarray(sum(terms.values()), dtype=np.float64)
    known = np.asarray(trivial + terms.get("staleness", np.zeros(())), dtype=np.float64)
    return Bound(unwrap(total), assumptions, source, unwrap(known), {k: unwrap(v) for k, v in terms.items()})
