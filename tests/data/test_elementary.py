"""eᶻ and log(1 + z) for the compiler: as accurate as the library's, and NaN stays NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dcopt.data.kernels import elementary

numba = pytest.importorskip("numba")
if np.finfo(np.longdouble).eps > 1e-18:
    pytest.skip("needs a longer float to compare with", allow_module_level=True)


def compiled(name: str) -> Any:
    function = numba.njit(error_model="numpy")(getattr(elementary, name))

    @numba.njit(error_model="numpy")
    def loop(z: Any) -> Any:
        out = np.empty(z.size)
        for i in range(z.size):
            out[i] = function(z[i])
        return out

    return loop


def units(got: Any, want: Any) -> float:
    """The largest error, in units in the last place"""
    return float(np.max(np.abs(got.astype(np.longdouble) - want) / np.spacing(np.abs(want.astype(np.float64)))))


RANGES = {
    "exp": [-np.geomspace(1e-300, 1, 50_000), np.linspace(-708, 709.78, 200_001), np.linspace(-2, 2, 200_001)],
    "log1p": [np.geomspace(1e-300, 1, 50_000), np.linspace(0, 3, 200_001), np.geomspace(1, 1.6e308, 100_000)],
}


@pytest.mark.parametrize("name", RANGES)
def test_within_a_unit_in_the_last_place(name: str) -> None:
    loop = compiled(name)
    for z in RANGES[name]:
        assert units(loop(z), getattr(np, name)(z.astype(np.longdouble))) <= 1.0


@pytest.mark.parametrize("name", RANGES)
def test_the_text_is_what_is_compiled(name: str) -> None:
    """One number at a time, without the compiler: the same bits."""
    z = np.geomspace(1e-9, 600, 99)
    assert np.array_equal(compiled(name)(z), [getattr(elementary, name)(v) for v in z])


@pytest.mark.parametrize("name", RANGES)
def test_nan_stays_whatever_its_bits(name: str) -> None:
    bits = np.uint64(0x7FF8000000000000) + np.array([0, 1, 7, 1023, 2**30, 2**51 - 1], np.uint64)
    sick = np.concatenate([bits.view(np.float64), -bits.view(np.float64)])
    assert np.isnan(compiled(name)(sick)).all()


def test_beyond_their_ranges() -> None:
    """0 and ∞, as in the library: no infinity is turned into a number."""
    exp, log1p = compiled("exp"), compiled("log1p")
    assert exp(np.array([-709.0, -1e308, -np.inf])).tolist() == [0.0, 0.0, 0.0]
    assert exp(np.array([710.0, 1e308, np.inf])).tolist() == [np.inf, np.inf, np.inf]
    assert 0.0 <= exp(np.array([-708.5]))[0] < 1e-307 and np.isfinite(exp(np.array([709.78]))[0])
    assert log1p(np.array([0.0, np.inf])).tolist() == [0.0, np.inf]
    assert log1p(np.array([np.finfo(np.float64).max]))[0] == pytest.approx(709.7827, rel=1e-6)


@pytest.mark.parametrize("name", RANGES)
def test_a_loop_of_them_is_a_loop_over_vectors(name: str) -> None:
    """What they are for: packed multiplications."""
    loop = compiled(name)
    loop(np.ones(8))
    text = loop.inspect_asm(loop.signatures[0])
    assert "mulpd" in text or "aarch64" in text
