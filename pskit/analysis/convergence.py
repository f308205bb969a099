"""Loss curves: their end, their largest rise, and when they reach a target.

A curve is what one name's rows of the table ``metrics`` give, in order of evaluation. A value that is
not finite counts as infinitely bad.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from pskit.errors import InputError
from pskit.trace.schema import Columns

Values = npt.NDArray[np.float64]


def curve(metrics: Columns, name: str = "loss") -> dict[str, npt.NDArray[Any]]:
    """Take the rows of ``metrics`` called ``name``.

    Returns
    -------
    dict of (n,) arrays
        ``clock`` int32, ``time`` int64 (ns), ``value`` float64.

    Raises
    ------
    InputError
        When there is none; the message says what there is.
    """
    chosen = metrics["name"] == name
    if not chosen.any():
        known = sorted(set(metrics["name"].tolist()))
        raise InputError(f"the run recorded no metric {name!r}; it has {known or 'none at all'}")
    return {
        "clock": metrics["clock"][chosen],
        "time": metrics["t"][chosen],
        "value": metrics["value"][chosen],
    }


def final_loss(values: Values) -> float:
    """Return the last of n >= 1 values, infinite when it is not finite."""
    last = float(values[-1])
    return last if np.isfinite(last) else float("inf")


def excursion(values: Values) -> float:
    """Largest value over the smallest one before it: max over t of loss_t / min of loss_0 .. loss_{t-1}.

    Parameters
    ----------
    values : (n,) float64
        Positive losses.

    Returns
    -------
    float
        Below 1 for a falling curve, infinite when a value is not finite, NaN for n < 2.

    Raises
    ------
    InputError
        On values of 0 or less, for which a ratio says nothing (a log-likelihood, say).
    """
    if (values <= 0).any():
        raise InputError(f"an excursion is a ratio of positive losses; the smallest value is {values.min()}")
    if not np.isfinite(values).all():
        return float("inf")
    if len(values) < 2:
        return float("nan")
    return float((values[1:] / np.minimum.accumulate(values)[:-1]).max())


def time_to(at: npt.NDArray[Any], values: Values, target: float, rising: bool = False) -> float:
    """Where the curve first reaches ``target``, linear between evaluations.

    Parameters
    ----------
    at : (n,) int or float
        Clocks or times of the evaluations, ascending.
    values : (n,) float64
    target : float
    rising : bool
        The value is to reach ``target`` from below (a log-likelihood), not from above (a loss).

    Returns
    -------
    float
        In the unit of ``at``; infinite when the target is never reached. After a value that is not
        finite there is no line to follow: then the evaluation that is past the target counts.
    """
    reached = values >= target if rising else values <= target
    reached &= np.isfinite(values)
    if not reached.any():
        return float("inf")
    i = int(reached.argmax())
    if i == 0 or not np.isfinite(values[i - 1]):
        return float(at[i])
    part = (values[i - 1] - target) / (values[i - 1] - values[i])
    return float(at[i - 1] + part * (at[i] - at[i - 1]))


def diverged(values: Values, factor: float = 10.0) -> bool:
    """Whether any value is not finite or above ``factor`` times the first one."""
    return bool((~np.isfinite(values) | (values > factor * values[0])).any())
