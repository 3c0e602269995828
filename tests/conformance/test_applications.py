"""PCA of k directions, completion and discrepancy, against independent solutions; what they refuse."""

from __future__ import annotations

import importlib

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import dcopt
from dcopt import problems
from dcopt.errors import BadInput, BadSettings
from dcopt.problems.pca import HalfSquares

weights_module = importlib.import_module("dcopt.problems.discrepancy_weights")


def sine(V: np.ndarray, W: np.ndarray) -> float:
    """The sine of the largest angle between two spans of orthonormal columns."""
    return float(np.linalg.norm(V - W @ (W.T @ V), 2))


# ---- PCA


def tall(seed: int = 0, n: int = 800, d: int = 12) -> np.ndarray:
    draw = np.random.default_rng(seed)
    return draw.normal(size=(n, d)) * 1.4 ** -np.arange(d) @ np.linalg.qr(draw.normal(size=(d, d)))[0]


@pytest.mark.parametrize("method", ["dca", "dca-page", "dca-svrg", "dca-saga", "auto"])
@pytest.mark.parametrize("k", [1, 3, 12])
def test_directions_are_the_singular_vectors(method: str, k: int) -> None:
    X = tall()
    U = np.linalg.svd(X)[2][:k].T
    P = problems.pca(X, k=k)
    res = dcopt.solve(P, method, tol=1e-7, passes=500, x0=problems.pca_start(X, k=k, steps=0), seed=0)
    assert res.status is dcopt.Status.CONVERGED and sine(res.x, U) < 1e-5
    np.testing.assert_allclose(res.x.T @ res.x, np.eye(k), atol=1e-9)
    assert -2 * len(X) * res.certificate.F == pytest.approx(np.sum(np.linalg.svd(X, compute_uv=False)[:k] ** 2))


def test_other_eigenvectors_are_critical_and_their_mixtures_are_not() -> None:
    X = tall()
    Vt, P = np.linalg.svd(X)[2], problems.pca(X, k=2)
    assert dcopt.measures.criticality(P, Vt[[0, 3]].T) < 1e-12
    mixed = np.column_stack([Vt[0], (Vt[1] + Vt[2]) / 2**0.5])
    assert dcopt.measures.criticality(P, mixed) > 1e-2


def test_k_of_one_is_the_vector() -> None:
    X = tall()
    one, many = problems.pca(X, nonnegative=False), problems.pca(X, k=1)
    x0 = problems.pca_start(X, k=1, steps=2)
    a = dcopt.solve(one, "dca", steps=5, x0=x0[:, 0]).x
    b = dcopt.solve(many, "dca", steps=5, x0=x0).x
    np.testing.assert_allclose(a, b[:, 0], atol=1e-13)


def test_the_start_of_pca() -> None:
    X = tall()
    V = problems.pca_start(X, k=3)
    assert sine(V, np.linalg.svd(X)[2][:3].T) < 1e-5 < sine(problems.pca_start(X, k=3, steps=0), V)
    np.testing.assert_allclose(problems.pca_start(sp.csr_array(X), k=3), V, atol=1e-9)
    assert problems.pca_start(X.astype(np.float32), k=3).dtype == np.float32


def test_sparse_and_single_rows() -> None:
    X = np.where(np.abs(tall()) > 0.5, tall(), 0.0)
    x0 = problems.pca_start(X, k=2, steps=0)
    values = [problems.pca(A, k=2).value(x0) for A in (X, sp.csr_array(X), sp.csr_array(X.astype(np.float32)))]
    np.testing.assert_allclose(values, values[0], rtol=1e-6)
    P = problems.pca(X.astype(np.float32), k=2)
    res = dcopt.solve(P, "dca", x0=x0)
    assert res.x.dtype == np.float32 and res.status is dcopt.Status.CONVERGED


def test_half_squares_is_a_mean_over_rows() -> None:
    z, labels = np.random.default_rng(0).normal(size=(5, 3)), np.zeros(5)
    loss = HalfSquares()
    np.testing.assert_allclose(loss.value(z, labels), [0.5 * row @ row for row in z])
    assert np.array_equal(loss.slope(z, labels), z) and np.array_equal(loss.bend(z, labels), np.ones(5))


# ---- PCA on a stream


def fresh(seed: int):
    draw = np.random.default_rng(seed)
    return lambda b: draw.normal(size=(b, 8)) * [3.0, 2.5, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5]


@pytest.mark.parametrize("method", ["online-dca", "dca-page"])
def test_a_stream_finds_the_directions(method: str) -> None:
    P = problems.pca_stream(fresh(0), 2)
    x0 = np.linalg.qr(np.random.default_rng(1).normal(size=(8, 2)))[0]
    res = dcopt.solve(P, method, samples=40_000, x0=x0, seed=0)
    assert sine(res.x, np.eye(8)[:, :2]) < (0.03 if method == "online-dca" else 0.2) < sine(x0, np.eye(8)[:, :2])
    assert res.status is not dcopt.Status.CONVERGED and res.certificate.at == "1024"
    np.testing.assert_allclose(res.x.T @ res.x, np.eye(2), atol=1e-9)


def test_blocks_of_a_stream_are_cut_anywhere() -> None:
    X = fresh(0)(6000)
    x0, found = np.eye(8)[:, 2:4] + 0.1, []
    x0 = np.linalg.qr(x0)[0]
    pairs = iter(np.split(X, 3000))
    for source in (np.split(X, 6), iter(np.split(X, 40)), [sp.csr_array(X)], lambda b: next(pairs)):
        P = problems.pca_stream(source, 2)
        res = dcopt.solve(P, "online-dca", x0=x0, seed=0, samples=100_000)
        assert res.status is dcopt.Status.OUT_OF_DATA
        found.append(res.x)
    for x in found:
        np.testing.assert_allclose(x, found[0], atol=1e-12)


def test_the_first_gradient_is_that_of_all_rows_held_out() -> None:
    X = fresh(3)(200)
    P = problems.pca_stream([X], 2, holdout=200)
    V = np.eye(8)[:, :2]
    assert P.value(V) == pytest.approx(-0.5 * float(np.sum((X @ V) ** 2)) / 200)


def test_bad_rows_of_a_stream() -> None:
    X = fresh(0)(3000)
    X[2000, 3] = np.nan
    P = problems.pca_stream(np.split(X, 3), 2, on_bad="skip")
    V = np.eye(8)[:, :2]
    res = dcopt.solve(P, "online-dca", x0=V, seed=0, samples=10_000)
    assert any("1 bad row" in note for note in res.notes)
    Q = problems.pca_stream(np.split(X, 3), 2)
    assert "block 2: X, row 0, column 3" in str(dcopt.solve(Q, "online-dca", x0=V, seed=0, samples=10_000).error)


# ---- matrix completion


def observed(seed: int, share: float, k: int = 3, shape=(30, 20), noise: float = 0.0):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(shape[0], k)) @ draw.normal(size=(k, shape[1]))
    i, j = np.nonzero(draw.random(shape) < share)
    return X, i, j, X[i, j] + noise * draw.normal(size=len(i))


def soft_impute(i, j, v, shape, lam: float, k: int, X: np.ndarray, steps: int) -> np.ndarray:
    """Fill in, decompose, shrink all but the k largest by their own rule: λN for r1, of which r2 gives back k."""
    N = len(v)
    for _ in range(steps):
        U, s, Vt = np.linalg.svd(X, full_matrices=False)
        W = lam * N * (U[:, :k] * (s[:k] > 1e-12 * max(s[0], 1e-300))) @ Vt[:k]
        filled = X.copy()
        filled[i, j] = v
        U, s, Vt = np.linalg.svd(filled + W, full_matrices=False)
        X = U * np.maximum(s - lam * N, 0.0) @ Vt
    return X


@pytest.mark.parametrize("k", [0, 3])
def test_completion_is_soft_impute_step_by_step(k: int) -> None:
    _, i, j, v = observed(0, 0.6, noise=0.3)
    P = problems.matrix_completion(i, j, v, (30, 20), k, 0.004)
    x0 = np.random.default_rng(5).normal(size=(30, 20))
    for steps in (1, 5, 40):
        mine = dcopt.solve(P, "dca", steps=steps, x0=x0, trace=None).x
        np.testing.assert_allclose(mine, soft_impute(i, j, v, (30, 20), 0.004, k, x0, steps), atol=1e-9)


@pytest.mark.parametrize("k", [0, 2])
def test_where_all_is_observed_it_is_the_decomposition(k: int) -> None:
    draw = np.random.default_rng(1)
    M, N = draw.normal(size=(8, 6)), 48
    U, s, Vt = np.linalg.svd(M, full_matrices=False)
    lam = float(s[3]) / N
    kept = np.where(np.arange(6) < k, s, np.maximum(s - lam * N, 0.0))
    i, j = np.divmod(np.arange(48), 6)
    P = problems.matrix_completion(i, j, M.ravel(), (8, 6), k, lam)
    res = dcopt.solve(P, "dca", tol=1e-10)
    np.testing.assert_allclose(res.x, U * kept @ Vt, atol=1e-8)
    assert "d-stationary" in str(res)


def test_nuclear_norm_alone_is_the_oracles() -> None:
    _, i, j, v = observed(2, 0.5, shape=(10, 8), noise=0.3)
    X = cp.Variable((10, 8))
    fit = cp.sum_squares(cp.hstack([X[a, b] for a, b in zip(i, j, strict=True)]) - v) / (2 * len(v))
    cp.Problem(cp.Minimize(fit + 0.02 * cp.normNuc(X))).solve(solver=cp.CLARABEL)
    P = problems.matrix_completion(i, j, v, (10, 8), 0, 0.02)
    res = dcopt.solve(P, "pdcae", tol=1e-9, passes=5000)
    assert P.value(res.x) == pytest.approx(P.value(X.value), rel=1e-7)
    np.testing.assert_allclose(res.x, X.value, atol=1e-3)


def test_a_matrix_of_low_rank_is_recovered() -> None:
    X, i, j, v = observed(3, 0.6)
    P = problems.matrix_completion(i, j, v, X.shape, 3, 0.0)
    top = problems.largest_singular_value(P)
    errors = {}
    for k in (0, 3):
        P = problems.matrix_completion(i, j, v, X.shape, k, 0.1 * top)
        res = dcopt.solve(P, "pdcae", tol=1e-8, passes=3000)
        errors[k] = np.linalg.norm(res.x - X) / np.linalg.norm(X)
        assert P.r.rank(res.x) == 3
    assert errors[3] < 1e-5 < 0.05 < errors[0]


@pytest.mark.parametrize("seed", range(3))
def test_beyond_a_known_lam_the_rank_is_k(seed: int) -> None:
    _, i, j, v = observed(seed, 0.6, noise=1.0)
    lam = 1.001 * float(np.linalg.norm(v)) / len(v)
    P = problems.matrix_completion(i, j, v, (30, 20), 2, lam)
    res = dcopt.solve(P, "dca", tol=1e-4, passes=3000, x0=np.random.default_rng(seed).normal(size=(30, 20)))
    assert P.r.rank(res.x) == 2 and res.certificate.F <= P.value(np.zeros((30, 20)))


def test_from_the_largest_singular_value_on_the_nuclear_norm_gives_nothing() -> None:
    _, i, j, v = observed(3, 0.6)
    for share, zero in ((1.0001, True), (0.999, False)):
        top = problems.largest_singular_value(problems.matrix_completion(i, j, v, (30, 20), 0, 0.0))
        P = problems.matrix_completion(i, j, v, (30, 20), 0, share * top)
        assert (not dcopt.solve(P, "dca", tol=1e-9).x.any()) == zero


def test_every_method_takes_the_kappa_that_its_error_needs() -> None:
    _, i, j, v = observed(4, 0.6)
    P = problems.matrix_completion(i, j, v, (30, 20), 3, 0.005)
    n = len(v)
    for method in ("dca", "dca-page", "dca-svrg", "dca-saga", "sdca", "mm-saga", "mm-svrg", "mm-sarah", "pdcae", "bdca",
                   "online-dca"):  # fmt: skip
        tuned, estimator = dcopt.METHODS[method].prepare(P)
        assert getattr(estimator, "quadratic", "outside") == "outside"
        known = hasattr(estimator, "spread") and method not in ("dca", "bdca", "online-dca")
        want = 1.0 / n if method in ("dca", "bdca", "pdcae") else 1.0
        if known and method != "pdcae":
            want = max(1.0 / n, 0.5 / n + 2.0 * estimator.spread(n) / n**0.5)
        assert tuned.G.kappa == pytest.approx(want), method
        res = dcopt.solve(P, method, passes=10, seed=0)
        assert res.status is dcopt.Status.BUDGET and P.value(res.x) < P.value(np.zeros((30, 20))), method
    given = problems.matrix_completion(i, j, v, (30, 20), 3, 0.005, kappa=0.5)
    assert dcopt.METHODS["dca-page"].prepare(given)[0].G.kappa == 0.5
    assert dcopt.solve(P, steps=1).notes == (f"auto took dca: {n} components",)


def test_tables_remember_residuals() -> None:
    _, i, j, v = observed(4, 0.6)
    P = problems.matrix_completion(i, j, v, (30, 20), 3, 0.005)
    for method in ("dca-saga", "mm-saga", "sdca"):
        state = next(dcopt.iterate(P, method, seed=0))
        assert state.memory.slopes.shape == (len(v),)
        np.testing.assert_allclose(state.memory.slopes, -v)  # at 0


def test_what_is_known_of_the_observed_entries() -> None:
    _, i, j, v = observed(4, 0.3, shape=(5, 4))
    P = problems.matrix_completion(i, j, v, (5, 4), 1, 0.1)
    c, n = P.constants, len(v)
    assert (c.smoothness.Lbar, c.L_v, c.smoothness.L_f) == (1.0 / n, n**-0.5, 1.0)
    draw = np.random.default_rng(0)
    for _ in range(5):
        X, Y = draw.normal(size=(2, 5, 4))
        each = [P.f.sample(1, dcopt.draw.Draw(0, e), "cyclic").diff(X, Y) for e in range(n)]
        mean = sum(each) / n
        assert sum(np.sum((g - mean) ** 2) for g in each) / n <= c.L_v**2 * np.sum((X - Y) ** 2)
        assert np.linalg.norm(mean) <= c.smoothness.Lbar * np.linalg.norm(X - Y)
    plan = dcopt.plan(P, 0.1)
    assert plan.violated == () and dcopt.solve(P, plan, seed=0).certificate.value <= 0.1
    assert "Lanczos" not in str(plan)


def test_float32_stays_and_is_certified() -> None:
    X, i, j, v = observed(3, 0.7)
    P = problems.matrix_completion(i, j, v.astype(np.float32), X.shape, 3, 0.01)
    res = dcopt.solve(P, "dca", tol=1e-4, passes=2000)
    assert res.x.dtype == np.float32 and res.status is dcopt.Status.CONVERGED and P.r.rank(res.x) == 3


# ---- discrepancy


def two(seed: int = 0, d: int = 5):
    draw = np.random.default_rng(seed)
    return draw.normal(size=(300, d)), draw.normal(size=(200, d)) * np.linspace(0.5, 1.5, d), draw.random(300) + 0.1


def difference(S: np.ndarray, T: np.ndarray, w: np.ndarray) -> np.ndarray:
    return (S.T * (w / w.sum())) @ S - T.T @ T / len(T)


@pytest.mark.parametrize("method", ["dca", "dca-page", "dca-saga", "auto"])
@pytest.mark.parametrize("larger", ["target", "source"])
def test_discrepancy_is_an_eigenvalue(method: str, larger: str) -> None:
    S, T, w = two()
    e, V = np.linalg.eigh(difference(S, T, w))
    x0 = np.random.default_rng(1).normal(size=5)
    P = problems.discrepancy(S, T, weights=w, larger=larger)
    res = dcopt.solve(P, method, tol=1e-7, x0=x0 / np.linalg.norm(x0), seed=0)
    want, u = (-e[0], V[:, 0]) if larger == "target" else (e[-1], V[:, -1])
    assert res.status is dcopt.Status.CONVERGED
    assert -2 * res.certificate.F == pytest.approx(want, rel=1e-9) and abs(res.x @ u) == pytest.approx(1.0, abs=1e-6)


def test_without_a_larger_second_moment_the_least_is_0() -> None:
    S, T, _ = two()
    P = problems.discrepancy(3.0 * S, T)
    res = dcopt.solve(P, "dca", tol=1e-8, x0=np.full(5, 0.4))
    assert abs(res.certificate.F) < 1e-12 and np.linalg.norm(res.x) < 1e-5


@pytest.mark.parametrize("ridge", [0.3, 0.02])
def test_weights_are_the_oracles(ridge: float) -> None:
    S, T, _ = two(1, 3)
    S = S[:60]
    top = float(np.linalg.eigvalsh(T.T @ T / 200)[-1])
    w = cp.Variable(60)
    M = S.T @ cp.diag(w) @ S - T.T @ T / 200
    goal = cp.sigma_max(M) / top + 0.5 * ridge * 60 * cp.sum_squares(w)
    least = cp.Problem(cp.Minimize(goal), [w >= 0, cp.sum(w) == 1]).solve(solver=cp.CLARABEL)
    found = problems.discrepancy_weights(S, T, ridge=ridge, tol=1e-5)
    mine = np.abs(np.linalg.eigvalsh(difference(S, T, found.weights))).max()
    J = mine / top + 0.5 * ridge * 60 * float(found.weights @ found.weights)
    assert found.discrepancy == pytest.approx(mine, rel=1e-9) and found.weights.min() >= 0.0
    assert found.weights.sum() == pytest.approx(1.0) and found.gap <= 1e-5
    assert -1e-7 <= J - least <= 1e-5 + 1e-7
    assert found.before == pytest.approx(np.abs(np.linalg.eigvalsh(difference(S, T, np.ones(60)))).max())
    assert found.rows == pytest.approx(1 / np.sum(found.weights**2)) and found.discrepancy < found.before


def test_the_gap_is_true_after_few_steps() -> None:
    S, T, _ = two(2)
    best = problems.discrepancy_weights(S, T, tol=1e-5)
    top = float(np.linalg.eigvalsh(T.T @ T / 200)[-1])

    def J(found: problems.Reweighting) -> float:
        return found.discrepancy / top + 0.5 * 0.01 * 300 * float(np.sum(found.weights**2))

    for steps in (1, 2, 5, 20):
        few = problems.discrepancy_weights(S, T, steps=steps, tol=1e-9)
        assert few.steps == steps and J(few) - J(best) <= few.gap + 1e-9


def test_onto_the_simplex() -> None:
    draw = np.random.default_rng(0)
    for _ in range(20):
        v = 3.0 * draw.normal(size=9)
        want = dcopt.regularizers.Simplex().prox(v, 1.0)
        np.testing.assert_allclose(weights_module.onto_simplex(v), want, atol=1e-12)


# ---- bad input

ROWS, I, J, V = tall(), *observed(0, 0.5)[1:]


def completion(i=I, j=J, v=V, shape=(30, 20), rank=2, lam=0.1, **more):
    return lambda: problems.matrix_completion(i, j, v, shape, rank, lam, **more)


def changed(a: np.ndarray, value: float) -> np.ndarray:
    b = a.copy()
    b[3] = value
    return b


BAD = {
    "pca k": (BadSettings, "k", lambda: problems.pca(ROWS, k=13)),
    "pca k 0": (BadSettings, "k", lambda: problems.pca(ROWS, k=0)),
    "pca k float": (BadSettings, "k", lambda: problems.pca(ROWS, k=2.0)),
    "pca k nonnegative": (BadSettings, "nonnegative", lambda: problems.pca(ROWS, k=2, nonnegative=True)),
    "pca nonnegative": (BadSettings, "nonnegative", lambda: problems.pca(ROWS, nonnegative="yes")),
    "pca k lam": (BadSettings, "lam", lambda: problems.pca(ROWS, k=2, lam=0.1)),
    "pca nan": (BadInput, "X", lambda: problems.pca(ROWS * np.nan, k=2)),
    "pca start": (BadSettings, "k", lambda: problems.pca_start(ROWS, k=13)),
    "stream k": (BadSettings, "k", lambda: problems.pca_stream([ROWS], 13, holdout=100)),
    "stream eta": (BadSettings, "eta", lambda: problems.pca_stream([ROWS], 2, eta=0.0, holdout=100)),
    "stream short": (BadInput, "source", lambda: problems.pca_stream([ROWS], 2)),
    "stream source": (BadInput, "source", lambda: problems.pca_stream(3, 2)),
    "stream array of one": (BadInput, "block 0: X", lambda: problems.pca_stream(iter(ROWS), 2)),
    "stream pairs": (BadInput, "X", lambda: problems.pca_stream([(ROWS, ROWS[:, 0])], 2)),
    "stream nan": (BadInput, "block 0: X", lambda: problems.pca_stream([ROWS * np.nan], 2, holdout=100)),
    "completion row": (BadInput, "rows", completion(i=changed(I, 30))),
    "completion negative": (BadInput, "cols", completion(j=changed(J, -1))),
    "completion floats": (BadInput, "rows", completion(i=I.astype(float))),
    "completion bools": (BadInput, "cols", completion(j=J > 3)),
    "completion lengths": (BadInput, "cols", completion(j=J[:-1])),
    "completion values": (BadInput, "values", completion(v=V[:-1])),
    "completion nan": (BadInput, "values", completion(v=changed(V, np.nan))),
    "completion none": (BadInput, "rows", completion(i=I[:0], j=J[:0], v=V[:0])),
    "completion again": (BadInput, "rows, cols", completion(np.append(I, I[7]), np.append(J, J[7]), np.append(V, 1.0))),
    "completion shape": (BadSettings, "shape", completion(shape=(30,))),
    "completion shape 0": (BadSettings, "shape", completion(shape=(30, 0))),
    "completion rank": (BadSettings, "rank", completion(rank=21)),
    "completion rank float": (BadSettings, "rank", completion(rank=2.0)),
    "completion lam": (BadSettings, "lam", completion(lam=np.nan)),
    "completion kappa": (BadSettings, "kappa", completion(kappa=0.0)),
    "largest": (BadSettings, "P", lambda: problems.largest_singular_value(problems.pca(ROWS))),
    "discrepancy columns": (BadInput, "target", lambda: problems.discrepancy(ROWS, ROWS[:, 1:])),
    "discrepancy nan": (BadInput, "target", lambda: problems.discrepancy(ROWS, ROWS * np.nan)),
    "discrepancy weights": (BadInput, "weights", lambda: problems.discrepancy(ROWS, ROWS, weights=-np.ones(800))),
    "discrepancy length": (BadInput, "weights", lambda: problems.discrepancy(ROWS, ROWS, weights=np.ones(3))),
    "discrepancy larger": (BadSettings, "larger", lambda: problems.discrepancy(ROWS, ROWS, larger="both")),
    "discrepancy eta": (BadSettings, "eta", lambda: problems.discrepancy(ROWS, ROWS, eta=0.0)),
    "weights columns": (BadInput, "target", lambda: problems.discrepancy_weights(ROWS, ROWS[:, 1:])),
    "weights ridge": (BadSettings, "ridge", lambda: problems.discrepancy_weights(ROWS, ROWS, ridge=0.0)),
    "weights steps": (BadSettings, "steps", lambda: problems.discrepancy_weights(ROWS, ROWS, steps=0)),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_by_name(name: str) -> None:
    kind, argument, make = BAD[name]
    with pytest.raises(kind) as caught:
        make()
    told = caught.value.argument if isinstance(caught.value, BadInput) else caught.value.setting
    assert told == argument, str(caught.value)


def test_messages_say_where() -> None:
    with pytest.raises(BadInput, match=r"rows, row 3: 30 is not in 0 … 29"):
        completion(i=changed(I, 30))()
    again = rf"rows, cols, row {len(I)}: the place \({I[7]}, {J[7]}\) was given before, in row 7"
    with pytest.raises(BadInput, match=again):
        completion(np.append(I, I[7]), np.append(J, J[7]), np.append(V, 1.0))()
