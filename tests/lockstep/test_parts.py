"""Rows in parts against rows in one place: the same bits with one part, the same path to 1e-12 with several."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import dcopt
from dcopt.convex import Gram, MajorizingDiagonal, Mean, majorizing_diagonal, majorizing_gram
from dcopt.convex.majorizing_diagonal import equilibrated_diagonal
from dcopt.data.check import as_rows
from dcopt.data.intercept import WithIntercept
from dcopt.draw import Draw
from dcopt.errors import BadInput, ResumeMismatch
from dcopt.losses import loss as as_loss
from dcopt.regularizers import MCP, SCAD, CappedL1, Exponential
from dcopt.sums import Given, Here, LinearSum, PartData, Parted, PartsSum
from dcopt.sums.constants import importance_kappa, majorizing_kappa, smoothness

KINDS = ("dense", "sparse", "weighted", "softmax", "float32")
CUTS = {"one": (300,), "three": (7, 0, 200, 93), "many": (1, 0, 0, 50, 50, 50, 50, 49, 49, 1)}


def whole(kind: str) -> LinearSum:
    rng = np.random.default_rng(KINDS.index(kind))
    X = rng.standard_normal((300, 12)) * (rng.random((300, 12)) < (0.3 if kind == "sparse" else 1.0))
    z = X @ np.where(np.arange(12) % 3 == 0, 1.0, 0.0) + 0.3 * rng.standard_normal(300)
    weights = rng.random(300) * (rng.random(300) < 0.8) if kind in ("weighted", "sparse") else None
    weights = None if weights is None else weights / weights.mean()
    if kind == "softmax":
        return LinearSum(as_rows(X), as_loss("softmax"), np.digitize(z, [-0.4, 0.4]), None, (3,))
    name = {"dense": "squared", "sparse": "logistic", "weighted": "squared-sigmoid", "float32": "logistic"}[kind]
    labels = z if name == "squared" else np.where(z > 0.0, 1.0, -1.0)
    if kind == "float32":
        X, labels = X.astype(np.float32), labels.astype(np.float32)
    rows: Any = as_rows(csr_array(X) if kind == "sparse" else X)
    return LinearSum(WithIntercept(rows) if kind == "sparse" else rows, as_loss(name), labels, weights)


def cut(f: LinearSum, sizes: tuple[int, ...]) -> PartsSum:
    return PartsSum.split(f.a, f.labels, f.loss, sizes, f.weights, f.classes)


def some_x(f: LinearSum, seed: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(f.shape).astype(f.dtype)


class Near:
    """Equal bits with one part; to rounding of the type of the data with more."""

    def __init__(self, kind: str, exact: bool) -> None:
        self.exact, self.least = exact, 2e-6 if kind == "float32" else 1e-12

    def __call__(self, got: Any, want: Any, tol: float = 0.0) -> None:
        near(got, want, self.exact, max(tol, self.least))


def near(got: Any, want: Any, exact: bool, tol: float) -> None:
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape
    if exact:
        assert np.array_equal(got, want)
    else:
        assert np.allclose(got, want, rtol=tol, atol=tol * max(1.0, float(np.abs(want).max(initial=0.0))))


CASES = [(kind, name) for kind in KINDS for name in CUTS]


@pytest.mark.parametrize("gathered", (True, False))
@pytest.mark.parametrize(("kind", "name"), CASES)
def test_every_verb(kind: str, name: str, gathered: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a batch with so many rows that they are not brought together; where they are, its bits are the same."""
    if not gathered:
        monkeypatch.setattr("dcopt.sums.parts.MOST", 0)
    f, same = whole(kind), Near(kind, name == "one")
    g = cut(f, CUTS[name])
    x, prev = some_x(f), some_x(f, 6)
    assert (g.n, g.shape, g.classes, g.dtype) == (f.n, f.shape, f.classes, f.dtype)
    names = ("curvature", "constant", "lower", "tables")
    assert [getattr(g.facts(), one) for one in names] == [getattr(f.facts(), one) for one in names]
    look, seen = g.look(x), f.look(x)
    same(look.f, seen.f)
    same(look.grad, seen.grad)
    same(g.slopes_at(look), f.slopes_at(seen))
    for sampling in ("iid", "distinct", "cyclic", "importance"):
        ours, theirs = (s.sample(40, Draw(3, 7), sampling) for s in (g, f))
        assert np.array_equal(ours.rows, theirs.rows) and ours.size == theirs.size
        for got, want in zip(verbs(ours, x, prev), verbs(theirs, x, prev), strict=True):
            near(got, want, gathered and sampling != "importance" or name == "one", same.least)
    for got, want in zip(verbs(g.all(), x, prev), verbs(f.all(), x, prev), strict=True):
        same(got, want)
    same(g.best_constant(), f.best_constant(), 1e-9)
    same(g.rounding(x), f.rounding(x), 1e-9)


def verbs(batch: Any, x: np.ndarray, prev: np.ndarray) -> list[Any]:
    c = batch.slopes(x)
    return [batch.value_grad(x)[0], batch.value_grad(x)[1], batch.grad(x), batch.diff(x, prev), c, batch.pull(c)]


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_constants_and_columns(kind: str, name: str) -> None:
    f, same = whole(kind), Near(kind, name == "one")
    g = cut(f, CUTS[name])
    assert g.largest_row == f.largest_row
    same(g.mean_row, f.mean_row)
    same(g.column_mean_squares, f.column_mean_squares)
    same(g.column_means, f.column_means)
    assert majorizing_kappa(g) == majorizing_kappa(f)
    same(importance_kappa(g, 0.5), importance_kappa(f, 0.5), 1e-6)
    same(smoothness(g), smoothness(f), 1e-6)
    same(majorizing_gram(g).Q, majorizing_gram(f).Q)
    same(majorizing_diagonal(g).m, majorizing_diagonal(f).m)
    same(equilibrated_diagonal(g).m, equilibrated_diagonal(f).m, 1e-6)
    Gram_, Diagonal_ = majorizing_gram(f), majorizing_diagonal(f)
    assert isinstance(Gram_, Gram) and isinstance(Diagonal_, MajorizingDiagonal)
    same(Gram_.spread(g), Gram_.spread(f), 1e-9)
    same(Diagonal_.spread(g), Diagonal_.spread(f), 1e-6)


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_a_part_of_the_rows(kind: str, name: str) -> None:
    f, same = whole(kind), Near(kind, name == "one")
    g, x = cut(f, CUTS[name]), some_x(f)
    for share in (0.3, 0.9, 1e-9):
        ours, theirs = g.part(11, share), f.part(11, share)
        assert ours.n == theirs.n
        same(ours.look(x).grad, theirs.look(x).grad)
    rows = np.array([3, 250, 9, 3, 150])
    same(g.take(rows).look(x).grad, f.take(rows).look(x).grad)


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_curvature(kind: str, name: str) -> None:
    f, same = whole(kind), Near(kind, name == "one")
    g, x, columns = cut(f, CUTS[name]), some_x(f), np.array([0, 2, 3, 7, 11])
    C, D = g.curvature(g.look(x)), f.curvature(f.look(x))
    names = ("n", "d", "classes", "is_softmax", "constant", "exact", "rough", "dense", "bends_down", "steepest", "eps")
    assert [getattr(C, one) for one in names] == [getattr(D, one) for one in names]
    same(C.mean_bend, D.mean_bend)
    same(C.bound, D.bound)
    for one in ("bend", "negative_excess", "row_weights"):
        same(getattr(C, one), getattr(D, one))
    same(C.gram(columns), D.gram(columns))
    same(C.at_zero(columns)[0], D.at_zero(columns)[0])
    same(C.mean_squares(columns, True), D.mean_squares(columns, True))
    assert C.means_are_far(columns, 0.1) == D.means_are_far(columns, 0.1)
    if not C.is_softmax:
        same(C.negative(columns), D.negative(columns))
    else:
        same(C.blocks(columns), D.blocks(columns))
        same(C.chances(), D.chances())
    assert C.shows_columns == D.shows_columns
    if C.shows_columns:
        assert C.stored(columns) == D.stored(columns)
        ours, theirs = C.entries(columns), D.entries(columns)
        for k in range(len(columns)):
            got, want = slice(ours.begin[k], ours.end[k]), slice(theirs.begin[k], theirs.end[k])
            assert np.array_equal(ours.rows[got], theirs.rows[want])
            assert np.array_equal(ours.values[got], theirs.values[want])


@pytest.mark.parametrize("name", CUTS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_mean_as_the_convex_part(kind: str, name: str) -> None:
    f, same = whole(kind), Near(kind, name == "one")
    x, y = some_x(f).astype(np.float64), some_x(f, 6).astype(np.float64)
    ours, theirs = (Mean(s, 2.0) for s in (cut(f, CUTS[name]), f))
    same(ours.value(x), theirs.value(x))
    same(ours.hess_dot(x, y), theirs.hess_dot(x, y))
    same(ours.hessian(x), theirs.hessian(x))
    same(ours.bregman(x, y), theirs.bregman(x, y))


METHODS = ("dca", "dca-page", "dca-svrg", "dca-saga", "sdca", "dca-local", "dca-nested", "ssdc-svrg", "auto")
PENALTIES = {"dense": MCP(lam=0.05), "sparse": SCAD(lam=0.01), "weighted": Exponential(lam=0.002, alpha=5.0)}
PENALTIES |= {"softmax": CappedL1(lam=0.01, theta=0.5, groups="rows"), "float32": SCAD(lam=0.01)}


@pytest.mark.parametrize("name", ("one", "three"))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS)
def test_paths(method: str, kind: str, name: str) -> None:
    """Round by round; a run of many rounds may come to another side of a threshold."""
    f = whole(kind)
    P = dcopt.Problem(f=f, r=PENALTIES[kind])
    Q = dcopt.Problem(f=cut(f, CUTS[name]), r=PENALTIES[kind])
    try:
        want = dcopt.solve(P, method, passes=6, seed=3, tol=0.0)
    except dcopt.errors.CannotSolve as refused:
        with pytest.raises(dcopt.errors.CannotSolve) as also:
            dcopt.solve(Q, method, passes=6, seed=3, tol=0.0)
        assert str(also.value) == str(refused)
        return
    got = dcopt.solve(Q, method, passes=6, seed=3, tol=0.0)
    assert (got.steps, got.method, vars(got.spent)) == (want.steps, want.method, vars(want.spent))
    loose = kind == "float32" or method.startswith(("dca-local", "dca-nested", "auto", "ssdc"))
    near(got.x, want.x, name == "one", 1e-6 if loose else 1e-12)


@pytest.mark.parametrize("decomposition", ("gram", "diagonal", "local"))
def test_decompositions(decomposition: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 8))
    y = np.where(X[:, 0] + rng.standard_normal(300) > 0.0, 1.0, -1.0)
    P = dcopt.erm(X, y, "logistic", SCAD(lam=0.02), decomposition=decomposition)
    assert isinstance(P.f, LinearSum)
    for name, exact in (("one", True), ("many", False)):
        g = cut(P.f, CUTS[name])
        G = {"gram": majorizing_gram, "diagonal": majorizing_diagonal}.get(decomposition, lambda f: P.G)(g)
        Q = replace(P, G=G, f=g)
        for method in ("dca", "dca-page"):
            want, got = (dcopt.solve(p, method, passes=8, seed=2, tol=0.0) for p in (P, Q))
            near(got.x, want.x, exact, 1e-8)


def test_a_sample_from_the_middle_is_that_of_all_rows() -> None:
    """The numbers of rows do not depend on where their part begins."""
    numbers = Draw(4, 0).each(1000)
    for first in (0, 1, 2, 3, 4, 5, 63, 998, 999):
        assert np.array_equal(Draw(4, 0).each(1000, first), numbers[first:])


def parted(X: Any, y: Any, sizes: tuple[int, ...], weights: Any = None) -> Parted:
    ends = np.cumsum((0, *sizes))
    cuts = [slice(low, high) for low, high in zip(ends, ends[1:], strict=False)]
    whole = as_rows(X)
    rows = [whole.take(np.arange(len(y))[cut]) for cut in cuts]
    data = [PartData(a, y[cut], None if weights is None else weights[cut]) for a, cut in zip(rows, cuts, strict=True)]
    return Parted(Here.of(map(Given, data)))


@pytest.mark.parametrize("name", CUTS)
@pytest.mark.parametrize("weighted", (False, True))
def test_erm_codes_labels_and_weights_over_all_parts(name: str, weighted: bool) -> None:
    """A class that is missing in some parts keeps its place."""
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((300, 5)), np.sort(rng.choice(np.array(["a", "bb", "c"]), 300))
    w = rng.random(300) * (rng.random(300) < 0.7) if weighted else None
    for loss, some in (("softmax", y), ("logistic", np.where(y == "c", "yes", "no"))):
        want = dcopt.erm(X, some, loss, SCAD(lam=0.02), intercept=True, sample_weight=w)
        got = dcopt.erm(parted(X, some, CUTS[name], w), loss=loss, regularizer=SCAD(lam=0.02), intercept=True)
        assert np.array_equal(got.classes, want.classes)
        x = some_x(want.f)
        near(got.f.look(x).grad, want.f.look(x).grad, name == "one", 1e-12)


def test_parts_that_cannot_be_used_are_named() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((30, 3)), np.repeat([0, 1], 15)
    with pytest.raises(BadInput, match=r"y: 3 classes \(0 in part 0, 1 in part 1, 7 in part 2\)"):
        dcopt.erm(parted(X, np.repeat([0, 1, 7], 10), (10, 10, 10)), loss="logistic")
    with pytest.raises(BadInput, match="1 class"):
        dcopt.erm(parted(X, np.ones(30), (10, 20)), loss="logistic")
    with pytest.raises(BadInput, match="1 class .* has weight"):
        dcopt.erm(parted(X, y, (10, 20), (y == 0).astype(float)), loss="logistic")
    with pytest.raises(BadInput, match="all weights are zero"):
        dcopt.erm(parted(X, y, (10, 20), np.zeros(30)), loss="logistic")
    with pytest.raises(BadInput, match=r"sample_weight, row 3: part 1: -1.0 is negative"):
        dcopt.erm(parted(X, y, (10, 20), np.where(np.arange(30) == 13, -1.0, 1.0)), loss="logistic")
    with pytest.raises(BadInput, match=r"y, row 4: part 1: is nan"):
        dcopt.erm(parted(X, np.where(np.arange(30) == 14, np.nan, y), (10, 20)), loss="logistic")
    with pytest.raises(BadInput, match="y: was given beside rows in parts"):
        dcopt.erm(parted(X, y, (10, 20)), y)
    parts = [PartData(as_rows(X), y), PartData(as_rows(X[:, :2].copy()), y)]
    with pytest.raises(BadInput, match="part 1 has 2 columns of float64, the parts before it 3 of float64"):
        dcopt.erm(Parted(Here.of(map(Given, parts))), loss="logistic")
    parts = [PartData(as_rows(X), y), PartData(as_rows(X.astype(np.float32)), y)]
    with pytest.raises(BadInput, match="part 1 has 3 columns of float32, the parts before it 3 of float64"):
        dcopt.erm(Parted(Here.of(map(Given, parts))), loss="logistic")
    with pytest.raises(BadInput, match="no rows"):
        dcopt.erm(parted(X, y, (0, 0)), loss="logistic")


def test_a_checkpoint_of_parts_names_the_parts_and_goes_on(tmp_path: Any) -> None:
    """It holds nothing of the size of N, and other parts of the same rows are another problem: other bits."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 5))
    y = np.where(X[:, 0] + rng.standard_normal(300) > 0.0, 1.0, -1.0)
    cuts = CUTS["three"], CUTS["many"]
    P, Q = (dcopt.erm(parted(X, y, sizes), loss="logistic", regularizer=SCAD(lam=0.02)) for sizes in cuts)
    for method in ("dca-local", "dca-page", "dca-saga"):
        path = tmp_path / f"{method}.ckpt"
        whole = dcopt.solve(P, method, passes=12, seed=3, tol=0.0)
        dcopt.solve(P, method, passes=6, seed=3, tol=0.0, checkpoint=path)
        again = dcopt.resume(path, P, passes=12)
        assert np.array_equal(again.x, whole.x) and again.steps == whole.steps
        with pytest.raises(ResumeMismatch, match="in 3 parts then, DenseRows in 8 parts now"):
            dcopt.resume(path, Q, passes=12)
        if method == "dca-local":
            assert path.stat().st_size < 8 * 300 * 5


def test_the_order_of_the_numbers_of_x_does_not_matter() -> None:
    f = cut(whole("softmax"), CUTS["three"])
    x = some_x(f)
    for other in (np.asfortranarray(x), np.repeat(x, 2, axis=1)[:, ::2]):
        assert not other.flags.c_contiguous
        assert np.array_equal(f.look(other).grad, f.look(x).grad)
