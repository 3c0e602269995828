"""Constants that are estimated: against matrices that are formed, with the work counted; and what plans say of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from principles.shared import Seen
from small import binary

import dcopt
from dcopt.errors import BadInput, BadSettings
from dcopt.sums import EstimatedSum, Facts, SumBase
from dcopt.sums.estimated import lanczos


class Squares(SumBase):
    """f_i(x) = ½⟨x, A_i x⟩ with A_i of both signs: every constant is an eigenvalue of a matrix that is formed here."""

    def __init__(self, n: int = 40, d: int = 5, products: bool = False, raises: bool = False) -> None:
        draw = np.random.default_rng(0)
        A = draw.normal(size=(n, d, d)) + np.diag(np.arange(1.0, d + 1.0))
        self.A = A + np.swapaxes(A, 1, 2)
        self.n, self.shape, self.dtype = n, (d,), np.dtype(np.float64)
        self.products, self.raises, self.count = products, raises, 0

    def all(self) -> Any:
        return Part(self, np.arange(self.n))

    def sample(self, b: int, draw: Any, sampling: Any = "iid") -> Any:
        return Part(self, draw.rows(self.n, b, sampling))


@dataclass
class Part:
    of: Squares
    rows: Any

    @property
    def size(self) -> int:
        return len(self.rows)

    def grad(self, x: Any) -> Any:
        self.of.count += self.size
        return (self.of.A[self.rows] @ x).mean(axis=0)

    def value_grad(self, x: Any) -> Any:
        return float(np.mean(np.einsum("nij,i,j->n", self.of.A[self.rows], x, x))) / 2.0, self.grad(x)

    def __getattr__(self, name: str) -> Any:
        if name != "hess_dot" or not self.of.products:
            raise AttributeError(name)
        return self.product

    def product(self, x: Any, v: Any) -> Any:
        if self.of.raises:
            raise BadSettings("fn", "a function in NumPy", "one with derivatives")
        self.of.count += 2 * self.size
        return (self.of.A[self.rows] @ v).mean(axis=0)


@pytest.mark.parametrize("products", [False, True])
def test_the_ends_of_the_spectrum_of_the_mean(products: bool) -> None:
    f = Squares(products=products)
    found = dcopt.estimate_constants(f, x0=np.ones(5), seed=0)
    low, *_, high = np.linalg.eigvalsh(f.A.mean(axis=0))
    for value in (*found.Lbar, found.facts().L_H):
        assert value == pytest.approx(high, rel=1e-6)
    assert found.least.low == pytest.approx(low, rel=1e-5) and found.least.high == pytest.approx(low, rel=1e-5)


def test_the_constants_of_the_components_are_those_of_a_sample() -> None:
    """128 components with repetition: √λ_max(E A_i²) and √λ_max(E (A_i − A)²) of the 40 to 15 %."""
    f = Squares()
    found = dcopt.estimate_constants(f, x0=np.ones(5), seed=1, near=1)
    mean = f.A.mean(axis=0)
    L = np.linalg.eigvalsh((f.A @ f.A).mean(axis=0))[-1] ** 0.5
    L_v = np.linalg.eigvalsh((f.A @ f.A).mean(axis=0) - mean @ mean)[-1] ** 0.5
    assert found.L.high == pytest.approx(L, rel=0.15) and found.L_v.high == pytest.approx(L_v, rel=0.15)
    assert found.L_v.high < found.L.high


def test_on_a_loss_over_rows_the_curvature_at_x0_is_that_of_the_matrix() -> None:
    P = binary(300, 6)
    assert P.f is not None
    rows = P.f.facts().rows
    assert rows is not None
    A, x = rows.a.dot(np.eye(6)), np.zeros(6)
    bend = rows.loss.bend(rows.a.dot(x), rows.labels)
    found = dcopt.estimate_constants(P, x0=x, seed=0, near=0)
    values = np.linalg.eigvalsh((A * bend[:, None]).T @ A / 300)
    assert found.Lbar == pytest.approx((values[-1], values[-1]), rel=1e-6)
    assert found.least.low == pytest.approx(values[0], rel=1e-5)


@pytest.mark.parametrize("options", [{}, {"products": True}, {"products": True, "raises": True}])
def test_all_work_is_counted(options: dict[str, bool]) -> None:
    f = Squares(**options)
    assert dcopt.estimate_constants(f, seed=0).gradients == pytest.approx(f.count, rel=0.01)
    seen = Seen()
    P = binary(60, 4)
    assert P.f is not None and P.f.facts().rows is not None
    Q = binary(60, 4, loss=seen.around(P.f.facts().rows.loss))
    assert dcopt.estimate_constants(Q, seed=0).gradients == seen.count


def test_the_same_seed_gives_the_same_numbers() -> None:
    one, two, three = (dcopt.estimate_constants(Squares(), seed=seed) for seed in (0, 0, 1))
    assert str(one) == str(two) != str(three)


def test_problems_methods_and_plans_take_them_and_say_so() -> None:
    f = Squares()
    with pytest.raises(BadSettings, match="smoothness of f, which is not known"):
        dcopt.plan(dcopt.Problem(f=f, r=dcopt.regularizers.Ball(1.0)), 0.1, D0=1.0)
    found = dcopt.estimate_constants(f, x0=np.ones(5), seed=0)
    assert isinstance(found, EstimatedSum) and "not proven" in str(found)
    P = dcopt.Problem(f=found, r=dcopt.regularizers.Ball(1.0))
    assert P.G.L == found.facts().L and P.tunable
    assert dcopt.solve(P, "dca", x0=np.ones(5) / 5).success
    plan = dcopt.plan(P, 0.1, D0=1.0)
    assert {c.name: c.how for c in plan.constants}["L_v"] == found.how
    assert any("estimated by Lanczos at 4 points, not proven" in remark for remark in plan.remarks)
    assert "holds where they are bounds" in " ".join(str(plan).split())
    H = dcopt.Problem(dcopt.convex.ScaledIdentity(20.0), H=found, r="zero")
    assert H.constants.L_v == found.L_v.high and H.constants.how == found.how


def test_what_was_given_is_not_said_to_be_estimated() -> None:
    assert Facts().how == ""
    assert not any("estimated" in remark for remark in dcopt.plan(binary(), 0.1).remarks)


def test_bad_input_is_refused() -> None:
    with pytest.raises(BadInput, match="of.*expected a problem, or a sum"):
        dcopt.estimate_constants(np.ones(3))  # type: ignore[arg-type]
    with pytest.raises(BadSettings, match="near"):
        dcopt.estimate_constants(Squares(), near=-1)
    with pytest.raises(BadInput, match="x0"):
        dcopt.estimate_constants(Squares(), x0=np.ones(4))
    f = dcopt.Function(lambda x: np.inf, lambda x: np.full(2, np.inf), (2,))
    with pytest.raises(BadInput, match="not finite"):
        dcopt.estimate_constants(f, seed=0)


def test_lanczos_finds_the_ends() -> None:
    draw = np.random.default_rng(0)
    A = draw.normal(size=(8, 8))
    A = A + A.T
    low, *_, high = np.linalg.eigvalsh(A)
    assert lanczos(lambda v: A @ v, draw.normal(size=8)) == pytest.approx((low, high), rel=1e-9)
    assert lanczos(lambda v: 0.0 * v, draw.normal(size=8)) == (0.0, 0.0)
