"""Clustering and two-layer networks: other formulas, other code, and what bad arguments get."""

from __future__ import annotations

import numpy as np
import pytest

import dcopt
from dcopt.draw import Draw
from dcopt.errors import BadInput, BadSettings, CannotSolve
from dcopt.laws.base import LawBroken, run
from dcopt.laws.problems import LAWS, same_objective
from dcopt.problem import Problem
from dcopt.problems import (
    clustering,
    clustering_start,
    clustering_swap,
    clusters_of,
    difference,
    two_layer,
    two_layer_output,
    two_layer_start,
)  # fmt: skip
from dcopt.problems import nearest as nearest_module
from dcopt.problems.network import Network, NetworkMean
from dcopt.problems.outer import PARTS


def points(seed=0, n=60, d=3):
    draw = np.random.default_rng(seed)
    return draw.normal(size=(n, d)) + np.repeat(4.0 * draw.normal(size=(n // 10, d)), 10, axis=0)


# ---- clustering


def test_a_step_is_damped_k_means():
    A = points()
    x = clustering_start(A, 5, seed=1)
    own = ((A[:, None] - x) ** 2).sum(axis=2).argmin(axis=1)
    for kappa in (1.0, 0.5):
        got = dcopt.solve(clustering(A, 5, kappa=kappa), "dca", steps=1, x0=x).x
        want = [c + (own == j).mean() / kappa * (A[own == j].mean(axis=0) - c) for j, c in enumerate(x)]
        np.testing.assert_allclose(got, want, rtol=1e-12)


def test_a_centre_without_points_stays():
    A = points()
    x = np.vstack([A[:2], [[1e3, 1e3, 1e3]]])
    assert (dcopt.solve(clustering(A, 3), "dca", steps=5, x0=x).x[2] == 1e3).all()


def test_steps_descend_where_kappa_is_the_largest_share():
    A = points(3)
    x = clustering_start(A, 4, seed=0)
    for _ in range(8):
        P = clustering(A, 4)
        share = np.bincount(clusters_of(P, x), minlength=4).max() / len(A)
        new = dcopt.solve(clustering(A, 4, kappa=share), "dca", steps=1, x0=x).x
        assert P.value(new) <= P.value(x) + 1e-12
        x = new


def test_the_form_with_a_maximum_takes_the_same_steps():
    """G = mean of Σ_j ½‖x_j − a_i‖² and h_i = max_j Σ_{l≠j} ½‖x_l − a_i‖², as components in NumPy"""
    A = points()

    def squares(x, a):
        return 0.5 * ((a[:, None] - x) ** 2).sum(axis=2)

    def g(x, a):
        return squares(x, a).sum(axis=1)

    def h(x, a):
        return g(x, a) - squares(x, a).min(axis=1)

    def h_grad(x, a):
        d = squares(x, a)
        others = np.ones_like(d)
        others[np.arange(len(a)), d.argmin(axis=1)] = 0.0
        return others[:, :, None] * (x - a[:, None])

    M = difference(
        A, g=g, h=h, shape=(4, 3), g_grad=lambda x, a: x - a.mean(axis=0), h_grad=h_grad, g_L=1.0, strong=1.0
    )
    P, x0 = clustering(A, 4), clustering_start(A, 4, seed=0)
    assert M.value(x0) == pytest.approx(P.value(x0), rel=1e-12)
    for method in ("dca", "dca-svrg", "dca-page"):
        one, two = (dcopt.solve(Q, method, steps=12, x0=x0, seed=0, trace=None).x for Q in (M, P))
        np.testing.assert_allclose(one, two, atol=1e-6)


def test_the_end_is_a_fixed_point_of_k_means():
    A = points(1)
    for kappa in (None, "adaptive"):
        P = clustering(A, 6)
        x0 = clustering_start(A, 6)
        res = dcopt.solve(P, "dca", kappa=kappa, tol=1e-9, measure="criticality", x0=x0, steps=5000, seed=0)
        assert res.success
        own = clusters_of(P, res.x)
        for j in np.unique(own):
            np.testing.assert_allclose(res.x[j], A[own == j].mean(axis=0), atol=1e-6)


def test_smoothing_is_above_the_minimum_by_at_most_t_log_k():
    A = points()
    x = clustering_start(A, 5, seed=2)
    exact = clustering(A, 5).value(x)
    for T in (10.0, 1.0, 1e-3):
        assert 0.0 <= clustering(A, 5, smoothing=T).value(x) - exact <= T * np.log(5) * (1 + 1e-12)
    assert clustering(A, 5, smoothing=1e-9).value(x) == pytest.approx(exact, rel=1e-8)


@pytest.mark.parametrize("smoothing", [0.0, 0.7])
def test_a_mean_far_away_loses_no_digits(smoothing):
    A = points()
    near, far = clustering(A, 4, smoothing=smoothing), clustering(A + 2.0**27, 4, smoothing=smoothing)
    x = clustering_start(A, 4, seed=0)
    assert far.value(x + 2.0**27) == pytest.approx(near.value(x), rel=1e-6)


@pytest.mark.parametrize("smoothing", [0.0, 0.7])
def test_pieces_do_not_matter(smoothing, monkeypatch):
    P, x = clustering(points(), 4, smoothing=smoothing), points()[:4]
    batches = [P.sum.all(), P.sum.sample(25, Draw(0, 0))]
    whole = [(b.value_grad(x), b.slopes(x)) for b in batches]
    monkeypatch.setattr(nearest_module, "CHUNK", 7)
    for b, ((value, g), s) in zip(batches, whole, strict=True):
        assert b.value_grad(x)[0] == pytest.approx(value, rel=1e-13)
        np.testing.assert_allclose(b.value_grad(x)[1], g, atol=1e-12)
        np.testing.assert_allclose(b.slopes(x), s, atol=1e-12)


def test_float32_and_sparse_points():
    import scipy.sparse as sp

    A = np.where(np.abs(points()) < 1, 0.0, points())
    x = clustering_start(A, 3)
    assert clustering(sp.csr_array(A), 3).value(x) == clustering(A, 3).value(x)
    res = dcopt.solve(clustering(A.astype(np.float32), 3), "dca-svrg", passes=20, x0=x.astype(np.float32), seed=0)
    assert res.x.dtype == np.float32 and res.certificate.F == pytest.approx(clustering(A, 3).value(res.x), rel=1e-5)


def test_starts_and_swaps_are_functions_of_the_seed():
    A = points()
    P, x = clustering(A, 6), clustering_start(A, 6, seed=3)
    np.testing.assert_array_equal(x, clustering_start(A, 6, seed=3))
    assert all((row == A).all(axis=1).any() for row in x) and len(np.unique(x, axis=0)) == 6
    other = clustering_swap(P, x, seed=5)
    np.testing.assert_array_equal(other, clustering_swap(P, x, seed=5))
    assert (other != x).any(axis=1).sum() == 1


def test_a_swap_leaves_a_needless_centre():
    """Two centres in one far cluster and none in another: the swap mends that, and k-means cannot."""
    draw = np.random.default_rng(0)
    A = np.concatenate([m + 0.1 * draw.normal(size=(20, 2)) for m in ([0, 0], [9, 0], [0, 9], [9, 9])])
    P, stuck = clustering(A, 4), A[[0, 1, 20, 40]]
    stuck = dcopt.solve(P, "dca", x0=stuck, tol=1e-8, measure="criticality").x
    mended = dcopt.solve(P, "dca", x0=clustering_swap(P, stuck, seed=0), tol=1e-8, measure="criticality").x
    assert P.value(mended) < 0.02 < 1.0 < P.value(stuck)


def test_coinciding_points_have_starts_and_swaps():
    A = np.ones((5, 2))
    x = clustering_start(A, 3)
    assert (x == 1.0).all() and (clustering_swap(clustering(A, 3), x) == 1.0).all()
    assert clustering_swap(clustering(points(), 1), points()[:1]).shape == (1, 3)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: clustering(points()[0], 2), "A: expected 2 dimensions"),
        (lambda: clustering(points(), 61), "at most 60"),
        (lambda: clustering(points(), 0), "k"),
        (lambda: clustering(np.where(points() > 3, np.nan, points()), 2), "A"),
        (lambda: clustering(points(), 2, smoothing=-1.0), "smoothing"),
        (lambda: clustering(points(), 2, kappa=0.0), "kappa"),
        (lambda: clusters_of(two_layer(points(), points()[:, 0] > 0), np.zeros((2, 3))), "dcopt.problems.clustering"),
        (lambda: clustering_swap(clustering(points(), 2), np.zeros((3, 3))), "x"),
    ],
)
def test_bad_clusterings_are_refused(make, says):
    with pytest.raises((BadInput, BadSettings), match=says):
        make()


# ---- two-layer networks


def labelled(seed=0, n=80):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, 4))
    return X, np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0), X[:, 0] * X[:, 1] + 0.1 * draw.normal(size=n)


@pytest.mark.parametrize("loss", PARTS)
def test_the_parts_of_a_loss_are_its_difference(loss):
    whole, g, h = PARTS[loss]
    draw = np.random.default_rng(0)
    u, v, y = *draw.random((2, 50)) * 5.0, np.sign(draw.normal(size=50))
    y = y if loss == "logistic" else 3.0 * draw.normal(size=50)
    np.testing.assert_allclose(g.value(u, v, y) - h.value(u, v, y), whole.value(u, v, y), atol=1e-12)
    t = 1e-5
    for o in (whole, g, h):
        for k, (du, dv) in enumerate(((1.0, 0.0), (0.0, 1.0))):
            up, down = (o.value(u + s * du, v + s * dv, y) for s in (t, -t))
            np.testing.assert_allclose(o.slopes(u, v, y)[k], (up - down) / (2 * t), atol=1e-8)
            slopes = [o.slopes(u + s * du, v + s * dv, y) for s in (t, -t)]
            bent = o.bend(u, v, du + 0 * u, dv + 0 * v)
            for part in (0, 1):
                np.testing.assert_allclose(bent[part], (slopes[0][part] - slopes[1][part]) / (2 * t), atol=1e-7)
    assert min(map(np.min, (*g.slopes(u, v, y), *h.slopes(u, v, y)))) >= 0.0  # increasing


@pytest.mark.parametrize("loss", PARTS)
def test_products_with_the_hessian_are_derivatives(loss):
    X, y, t = labelled()
    G = two_layer(X, y if loss == "logistic" else t, 5, loss=loss, form="difference").G
    assert isinstance(G, NetworkMean)
    draw = np.random.default_rng(1)
    for _ in range(4):
        x, v = draw.normal(size=(2, 5, 5))
        bend = (G.grad(x + 1e-5 * v) - G.grad(x - 1e-5 * v)) / 2e-5
        np.testing.assert_allclose(G.hess_dot(x, v), bend, rtol=1e-5, atol=1e-7)
        assert G.bregman(v, x) == pytest.approx(G.value(v) - G.value(x) - np.sum(G.grad(x) * (v - x)), rel=1e-9)
        assert np.sum(v * G.hess_dot(x, v)) > 0.0


@pytest.mark.parametrize("form", ["gram", "scalar", "difference"])
@pytest.mark.parametrize("hidden", [2, 5])
def test_every_form_is_the_formula(form, hidden):
    X, y, _ = labelled(2, 12)
    P = two_layer(X, y, hidden, form=form, mu=0.2, sharpness=2.0, intercept=False)
    run(LAWS, P)
    signs = np.where(np.arange(hidden) < hidden - hidden // 2, 1.0, -1.0)

    def F(x):
        return np.mean(np.log1p(np.exp(-y * (np.log1p(np.exp(2 * X @ x)) / 2 @ signs)))) + 0.1 * np.sum(x * x)

    same_objective(P, F)


def test_bounds_of_the_curvature_hold_and_are_of_the_right_size():
    X, y, _ = labelled()
    for outer in PARTS["logistic"]:
        f = Network(X, y, 4, 4.0, outer)
        draw, known, most = np.random.default_rng(0), f.facts(), 0.0
        for _ in range(200):
            x = draw.normal(size=f.shape) * draw.choice([0.01, 0.1, 1.0])
            v = np.linalg.svd(X)[2][0][:, None] * draw.normal(size=4)
            v /= np.linalg.norm(v)
            most = max(most, abs(float(np.sum(v * f.all().hess_dot(x, v)))))
            each = [f.sample(1, Draw(0, i), "cyclic") for i in range(f.n)]
            change = np.mean([np.sum(b.diff(x + 1e-3 * v, x) ** 2) for b in each]) ** 0.5 / 1e-3
            assert change <= known.L * (1 + 1e-6)
        assert 0.1 * known.L_H < most <= known.L_H * (1 + 1e-9)


def test_a_kappa_that_is_too_small_is_found_by_the_laws():
    X, y, _ = labelled(2, 12)
    run(LAWS, two_layer(X, y, 3, form="gram"))
    with pytest.raises(LawBroken, match="H-is-convex"):
        run(LAWS, two_layer(X, y, 3, form="gram", kappa=0.02))


def test_columns_that_depend_on_each_other():
    X, y, _ = labelled()
    P = two_layer(np.column_stack([X, X[:, 0], 0 * X[:, 0]]), y, 4, mu=0.0)
    res = dcopt.solve(P, "dca", x0=two_layer_start(P, seed=0), steps=200)
    assert np.isfinite(res.x).all() and res.certificate.F < 0.8 * P.value(two_layer_start(P, seed=0))


@pytest.mark.parametrize(
    ("form", "method", "passes"), [("gram", "dca-page", 300), ("gram", "dca", 300), ("difference", "dca", 1500)]
)
def test_a_product_of_signs_is_learned(form, method, passes):
    X, y, _ = labelled(0, 400)
    P = two_layer(X, y, 8, form=form)
    res = dcopt.solve(P, method, x0=two_layer_start(P, seed=1), passes=passes, seed=0, trace=None)
    new, labels, _ = labelled(1, 400)
    assert np.mean(np.sign(two_layer_output(P, res.x, new)) == labels) > 0.9
    assert abs(np.mean(np.sign(new @ np.linalg.lstsq(X, y)[0]) == labels) - 0.5) < 0.1


def test_squared_loss_is_learned():
    X, _, t = labelled(0, 300)
    P = two_layer(X, t, 8, loss="squared", form="difference")
    res = dcopt.solve(P, "dca", x0=two_layer_start(P, seed=0), steps=40, trace=None)
    new, _, target = labelled(1, 300)
    assert np.mean((two_layer_output(P, res.x, new) - target) ** 2) < 0.35 * target.var()


def test_networks_name_their_classes():
    X, y, _ = labelled()
    P = two_layer(X, np.where(y > 0, "yes", "no"))
    assert P.classes.tolist() == ["no", "yes"] and isinstance(P, Problem)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda X, y, t: two_layer(X, y, 1), "hidden"),
        (lambda X, y, t: two_layer(X, np.arange(80)), "classes"),
        (lambda X, y, t: two_layer(X, t, loss="squared"), 'form="difference"'),
        (lambda X, y, t: two_layer(X, y, form="difference", kappa=1.0), "has no κ"),
        (lambda X, y, t: two_layer(X, y, form="newton"), "gram"),
        (lambda X, y, t: two_layer(X, y, loss="hinge"), "logistic"),
        (lambda X, y, t: two_layer(X, y, mu=-1.0), "mu"),
        (lambda X, y, t: two_layer(X, y, sharpness=0.0), "sharpness"),
        (lambda X, y, t: two_layer(X[:, 0], y), "X: expected 2 dimensions"),
        (lambda X, y, t: two_layer_start(clustering(X, 2)), "dcopt.problems.two_layer"),
        (lambda X, y, t: two_layer_output(two_layer(X, y, 4), np.zeros((5, 4)), X[:, :2]), "columns"),
    ],
)
def test_bad_networks_are_refused(make, says):
    with pytest.raises((BadInput, BadSettings), match=says):
        make(*labelled())


def test_tables_are_refused_where_a_square_is_in_the_sum():
    X, y, _ = labelled()
    with pytest.raises(CannotSolve, match="mm-saga"):
        dcopt.solve(two_layer(X, y, 4), "mm-saga", steps=2)
    dcopt.solve(two_layer(X, y, 4, mu=0.0, form="scalar"), "mm-saga", steps=2)
