"""Minimisers of sums of losses of linear predictions, sum_i w_i loss(a_i . x, y_i), to the last digits.

Smooth losses by Newton's method with a line search. Absolute losses by a linear programme, whose vertex is
then solved for exactly. Whether a logistic loss has a minimiser at all is a linear programme as well.
Features are brought to one size first, by powers of two, and where samples leave a direction undetermined the
minimiser has no part in it. What is found is held against the condition that makes a minimiser.
SciPy is imported on first use: most runs need no minimiser.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pskit.apps.terms import Floats
from pskit.data.samples import LARGEST
from pskit.errors import InputError

_NEWTON_STEPS = 500
_PATIENCE = 4
"""Steps without half the gradient after which only rounding is left."""
_HALVINGS = 60
_SMALL = 1e-11
"""Of a gradient, relative to the sizes that its terms have, or get by rounding: zero but for rounding."""
_MOST = 1e5
"""Of the part of rounding in that, in units of the largest slope."""
_FLAT = 1e-12
"""Of a singular value, relative to the largest: a gradient in such a direction is below `_SMALL`."""
_EDGE = 1e-9
"""Of a linear programme's answer: what counts as zero, relative to the size of the numbers in it."""
_BALANCED = 1e-7
"""Of the condition for a minimiser of absolute losses, relative to the most that its terms can add up to."""
_LOSSES = "the losses of this run"


class Local(NamedTuple):
    """A loss at one point: value of each sample, and its first and second derivative in the prediction."""

    value: Floats
    slope: Floats
    bend: Floats


def newton(
    local: Callable[[Floats], Local], rows: Floats, weights: Floats, start: Floats, what: str = _LOSSES
) -> Floats:
    """Minimise a smooth convex sum by Newton's method, damped by the size of the gradient.

    Parameters
    ----------
    local : callable
        The loss at predictions (n,); its slope is 1 at most.
    rows : (n, d) float64
    weights : (n,) float64
        Not negative.
    start : (d,) float64
    what : str
        Whose losses they are, for the message.

    Returns
    -------
    (d,) float64
        Where the gradient is zero to rounding.

    Raises
    ------
    InputError
        When no such point is found, or one too large to be used.
    """
    exponents = _exponents(rows)
    rows = np.ldexp(rows, -exponents)
    origin, basis = np.ldexp(start, exponents), _row_space(rows[weights > 0])
    spanned, fixed = rows @ basis, rows @ origin
    lengths = weights * np.linalg.norm(spanned, axis=1)
    x = best = np.zeros(basis.shape[1])
    least, ground, waited, caution = np.inf, 0.0, 0, 1.0
    for _ in range(_NEWTON_STEPS):
        z = fixed + spanned @ x
        value, slope, bend = local(z)
        gradient = spanned.T @ (weights * slope)
        size = float(np.abs(gradient).max())
        waited = 0 if size < least / 2 else waited + 1
        if size < least:
            best, least = x, size
            # Not of the slopes at the start: far out all slopes may vanish, and with them the gradient.
            blurred = bend * (np.abs(fixed) + np.abs(spanned) @ np.abs(x))
            ground = float(lengths @ (np.abs(slope) + np.minimum(blurred, _MOST)))
        if ground > 0 and (least == 0 or (waited >= _PATIENCE and least <= _SMALL * ground)):
            return _usable(np.ldexp(origin + basis @ best, -exponents), what)
        bends, ways = np.linalg.eigh((spanned * (weights * bend)[:, None]).T @ spanned)
        # The damping vanishes at the minimiser, so that the last steps converge quadratically.
        direction = -ways @ ((gradient @ ways) / (np.maximum(bends, 0.0) + caution * size))
        total, fall, length = float(weights @ value), float(gradient @ direction), 1.0
        allowed = 1e-14 * abs(total)  # the sum cannot show smaller differences
        for _ in range(_HALVINGS):
            there = fixed + spanned @ (x + length * direction)
            if weights @ local(there).value <= total + 1e-4 * length * fall + allowed:
                break
            length /= 2
        # Where the losses are straight only the damping limits a step: it gives way until one is too long.
        caution = caution / 8 if length == 1 else min(caution / length, 1.0)
        x = x + length * direction
    raise InputError(
        f"{what}: Newton's method finds no minimiser. Its last predictions reach {np.abs(z).max():.3g}: "
        "there is none, or rounding hides it, as targets or features have very different sizes; scale them"
    )


def least_absolute(rows: Floats, targets: Floats, weights: Floats, what: str = _LOSSES) -> Floats:
    """Minimise sum_i w_i |a_i . x - y_i|.

    Parameters
    ----------
    rows : (n, d) float64
    targets, weights : (n,) float64
    what : str
        Whose losses they are, for the message.

    Returns
    -------
    (d,) float64
        A minimiser; where d samples meet, which is where the linear programme ends, to rounding.

    Raises
    ------
    InputError
        When none is found, or one too large to be used.
    """
    from scipy.optimize import linprog

    used = weights > 0
    exponents, size = _exponents(rows[used]), int(np.frexp(np.abs(targets[used]).max())[1])
    a, y, w = np.ldexp(rows[used], -exponents), np.ldexp(targets[used], -size), weights[used]
    n, d = a.shape
    # a x + below - above = y, below, above >= 0: the sum of both is the absolute residual.
    costs = np.concatenate([np.zeros(d), w, w])
    equal = np.hstack([a, np.eye(n), -np.eye(n)])
    limits = [(None, None)] * d + [(0, None)] * (2 * n)
    found = linprog(costs, A_eq=equal, b_eq=y, bounds=limits, method="highs-ds")
    if found.status != 0:
        raise InputError(
            f"{what}: the linear programme that minimises absolute losses fails: {found.message}"
        )
    x = np.asarray(found.x[:d])
    for _ in range(2):  # the second time with the samples that the first made meet
        met = _met(a, y, x)
        exact = x + np.linalg.lstsq(a[met], y[met] - a[met] @ x, rcond=_FLAT)[0]
        if w @ np.abs(a @ exact - y) <= w @ np.abs(a @ x - y) * (1 + 1e-12) + 1e-300:
            x = exact
    if not _balanced(a, y, w, x):
        raise InputError(
            f"{what}: the linear programme that minimises absolute losses ends beside the minimiser; targets "
            f"(up to {np.abs(targets[used]).max():.3g}) or features have very different sizes, scale them"
        )
    return _usable(np.ldexp(x, size - exponents), what)


def _met(a: Floats, y: Floats, x: Floats) -> npt.NDArray[np.bool_]:
    """Whether each sample is met by x, (n,), in units of the numbers that its residual is made of."""
    return np.asarray(np.abs(a @ x - y) <= _EDGE * (np.abs(a) @ np.abs(x) + np.abs(y)))


def _balanced(a: Floats, y: Floats, w: Floats, x: Floats) -> bool:
    """Whether 0 is a subgradient at x: some m_i in [-1, 1] of the samples that x meets balance the others."""
    from scipy.optimize import lsq_linear

    met = _met(a, y, x)
    push = a[~met].T @ (w[~met] * np.sign(a[~met] @ x - y[~met]))
    least = _BALANCED * float(w @ np.abs(a).max(axis=1))
    if not met.any() or np.abs(push).max(initial=0.0) <= least:
        return bool(np.abs(push).max(initial=0.0) <= least)
    held = (a[met] * w[met, None]).T
    found = lsq_linear(held, -push, bounds=(-1, 1), tol=1e-14)
    return bool(np.abs(held @ found.x + push).max() <= least)


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

    margins = labels[:, None] * np.ldexp(rows, -_exponents(rows))
    # A direction in which no margin falls and one rises?
    found = linprog(-margins.sum(axis=0), A_ub=-margins, b_ub=np.zeros(len(rows)), bounds=(-1, 1))
    if found.status != 0:
        raise InputError(f"{what}: the linear programme that looks for a separation fails: {found.message}")
    if -found.fun > _EDGE * float(np.abs(margins).sum()):
        raise InputError(
            f"{what}: the two classes are separable (a hyperplane through the origin has no sample on the "
            "wrong side), so the logistic loss has no minimiser and no bound applies; use noisier labels "
            "(app.noise) or more samples, or another loss"
        )


def _exponents(rows: Floats) -> npt.NDArray[np.int32]:
    """For each feature the power of two just above its largest value: dividing by it loses no digit."""
    return np.asarray(np.frexp(np.abs(rows).max(axis=0))[1], np.int32)


def _row_space(rows: Floats) -> Floats:
    """Columns (d, r) that span the rows: the unit vectors where they have the rank d."""
    _, sizes, ways = np.linalg.svd(rows, full_matrices=False)
    rank = int((sizes > _FLAT * sizes[0]).sum())
    return np.eye(rows.shape[1]) if rank == rows.shape[1] else np.asarray(ways[:rank].T)


def _usable(x: Floats, what: str) -> Floats:
    if not np.abs(x).max() <= LARGEST:
        raise InputError(
            f"{what}: the minimiser has coordinates above {LARGEST:g}, as targets are so large for the "
            "features; scale them"
        )
    return np.asarray(x)
