"""A row matrix and a loss of a user's own: the four verbs are enough, and what the loss declares is used."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import dcopt
from dcopt.data import csr
from dcopt.draw import Draw
from dcopt.losses import Loss
from dcopt.losses.base import Margin, Residual, absolute, exp, expit, log1p
from dcopt.regularizers import L1, MCP
from dcopt.sums import LinearBatch, LinearSum
from dcopt.sums.fused import Fused


class Frame:
    """Columns by name, as in a data frame: `columns` are the names, and `rows` the numbers of the rows."""

    def __init__(self, series: dict[str, Any]) -> None:
        self.series = series

    @property
    def columns(self) -> list[str]:
        return list(self.series)

    @property
    def gram(self) -> str:
        return "a column may have any name"

    @property
    def shape(self) -> tuple[int, int]:
        return len(next(iter(self.series.values()))), len(self.series)

    @property
    def dtype(self) -> Any:
        return np.dtype(np.float64)

    def _some(self, rows: Any) -> list[Any]:
        return [a if rows is None else a[rows] for a in self.series.values()]

    def dot(self, x: Any, rows: Any = None) -> Any:
        return sum(np.multiply.outer(a, x_j) for a, x_j in zip(self._some(rows), x, strict=True))

    def tdot(self, c: Any, rows: Any = None) -> Any:
        return np.stack([a @ c for a in self._some(rows)])

    def take(self, rows: Any) -> Frame:
        return Frame({name: a[rows] for name, a in self.series.items()})

    def norms2(self) -> Any:
        return sum(a * a for a in self.series.values())


def data(n: int = 400, d: int = 12, classes: int = 2) -> tuple[Any, Any]:
    draw = np.random.default_rng(0)
    X = draw.normal(size=(n, d)) * (draw.random((n, d)) < 0.7) + 0.2
    if classes > 2:
        return X, np.argmax(X[:, :classes] + draw.gumbel(size=(n, classes)), axis=1)
    return X, np.where(X @ np.where(np.arange(d) % 3 == 0, 1.5, 0.0) + draw.logistic(size=n) > 0.8, 1.0, -1.0)


def frame(X: Any) -> Frame:
    return Frame({f"column {j}": X[:, j].copy() for j in range(X.shape[1])})


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("method", ["dca", "dca-page", "dca-local", "dca-nested", "auto"])
@pytest.mark.parametrize("r", [L1(lam=0.02), MCP(lam=0.02)], ids=["l1", "mcp"])
@pytest.mark.parametrize("loss", ["logistic", "squared-sigmoid", "squared"])
def test_rows_of_ones_own_come_to_the_same_end(loss: str, r: Any, method: str, intercept: bool) -> None:
    X, y = data()
    P, S = (dcopt.erm(a, y, loss, r, intercept=intercept) for a in (frame(X), X))
    one, two = (dcopt.solve(Q, method, tol=1e-6, passes=400, seed=0) for Q in (P, S))
    assert one.status is two.status and one.method == two.method
    tight = one.success or method == "dca"
    assert one.certificate.F == pytest.approx(two.certificate.F, rel=1e-8 if tight else 1e-5)
    np.testing.assert_allclose(one.x, two.x, atol=1e-4)
    assert S.value(one.x) == pytest.approx(one.certificate.F, rel=1e-12)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("groups", [None, "rows"])
def test_rows_of_ones_own_with_several_classes(groups: Any, intercept: bool) -> None:
    X, y = data(classes=4)
    for method in ("dca-local", "auto", "dca-page"):
        problems = [dcopt.erm(a, y, "softmax", L1(lam=0.01, groups=groups), intercept=intercept) for a in (frame(X), X)]
        one, two = (dcopt.solve(Q, method, passes=60, seed=0).certificate.F for Q in problems)
        assert one == pytest.approx(two, rel=1e-6)


@pytest.mark.parametrize("decomposition", ["diagonal", "gram", "local"])
def test_rows_of_ones_own_in_other_decompositions(decomposition: str) -> None:
    """A metric of the columns needs to see entries, and says so; the others only multiply."""
    X, y = data()
    if decomposition == "diagonal":
        with pytest.raises(dcopt.CannotSolve, match="does not show its entries; use 'scalar'"):
            dcopt.erm(frame(X), y, "logistic", L1(lam=0.02), decomposition=decomposition)
        return
    P, S = (dcopt.erm(a, y, "logistic", L1(lam=0.02), decomposition=decomposition) for a in (frame(X), X))
    one, two = (dcopt.solve(Q, "dca", tol=1e-6, passes=200, seed=0).certificate.F for Q in (P, S))
    assert one == pytest.approx(two, rel=1e-8)


def test_its_laws_are_kept_and_the_measures_work() -> None:
    X, y = data(60, 5)
    assert "columns-are-the-stored-entries" in dcopt.check(frame(X))
    P, S = (dcopt.erm(a, y, "logistic", MCP(lam=0.05)) for a in (frame(X), X))
    x = np.linspace(-1.0, 1.0, 5)
    for measure in (dcopt.measures.gap, dcopt.measures.criticality):
        assert measure(P, x) == pytest.approx(measure(S, x), rel=1e-9)
    res = dcopt.solve(P, "dca-local", tol=1e-6, measure="gap")
    assert res.success and dcopt.solve(S, "dca-local", tol=1e-6, measure="gap").success


def test_a_search_leaves_critical_points_of_rows_of_ones_own() -> None:
    draw = np.random.default_rng(4)
    X = 0.3 * (draw.normal(size=(80, 8)) + draw.normal(size=(80, 1)))
    y = X @ np.where(np.arange(8) % 3 == 0, 1.0, 0.0) + draw.normal(size=80)
    ends = [dcopt.solve(dcopt.erm(a, y, "squared", MCP(lam=0.1)), "auto", tol=1e-8, seed=0) for a in (frame(X), X)]
    assert ends[0].certificate.F == pytest.approx(ends[1].certificate.F, rel=1e-9)


# ---- a loss of a user's own


@dataclass(frozen=True)
class OwnMargin(Margin):
    """ϕ(m) = ½ log(1 + (1 − m)²)"""

    curvature = (-1 / 8, 1.0)  # type: ignore[assignment]
    elementwise = True

    def phi(self, m: Any) -> Any:
        return 0.5 * log1p((1.0 - m) * (1.0 - m))

    def dphi(self, m: Any) -> Any:
        return (m - 1.0) / (1.0 + (1.0 - m) * (1.0 - m))

    def ddphi(self, m: Any) -> Any:
        q = 1.0 + (1.0 - m) * (1.0 - m)
        return (2.0 - q) / (q * q)


@dataclass(frozen=True)
class OwnResidual(Residual):
    """ϕ(e) = log(1 + e²/2) at scale c"""

    curvature = (-1 / 8, 1.0)  # type: ignore[assignment]
    elementwise = True

    def phi(self, e: Any) -> Any:
        return log1p(0.5 * e * e)

    def dphi(self, e: Any) -> Any:
        return e / (1.0 + 0.5 * e * e)

    def ddphi(self, e: Any) -> Any:
        q = 1.0 + 0.5 * e * e
        return (2.0 - q) / (q * q)


@dataclass(frozen=True)
class OwnLoss(Loss):
    """ϕ(z) = log(1 + eᶻ) − y z + z²/8, y in ℝ"""

    labels = "real"
    lower = None
    curvature = (0.25, 0.5)  # type: ignore[assignment]
    elementwise = True

    def value(self, z: Any, labels: Any) -> Any:
        return log1p(exp(-absolute(z))) + 0.5 * (z + absolute(z)) - labels * z + 0.125 * z * z

    def slope(self, z: Any, labels: Any) -> Any:
        return expit(z) - labels + 0.25 * z

    def bend(self, z: Any, labels: Any) -> Any:
        s = expit(z)
        return s * (1.0 - s) + 0.25 + 0.0 * labels  # NaN stays


LOSSES: list[Any] = [OwnMargin(), OwnResidual(c=0.7), OwnLoss()]


def fits(loss: Any, monkeypatch: pytest.MonkeyPatch, **options: Any) -> tuple[dcopt.Problem, dcopt.Problem]:
    """The same problem with the compiled loops, and with arrays alone."""
    monkeypatch.setattr(csr, "_LARGE", 0)  # as if the rows were many
    X, y = data()
    y = y if loss.labels == "binary" else 0.5 * y + 0.3 * X[:, 0]
    P, S = (dcopt.erm(csr_array(X), y, loss, MCP(lam=0.01), **options) for _ in range(2))
    S.sum.__dict__["fused"] = None
    return P, S


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_it_keeps_the_laws_of_a_loss(loss: Any) -> None:
    assert "slope-is-derivative" in dcopt.check(loss)


@pytest.mark.parametrize("options", [{}, {"intercept": True}, {"sample_weight": np.linspace(0.2, 2.0, 400)}], ids=str)
@pytest.mark.parametrize("method", ["dca-page", "dca-local", "dca"])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_a_loss_of_ones_own_goes_through_the_compiled_loops(
    loss: Any, method: str, options: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every look at all rows, and every correction of a batch, with the numbers of the arrays."""
    P, S = fits(loss, monkeypatch, **options)
    seen = {"look": 0, "diff": 0}
    for verb in seen:
        real = getattr(Fused, verb)

        def counted(self: Any, *args: Any, verb: str = verb, real: Any = real) -> Any:
            seen[verb] += 1
            return real(self, *args)

        monkeypatch.setattr(Fused, verb, counted)
    with monkeypatch.context() as patch:
        patch.setattr(LinearBatch, "_through", lambda *_: pytest.fail("the arrays were asked"))
        one = list(islice(dcopt.iterate(P, method, seed=3), 12))
    assert seen["look"] > 0 and (seen["diff"] > 0) == (method == "dca-page")
    calls = dict(seen)
    for fused, plain in zip(one, islice(dcopt.iterate(S, method, seed=3), 12), strict=True):
        np.testing.assert_allclose(fused.x, plain.x, rtol=0, atol=1e-9)
        assert fused.spent == plain.spent
    assert seen == calls  # The other one went its own way.


def test_a_loss_that_declares_nothing_goes_by_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    class Shy(OwnMargin):
        elementwise = False

    P, S = fits(Shy(), monkeypatch)
    assert isinstance(P.f, LinearSum) and P.f.fused is None
    x = np.linspace(-1.0, 1.0, 12)
    assert P.f.look(x).f == S.sum.look(x).f


def test_a_batch_of_a_loss_of_ones_own_is_that_of_its_formulas(monkeypatch: pytest.MonkeyPatch) -> None:
    P, _ = fits(OwnLoss(), monkeypatch)
    f = P.f
    assert isinstance(f, LinearSum) and f.fused is not None
    batch, x, prev = f.sample(40, Draw(0, 1)), np.linspace(-1.0, 1.0, 12), np.zeros(12)
    A, y = f.a.dot(np.eye(12))[batch.rows], f.labels[batch.rows]
    slopes = [1.0 / (1.0 + np.exp(-(A @ v))) - y + 0.25 * (A @ v) for v in (x, prev)]
    np.testing.assert_allclose(batch.diff(x, prev), A.T @ (slopes[0] - slopes[1]) / 40, rtol=1e-12, atol=1e-14)
