"""Minimisers of sums of losses of linear predictions, sum_i w_i loss(a_i . x, y_i), to the last digits.

Smooth losses by Newton's method with a line search. Absolute losses by a linear programme, whose vertex is
then solved for exactly. Whether a logistic loss has a minimiser at all is a linear programme as well.
SciPy is imported on first use: most runs need no minimiser.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pskit.apps.terms import Floats
from pskit.errors import InputError

_NEWTON_STEPS = 300
_PATIENCE = 4
"""Steps without half the gradient after which only rounding is left."""
_SMALL = 1e-11
"""Of a gradient, relative to the largest that it can be: zero but for rounding."""
_EDGE = 1e-9
"""Of a linear programme's answer: what counts as zero, relative to the size of the numbers in it."""


class Local(NamedTuple):
    """A loss at one point: value of each sample, and its first and second derivative in the prediction."""

    value: Floats
    slope: Floats
    bend: Floats


def newton(local: Callable[[Floats], Local], rows: Floats, weights: Floats, start: Floats) -> Floats:
    """Minimise a smooth convex sum by Newton's method, damped by the size of the gradient.

    Parameters
    ----------
    local : callable
        The loss at predictions (n,); its slope is 1 at most.
    rows : (n, d) float64
    weights : (n,) float64
        Not negative.
    start : (d,) float64

    Returns
    -------
    (d,) float64
        Where the gradient is zero to rounding.

    Raises
    ------
    InputError
        When no such point is found: the sum has no minimiser, or no well determined one.
    """
    x, best, least, waited = start, start, np.inf, 0
    scale = float(weights @ np.linalg.norm(rows, axis=1))
    for _ in range(_NEWTON_STEPS):
        value, slope, bend = local(rows @ x)
        gradient = rows.T @ (weights * slope)
        size = float(np.linalg.norm(gradient))
        waited = 0 if size < least / 2 else waited + 1
        if size < least:
            best, least = x, size
        if least == 0 or (waited == _PATIENCE and least <= _SMALL * scale):
            return best
        hessian = (rows * (weights * bend)[:, None]).T @ rows
        # The damping vanishes at the minimiser, so that the last steps converge quadratically.
        direction = np.linalg.solve(hessian + size * np.eye(len(x)), -gradient)
        total, fall, length = float(weights @ value), float(gradient @ direction), 1.0
        allowed = 1e-14 * abs(total)  # the sum cannot show smaller differences
        while weights @ local(rows @ (x + length * direction)).value > total + 1e-4 * length * fall + allowed:
            length /= 2
        x = x + length * direction
    raise InputError("the losses of this run have no well determined minimiser: Newton's method finds none")


def least_absolute(rows: Floats, targets: Floats, weights: Floats) -> Floats:
    """Minimise sum_i w_i |a_i . x - y_i|.

    Parameters
    ----------
    rows : (n, d) float64
    targets, weights : (n,) float64

    Returns
    -------
    (d,) float64
        A minimiser; where d samples meet, which is where the linear programme ends, to rounding.
    """
    from scipy.optimize import linprog

    used = weights > 0
    a, y, w = rows[used], targets[used], weights[used]
    n, d = a.shape
    # a x + below - above = y, below, above >= 0: the sum of both is the absolute residual.
    costs = np.concatenate([np.zeros(d), w, w])
    equal = np.hstack([a, np.eye(n), -np.eye(n)])
    limits = [(None, None)] * d + [(0, None)] * (2 * n)
    found = linprog(costs, A_eq=equal, b_eq=y, bounds=limits, method="highs-ds")
    x = np.asarray(found.x[:d])
    residual = np.abs(a @ x - y)
    met = residual <= _EDGE * (1 + float(np.abs(y).max()))
    exact = np.linalg.lstsq(a[met], y[met], rcond=None)[0] if met.sum() >= d else x
    better = w @ np.abs(a @ exact - y) <= w @ residual * (1 + 1e-12) + 1e-300
    return np.asarray(exact) if better else x


def check_not_separable(rows: Floats, labels: Floats, what: str) -> None:
    """Refuse labels -1 and 1 that a hyperplane through the origin separates.

    The logistic loss then only falls as x grows, and has no minimiser [Albert and Anderson 1984].

    Parameters
    ----------
    rows : (n, d) float64
    labels : (n,) float64
    what : str
        Whose samples they are, for the message.

    Raises
    ------
    InputError
        On complete and on quasi-complete separation.
    """
    from scipy.optimize import linprog

    margins = labels[:, None] * rows
    # A direction in which no margin falls and one rises?
    found = linprog(-margins.sum(axis=0), A_ub=-margins, b_ub=np.zeros(len(rows)), bounds=(-1, 1))
    if found.status == 0 and -found.fun > _EDGE * float(np.abs(margins).sum()):
        raise InputError(
            f"{what}: the two classes are separable (a hyperplane through the origin has no sample on the "
            "wrong side), so the logistic loss has no minimiser and no bound applies; use noisier labels "
            "(app.noise) or more samples, or another loss"
        )
