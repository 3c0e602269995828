"""Every registered regularizer under every law: plain, weighted, grouped, wrapped; values; bad settings."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import array_api_strict as strict
import cvxpy as cp
import numpy as np
import pytest

from dcopt.errors import BadSettings
from dcopt.laws.base import LawBroken, run
from dcopt.laws.regularizers import LAWS
from dcopt.laws.samples import SAMPLES
from dcopt.regularizers import (
    L1,
    L2,
    MCP,
    REGULARIZERS,
    SCAD,
    Bounded,
    Box,
    CappedL1,
    ElasticNet,
    Except,
    Exponential,
    Geman,
    L1MinusL2,
    LogSum,
    LpSmooth,
    Nonnegative,
    Profiled,
    Reweighted,
    SparseGroup,
    TopK,
    TransformedL1,
    Zero,
    regularizer,
    reweighted,
)
from dcopt.regularizers.units import Kinked

INF, NAN = math.inf, math.nan
LISTS = [[4, 0], [1, 2, 5], [3]]


def variants():
    for name, r in SAMPLES.items():
        yield name, r
        yield f"{name}:except", Except(r, last=2)
        if isinstance(r, (Profiled, ElasticNet, SparseGroup)):
            yield f"{name}:weights", replace(r, weights=[0, 1, 2, 0.5, 1])
            yield f"{name}:rows", replace(r, groups="rows", weights=[0, 1, 2, 0.5, 1])
            yield f"{name}:lists", replace(r, groups=LISTS)
            yield f"{name}:lists-weights-except", Except(replace(r, groups=LISTS, weights=[1, 0, 2]))
        if isinstance(r, Profiled):
            yield f"{name}:reweighted", Reweighted(r)
            yield f"{name}:reweighted-rows-except", Except(Reweighted(replace(r, groups="rows")))
        if isinstance(r, Kinked | ElasticNet | L2 | Zero):
            yield f"{name}:bounded", Bounded(r, -0.5, 1.25)
            yield f"{name}:bounded-features-except", Except(Bounded(r, [0, -1, -INF, -0.3], [1, 0, INF, 0.4]))
            yield f"{name}:positive", Bounded(r)
        if isinstance(r, (Profiled, ElasticNet)):
            weighted = replace(r, groups="rows", weights=[0.5, 1, 2, 0.5, 1])
            yield f"{name}:positive-rows", Bounded(weighted, 0.0, [INF, 0, INF, INF, INF])
            yield f"{name}:positive-lists-except", Except(Bounded(replace(r, groups=LISTS), [0, -INF, 0, 0, 0, 0]))
    yield "box:features", Box([0, -1, -INF, 2], [1, INF, 0, 2])
    yield "box:entries", Box([[0, -1], [-1, -2], [0, 0]], 1.0)


VARIANTS = dict(variants())


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", VARIANTS)
def test_law(name, law):
    LAWS[law](VARIANTS[name])


def test_the_registry_is_complete_and_names_are_looked_up():
    assert set(REGULARIZERS) == {
        "exponential", "capped-l1", "scad", "mcp", "log-sum", "transformed-l1", "geman", "lp-smooth",
        "l1-minus-l2", "top-k", "l0", "l1", "l2", "elastic-net", "sparse-group", "box",
        "nonnegative", "zero",
    }  # fmt: skip
    assert regularizer("scad") is REGULARIZERS["scad"]
    mine = MCP(0.2)
    assert regularizer(mine) is mine
    with pytest.raises(BadSettings, match="exponential"):
        regularizer("exponentail")


def test_every_registered_name_has_a_sample_that_is_no_default():
    assert set(SAMPLES) == set(REGULARIZERS)
    for name, r in REGULARIZERS.items():
        assert type(SAMPLES[name]) is type(r)
        assert not hasattr(r, "lam") or SAMPLES[name].lam != r.lam


# r at x = (0.5, -2, 0), subgrad of r2, slope0 (c), L_r2: the table of penalties, by hand
E1, E2 = math.exp(-1.0), math.exp(-4.0)
TABLE = [
    (Exponential(0.3, 2.0), 0.3 * (2 - E1 - E2), [0.6 * (1 - E1), -0.6 * (1 - E2), 0], 0.6, 1.2),
    (CappedL1(0.3, 1.0), 0.3 * 1.5, [0, -0.3, 0], 0.3, None),
    (SCAD(0.4, 3.0), (2 * 3 * 0.4 * 0.5 - 0.25 - 0.16) / 4 + 0.32, [0.05, -0.4, 0], 0.4, 0.5),
    (MCP(0.4, 2.0), 0.2 - 0.0625 + 0.16, [0.25, -0.4, 0], 0.4, 0.5),
    (LogSum(0.3, 0.5), 0.3 * (math.log(2) + math.log(5)), [0.3, -0.48, 0], 0.6, 1.2),
    (
        TransformedL1(0.3, 1.5),
        0.75 * (0.25 + 2 / 3.5),
        [0.5 - 0.75 * 1.5 / 4, -(0.5 - 1.125 / 12.25), 0],
        0.5,
        2 / 3,
    ),
    (Geman(0.3, 0.5), 0.3 * (0.5 + 0.8), [0.6 - 0.15, -(0.6 - 0.15 / 6.25), 0], 0.6, 2.4),
    (LpSmooth(0.3, 0.5, 0.25), 0.3 * (0.75**0.5 + 1.5 - 1), [0.3 - 0.15 / 0.75**0.5, -0.2, 0], 0.3, 0.6),
    (L1(0.3), 0.75, [0, 0, 0], 0.3, 0.0),
]


@pytest.mark.parametrize("r, value, w, c, bend", TABLE, ids=lambda v: type(v).__name__)
def test_values_by_hand(r, value, w, c, bend):
    x = np.array([0.5, -2.0, 0.0])
    assert r.value(x) == pytest.approx(value, rel=1e-14)
    np.testing.assert_allclose(r.subgrad(x), w, rtol=1e-13, atol=1e-16)
    assert r.slope0 == pytest.approx(c, rel=1e-15) and r.r1(x) == pytest.approx(2.5 * c, rel=1e-15)
    assert r.L2 == (None if bend is None else pytest.approx(bend, rel=1e-14))
    np.testing.assert_allclose(r.prox(x, 0.5), [max(0.5 - 0.5 * c, 0), -2 + 0.5 * c, 0], rtol=1e-15)
    # distance: |u - c sign(x)| off zero, (|u| - c)+ at zero
    assert r.distance(np.array([c, -c, c]), x) == pytest.approx(0.0, abs=1e-15)
    assert r.distance(np.array([c + 3, -c, c + 4]), x) == pytest.approx(5.0, rel=1e-14)


def test_values_by_hand_of_the_rest():
    x = np.array([3.0, -4.0, 0.0])
    assert L1MinusL2(0.5, 0.5).value(x) == pytest.approx(0.5 * (7 - 2.5), rel=1e-15)
    np.testing.assert_allclose(L1MinusL2(0.5, 0.5).subgrad(x), [0.15, -0.2, 0.0], rtol=1e-15)
    assert L1MinusL2(0.5).value(np.array([0.0, 1e-3 / 3, 0.0])) == 0.0
    assert TopK(0.5, 1).value(x) == 1.5 and TopK(0.5, 2).value(x) == 0.0 and TopK(0.5, 9).value(x) == 0.0
    np.testing.assert_array_equal(TopK(0.5, 1).subgrad(x), [0, -0.5, 0])
    assert np.count_nonzero(TopK(0.5, 2).subgrad(np.ones(5))) == 2
    assert L2(0.5).value(x) == 6.25 and L2(0.5).rho == 0.5
    net = ElasticNet(0.5, 0.2)
    assert net.value(x) == pytest.approx(6.0) and net.rho == 0.2
    np.testing.assert_allclose(net.prox(x, 2.0), [2 / 1.4, -3 / 1.4, 0], rtol=1e-15)
    assert Except(L2(0.5)).rho == 0.0 and ElasticNet(1, 1, weights=[1, 0]).rho == 0.0
    box = Box(-1, 2)
    assert box.value(x) == INF and box.distance(x, x) == INF and box.value(np.array([-1.0, 2.0])) == 0.0
    np.testing.assert_array_equal(box.prox(x, 0.1), [2, -1, 0])
    # the normal cone: u > 0 is free at the upper bound, u < 0 at the lower, nothing inside
    assert box.distance(np.array([-7.0, 9.0, 3.0]), np.array([-1.0, 2.0, 0.0])) == 3.0
    assert box.distance(np.array([4.0, -3.0, 0.0]), np.array([-1.0, 2.0, 0.0])) == 5.0
    assert Nonnegative().value(np.array([0.0, -1e-300])) == INF and Nonnegative() == Nonnegative()
    assert Zero().value(x) == 0.0 and Zero().distance(x, x) == 5.0


def test_groups_by_hand():
    X = np.array([[3.0, 4.0], [0.0, 0.0], [0.6, 0.8]])
    r = Exponential(1.0, 0.5, groups="rows", weights=[1, 5, 2])
    assert r.value(X) == pytest.approx((1 - math.exp(-2.5)) + 2 * (1 - math.exp(-0.5)), rel=1e-14)
    assert r.L2 == 1.25
    np.testing.assert_allclose(r.prox(X, 1.0), [[2.7, 3.6], [0, 0], [0, 0]], rtol=1e-14)
    np.testing.assert_allclose(r.subgrad(X)[0], 0.5 * (1 - math.exp(-2.5)) * np.array([0.6, 0.8]), rtol=1e-14)
    lists = L1(1.0, groups=[[0, 2], [1]])
    assert lists.value(np.array([3.0, -7.0, 4.0])) == 12.0
    assert lists.value(np.array([[3.0, 0], [0, -7.0], [0, 4.0]])) == 12.0
    np.testing.assert_allclose(lists.prox(np.array([3.0, 0.5, 4.0]), 1.0), [2.4, 0.0, 3.2], rtol=1e-14)
    free = Except(lists)
    np.testing.assert_allclose(free.prox(np.array([3.0, 0.5, 4.0, 9.0]), 1.0), [2.4, 0, 3.2, 9], rtol=1e-14)
    with pytest.raises(BadSettings, match="groups"):
        lists.value(np.ones(4))


def test_group_prox_with_a_step_per_entry_agrees_with_a_convex_solver():
    draw = np.random.default_rng(3)
    v, step, groups = draw.normal(size=6), np.exp(2 * draw.normal(size=6)), [[0, 3, 4], [1, 5], [2]]
    for lam in (0.05, 0.4):
        x = cp.Variable(6)
        penalty = sum(cp.norm(x[g]) for g in groups)
        cost = lam * penalty + cp.sum(cp.multiply(0.5 / step, cp.square(x - v)))
        best = cp.Problem(cp.Minimize(cost)).solve(solver=cp.CLARABEL)
        p = L1(lam, groups=groups).prox(v, step)
        np.testing.assert_allclose(p, x.value, atol=1e-4)  # the solver's own accuracy
        assert L1(lam, groups=groups).distance((v - p) / step, p) < 1e-13
        x.value = p
        assert cost.value <= best + 1e-14


def test_distance_agrees_with_a_brute_force_projection():
    """∂r1 at (1, 0) for c = 0.4: {0.4} × [-0.4, 0.4]; at the zero row of a matrix: a ball of radius 0.4."""
    s = np.linspace(-0.4, 0.4, 4001)
    for u in draws(20, 2):
        brute = np.sqrt((u[0] - 0.4) ** 2 + (u[1] - s) ** 2).min()
        assert L1(0.4).distance(u, np.array([1.0, 0.0])) == pytest.approx(brute, abs=1e-3)
        angle = np.linspace(0, 2 * np.pi, 4001)[:, None]
        ball = np.concatenate([k * np.hstack([np.cos(angle), np.sin(angle)]) for k in np.linspace(0, 0.4, 41)])
        brute = np.linalg.norm(u - ball, axis=1).min()
        assert L1(0.4, groups="rows").distance(u[None], np.zeros((1, 2))) == pytest.approx(brute, abs=1e-2)


def draws(n, d):
    return np.random.default_rng(11).normal(size=(n, d))


def test_the_two_concave_steps_differ_when_zero_is_crossed():
    """λ = 0.4, α = 5, κ = 1, x = 0.5, point -0.6: DCA 0, reweighted -0.436; equal while the sign stays."""
    r, x = Exponential(0.4, 5.0), np.array([0.5])

    def step(kind, point):
        w, b = kind.linearize(x, x.copy)
        return float(b.prox(np.array([point]) + w, 1.0)[0])

    assert step(r, -0.6) == 0.0
    assert step(Reweighted(r), -0.6) == pytest.approx(-0.436, abs=5e-4)
    for point in (0.3, 0.6, 2.0):
        assert step(r, point) == pytest.approx(step(Reweighted(r), point), rel=1e-14)
    both = reweighted(Except(r))
    assert both == Except(Reweighted(r))
    for stated in (L2(0.1), TopK(0.1, 2), Except(Box(0, 1))):
        with pytest.raises(BadSettings, match="profile"):
            reweighted(stated)


def test_huge_x_does_not_cancel():
    x = np.array([1e8, -1e8, 1e8])
    want = {
        "exponential": 0.3, "capped-l1": 0.15, "scad": 3 * 0.01 * 4.7 / 2, "mcp": 3 * 3.0 * 0.01 / 2,
        "log-sum": 0.3 * math.log1p(2e8), "transformed-l1": 0.6 / (1 + 1e-8), "geman": 0.3 / (1 + 0.5e-8),
        "lp-smooth": 0.3 * ((1e8 + 0.1) ** 0.5 - 0.1**0.5),
        "l1-minus-l2": 0.1 * 1e8 * (3 - 3**0.5), "top-k": 0.1 * 1e8, "l0": 0.0,
    }  # fmt: skip
    for name, value in want.items():
        assert REGULARIZERS[name].value(x) == pytest.approx(value, rel=1e-12), name
    tail = np.array([1e8, 1e-3, 0.0])  # |x|₁ - |x|₂ = 1e-3 - 5e-15: a difference of norms would keep 8 digits
    assert L1MinusL2(1.0).value(tail) == pytest.approx(1e-3, rel=1e-11)
    assert LpSmooth(1.0, 0.5, 1.0).value(np.array([1e-12])) == pytest.approx(0.5e-12, rel=1e-11)


@pytest.mark.parametrize("name", REGULARIZERS)
def test_read_only_input_is_accepted(name):
    r, x = REGULARIZERS[name], np.array([0.5, 0.0, 1.0])
    x.flags.writeable = False
    assert r.prox(x, 0.5).shape == r.subgrad(x).shape == x.shape
    assert math.isfinite(r.value(x)) and math.isfinite(r.distance(x, x))


def test_soft_threshold_gives_exact_zeros_of_positive_sign():
    p = L1(1.0).prox(np.array([-0.5, 0.5, -1.0, -0.0, 0.0, 2.0]), 1.0)
    np.testing.assert_array_equal(p, [0, 0, 0, 0, 0, 1])
    assert not np.signbit(p).any()


# B13: every hyperparameter at the ends of its domain, and outside
GOOD = [
    lambda v: Exponential(lam=v, alpha=5.0), lambda v: CappedL1(lam=v, theta=0.5), lambda v: SCAD(lam=v),
    lambda v: MCP(lam=v), lambda v: LogSum(lam=v, eps=0.5), lambda v: TransformedL1(lam=v, a=1.0),
    lambda v: Geman(lam=v, theta=0.5), lambda v: LpSmooth(lam=v, p=0.5, eps=0.1), lambda v: L1MinusL2(lam=v),
    lambda v: TopK(lam=v, k=2), lambda v: L1(lam=v), lambda v: L2(lam=v), lambda v: ElasticNet(lam=v, mu=v),
]  # fmt: skip
NOT_NUMBERS = (NAN, INF, -INF, -1e-300, -1.0, None, "1", True, 1j)


@pytest.mark.parametrize("make", GOOD, ids=lambda m: type(m(1.0)).__name__)
def test_lam_at_the_ends_and_outside(make):
    x = np.array([0.5, -2.0, 0.0])
    none, huge = make(0), make(1e300)
    assert none.value(x) == 0.0 and np.array_equal(none.prox(x, 1.0), x) and none.L2 == 0.0
    assert np.all(np.abs(huge.prox(x, 1.0)) <= (1e-290 if isinstance(huge, L2) else 0.0))
    assert np.array_equal(huge.subgrad(np.zeros(3)), np.zeros(3)) and huge.value(np.zeros(3)) == 0.0
    for bad in NOT_NUMBERS:
        with pytest.raises(BadSettings, match="lam"):
            make(bad)


TINY, BIG = 1e-100, 1e100
DOMAINS = [  # how to make it, the setting, values accepted, values refused
    (lambda v: Exponential(0.1, v), "alpha", (TINY, BIG), (0, 0.0)),
    (lambda v: CappedL1(0.1, v), "theta", (TINY, BIG), (0,)),
    (lambda v: SCAD(0.1, v), "a", (2.0000001, BIG), (2, 2.0, 1.9, 0)),
    (lambda v: MCP(0.1, v), "gamma", (TINY, 1.0, BIG), (0,)),
    (lambda v: LogSum(0.1, v), "eps", (TINY, BIG), (0,)),
    (lambda v: TransformedL1(0.1, v), "a", (TINY, BIG), (0,)),
    (lambda v: Geman(0.1, v), "theta", (TINY, BIG), (0,)),
    (lambda v: LpSmooth(0.1, v, 0.1), "p", (1e-6, 1), (0, 1.0001)),
    (lambda v: LpSmooth(0.1, 0.5, v), "eps", (TINY, BIG), (0,)),
    (lambda v: L1MinusL2(0.1, v), "beta", (0, 1), (1.0001,)),
    (lambda v: ElasticNet(0.1, v), "mu", (0, BIG), ()),
]


@pytest.mark.parametrize("make, setting, good, bad", DOMAINS)
def test_every_hyperparameter_at_the_ends_and_outside(make, setting, good, bad):
    x = np.array([0.5, -2.0, 0.0])
    for v in good:
        r = make(v)
        assert r.value(np.zeros(3)) == 0.0 and math.isfinite(r.value(x)) and r.value(x) >= 0.0
        assert np.isfinite(r.prox(x, 1.0)).all() and np.isfinite(r.subgrad(x)).all()
        assert r.L2 is None or math.isfinite(r.L2)
    for v in (*bad, *NOT_NUMBERS):
        with pytest.raises(BadSettings, match=setting):
            make(v)


def test_other_settings_outside_their_domain():
    for k in (-1, 1.5, "2", None, True):
        with pytest.raises(BadSettings, match="k"):
            TopK(0.1, k)
    assert TopK(0.1, 0).value(np.ones(3)) == pytest.approx(0.3) and TopK(0.1, np.int64(2)).k == 2
    for low, high in (
        (1, 0),
        (NAN, 1),
        (0, NAN),
        (INF, INF),
        (-INF, -INF),
        ("a", 1),
        ([0, 1], [1, 0]),
        ([0, 1], [1] * 3),
    ):
        with pytest.raises(BadSettings):
            Box(low, high)
    assert Box(1, 1).prox(np.zeros(2), 1.0).tolist() == [1, 1] and Box([0, 1], 1) == Box((0, 1), 1.0)
    for groups in ("columns", [[0, 1], [1]], [[0], [2]], [[0], []], [], [[-1, 0]], [["a"]], 3, [[0, 0]]):
        with pytest.raises(BadSettings, match="groups"):
            L1(0.1, groups=groups)
    for weights in ([-1.0], [NAN], [INF], [[1.0]], 2.0, "ab", []):
        with pytest.raises(BadSettings, match="weights"):
            L1(0.1, weights=weights)
    with pytest.raises(BadSettings, match="weights"):
        L1(0.1, groups=[[0], [1]], weights=[1, 1, 1])
    for last in (0, -1, 1.0):
        with pytest.raises(BadSettings, match="last"):
            Except(L1(0.1), last)
    with pytest.raises(BadSettings):
        Except("l1")
    for overflow in (
        lambda: Exponential(1e300, 1e10),
        lambda: LogSum(1.0, 1e-200),
        lambda: Geman(1e200, 1e-200),
    ):
        with pytest.raises(BadSettings, match="finite"):
            overflow()


def test_settings_are_values():
    a = Exponential(np.float32(0.5), 2, groups=np.array([[0, 1]]), weights=np.array([1.0]))
    b = Exponential(0.5, 2.0, groups=[(0, 1)], weights=[1])
    assert a == b and hash(a) == hash(b) and type(a.lam) is float
    assert a.shape == (2,) and Except(a).shape == (3,) and L1(0.1).shape is None
    assert Box([0, 0, 0], 1).shape == (3,)


@pytest.mark.parametrize("name", [n for n in VARIANTS if n != "box:entries"])
def test_the_text_is_array_api(name):
    """The same numbers from a strict array-API library as from NumPy."""
    r, draw = VARIANTS[name], np.random.default_rng(2)
    d = (r.shape or (6,))[0]
    for shape in ((d,), (d, 3)):
        x, u = r.prox(2 * draw.normal(size=shape), 0.1), draw.normal(size=shape)
        sx, su = strict.asarray(x), strict.asarray(u)
        assert r.value(sx) == pytest.approx(r.value(x), rel=1e-13)
        assert r.distance(su, sx) == pytest.approx(r.distance(u, x), rel=1e-13)
        np.testing.assert_allclose(np.asarray(r.subgrad(sx)), r.subgrad(x), rtol=1e-13)
        for t in (0.0 * x, x / np.abs(x).max(), np.sign(x)):  # ties
            w = r.steepest(strict.asarray(t), lambda su=su: su)
            np.testing.assert_allclose(np.asarray(w), r.steepest(t, u.copy), rtol=1e-13)
        for step in (0.7, np.full(shape, 0.7)):
            other = step if isinstance(step, float) else strict.asarray(step)
            np.testing.assert_allclose(np.asarray(r.prox(su, other)), r.prox(u, step), rtol=1e-12, atol=1e-15)


# what the laws must refuse


class LogSquare(LogSum):
    """ψ = λ log(1 + a²): convex near 0."""

    slope0 = property(lambda self: 0.0)

    def psi(self, a):
        return self.lam * np.log1p(a * a)

    def dpsi(self, a):
        return self.lam * 2 * a / (1 + a * a)


class SmoothlyCapped(CappedL1):
    """Claims a bend where the slope jumps."""

    profile_L2 = property(lambda self: 10.0)


class Forgetful(L1):
    """A threshold through fmax and fmin: NaN becomes 0."""

    def prox(self, v, step):
        return np.sign(np.nan_to_num(v)) * np.fmax(np.abs(v) - step * self.lam, 0.0)


class WrongSubgrad(Exponential):
    def subgrad(self, x):
        return 1.01 * super().subgrad(x)


class WrongSlope(Geman):
    def dpsi(self, a):
        return self.slope0 * (self.theta / (self.theta + a)) ** 2.01


class LooseBend(MCP):
    profile_L2 = property(lambda self: 1.05 / self.gamma)


class ShortBend(Exponential):
    profile_L2 = property(lambda self: 0.97 * self.lam * self.alpha**2)


class WrongProx(ElasticNet):
    def prox(self, v, step):
        return self.kinked.prox(v, step)


class WrongDistance(L1):
    def distance(self, u, x):
        return float(np.linalg.norm(u - self.lam * np.sign(x)))


class Overclaims(L2):
    rho = property(lambda self: 2.0 * self.lam)


class Widens(L1):
    def prox(self, v, step):
        return super().prox(v.astype(np.float64), step)


class Mutates(L1):
    def prox(self, v, step):
        p = super().prox(v, step)
        v[...] = 0.0
        return p


@dataclass(frozen=True)
class SlackModel(Exponential):
    def linearize(self, x, down):
        return 1.5 * self.subgrad(x), self


class AnyOfATie(TopK):
    """0 at 0: critical for any λ that is large, while F falls."""

    def steepest(self, x, down):
        return self.subgrad(x)


class OneTooMany(TopK):
    """All that is tied is taken."""

    def steepest(self, x, down):
        a = np.abs(x)
        top = a >= np.sort(a.ravel())[-self.k]
        return self.lam * top * np.where(x == 0.0, np.sign(down()), np.sign(x))


class Spread(L1MinusL2):
    """The steepest way where ∇f is all that counts."""

    def steepest(self, x, down):
        u = down()
        return super().steepest(x, down) if np.any(x) else self.lam * self.beta * u / max(np.linalg.norm(u), 1e-9)


class OnlyTheLeft(CappedL1):
    def steepest(self, x, down):
        return self.subgrad(x)


BROKEN = [
    (LogSquare(0.1, 1.0), "not concave at a = "),
    (SmoothlyCapped(0.1, 0.5), "slope jumps at a = 0.5"),
    (Forgetful(0.1), "nan-stays: prox turns a NaN"),
    (WrongSubgrad(0.1, 5.0), "subgrad-supports-r2"),
    (WrongSlope(0.1, 0.5), "dpsi is not the derivative"),
    (LooseBend(0.1), "is loose"),
    (ShortBend(0.1, 5.0), "profile-bend"),
    (WrongProx(0.1, 0.05), "prox-minimizes"),
    (WrongDistance(0.1), "distance-is-exact"),
    (Overclaims(0.1), "halves-are-convex"),
    (Widens(0.1), "float32 is not kept"),
    (Mutates(0.1), "changed in place"),
    (SlackModel(0.1, 5.0), "linearize-majorizes"),
    (AnyOfATie(0.1, 2), "steepest-is-farthest: F falls faster"),
    (OneTooMany(0.1, 2), "steepest-is-farthest: the w of steepest is no subgradient"),
    (Spread(0.1), "steepest-is-farthest: F falls faster"),
    (OnlyTheLeft(0.1, 0.5), "steepest-is-farthest: F falls faster"),
]


@pytest.mark.parametrize("r, says", BROKEN, ids=lambda v: type(v).__name__)
def test_a_broken_one_is_refused(r, says):
    with pytest.raises(LawBroken) as caught:
        run(LAWS, r)
    assert says in str(caught.value)
