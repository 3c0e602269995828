"""Every registered convex part under every law; least squares; closed formulas by hand; bad settings; broken parts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import array_api_strict as strict
import numpy as np
import pytest
import scipy.sparse as sp

import dcopt
from dcopt.convex import CONVEX, Diagonal, Mean, Part, Quadratic, Radial, ScaledIdentity, Shifted, gram, least_squares
from dcopt.data.check import as_rows
from dcopt.data.intercept import WithIntercept
from dcopt.errors import BadInput, BadSettings, CannotSolve
from dcopt.laws.base import LawBroken, run
from dcopt.laws.convex import LAWS
from dcopt.losses import LOSSES, Huber, Logistic, Quartic, Softmax, Squared, SquaredSigmoid
from dcopt.sums import LinearSum

DRAW = np.random.default_rng(0)
A = DRAW.normal(size=(12, 5))
SIGNS = np.where(DRAW.random(12) < 0.5, -1.0, 1.0)
REAL = DRAW.normal(size=12)
WEIGHTS = DRAW.random(12) + 0.5


def mean(loss, mu=0.0, weights=None, sparse=False, labels=None) -> Mean:
    rows = as_rows(sp.csr_array(A * (A > 0)) if sparse else A)
    labels = {"binary": SIGNS, "real": REAL, "class": np.arange(12) % 3}[loss.labels] if labels is None else labels
    return Mean(LinearSum(rows, loss, labels, weights, (3,) if loss.labels == "class" else ()), mu)


class Plain(Part):
    """log cosh, entry by entry: value and grad only, all else by default"""

    def value(self, x):
        return float(np.sum(np.log(np.cosh(x))))

    def grad(self, x):
        return np.tanh(x)


VARIANTS = {
    **CONVEX,
    "identity:shifted": ScaledIdentity(0.5).shift(2.0),
    "quadratic:plain": Quadratic(A.T @ A),
    "quadratic:singular": Quadratic(A[:3].T @ A[:3], A[0]),
    "quadratic:columns": Quadratic(A.T @ A / 12, DRAW.normal(size=(5, 2))),
    "least-squares": least_squares(A, REAL),
    "least-squares:sparse-weights": least_squares(sp.csr_array(A * (A > 0)), REAL, WEIGHTS),
    "mean:logistic-weights": mean(Logistic(), 0.2, WEIGHTS),
    "mean:logistic-sparse": mean(Logistic(), sparse=True),
    "mean:squared": mean(Squared(), 0.3),
    "mean:softmax": mean(Softmax(), 0.1),
    "mean:softmax-weights": mean(Softmax(), 0.1, WEIGHTS),
    "mean:quartic": mean(Quartic(), 0.1),
    "mean:not-convex-loss": mean(SquaredSigmoid(), 2.0),
    "radial:quartic": Radial(1.0, 0.0),
    "radial:square": Radial(0.0, 2.0),
    "shifted:plain": Plain().shift(0.5),
    "plain": Plain(),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", VARIANTS)
def test_law(name, law):
    LAWS[law](VARIANTS[name])


@pytest.mark.parametrize("name", ["mean:huber"])
def test_huber_keeps_the_laws_that_need_no_second_derivative(name):
    G = mean(Huber(), 0.1)
    for law in LAWS.keys() - {"grad-is-derivative", "bregman-is-its-definition", "hess-dot-is-derivative"}:
        LAWS[law](G)


def test_check_finds_the_laws_of_a_convex_part():
    assert dcopt.check(Radial(1.0, 0.5)) == list(LAWS)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_least_squares_is_the_mean_of_squares(sparse, weights):
    X = A * (A > 0)
    G = least_squares(sp.csr_array(X) if sparse else X, REAL, weights)
    w = np.ones(12) if weights is None else weights * 12 / weights.sum()
    H = mean(Squared(), weights=None if weights is None else w, sparse=True)
    for x in DRAW.normal(size=(5, 5)):
        want = 0.5 * np.sum(w * (X @ x - REAL) ** 2) / 12
        assert G.value(x) == pytest.approx(want, rel=1e-13) == pytest.approx(H.value(x), rel=1e-13)
        np.testing.assert_allclose(G.grad(x), X.T @ (w * (X @ x - REAL)) / 12, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(G.grad(x), H.grad(x), rtol=1e-12, atol=1e-14)
    assert pytest.approx(H.L, rel=1e-5) == G.L


def test_least_squares_of_columns_and_of_an_intercept():
    B = DRAW.normal(size=(12, 3))
    G, x = least_squares(A, B), DRAW.normal(size=(5, 3))
    assert G.shape == (5, 3) and G.value(x) == pytest.approx(0.5 * np.sum((A @ x - B) ** 2) / 12, rel=1e-13)
    rows, ones = WithIntercept(as_rows(A)), np.hstack([A, np.ones((12, 1))])
    np.testing.assert_allclose(gram(rows, WEIGHTS), ones.T @ (WEIGHTS[:, None] * ones) / 12, rtol=1e-13)
    with pytest.raises(BadInput, match="b"):
        least_squares(A, REAL[:5])
    with pytest.raises(BadInput, match="row 3"):
        least_squares(A, np.where(np.arange(12) == 3, np.nan, REAL))


def test_a_long_matrix_is_taken_in_blocks():
    X = np.random.default_rng(5).normal(size=(9001, 3))
    np.testing.assert_allclose(gram(as_rows(X)), X.T @ X / 9001, rtol=1e-12, atol=1e-14)


def test_values_by_hand():
    x, y = np.array([1.0, -2.0]), np.array([0.0, 1.0])
    assert Diagonal([2.0, 0.5]).value(x) == 2.0 and Diagonal([2.0, 0.5]).value(x[:, None]) == 2.0
    assert Quadratic([[2.0, 1.0], [1.0, 1.0]], [1.0, 1.0], 3.0).value(x) == pytest.approx(1 - 2 + 2 + 1 + 3)
    assert Radial(2.0, 4.0).value(x) == pytest.approx(0.5 * 25 + 2 * 5)
    np.testing.assert_allclose(Radial(2.0, 4.0).grad(x), 14.0 * x)
    assert Radial(1.0, 0.0).bregman(x, y) == pytest.approx(25 / 4 - 1 / 4 - (-3.0))
    assert Shifted(Radial(0.0, 1.0), 2.0).value(x) == pytest.approx(7.5)
    assert Quadratic(np.diag([3.0, 1.0])).rho == pytest.approx(1.0) and Quadratic(np.zeros((2, 2))).L == 0.0
    G = mean(Quartic(), labels=np.zeros(12))
    z = A @ np.ones(5)
    assert G.value(np.ones(5)) == pytest.approx(np.mean(z**4) / 4) and G.L == G.L_component == math.inf


def test_mean_knows_its_constants():
    G, eigenvalues = mean(Squared(), 0.3), np.linalg.eigvalsh(A.T @ A / 12)
    assert pytest.approx(eigenvalues[-1] + 0.3, rel=1e-5) == G.L and G.rho == 0.3 and G.components == 12
    assert G.L_component == pytest.approx(np.max(np.sum(A**2, axis=1)))
    low = -LOSSES["squared-sigmoid"].curvature[0] * eigenvalues[-1]
    assert mean(SquaredSigmoid(), 2.0).rho == pytest.approx(2.0 - low, rel=1e-5)
    with pytest.raises(BadSettings, match="convex"):
        mean(SquaredSigmoid(), 0.5 * low)


def test_plain_arrays_of_the_standard():
    for G in (ScaledIdentity(2.0), Diagonal([1.0, 2.0]), Radial(1.0, 1.0), Shifted(Radial(1.0, 1.0), 1.0)):
        x = np.array([1.0, -2.0])
        s = strict.asarray(x)
        assert G.value(s) == G.value(x) and G.bregman(s, 0.5 * s) == G.bregman(x, 0.5 * x)
        np.testing.assert_array_equal(np.asarray(G.grad(s)), G.grad(x))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Diagonal([1.0, 0.0]),
        lambda: Diagonal([1.0, math.nan]),
        lambda: Diagonal([[1.0]]),
        lambda: Diagonal("x"),
        lambda: Quadratic([[1.0, 2.0]]),
        lambda: Quadratic([[1.0, 2.0], [0.0, 1.0]]),
        lambda: Quadratic([[math.nan]]),
        lambda: Quadratic(np.eye(2), [1.0, 2.0, 3.0]),
        lambda: Quadratic([[1.0, 0.0], [0.0, -1.0]]),
        lambda: Quadratic(-np.eye(3), np.ones(3)),
        lambda: Radial(0.0, 0.0),
        lambda: Radial(-1.0, 1.0),
        lambda: Shifted(Radial(1.0, 1.0), -1.0),
        lambda: Radial(1.0, 1.0).shift(math.nan),
        lambda: Quadratic(np.eye(2)).shift(-0.5),
        lambda: mean(Logistic(), -1.0),
    ],
)
def test_bad_settings_are_refused(make):
    with pytest.raises(BadSettings):
        make()


def test_an_indefinite_quadratic_is_refused_with_its_least_eigenvalue() -> None:
    with pytest.raises(BadSettings, match="least eigenvalue -1': expected a positive semidefinite"):
        Quadratic(-np.eye(3))
    for d in (1, 5, 60):  # what rounding leaves of a singular matrix is not refused
        B = np.random.default_rng(d).standard_normal((max(1, d // 2), d)) * 10.0 ** np.linspace(-3, 3, d)
        assert Quadratic(B.T @ B).L > 0.0 and Quadratic(np.zeros((d, d))).L == 0.0
        e, V = np.linalg.eigh(B.T @ B)
        e[0] = -1e-6 * e[-1]
        Q = V @ np.diag(e) @ V.T
        with pytest.raises(BadSettings, match="least eigenvalue"):
            Quadratic(0.5 * (Q + Q.T))


# ---- parts that lie


@dataclass(frozen=True)
class Wrong(Radial):
    what: str = ""

    @property
    def rho(self):
        return self.b + (0.5 if self.what == "rho" else 0.0)

    @property
    def L(self):
        return 10.0 if self.what == "L" else math.inf

    def value(self, x):
        concave = 3.0 * float(np.sum(np.cos(x))) if self.what == "convex" else 0.0
        return super().value(x) + concave + (1.0 if self.what == "nan" and np.isnan(x).any() else 0.0)

    def grad(self, x):
        if self.what == "nan":
            x = np.nan_to_num(x)
        if self.what == "write":
            x *= 1.0000001
        return super().grad(x) * (1.001 if self.what == "grad" else 1.0) - (
            3.0 * np.sin(x) if self.what == "convex" else 0.0
        )

    def hess_dot(self, x, v):
        return super().hess_dot(x, v) * (1.01 if self.what == "hess" else 1.0)

    def bregman(self, x, y):
        return super().bregman(x, y) * (1.001 if self.what == "bregman" else 1.0)

    def shift(self, eta):
        return Radial(self.a, self.b + (0.5 * eta if self.what == "shift" else eta))


LIES = {
    "rho": "convex-on-segments",
    "L": "constants-bound-the-curvature",
    "convex": "convex-on-segments",
    "grad": "grad-is-derivative",
    "bregman": "bregman-is-its-definition",
    "hess": "hess-dot-is-derivative",
    "shift": "shift-adds-a-square",
    "nan": "nan-in-nan-out",
    "write": "leaves-its-argument",
}


@pytest.mark.parametrize("what", LIES)
def test_a_part_that_lies_is_found_out(what):
    LAWS[LIES[what]](Wrong(0.5, 1.0))
    with pytest.raises(LawBroken, match=LIES[what]):
        run(LAWS, Wrong(0.5, 1.0, what))


@pytest.mark.parametrize("law", ["above-its-bound", "slope-is-derivative", "bend-is-derivative", "finite-when-huge"])
def test_quartic_keeps_the_laws_of_a_loss_that_need_no_bound(law):
    from dcopt.laws import LOSS_LAWS

    LOSS_LAWS[law](Quartic())
    with pytest.raises(CannotSolve, match="has no bound"):
        dcopt.solve(dcopt.erm(A, REAL, loss=Quartic()), "dca")
