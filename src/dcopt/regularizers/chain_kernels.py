"""The proximal map of weighted absolute differences along a chain, compiled: dynamic programming in O(d) (Johnson)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.kernels.compiler import compiled, one_process_at_a_time


@compiled
def shrink(v: NDArray[Any], m: NDArray[Any], c: NDArray[Any], l: NDArray[Any], out: NDArray[Any]) -> None:
    """argmin_x Σ_i m_i/2 (x_i − v_i)² + l_i |x_i| + Σ_j c_j |x_{j+1} − x_j|, for every column; m > 0, c and l ≥ 0

    δ_i(t), the slope in t = x_i of the least cost of x_1 … x_i, is increasing and piecewise linear, with a jump at 0.
    Node i adds m_i (t − v_i) + l_i sign(t) to δ_{i−1}, cut off at ±c_{i−1}. It crosses −c_i at low_i and c_i at high_i.
    At the end δ_d(x_d) = 0, and backwards x_i is x_{i+1}, cut off at low_i and high_i. A cut adds two knots, and every
    knot is removed once.
    """
    d, columns = v.shape
    low, high = np.empty(d), np.empty(d)
    at, bend, lift = np.empty(2 * d + 2), np.empty(2 * d + 2), np.empty(2 * d + 2)
    for k in range(columns):
        first, last = d + 1, d  # The knots: none.
        # δ left of all knots and right of them, slope · t + level; and its jump at 0.
        a_left, b_left, a_right, b_right, jump = 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(d):
            weight, size = m[i, k], l[i, k]
            a_left += weight
            a_right += weight
            b_left -= weight * v[i, k] + size
            b_right -= weight * v[i, k] - size
            jump += 2.0 * size
            most = c[i, k] if i < d - 1 else 0.0
            # From the left: where does δ reach −most?
            a, b, crossed = a_left, b_left, False
            while True:
                ahead = at[first] if first <= last else np.inf
                if jump > 0.0 and not crossed and ahead >= 0.0:
                    if b >= -most:
                        x = (-most - b) / a
                        break
                    if b + jump >= -most:  # Inside of the jump.
                        x, jump, b = 0.0, b + jump + most, -most
                        break
                    b, crossed = b + jump, True
                    continue
                if first > last or a * ahead + b >= -most:
                    x = (-most - b) / a
                    break
                a, b = a + bend[first], b + lift[first]
                first += 1
            low[i], high[i] = x, x
            if most == 0.0:  # The rest of the chain is by itself.
                first, last = d + 1, d
                a_left, b_left, a_right, b_right, jump = 0.0, 0.0, 0.0, 0.0, 0.0
                continue
            if crossed:
                jump = 0.0
            left_x, left_a, left_b = x, a, b
            # From the right: where does it reach most?
            a, b, crossed = a_right, b_right, False
            while True:
                ahead = at[last] if first <= last else -np.inf
                if jump > 0.0 and not crossed and ahead <= 0.0:
                    if b <= most:
                        x = (most - b) / a
                        break
                    if b - jump <= most:
                        x, jump, b = 0.0, most - (b - jump), most
                        break
                    b, crossed = b - jump, True
                    continue
                if first > last or a * ahead + b <= most:
                    x = (most - b) / a
                    break
                a, b = a - bend[last], b - lift[last]
                last -= 1
            if crossed:
                jump = 0.0
            high[i] = x
            first -= 1
            at[first], bend[first], lift[first] = left_x, left_a, left_b + most
            last += 1
            at[last], bend[last], lift[last] = x, -a, most - b
            a_left, b_left, a_right, b_right = 0.0, -most, 0.0, most
        out[d - 1, k] = low[d - 1]  # Its last c is 0.
        for i in range(d - 2, -1, -1):
            x = out[i + 1, k]
            out[i, k] = low[i] if x < low[i] else high[i] if x > high[i] else x


def make_ready() -> None:
    """Compile or load the kernel on a chain of two, outside of the measured time."""
    one = np.ones((2, 1))
    with one_process_at_a_time():
        shrink(one, one, one, one, np.empty((2, 1)))
