"""The laws of a profile: r(x) = Σ ψ(|x_j|) with ψ concave, its slope and its bend. Fixed grids only."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..regularizers.profiled import Profiled
from .base import Law, demand


def profile_of(r: Any) -> Profiled | None:
    """The profile inside r, also under an unpenalised intercept or another step; None if r has none."""
    while not isinstance(r, Profiled) and hasattr(r, "of"):
        r = r.of
    return r if isinstance(r, Profiled) else None


def grid(p: Profiled) -> tuple[Any, float]:
    """0 and 1e-4 to 1e3 times the scale of ψ; the scale, that is, where its slope has halved (else 1)."""
    a = np.geomspace(1e-8, 1e8, 4001)
    bent = p.dpsi(a) <= 0.5 * p.slope0
    scale = float(a[np.argmax(bent)]) if bent.any() and p.slope0 > 0.0 else 1.0
    return np.concatenate([[0.0], scale * np.geomspace(1e-4, 1e3, 2500)]), scale


def _first(a: Any, ok: Any) -> str:
    return f"{a[np.argmin(ok)]:.3g}"


def shape(r: Any) -> None:
    """ψ(0) = 0; ψ does not decrease and is concave; ψ'(0+) = slope0, and dpsi(0) is exactly that."""
    if (p := profile_of(r)) is None:
        return
    a, scale = grid(p)
    y = p.psi(a)
    demand(y[0] == 0.0, f"psi(0) = {y[0]:g}, not 0")
    slope, tol = np.diff(y) / np.diff(a), 1e-10 * p.slope0
    up = slope >= -tol
    demand(bool(np.all(up)), f"psi decreases at a = {_first(a, up)}")
    concave = np.diff(slope) <= tol
    demand(bool(np.all(concave)), f"psi is not concave at a = {_first(a[1:], concave)}")
    small = 1e-7 * scale
    right = float(p.psi(np.array([small]))[0]) / small
    demand(abs(right - p.slope0) <= 1e-5 * p.slope0, f"psi'(0+) = {right:g}, slope0 = {p.slope0:g}")
    at0 = float(p.dpsi(np.array([0.0]))[0])
    demand(at0 == p.slope0, f"dpsi(0) = {at0!r} is not exactly slope0 = {p.slope0!r}")


def slope(r: Any) -> None:
    """dpsi is the derivative of ψ away from its kinks, and between the one-sided slopes at a kink."""
    if (p := profile_of(r)) is None:
        return
    a = grid(p)[0][1:]
    h = 1e-4 * a
    left, right = (p.psi(a) - p.psi(a - h)) / h, (p.psi(a + h) - p.psi(a)) / h
    d, tol = p.dpsi(a), 1e-6 * p.slope0  # ψ concave: the derivative lies between the two quotients
    ok = (d >= np.minimum(left, right) - tol) & (d <= np.maximum(left, right) + tol)
    demand(bool(np.all(ok)), f"dpsi is not the derivative of psi at a = {_first(a, ok)}")


def bend(r: Any) -> None:
    """profile_L2 = sup |ψ''| within 2 %; or it is None and ψ' jumps. L2 is that times the largest weight."""
    if (p := profile_of(r)) is None:
        return
    a, scale = grid(p)
    change = np.abs(np.diff(p.dpsi(a)))
    i = int(np.argmax(change))
    lo, hi = float(a[i]), float(a[i + 1])
    for _ in range(30):  # close in on the largest change of the slope: a jump stays, a bend vanishes
        mid = 0.5 * (lo + hi)
        f = p.dpsi(np.array([lo, mid, hi]))
        lo, hi = (lo, mid) if abs(f[1] - f[0]) >= abs(f[2] - f[1]) else (mid, hi)
    jumps = bool(abs(np.diff(p.dpsi(np.array([lo, hi])))[0]) > 1e-3 * p.slope0)
    top, noise = float(np.max(change / np.diff(a))), 1e-8 * p.slope0 / scale
    if p.profile_L2 is None:
        demand(jumps, "profile_L2 is None, yet the slope does not jump")
        demand(r.L2 is None or not any(p.weights or ()), "L2 is not None, yet the slope jumps")
        return
    demand(not jumps, f"slope jumps at a = {hi:.4g}, yet profile_L2 = {p.profile_L2:g}")
    demand(top <= p.profile_L2 * (1 + 1e-6) + noise, f"|psi''| reaches {top:g}, profile_L2 = {p.profile_L2:g}")
    demand(top >= 0.98 * p.profile_L2 - noise, f"profile_L2 = {p.profile_L2:g} is loose, |psi''| <= {top:g}")
    heaviest = 1.0 if p.weights is None else max(p.weights)
    demand(abs(r.L2 - heaviest * p.profile_L2) <= 1e-12 * r.L2, f"L2 = {r.L2} is not weights x profile_L2")


LAWS: dict[str, Law] = {"profile-is-concave": shape, "profile-slope": slope, "profile-bend": bend}
