"""Components that a user wrote make the steps of the built-in loss; batches, chunks and streams are cut in any way."""

from __future__ import annotations

import os
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from functions import (
    FRAMEWORKS,
    JAX,
    TORCH,
    each_gradient,
    in_numpy,
    in_torch,
    mean_gradient,
    rows,
    squared_sigmoid,
)  # fmt: skip

import dcopt
from dcopt.convex import ComponentMean, Mean, ScaledIdentity, least_squares
from dcopt.data.dense import DenseRows
from dcopt.draw import Draw
from dcopt.estimators import PAGE, SAG, SAGA, SVRG, Fresh
from dcopt.losses import LOSSES
from dcopt.regularizers import Exponential
from dcopt.regularizers import regularizer as as_regularizer
from dcopt.subproblems import InnerSVRG
from dcopt.sums import LinearSum

R = Exponential(lam=1e-4, alpha=5.0)
METHODS = ["dca-page", "dca", "dca-svrg", "mm-sarah"]


def apart(P: dcopt.Problem, Q: dcopt.Problem, method: Any, steps: int) -> float:
    """How far the paths are apart; the counts of component gradients are the same."""
    off = 0.0
    for one, two in islice(zip(dcopt.iterate(P, method, seed=1), dcopt.iterate(Q, method, seed=1), strict=True), steps):
        assert one.spent == two.spent
        off = max(off, float(np.abs(one.x - two.x).max()))
    return off


def pair(framework: str, A: Any, y: Any, **settings: Any) -> tuple[dcopt.Problem, dcopt.Problem]:
    """The built-in loss and the user's, with the same κ"""
    P = dcopt.erm(A, y, "squared-sigmoid", R, sample_weight=settings.get("weights")).fixed()
    return P, dcopt.Problem(P.G, f=squared_sigmoid(framework, (A, y), **settings), r=P.r)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_path_of_the_built_in_loss(framework: str, method: str) -> None:
    assert apart(*pair(framework, *rows(300, 6)), method, 100) <= 1e-12


@cache
def a9a() -> tuple[Any, Any, Any]:
    X, labels = dcopt.load_dataset("a9a")
    return X, X.toarray(), np.where(labels > 0, 1.0, -1.0)


@pytest.mark.skipif("DCOPT_DATA" not in os.environ, reason="DCOPT_DATA is not set")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_path_of_the_built_in_loss_on_a9a(framework: str, method: str) -> None:
    X, dense, y = a9a()
    P = dcopt.erm(X, y, "squared-sigmoid", R).fixed()
    Q = dcopt.Problem(P.G, f=squared_sigmoid(framework, (dense, y)), r=P.r)
    assert apart(P, Q, method, 100) <= 1e-10


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_chunks_weights_and_rows_of_csr_change_nothing(framework: str) -> None:
    A, y = rows(200, 6)
    A[np.abs(A) < 0.7] = 0.0
    weights = np.random.default_rng(1).uniform(0.1, 3.0, 200)
    grad = {"grad": each_gradient} if framework == "numpy" else {}
    P, Q = pair(framework, A, y, weights=weights, chunk=33, **grad)
    assert apart(P, Q, "dca-page", 60) <= 1e-12
    assert apart(P, Q, PAGE(p=0.2, b_small=90, sampling="distinct"), 20) <= 1e-12
    if framework == "numpy":  # There rows of CSR stay what they are, and this grad needs arrays.
        return
    sparse = dcopt.Problem(P.G, f=squared_sigmoid(framework, (sp.csr_array(A), y), weights=weights), r=P.r)
    assert apart(P, sparse, "dca-page", 60) <= 1e-12


@JAX
def test_full_passes_in_jax_keep_chunks_of_dense_data_and_none_of_csr() -> None:
    A, y = rows(200, 6)
    x = np.arange(6.0) / 6
    f = squared_sigmoid("jax", (A, y), chunk=33)
    first = f.all().grad(x)
    assert sorted(f.own.chunks) == [(start, min(200, start + 33)) for start in range(0, 200, 33)]
    assert np.array_equal(first, f.all().grad(x))
    np.testing.assert_allclose(first, mean_gradient(x, (A, y)), rtol=1e-13)
    csr = squared_sigmoid("jax", (sp.csr_array(A), y), chunk=33)
    assert np.array_equal(first, csr.all().grad(x))
    assert not csr.own.chunks


@pytest.mark.parametrize("estimator", [SAGA(b=7), SAG(b=7), SAGA(b=7, quadratic="inside"), SVRG(b_small=7, period=5)])
def test_tables_of_gradients_that_are_given_for_each_component(estimator: Any) -> None:
    A, y = rows(80, 4)
    P, Q = pair("numpy", A, y, grad=each_gradient)
    assert apart(P, Q, estimator, 40) <= 1e-12


@pytest.mark.parametrize("method", ["dca-saga", "mm-saga", "sdca", SAGA(b=3), SAG(b=3)])
def test_tables_are_refused_by_name_without_a_gradient_for_each_component(method: Any) -> None:
    P = pair("numpy", *rows())[1]
    with pytest.raises(dcopt.CannotSolve, match="remembers a gradient for every component, and this sum gives none"):
        dcopt.solve(P, method, steps=3)


class Rows:
    """An object of the user's, which has `len` and `take` alone, and counts what is asked of it"""

    def __init__(self, A: Any, y: Any) -> None:
        self.A, self.y, self.taken = A, y, 0

    def __len__(self) -> int:
        return len(self.y)

    def take(self, at: Any) -> Any:
        self.taken += 1
        return self.A[at], self.y[at]


def test_both_points_of_a_correction_are_on_a_batch_that_is_fetched_once() -> None:
    data = Rows(*rows())
    f = dcopt.components(in_numpy, data, shape=5, grad=mean_gradient)
    before, x = data.taken, np.ones(5)
    change = f.sample(9, Draw(0, 1)).diff(x, 0.5 * x)
    assert data.taken == before + 1
    A, y = rows()
    want = dcopt.components(in_numpy, (A, y), shape=5, grad=mean_gradient).sample(9, Draw(0, 1)).diff(x, 0.5 * x)
    np.testing.assert_array_equal(change, want)


def test_a_row_matrix_and_a_csr_matrix_reach_a_function_in_numpy_as_they_are() -> None:
    A, y = rows()
    seen: set[str] = set()

    def fn(x: Any, batch: Any) -> Any:
        seen.add(type(batch[0]).__name__)
        return 0.5 * (batch[0].dot(x) - batch[1]) ** 2

    def grad(x: Any, batch: Any) -> Any:
        B, b = batch
        e = B.dot(x) - b
        return (B.tdot(e) if hasattr(B, "tdot") else B.T @ e) / len(b)

    x = np.arange(5.0)
    for a in (A, sp.csr_matrix(A), DenseRows(A)):
        value, g = dcopt.components(fn, (a, y), shape=5, grad=grad, chunk=17).all().value_grad(x)
        np.testing.assert_allclose(value, 0.5 * np.mean((A @ x - y) ** 2), rtol=1e-13)
        np.testing.assert_allclose(g, A.T @ (A @ x - y) / 60, rtol=1e-12)
    assert seen == {"ndarray", "csr_matrix", "DenseRows"}


@pytest.mark.parametrize("framework", [pytest.param("torch", marks=TORCH), pytest.param("jax", marks=JAX)])
def test_products_with_the_hessian_are_differences_of_gradients(framework: str) -> None:
    f = squared_sigmoid(framework, rows())
    x, v, t = np.linspace(-1.0, 1.0, 5), np.linspace(2.0, 1.0, 5), 1e-5
    for some in (None, np.array([3, 1, 1])):
        batch = f.all() if some is None else f.take(some).all()
        by_differences = (batch.grad(x + t * v) - batch.grad(x - t * v)) / (2 * t)
        np.testing.assert_allclose(f.hess_dot(x, v, some), by_differences, rtol=1e-7, atol=1e-9)


# ---- parameters as a tree


def _in_parameters(library: Any) -> Any:
    def fn(p: Any, batch: Any) -> Any:
        A, y = batch
        hidden = library.tanh(A @ p["layers"][0].T + p["bias"])
        return (hidden @ p["layers"][1] - y) ** 2

    return fn


@TORCH
@JAX
def test_a_tree_of_parameters_is_one_vector_and_the_same_in_every_framework() -> None:
    import jax.numpy as jnp
    import torch

    draw = np.random.default_rng(3)
    like = {"layers": (draw.normal(size=(3, 5)), draw.normal(size=3)), "bias": draw.normal(size=3)}
    one, two = (dcopt.components(_in_parameters(xp), rows(), like=like) for xp in (torch, jnp))
    assert one.engine.name == "PyTorch" and two.engine.name == "JAX" and one.shape == two.shape == (21,)
    x = one.ravel(like)
    np.testing.assert_array_equal(x[:15], like["layers"][0].ravel())
    back = one.unravel(x)
    assert isinstance(back["layers"], tuple) and np.array_equal(back["layers"][0], like["layers"][0])
    (value, g), (other, h) = (f.all().value_grad(x) for f in (one, two))
    np.testing.assert_allclose(value, other, rtol=1e-13)
    np.testing.assert_allclose(g, h, rtol=1e-11, atol=1e-13)
    dcopt.check(one)


@TORCH
def test_a_module_of_pytorch_in_float32_is_trained_and_given_back() -> None:
    import torch

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    A, y = rows(dtype=np.float32)

    def fn(p: Any, batch: Any) -> Any:
        a, b = batch
        return (torch.func.functional_call(net, p, (a,))[:, 0] - b) ** 2

    f = dcopt.components(fn, (A, y), like=net.state_dict())
    P = dcopt.Problem(ScaledIdentity(20.0), f=f, r="zero")
    x0 = f.ravel(net.state_dict())
    result = dcopt.solve(P, "dca-page", passes=100, x0=x0, seed=0)
    assert result.x.dtype == np.float32 and result.certificate.F < 0.8 * P.value(x0)
    net.load_state_dict({name: torch.from_numpy(a) for name, a in f.unravel(result.x).items()})
    with torch.no_grad():
        loss = torch.mean((net(torch.from_numpy(A))[:, 0] - torch.from_numpy(y)) ** 2)
    np.testing.assert_allclose(float(loss), result.certificate.F, rtol=1e-5)


# ---- problem (M)


def convex_pair() -> tuple[Any, Any, Any]:
    """g_i − h_i = log(1 + e²)/2: a half square, and what is left of it"""

    def g(x: Any, batch: Any) -> Any:
        return 0.5 * (batch[0] @ x - batch[1]) ** 2

    def g_grad(x: Any, batch: Any) -> Any:
        return batch[0].T @ (batch[0] @ x - batch[1]) / len(batch[1])

    def h(x: Any, batch: Any) -> Any:
        e = batch[0] @ x - batch[1]
        return 0.5 * e**2 - 0.5 * np.log1p(e**2)

    def h_grad(x: Any, batch: Any) -> Any:
        e = batch[0] @ x - batch[1]
        return batch[0].T @ (e - e / (1.0 + e**2)) / len(e)

    return (g, g_grad), (h, h_grad), rows(80, 4)


@pytest.mark.parametrize("method", ["dca", "dca-page"])
def test_a_difference_of_two_functions_is_robust_regression(method: str) -> None:
    (g, g_grad), (h, h_grad), data = convex_pair()
    P = dcopt.problems.difference(data, g=g, h=h, g_grad=g_grad, h_grad=h_grad, shape=4, regularizer="l2")
    assert isinstance(P.G, ComponentMean) and P.n == 80
    G = least_squares(*data)
    Q = dcopt.Problem(G, H=P.H, r=P.r, inner_tol=P.inner_tol)
    one, two = (dcopt.solve(p, method, steps=300, seed=1) for p in (P, Q))
    assert one.certificate.value < 1e-8 > two.certificate.value
    np.testing.assert_allclose(one.x, two.x, rtol=0, atol=1e-7)
    assert one.spent.gradients > two.spent.gradients  # The passes of the convex programs are counted.
    dcopt.check(P)


@TORCH
def test_a_mean_of_components_as_G_under_the_laws_of_a_convex_part() -> None:
    import torch

    A, y = rows(40, 3)

    def fn(x: Any, batch: Any) -> Any:
        return torch.nn.functional.softplus(-batch[1] * (batch[0] @ x))

    L = float(np.linalg.eigvalsh(A.T @ A / 40)[-1]) / 4.0
    G = ComponentMean(dcopt.components(fn, (A, y), shape=3, convex=True, L_H=L), mu=0.1)
    assert "hess-dot-is-derivative" in dcopt.check(G) and G.L == L + 0.1 and G.components == 40


def test_the_stochastic_sub_solver_takes_components_whose_smoothness_is_known() -> None:
    """The solution is that for the built-in loss, and the cost is the number of gradients that were evaluated."""
    (g, g_grad), _, (A, t) = convex_pair()
    seen: list[int] = []

    def counted(x: Any, batch: Any) -> Any:
        seen.append(len(batch[1]))
        return g_grad(x, batch)

    norms = float(np.max(np.sum(A**2, axis=1)))
    L = float(np.linalg.eigvalsh(A.T @ A / 80)[-1])
    own = ComponentMean(dcopt.components(g, (A, t), shape=4, grad=counted, convex=True, L_H=L, L=norms), mu=0.3)
    built_in = Mean(LinearSum(DenseRows(A), LOSSES["squared"], t), mu=0.3)
    r, y = as_regularizer("l1"), np.array([0.3, -0.2, 0.1, 0.5])
    solver = InnerSVRG(b=8)
    assert solver.takes(own, r) and not solver.takes(ComponentMean(own.sum), r)
    seen.clear()
    one, two = (solver(G, r, y, np.zeros(4), 1e-9) for G in (own, built_in))
    assert one.cost.gradients == sum(seen)
    assert one.residual <= 1e-9 and two.residual <= 1e-9  # type: ignore[operator]
    np.testing.assert_allclose(one.x, two.x, atol=1e-8)
    without = ComponentMean(dcopt.components(g, (A, t), shape=4, grad=g_grad, convex=True), mu=0.3)
    assert not solver.takes(without, r)


# ---- streams


def _blocks(A: Any, y: Any, sizes: list[int]) -> list[Any]:
    ends = np.cumsum([0, *sizes])
    return [(A[i:j], y[i:j]) for i, j in zip(ends, ends[1:], strict=False)]


@pytest.mark.parametrize("sizes", [[1000], [1] * 10 + [490, 500], [333, 0, 667]])
def test_a_stream_is_the_same_however_its_blocks_are_cut(sizes: list[int]) -> None:
    A, y = rows(1000)
    built_in = dcopt.stream([(A, y)], "squared-sigmoid", "l1", kappa=3.0, holdout=100)
    f = dcopt.components(in_numpy, _blocks(A, y, sizes), shape=5, grad=mean_gradient, holdout=100)
    P = dcopt.Problem(ScaledIdentity(3.0), f=f, r="l1")
    one, two = (dcopt.solve(p, PAGE(p=0.3, b_small=16, b=64), samples=2000, seed=2) for p in (built_in, P))
    assert one.status is two.status is dcopt.Status.OUT_OF_DATA and one.steps == two.steps
    np.testing.assert_allclose(one.x, two.x, rtol=0, atol=1e-12)
    assert two.certificate.at == "100"


def test_a_problem_G_minus_H_on_a_stream_is_solved_and_measured_on_the_held_out_sample() -> None:
    draw = np.random.default_rng(0)

    def more(b: int) -> Any:
        A = draw.normal(size=(b, 3))
        return {"A": A, "y": A @ np.array([1.0, -2.0, 0.5]) + 0.1 * draw.standard_t(1, size=b)}

    def h(x: Any, batch: Any) -> Any:
        e = batch["A"] @ x - batch["y"]
        return 0.5 * (x @ x) * 2.0 - np.log1p(e**2) / 2.0

    def grad(x: Any, batch: Any) -> Any:
        e = batch["A"] @ x - batch["y"]
        return 2.0 * x - batch["A"].T @ (e / (1.0 + e**2)) / len(e)

    H = dcopt.components(h, more, shape=3, grad=grad, holdout=4096)
    assert H.n is None
    result = dcopt.solve(dcopt.Problem(ScaledIdentity(2.0), H=H, r="zero"), "dca-page", samples=60_000, seed=0)
    np.testing.assert_allclose(result.x, [1.0, -2.0, 0.5], atol=0.02)
    assert result.certificate.at == "4096" and result.status is dcopt.Status.BUDGET


def test_the_deviation_of_one_gradient_is_estimated_from_groups() -> None:
    """σ̂² has the mean σ² and about 31 degrees of freedom: the mean over 30 streams is within 10 % of it."""
    squares, draw = [], np.random.default_rng(5)
    x = np.array([0.3, -0.2, 0.1, 0.0, 0.4])
    for _ in range(30):
        A = draw.normal(size=(640, 5))
        y = np.where(draw.random(640) < 0.5, 1.0, -1.0)
        f = dcopt.components(in_numpy, [(A, y)], shape=5, grad=mean_gradient, holdout=640)
        squares.append(f.spread(x) ** 2)
    A = draw.normal(size=(200_000, 5))
    each = each_gradient(x, (A, np.where(draw.random(200_000) < 0.5, 1.0, -1.0)))
    np.testing.assert_allclose(np.mean(squares), np.sum(each.var(axis=0)), rtol=0.1)


@TORCH
def test_a_stream_of_tensors() -> None:
    import torch

    A, y = rows(600)
    blocks = [tuple(map(torch.from_numpy, block)) for block in _blocks(A, y, [250, 350])]
    f = dcopt.components(in_torch, blocks, shape=5, holdout=100)
    P = dcopt.Problem(ScaledIdentity(3.0), f=f, r="zero")
    plain = dcopt.components(in_numpy, _blocks(A, y, [600]), shape=5, grad=mean_gradient, holdout=100)
    Q = dcopt.Problem(ScaledIdentity(3.0), f=plain, r="zero")
    one, two = (dcopt.solve(p, Fresh(b=50), samples=500, seed=0) for p in (P, Q))
    np.testing.assert_allclose(one.x, two.x, rtol=0, atol=1e-12)


# ---- a run is killed and goes on


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_checkpoint_goes_on_to_the_same_bits_and_refuses_other_data(framework: str, tmp_path: Any) -> None:
    A, y = rows()
    P = pair(framework, A, y)[1]
    path = tmp_path / "run.ckpt"
    whole = dcopt.solve(P, "dca-page", steps=40, seed=3)
    dcopt.solve(P, "dca-page", steps=15, seed=3, checkpoint=path, every=0.0)
    again = dcopt.resume(path, pair(framework, A, y)[1], steps=40)
    np.testing.assert_array_equal(again.x, whole.x)
    B = A.copy()
    B[7, 2] += 1e-3
    with pytest.raises(dcopt.ResumeMismatch, match="the sum"):
        dcopt.resume(path, pair(framework, B, y)[1], steps=50)


@TORCH
def test_tensors_and_dicts_are_part_of_the_fingerprint(tmp_path: Any) -> None:
    import torch

    from dcopt.store.fingerprint import fingerprint

    def fn(x: Any, batch: Any) -> Any:
        return in_torch(x, (batch["A"], batch["y"]))

    def problem(change: float) -> dcopt.Problem:
        A, y = map(torch.from_numpy, rows())
        A[0, 0] += change
        return dcopt.Problem(ScaledIdentity(1.0), f=dcopt.components(fn, {"A": A, "y": y}, shape=5), r="zero")

    assert fingerprint(problem(0.0)) == fingerprint(problem(0.0)) != fingerprint(problem(1e-6))
