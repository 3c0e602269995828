"""Every registered problem under every law; formulas written again; what broken problems and bad arguments get."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

import dcopt
from dcopt import problems
from dcopt.convex import Quadratic, Radial, ScaledIdentity
from dcopt.data import check
from dcopt.errors import BadInput, BadSettings
from dcopt.laws import regularizers as of_regularizers
from dcopt.laws.base import LawBroken, run
from dcopt.laws.losses import LAWS as LOSS_LAWS
from dcopt.laws.problems import LAWS, points, same_objective
from dcopt.losses import Cauchy, Logistic, SmoothedHinge, SmoothedRamp, Squared
from dcopt.problem import Problem
from dcopt.problems.base import ConvexSum
from dcopt.problems.nmf import GramQuartic
from dcopt.problems.phase_retrieval import fourth_moment
from dcopt.regularizers import MCP, Ball, CappedL1, Zero


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", problems.PROBLEMS)
def test_law(name, law):
    for seed in (0, 1):
        LAWS[law](problems.PROBLEMS[name](seed))


@pytest.mark.parametrize("name", problems.PROBLEMS)
def test_the_objective_is_the_formula(name):
    assert set(problems.OBJECTIVES) == set(problems.PROBLEMS)
    for seed in range(5):
        same_objective(problems.PROBLEMS[name](seed), problems.OBJECTIVES[name](seed))


def rows(seed=0, n=30, d=4):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, d))
    return X, X @ draw.normal(size=d) + 0.1 * draw.normal(size=n)


ROBUST = {
    "welsch": lambda e: (1 - np.exp(-(e**2))) / 2,
    "cauchy": lambda e: np.log(1 + e**2) / 2,
    "geman-mcclure": lambda e: e**2 / (2 * (1 + e**2)),
    "truncated": lambda e: np.minimum(e**2, 1) / 2,
    "tukey": lambda e: np.where(np.abs(e) < 1, (1 - (1 - e**2) ** 3) / 6, 1 / 6),
}


@pytest.mark.parametrize("loss", ROBUST)
def test_every_robust_loss_keeps_the_laws(loss):
    X, y = rows()
    P = problems.robust_regression(X, y, loss, scale=0.7)
    run(LAWS, P)
    same_objective(P, lambda x: float(np.mean(0.49 * ROBUST[loss]((X @ x - y) / 0.7))))


@pytest.mark.parametrize("penalty", ["scad", "mcp", "capped-l1", "log-sum", "l1-minus-l2", "l1", "nonnegative"])
def test_sparse_regression_takes_every_penalty(penalty):
    X, y = rows()
    P = problems.sparse_regression(X, y, penalty, intercept=True)
    run(LAWS, P)
    r = dcopt.regularizers.REGULARIZERS[penalty]
    same_objective(P, lambda x: float(np.mean((X @ x[:-1] + x[-1] - y) ** 2) / 2) + r.value(x[:-1]))


@pytest.mark.parametrize("nonnegative", [True, False])
def test_pca_without_l1(nonnegative):
    X, _ = rows()
    P = problems.pca(X, nonnegative=nonnegative)
    run(LAWS, P)
    same_objective(P, lambda x: float(-np.mean((X @ x) ** 2) / 2))
    x = dcopt.solve(P, "dca", steps=500, x0=problems.pca_start(X, nonnegative=nonnegative)).x
    if not nonnegative:
        v = np.linalg.eigh(X.T @ X)[1][:, -1]
        assert abs(x @ v) == pytest.approx(1.0, abs=1e-9)
    assert np.linalg.norm(x) == pytest.approx(1.0, abs=1e-9)


def test_pu_learning_with_logistic_is_the_convex_formula():
    p, u = np.random.default_rng(0).normal(size=(2, 20, 3)) + [[[1.0]], [[0.0]]]
    P = problems.pu_learning(p, u, 0.3, "logistic", mu=0.2, intercept=False)
    run(LAWS, P)
    same_objective(P, lambda x: float(-0.3 * np.mean(p @ x) + np.mean(np.logaddexp(0, u @ x)) + 0.1 * x @ x))


def test_the_two_halves_of_the_ramp():
    m, one = np.linspace(-4, 3, 500), np.ones(500)
    halves = SmoothedHinge(1.0, 0.3).value(m, one) - SmoothedHinge(-0.5, 0.3).value(m, one)
    np.testing.assert_allclose(halves, SmoothedRamp(-0.5, 0.3).value(m, one), atol=1e-14)
    run(LOSS_LAWS, SmoothedHinge())


@pytest.mark.parametrize("r", [Ball(), Ball(1.0, 0.1, True), Ball(2.0, 0.3), Ball(0.5, 0.0, True)], ids=repr)
def test_the_ball_keeps_the_laws_of_regularizers(r):
    run(of_regularizers.LAWS, r)


def test_float32_stays_in_the_ball():
    X = rows(0, 50, 20)[0].astype(np.float32)
    P = problems.pca(X)
    res = dcopt.solve(P, "dca", steps=200, x0=problems.pca_start(X), measure="criticality")
    assert res.x.dtype == np.float32 and np.isfinite(res.certificate.F)
    assert res.certificate.value < 1e-4 * np.linalg.norm(X.T @ X / 50, 2)


def test_the_gram_quartic_is_a_norm_to_the_fourth():
    draw = np.random.default_rng(0)
    G = GramQuartic(0.7, 0.2)
    for _ in range(20):
        Z, W = draw.normal(size=(2, 6, 3))
        s = np.linalg.svd(Z, compute_uv=False)
        assert G.value(Z) == pytest.approx(0.7 / 4 * np.sum(s**4) + 0.1 * np.sum(s**2), rel=1e-12)
        t = 1e-5
        grad = (G.value(Z + t * W) - G.value(Z - t * W)) / (2 * t)
        assert np.sum(G.grad(Z) * W) == pytest.approx(grad, rel=1e-6, abs=1e-6)
        bend = (G.grad(Z + t * W) - G.grad(Z - t * W)) / (2 * t)
        np.testing.assert_allclose(G.hess_dot(Z, W), bend, rtol=1e-6, atol=1e-7)
        assert G.bregman(W, Z) == pytest.approx(G.value(W) - G.value(Z) - np.sum(G.grad(Z) * (W - Z)), rel=1e-9)
    assert G.shift(0.3).rho == pytest.approx(0.5)


def test_sparse_rows_give_the_same_problem():
    X, y = rows()
    X[np.abs(X) < 0.7] = 0.0
    S, b = sp.csr_array(X), (X @ [1.0, 0, -1, 0]) ** 2
    pairs = [
        (problems.robust_regression(A, y, scale=1.0), problems.sparse_regression(A, y), problems.pca(A),
         problems.phase_retrieval(A, b), problems.phase_retrieval(A, b, form="bregman"), problems.nmf(abs(A), 2),
         problems.pu_learning(A[:10], A[10:], 0.5), problems.ramp_svm(A, y > 0))
        for A in (X, S)
    ]  # fmt: skip
    for dense, sparse in zip(*pairs, strict=True):
        for x in points(dense, 4):
            assert sparse.value(x) == pytest.approx(dense.value(x), rel=1e-11, abs=1e-11)


# ---- what the problems are for, small


def test_robust_regression_finds_what_least_squares_loses():
    draw = np.random.default_rng(0)
    X, x = draw.normal(size=(400, 5)), np.arange(1.0, 6.0)
    y = X @ x + 0.01 * draw.normal(size=400)
    y[:120] = -10.0 * (X[:120] @ x)
    fit = np.linalg.lstsq(X, y)[0]
    least = np.linalg.norm(fit - x)
    for _ in range(12):
        P = problems.robust_regression(X, y, scale=problems.scale_of(X @ fit - y))
        fit = dcopt.solve(P, "dca-page", passes=30, x0=fit, seed=0).x
    assert np.linalg.norm(fit - x) < 0.01 < 10 < least


def contaminated(length, seed=0, n=2000):
    """30 % of the rows are wrong, and so many times as long as the others."""
    draw = np.random.default_rng(seed)
    X, x = draw.normal(size=(n, 5)), np.arange(1.0, 6.0)
    X[: 3 * n // 10] *= length
    y = X @ x + 0.1 * draw.normal(size=n)
    y[: 3 * n // 10] *= -10.0
    return X, y, x


@pytest.mark.parametrize("length", [1.0, 2.0, 5.0])
def test_the_robust_start_does_not_follow_long_rows(length):
    X, y, x = contaminated(length)
    start = problems.robust_start(X, y)
    assert np.linalg.norm(start - x) < 0.1 < 10 < np.linalg.norm(np.linalg.lstsq(X, y)[0] - x)
    P = problems.robust_regression(X, y, scale=problems.scale_of(X @ start - y))
    known = np.linalg.lstsq(X[600:], y[600:])[0]
    for method in ("dca", "dca-page"):
        fit = dcopt.solve(P, method, passes=100, x0=start, seed=0, trace=None).x
        assert np.linalg.norm(fit - x) < 2 * np.linalg.norm(known - x)


def test_the_robust_start_is_nearly_the_least_sum_of_absolute_errors():
    X, y = rows(3, 80, 3)
    y[:20] += 5.0
    A, b = X / np.linalg.norm(X, axis=1)[:, None], y / np.linalg.norm(X, axis=1)
    ones = np.eye(80)
    exact = linprog(
        np.r_[np.zeros(3), np.ones(80)], np.block([[A, -ones], [-A, -ones]]), np.r_[b, -b], bounds=(None, None)
    )
    got = np.abs(A @ problems.robust_start(X, y) - b).sum()
    assert exact.fun <= got <= 1.01 * exact.fun < 0.95 * np.abs(A @ np.linalg.lstsq(X, y)[0] - b).sum()


def test_the_robust_start_looks_at_directions_only():
    X, y, _ = contaminated(2.0, 1, 200)
    s = np.exp(np.random.default_rng(0).normal(size=200))
    one = problems.robust_start(X, y)
    np.testing.assert_allclose(problems.robust_start(s[:, None] * X, s * y), one, atol=2e-2)
    np.testing.assert_allclose(problems.robust_start(sp.csr_array(X), y), one, atol=1e-9)
    assert problems.robust_start(X.astype(np.float32), y, intercept=True).shape == (6,)
    np.testing.assert_allclose(problems.robust_start(X, X @ np.arange(5.0)), np.arange(5.0), atol=1e-10)
    np.testing.assert_array_equal(problems.robust_start(0 * X, y), np.zeros(5))


def test_sparse_regression_recovers_its_support():
    draw = np.random.default_rng(1)
    X, x = draw.normal(size=(200, 30)), np.zeros(30)
    x[[3, 7, 20]] = 2.0, -1.5, 1.0
    y = X @ x + 0.3 * draw.normal(size=200)
    lam = 0.2 * problems.largest_lam(problems.sparse_regression(X, y, "zero"))
    for penalty in (MCP(lam), CappedL1(lam, theta=0.5)):
        found = dcopt.solve(problems.sparse_regression(X, y, penalty), "dca", steps=30, tol=1e-10).x
        assert np.flatnonzero(found).tolist() == [3, 7, 20]


def test_a_large_lam_leaves_k_features():
    X, y = rows(2, 60, 8)
    P = problems.trimmed_lasso(X, y, k=3, lam=0.5)
    x = dcopt.solve(P, "dca", steps=50, x0=np.linalg.lstsq(X, y)[0]).x
    assert np.count_nonzero(x) == 3
    keep = x != 0.0
    np.testing.assert_allclose(x[keep], np.linalg.lstsq(X[:, keep], y)[0], atol=1e-7)


@pytest.mark.parametrize("form", ["quartic", "bregman"])
def test_phase_retrieval_finds_the_signal(form):
    draw = np.random.default_rng(0)
    A, x = draw.normal(size=(120, 10)), draw.normal(size=10)
    b = (A @ x) ** 2
    P = problems.phase_retrieval(A, b, form=form)
    got = dcopt.solve(P, "dca", steps=60 if form == "quartic" else 1500, x0=problems.spectral_start(A, b), trace=None).x
    assert min(np.linalg.norm(got - x), np.linalg.norm(got + x)) < 1e-3 * np.linalg.norm(x)


@pytest.mark.parametrize("seed", range(3))
def test_phase_retrieval_by_batches_needs_no_tuning(seed):
    """The default sizes of dca-page, and the shift that it takes by itself."""
    draw = np.random.default_rng(seed)
    A, x = draw.normal(size=(80, 8)), draw.normal(size=8)
    b = (A @ x) ** 2
    P, start = problems.phase_retrieval(A, b), problems.spectral_start(A, b)
    assert dcopt.methods.METHODS["dca-page"].prepare(P)[0].eta > 10 * P.eta
    got = dcopt.solve(P, "dca-page", steps=1500, x0=start, seed=seed, trace=None).x
    errors = [min(np.linalg.norm(z - x), np.linalg.norm(z + x)) / np.linalg.norm(x) for z in (start, got)]
    assert errors[1] <= 1e-4 < 0.1 < errors[0]


def test_nmf_reconstructs_an_exact_product():
    draw = np.random.default_rng(0)
    X = draw.random((20, 2)) @ draw.random((2, 8))
    P = problems.nmf(X, 2)
    Z = dcopt.solve(P, "dca", steps=300, x0=problems.nmf_start(X, 2, seed=1), trace=None).x
    assert Z.min() >= 0.0 and np.linalg.norm(X - Z[:20] @ Z[20:].T) < 1e-2 * np.linalg.norm(X)


def test_ramp_svm_ignores_wrong_labels():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(300, 2))
    y, bad = X[:, 0] > 0, draw.random(300) < 0.2
    X[bad] *= 5.0
    P = problems.ramp_svm(X, y ^ bad, mu=1e-2)
    x = dcopt.solve(P, "dca", steps=50, x0=[1.0, 0.0, 0.0]).x
    assert np.mean((X @ x[:2] + x[2] > 0) == y) > 0.97


# ---- a broken problem is refused by the laws


def test_what_is_not_convex_is_found():
    X, _ = rows()
    H = ConvexSum(problems.pca(X).H.a, Squared(), np.zeros(30))
    with pytest.raises(LawBroken, match="G-is-convex"):
        dcopt.check(Problem(Upside(), H, Zero()))
    f = ConvexSum(H.a, Logistic(), np.sign(X[:, 0]))
    with pytest.raises(LawBroken, match="H-is-convex"):
        run(LAWS, Problem(ScaledIdentity(1e-3), r=Zero(), f=f))


class Upside(Radial):
    """A G that is none."""

    def __init__(self):
        super().__init__(1.0, 1.0)

    def value(self, x):
        return -super().value(x)

    def grad(self, x):
        return -super().grad(x)


def test_a_wrong_gradient_is_found():
    class Wrong(Squared):
        def slope(self, z, labels):
            return 1.01 * z

    P = problems.pca(rows()[0])
    broken = Problem(P.G, ConvexSum(P.H.a, Wrong(), P.H.labels), P.r, eta=P.eta)
    with pytest.raises(LawBroken, match="component-gradients"):
        run(LAWS, broken)


def test_a_wrong_batch_is_found():
    P = problems.pca(rows()[0])
    f = P.H
    broken = Problem(P.G, Skewed(f.a, f.loss, f.labels), P.r, eta=P.eta)
    with pytest.raises(LawBroken, match="batches-are-means"):
        run(LAWS, broken)


class Skewed(ConvexSum):
    """Batches whose mean is taken over one row too few."""

    def sample(self, b, draw, sampling="iid"):
        batch = super().sample(b, draw, sampling)
        return batch._replace(size=b - 1) if b > 1 else batch


def test_another_objective_is_found():
    X, y = rows()
    with pytest.raises(LawBroken, match="the formula says"):
        same_objective(problems.robust_regression(X, y, scale=1.0), lambda x: float(np.mean((X @ x - y) ** 2)))


# ---- bad input

X, Y = rows()
BAD = {
    "robust y": (BadInput, "y", lambda: problems.robust_regression(X, Y[:-1])),
    "robust loss": (BadSettings, "loss", lambda: problems.robust_regression(X, Y, "tuky")),
    "robust logistic": (BadSettings, "loss", lambda: problems.robust_regression(X, Y, Logistic())),
    "robust scale": (BadSettings, "scale", lambda: problems.robust_regression(X, Y, scale=0.0)),
    "robust two scales": (BadSettings, "scale", lambda: problems.robust_regression(X, Y, Cauchy(1.0), scale=1.0)),
    "robust no scale": (BadSettings, "scale", lambda: problems.robust_regression(X, 0 * Y)),
    "robust start": (BadSettings, "steps", lambda: problems.robust_start(X, Y, steps=0)),
    "residuals": (BadInput, "residuals", lambda: problems.scale_of([np.nan, 1.0])),
    "sparse penalty": (BadSettings, "penalty", lambda: problems.sparse_regression(X, Y, 3.0)),
    "sparse step": (BadSettings, "concave_step", lambda: problems.sparse_regression(X, Y, concave_step="mm")),
    "sparse mu": (BadSettings, "mu", lambda: problems.sparse_regression(X, Y, mu=-1.0)),
    "sparse nan": (BadInput, "X", lambda: problems.sparse_regression(X * np.nan, Y)),
    "sparse weights": (BadInput, "sample_weight", lambda: problems.sparse_regression(X, Y, sample_weight=-Y)),
    "trimmed k": (BadSettings, "k", lambda: problems.trimmed_lasso(X, Y, 5, 1.0)),
    "trimmed k 0": (BadSettings, "k", lambda: problems.trimmed_lasso(X, Y, 0, 1.0)),
    "trimmed k float": (BadSettings, "k", lambda: problems.trimmed_lasso(X, Y, 2.0, 1.0)),
    "trimmed lam": (BadSettings, "lam", lambda: problems.trimmed_lasso(X, Y, 2, -1.0)),
    "phase b": (BadInput, "b", lambda: problems.phase_retrieval(X, Y)),
    "phase shape": (BadInput, "b", lambda: problems.phase_retrieval(X, np.ones(3))),
    "phase A": (BadInput, "A", lambda: problems.phase_retrieval(X[0], Y**2)),
    "phase lam": (BadSettings, "lam", lambda: problems.phase_retrieval(X, Y**2, -1.0)),
    "phase eta": (BadSettings, "eta", lambda: problems.phase_retrieval(X, Y**2, eta=0.0)),
    "phase form": (BadSettings, "form", lambda: problems.phase_retrieval(X, Y**2, form="amplitude")),
    "start b": (BadInput, "b", lambda: problems.spectral_start(X, -(Y**2))),
    "pca lam": (BadSettings, "lam", lambda: problems.pca(X, lam=np.nan)),
    "pca eta": (BadSettings, "eta", lambda: problems.pca(X, eta=0.0)),
    "pca sign": (BadSettings, "nonnegative", lambda: problems.pca(X, nonnegative="yes")),
    "pca X": (BadInput, "X", lambda: problems.pca(X[:, :0])),
    "nmf negative": (BadInput, "X", lambda: problems.nmf(X, 2)),
    "nmf rank": (BadSettings, "rank", lambda: problems.nmf(X**2, 5)),
    "nmf rank 0": (BadSettings, "rank", lambda: problems.nmf(X**2, 0)),
    "nmf form": (BadSettings, "form", lambda: problems.nmf(X**2, 2, form="cd")),
    "nmf vector": (BadInput, "X", lambda: problems.nmf(Y**2, 1)),
    "nmf start": (BadSettings, "rank", lambda: problems.nmf_start(X**2, 1.5)),
    "pu prior 0": (BadSettings, "prior", lambda: problems.pu_learning(X, X, 0.0)),
    "pu prior 1": (BadSettings, "prior", lambda: problems.pu_learning(X, X, 1.0)),
    "pu prior nan": (BadSettings, "prior", lambda: problems.pu_learning(X, X, np.nan)),
    "pu columns": (BadInput, "X_unl", lambda: problems.pu_learning(X, X[:, :2], 0.5)),
    "pu pos": (BadInput, "X_pos", lambda: problems.pu_learning(X[:0], X, 0.5)),
    "pu kinds": (BadInput, "X_unl", lambda: problems.pu_learning(X, sp.csr_array(X), 0.5)),
    "pu loss": (BadSettings, "loss", lambda: problems.pu_learning(X, X, 0.5, "sigmoid")),
    "ramp one class": (BadInput, "y", lambda: problems.ramp_svm(X, np.ones(30))),
    "ramp s": (BadSettings, "s", lambda: problems.ramp_svm(X, Y > 0, s=2.0)),
    "ramp width": (BadSettings, "width", lambda: problems.ramp_svm(X, Y > 0, width=0.0)),
    "ramp mu": (BadSettings, "mu", lambda: problems.ramp_svm(X, Y > 0, mu=-1.0)),
    "ball": (BadSettings, "radius", lambda: Ball(0.0)),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_by_name(case):
    kind, name, call = BAD[case]
    with pytest.raises(kind) as error:
        call()
    assert (error.value.argument if kind is BadInput else error.value.setting) == name


def test_negative_entries_are_named_by_place():
    with pytest.raises(BadInput) as error:
        problems.nmf([[1.0, 2.0], [3.0, -4.0]], 1)
    assert (error.value.row, error.value.column) == (1, 1)
    with pytest.raises(BadInput) as error:
        problems.phase_retrieval(np.eye(2), [1.0, -1.0])
    assert error.value.row == 1


def test_a_start_outside_the_ball_is_refused():
    with pytest.raises(BadInput, match="x0"):
        dcopt.solve(problems.pca(X), "dca", steps=1, x0=np.full(4, 2.0))


def test_quadratic_parts_are_shared_by_reference_to_no_data():
    """Changing the caller's arrays afterwards does not change G."""
    A, y = X.copy(), Y.copy()
    P = problems.sparse_regression(A, y)
    before = P.value(np.ones(4))
    A[:], y[:] = 0.0, 0.0
    assert isinstance(P.G, Quadratic) and P.value(np.ones(4)) == before


@pytest.mark.parametrize("n", [5, 40])
def test_the_bound_of_the_fourth_moment_is_one(n):
    """No pair of directions is above it: random ones, and those found by going uphill."""
    a = np.random.default_rng(n).normal(size=(n, 6)) ** 3
    bound = fourth_moment(check.as_rows(a))
    draw, best = np.random.default_rng(0), 0.0
    for _ in range(30):
        x = draw.normal(size=6)
        for _ in range(100):
            x = a.T @ (a @ x) ** 3
            x /= np.linalg.norm(x)
        best = max(best, float(np.mean((a @ x) ** 4)))
    assert best <= bound <= 6 * best


# ---- numbers of any size, and what "auto" takes


@pytest.mark.parametrize("scale", [1e-3, 1e-1, 1e2])
def test_phase_retrieval_does_not_see_the_unit_of_a(scale):
    draw = np.random.default_rng(0)
    A, true = draw.normal(size=(60, 6)), draw.normal(size=6)
    b = (scale * A @ true) ** 2
    result = dcopt.solve(problems.phase_retrieval(scale * A, b), "dca", steps=300, x0=problems.spectral_start(A, b))
    assert result.x is not None
    assert min(np.linalg.norm(result.x - true), np.linalg.norm(result.x + true)) <= 1e-8 * np.linalg.norm(true)


@pytest.mark.parametrize("scale", [1.0, 10.0, 1000.0])
@pytest.mark.parametrize("seed", range(4))
def test_programs_with_large_columns_are_solved(scale, seed):
    """A gradient may grow while the program falls: Newton's method goes on as long as it does."""
    draw = np.random.default_rng(seed)
    p = scale * (draw.normal(size=(20, 4)) + 1)
    u = scale * (draw.normal(size=(50, 4)) + np.where(draw.random(50) < 0.4, 1, -1)[:, None])
    for P in (problems.pu_learning(p, u, 0.4, mu=0.01), problems.ramp_svm(u, draw.integers(0, 2, 50), mu=0.01)):
        assert dcopt.solve(P, "dca", tol=1e-6, passes=50_000, seed=0).status is dcopt.Status.CONVERGED


def test_a_fit_to_rounding_has_no_scale():
    X = np.random.default_rng(0).normal(size=(50, 3))
    for factor in (1e-6, 1.0, 1e6):
        with pytest.raises(BadSettings, match="scale = None: expected a number here"):
            problems.robust_regression(X, factor * X @ [1.0, 2.0, 3.0])


def test_auto_takes_what_a_general_g_bears():
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(60, 4)), draw.normal(size=60)
    kinks = problems.robust_regression(X, y, "truncated", scale=1.0)
    with pytest.raises(dcopt.CannotSolve, match="the h_i have kinks"):
        dcopt.solve(kinks, "dca-page", passes=3)
    for P in (kinks, problems.ramp_svm(X, y > 0, mu=0.01)):
        result = dcopt.solve(P, "auto", tol=1e-6, passes=5000)
        assert result.status is dcopt.Status.CONVERGED and result.method == "dca"
    many = draw.normal(size=(5000, 4))
    assert dcopt.solve(problems.ramp_svm(many, many[:, 0] > 0), "auto", steps=2).method == "dca-page"
    large = problems.robust_regression(many, many[:, 0] + draw.normal(size=5000), "truncated", scale=1.0)
    assert dcopt.solve(large, "auto", steps=2).method == "dca"
