"""eᶻ and log(1 + z) by arithmetic alone: without a call, the compiler turns a loop over numbers into one over vectors.

Both are within one unit in the last place (tests/data/test_elementary.py), three times faster than a call for each
number. These are texts for the compiler (compiler.py); as they stand they work on NumPy's float64 numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_LARGEST = np.finfo(np.float64).max
_LEAST, _MOST = -708.0, 709.782712893384  # The logarithms of the least and the largest number in full precision.
_LOG2E = 1.4426950408889634
# The sum is ln 2; k times the first part is exact.
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_SHIFT = 6755399441055744.0  # 1.5·2⁵²: t + _SHIFT holds the integer nearest to t in its last bits
_INTO = np.int64(0x4330000000000000)  # The bits of 2⁵². An integer below 2⁵² that is put into them is added to it.
_ROOT = np.int64(0x3FE6A09E667F3BCD)  # The bits of √½.
# The position of the exponent, and the mask of the bits below it.
_EXPONENT, _MANTISSA = np.int64(52), np.int64((1 << 52) - 1)
_UNIT = np.int64(0x3FF0000000000000)  # The bits of 1.
_E2, _E3, _E4, _E5, _E6, _E7, _E8, _E9, _E10, _E11, _E12, _E13 = (1.0 / math.factorial(k) for k in range(2, 14))
_A1, _A2, _A3, _A4, _A5, _A6, _A7, _A8, _A9, _A10 = (2.0 / (2 * k + 1) for k in range(1, 11))


def exp(z: Any) -> Any:
    """eᶻ = 2ᵏ eʳ, k the integer nearest to z/ln 2, eʳ by Taylor's series, |r| ≤ ln 2 / 2

    0 below −709, where there are no more than a few bits of it, and ∞ above 709.78; NaN stays NaN.
    """
    above = _LEAST if z < _LEAST else z
    y = _MOST if above > _MOST else above
    t = y * _LOG2E + _SHIFT
    k = t - _SHIFT
    r = (y - k * _LN2_HIGH) - k * _LN2_LOW
    r2 = r * r
    r4 = r2 * r2
    low = (_E2 + _E3 * r) + r2 * (_E4 + _E5 * r) + r4 * ((_E6 + _E7 * r) + r2 * (_E8 + _E9 * r))
    p = 1.0 + (r + r2 * (low + r4 * r4 * ((_E10 + _E11 * r) + r2 * (_E12 + _E13 * r))))
    e = np.int64(np.float64(p).view(np.int64) + (np.float64(t).view(np.int64) << _EXPONENT)).view(np.float64)
    shrink = z - (_LEAST - 1.0)
    shrink = 0.0 if shrink < 0.0 else 1.0 if shrink > 1.0 else shrink
    return e * shrink + (above - y) * _LARGEST  # NaN stays NaN, whatever its last bits are.


def log1p(z: Any) -> Any:
    """log(1 + z) = k ln 2 + 2 artanh(s) + what 1 + z lost, 1 + z = 2ᵏ(1 + f), s = f/(2 + f); for z ≥ 0"""
    y = _LARGEST if z > _LARGEST else z
    u = 1.0 + y
    lost = (y - (u - 1.0)) / u
    bits = np.int64(np.float64(u).view(np.int64) + (_UNIT - _ROOT))
    k = np.int64((bits >> _EXPONENT) | _INTO).view(np.float64) - 4503599627371519.0  # 2⁵² + 1023
    f = np.int64((bits & _MANTISSA) + _ROOT).view(np.float64) - 1.0
    s = f / (2.0 + f)
    v = s * s
    w = v * v
    odd = w * (_A2 + w * (_A4 + w * (_A6 + w * (_A8 + w * _A10))))
    p = v * (_A1 + w * (_A3 + w * (_A5 + w * (_A7 + w * _A9)))) + odd
    half = 0.5 * f * f
    return k * _LN2_HIGH + (f - (half - (s * (half + p) + (lost + k * _LN2_LOW)))) + (z - y)
