"""Logarithm, exponential and normal quantile, equal to the last bit on every platform.

``np.log`` and its relatives differ between NumPy builds, C libraries and SIMD paths. The functions here use
only operations whose result IEEE 754 fixes (+ - * / sqrt, comparisons, rounding to an integer) and the exact
``frexp`` and ``ldexp``, one ufunc per operation, so that no compiler can fuse a product with a sum. They are
accurate to a few units in the last place, but their point is sameness: a sampled time, rounded to whole
nanoseconds, is part of the schedule hash. Sums over arrays are avoided for the same reason (NumPy's order of
summation depends on the vector width).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SQRT_HALF = 0.7071067811865476
# ln 2 in two parts; the first has 21 trailing zero bits, so that k * LN2_HIGH is exact for every exponent k.
LN2_HIGH = float.fromhex("0x1.62e42fee00000p-1")
LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
INVERSE_LN2 = float.fromhex("0x1.71547652b82fep+0")

# Taylor coefficients, highest power first. atanh(s)/s - 1 needs s^2 <= 0.0295, exp needs |r| <= 0.347.
ATANH_SERIES = tuple(1.0 / (2 * k + 1) for k in range(11, 0, -1))
EXP_SERIES = (
    *(1.0 / f for f in (6227020800, 479001600, 39916800, 3628800, 362880, 40320, 5040, 720, 120, 24, 6, 2)),
    1.0,
    1.0,
)


def horner(coefficients: Sequence[float], x: Floats) -> Floats:
    """Value of a polynomial by Horner's rule.

    Parameters
    ----------
    coefficients : at least two floats, highest power first
    x : float64 array of any shape

    Returns
    -------
    float64 array of the shape of ``x``
    """
    total = coefficients[0] * x
    for coefficient in coefficients[1:-1]:
        total += coefficient
        total *= x
    total += coefficients[-1]
    return total


def log(x: Floats) -> Floats:
    """Natural logarithm.

    Parameters
    ----------
    x : float64 array of any shape, positive, finite and normal (not checked)

    Returns
    -------
    float64 array of the shape of ``x``, within 2 units in the last place

    Notes
    -----
    x = m 2^k with m in [sqrt(1/2), sqrt(2)), and log m = 2 atanh(s) with s = (m - 1) / (m + 1).
    """
    m, exponent = np.frexp(x)
    small = m < SQRT_HALF
    m = np.where(small, m + m, m)
    k = (exponent - small).astype(np.float64)
    f = m - 1.0
    s = f / (m + 1.0)
    z = s * s
    # 2 atanh(s) = f - s (f - 2 R), R = atanh(s)/s - 1: the exact f carries the sum, the rest is a small
    # correction.
    correction = s * (f - 2.0 * (z * horner(ATANH_SERIES, z)))
    return k * LN2_HIGH + ((k * LN2_LOW - correction) + f)


def exp(x: Floats) -> Floats:
    """Exponential function.

    Parameters
    ----------
    x : float64 array of any shape, between -700 and 700 (not checked)

    Returns
    -------
    float64 array of the shape of ``x``, within 2 units in the last place

    Notes
    -----
    x = k ln 2 + r with |r| <= ln(2)/2; the Taylor series of degree 13 gives exp(r).
    """
    k = np.rint(x * INVERSE_LN2)
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    return np.ldexp(horner(EXP_SERIES, r), k.astype(np.int32))


def log_scalar(x: float) -> float:
    """:func:`log` of one number."""
    return float(log(np.array([x]))[0])


# Coefficients of Wichura's PPND16, highest power first: (numerator, denominator) for the centre, the tail and
# the far tail. [M. J. Wichura, Algorithm AS 241, Applied Statistics 37 (1988) 477-484]
CENTRE = (
    (
        2509.0809287301226727,
        33430.575583588128105,
        67265.770927008700853,
        45921.953931549871457,
        13731.693765509461125,
        1971.5909503065514427,
        133.14166789178437745,
        3.387132872796366608,
    ),
    (
        5226.495278852854561,
        28729.085735721942674,
        39307.89580009271061,
        21213.794301586595867,
        5394.1960214247511077,
        687.1870074920579083,
        42.313330701600911252,
        1.0,
    ),
)
TAIL = (
    (
        7.7454501427834140764e-4,
        0.0227238449892691845833,
        0.24178072517745061177,
        1.27045825245236838258,
        3.64784832476320460504,
        5.7694972214606914055,
        4.6303378461565452959,
        1.42343711074968357734,
    ),
    (
        1.05075007164441684324e-9,
        5.475938084995344946e-4,
        0.0151986665636164571966,
        0.14810397642748007459,
        0.68976733498510000455,
        1.6763848301838038494,
        2.05319162663775882187,
        1.0,
    ),
)
FAR_TAIL = (
    (
        2.01033439929228813265e-7,
        2.71155556874348757815e-5,
        0.0012426609473880784386,
        0.026532189526576123093,
        0.29656057182850489123,
        1.7848265399172913358,
        5.4637849111641143699,
        6.6579046435011037772,
    ),
    (
        2.04426310338993978564e-15,
        1.4215117583164458887e-7,
        1.8463183175100546818e-5,
        7.868691311456132591e-4,
        0.0148753612908506148525,
        0.13692988092273580531,
        0.59983220655588793769,
        1.0,
    ),
)


def normal_quantile(u: Floats) -> Floats:
    """Inverse distribution function of the standard normal distribution.

    Parameters
    ----------
    u : float64 array of any shape, strictly between 0 and 1 (not checked)

    Returns
    -------
    float64 array of the shape of ``u``, relative error about 1e-15

    Notes
    -----
    Rational approximations in three regions [Wichura 1988, AS 241].
    """
    q = u - 0.5
    central = np.abs(q) <= 0.425
    result = np.empty_like(q)
    inner = q[central]
    r = 0.180625 - inner * inner
    result[central] = inner * (horner(CENTRE[0], r) / horner(CENTRE[1], r))

    outer = ~central
    if outer.any():
        above = q[outer] > 0.0
        depth = np.sqrt(-log(np.where(above, 1.0 - u[outer], u[outer])))
        r = depth - 1.6
        tail = horner(TAIL[0], r) / horner(TAIL[1], r)
        far = depth > 5.0
        r = depth[far] - 5.0
        tail[far] = horner(FAR_TAIL[0], r) / horner(FAR_TAIL[1], r)
        result[outer] = np.where(above, tail, -tail)
    return result
