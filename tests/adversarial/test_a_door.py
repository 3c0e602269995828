"""A. The door: every array is taken right or refused by name, and never changed."""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from small import EXP, METHODS, binary, digest, matrix, signs, targets

import dcopt
from dcopt import BadInput, BadSettings, erm, solve
from dcopt.data.check import as_rows
from dcopt.regularizers import Box, Exponential, L1MinusL2

X = matrix(density=0.6)
Y = signs(X)
T = targets(X)
N, D = X.shape


def path(X: Any, y: Any = Y, method: str = "dca-page", **options: Any) -> np.ndarray:
    """Where a short run ends."""
    P = erm(X, y, regularizer=EXP, **options)
    return solve(P, method, passes=5, seed=3).x


def refused(argument: str, *args: Any, error: type[Exception] = BadInput, **options: Any) -> Any:
    with pytest.raises(error) as caught:
        erm(*args, **options)
    if error is BadInput:
        assert caught.value.argument == argument
    return caught.value


def spoiled(value: float, row: int, column: int) -> np.ndarray:
    bad = X.copy()
    bad[row, column] = value
    return bad


PLACES = [(0, 0), (N - 1, D - 1), (17, 3)]
FORMS = {"dense": lambda a: a, "csr": sp.csr_array, "csc": sp.csc_array, "float32": lambda a: a.astype(np.float32)}


# ---- A1, A2: numbers that are none


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a1_nan_in_x_is_named(form: str, place: tuple[int, int], value: float) -> None:
    error = refused("X", FORMS[form](spoiled(value, *place)), Y)
    assert (error.row, error.column) == place
    assert f"row {place[0]}" in str(error) and f"column {place[1]}" in str(error)
    assert str(value) in str(error)


def test_a1_the_first_of_many_is_named() -> None:
    error = refused("X", np.full((3, 2), np.nan), [0, 1, 1])
    assert (error.row, error.column) == (0, 0)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, N - 1, 11])
def test_a2_infinities_in_vectors_are_named(value: float, row: int) -> None:
    bad = T.copy()
    bad[row] = value
    assert refused("y", X, bad, "squared").row == row
    labels = Y.copy()
    labels[row] = value
    assert refused("y", X, labels).row == row
    weights = np.ones(N)
    weights[row] = value
    assert refused("sample_weight", X, Y, sample_weight=weights).row == row
    P = erm(X, Y)
    x0 = np.zeros(D)
    x0[row % D] = value
    for use in (lambda: solve(P, x0=x0), lambda: dcopt.iterate(P, x0=x0), lambda: P.value(x0)):
        with pytest.raises(BadInput) as caught:
            use()
        assert caught.value.argument in ("x0", "x") and caught.value.row == row % D


def test_a2_stored_zeros_are_zeros() -> None:
    clean = sp.csr_array(X)
    entries = [(i, j, X[i, j]) for i in range(N) for j in range(D)]  # the zeros are stored, too
    rows, columns, values = (np.array(part) for part in zip(*entries, strict=True))
    full = sp.csr_array((values, columns.astype(np.int32), np.arange(0, N * D + 1, D)), shape=(N, D))
    assert full.nnz == N * D > clean.nnz
    np.testing.assert_array_equal(path(full), path(clean))


def test_a2_a_number_too_large_for_the_problems_precision_is_refused() -> None:
    assert refused("y", X.astype(np.float32), np.where(np.arange(N) == 4, 1e50, T), "squared").row == 4
    assert refused("y", X, np.where(np.arange(N) == 4, 1e200, T), "squared").row == 4
    P = erm(X.astype(np.float32), Y)
    with pytest.raises(BadInput) as caught:
        solve(P, x0=np.full(D, 1e300))
    assert caught.value.argument == "x0"


# ---- A3: weights


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        (np.where(np.arange(N) == 5, -1.0, 1.0), "negative"),
        (np.zeros(N), "zero"),
        (np.ones(N - 1), "shape"),
        (np.ones(N + 1), "shape"),
        (np.ones((N, 2)), "shape"),
        (1.0, "shape"),
        (["a"] * N, "number"),
        (np.ones(N) * 1j, "real"),
    ],
)
def test_a3_bad_weights_are_refused(weights: Any, says: str) -> None:
    error = refused("sample_weight", X, Y, sample_weight=weights)
    assert says in str(error)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300, 1e308])
def test_a3_only_the_ratios_of_weights_count(scale: float) -> None:
    weights = np.linspace(0.1, 1.0, N)
    want = path(X, sample_weight=weights)
    np.testing.assert_allclose(path(X, sample_weight=weights * scale), want, rtol=1e-12, atol=1e-12)


# ---- A4: shapes


@pytest.mark.parametrize(
    "bad",
    [
        X[:, 0],
        X[None],
        np.float64(3.0),
        np.empty((0, 3)),
        np.empty((3, 0)),
        [[1.0, 2.0], [3.0]],
        None,
        sp.coo_array([1.0, 2.0]),
    ],
    ids=["1-D", "3-D", "0-D", "N=0", "d=0", "ragged", "None", "sparse 1-D"],
)
def test_a4_shapes_of_x(bad: Any) -> None:
    error = refused("X", bad, Y)
    shape = getattr(bad, "shape", None)
    if shape is not None:
        assert str(tuple(shape)) in str(error)


@pytest.mark.parametrize("loss", ["squared-sigmoid", "squared", "softmax"])
@pytest.mark.parametrize("bad", [Y[:-1], np.append(Y, 1.0), np.stack([Y, Y], 1), Y[:, None, None], Y[None], 1.0, None])
def test_a4_lengths_of_y(loss: str, bad: Any) -> None:
    error = refused("y", X, bad, loss)
    assert str(N) in str(error) or bad is None


@pytest.mark.parametrize("empty", [sp.csr_array((0, 4)), sp.csr_array((4, 0)), sp.csr_matrix((0, 0))])
def test_a4_empty_sparse_matrices(empty: Any) -> None:
    assert str(tuple(empty.shape)) in str(refused("X", empty, []))


def test_a4_a_column_of_labels_is_taken_as_a_vector() -> None:
    np.testing.assert_array_equal(path(X, Y[:, None]), path(X))
    one, other = (erm(X, y, "squared").value(np.ones(D)) for y in (T, T[:, None]))
    assert one == other


# ---- A5: dtypes


WHOLE = np.rint(3 * X)


@pytest.mark.parametrize(
    "kind",
    ["bool", "int8", "int16", "int32", "int64", "uint8", "uint64", "float16", ">f8", ">i4", "object", "longdouble"],
)
def test_a5_other_numbers_become_float64(kind: str) -> None:
    values = np.abs(WHOLE) if kind in ("bool", "uint8", "uint64") else WHOLE
    given = values.astype(kind)
    P = erm(given, Y, regularizer=EXP)
    assert P.dtype == np.float64 and P.dtype.isnative
    np.testing.assert_array_equal(path(given), path(given.astype(np.float64)))
    assert solve(P, passes=1, seed=0).x.dtype == np.float64


@pytest.mark.parametrize("kind", ["float32", ">f4"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("method", METHODS)
def test_a5_float32_stays_float32(kind: str, form: Any, method: str) -> None:
    given = form(X.astype(np.float32).astype(kind)) if form is np.asarray else form(X.astype(np.float32))
    P = erm(given, Y, regularizer=EXP, sample_weight=np.linspace(1, 2, N))
    result = solve(P, method, passes=4, seed=0)
    assert P.dtype == np.float32 == result.x.dtype
    assert all(
        state.x.dtype == np.float32 for state, _ in zip(dcopt.iterate(P, method, seed=0), range(5), strict=False)
    )
    want = solve(erm(X, Y, regularizer=EXP, sample_weight=np.linspace(1, 2, N)), method, passes=4, seed=0).x
    np.testing.assert_allclose(result.x, want, atol=1e-5)


def test_a5_objects_that_are_numbers_work() -> None:
    exact = np.array([[Fraction(int(v), 3) for v in row] for row in WHOLE], dtype=object)
    np.testing.assert_array_equal(path(exact), path(exact.astype(np.float64)))


BAD_TYPES = {
    "strings": [["1", "2"], ["3", "4"]],
    "bytes": np.array([[b"1", b"2"], [b"3", b"4"]]),
    "complex": np.array([[1j, 2.0], [3.0, 4.0]]),
    "datetime": np.array([["2020-01-01", "2021-01-01"]] * 2, dtype="datetime64[D]"),
    "timedelta": np.array([[1, 2], [3, 4]], dtype="timedelta64[s]"),
    "object of strings": np.array([["1", 2.0], [3.0, 4.0]], dtype=object),
    "object of None": np.array([[None, 2.0], [3.0, 4.0]], dtype=object),
    "object of complex": np.array([[1j, 2.0], [3.0, 4.0]], dtype=object),
    "object of lists": np.array([[[1], 2.0], [3.0, 4.0]], dtype=object),
    "records": np.zeros((2, 2), dtype=[("a", "f8")]),
    "dict": {"a": [1, 2]},
    "set": {1, 2},
    "text": "text",
    "sparse complex": sp.csr_array(np.array([[1j, 2.0], [3.0, 4.0]])),
}


@pytest.mark.parametrize("name", BAD_TYPES)
def test_a5_what_is_no_number_is_refused(name: str) -> None:
    refused("X", BAD_TYPES[name], [0, 1])


@pytest.mark.parametrize("name", [name for name in BAD_TYPES if not name.startswith("sparse")])
def test_a5_targets_that_are_no_numbers_are_refused(name: str) -> None:
    bad = BAD_TYPES[name]
    y = np.asarray(bad)[:, 0] if np.ndim(bad) == 2 else bad
    refused("y", np.eye(2), y, "squared")


def test_a5_a_mask_is_not_dropped_in_silence() -> None:
    masked = np.ma.masked_array(X, mask=np.arange(N * D).reshape(N, D) == 20)
    error = refused("X", masked, Y)
    assert "mask" in str(error)
    np.testing.assert_array_equal(path(np.ma.masked_array(X)), path(X))


# ---- A6: layouts, and nothing of the caller's is written to


def _layouts(tmp_path: Any) -> dict[str, np.ndarray]:
    wide = np.zeros((2 * N, 3 * D))
    wide[::2, ::3] = X
    on_disk = np.memmap(tmp_path / "x", dtype=np.float64, mode="w+", shape=X.shape)
    on_disk[:] = X
    on_disk.flush()
    frozen = X.copy()
    frozen.flags.writeable = False
    return {
        "fortran": np.asfortranarray(X),
        "backwards": np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
        "slice": wide[::2, ::3],
        "memmap": np.memmap(tmp_path / "x", dtype=np.float64, mode="r", shape=X.shape),
        "read-only": frozen,
        "unaligned": np.frombuffer(b"x" + X.tobytes(), np.uint8)[1:].view(np.float64).reshape(X.shape),
    }


@pytest.mark.parametrize("name", ["fortran", "backwards", "slice", "memmap", "read-only", "unaligned"])
@pytest.mark.parametrize("method", METHODS)
def test_a6_the_layout_does_not_matter(tmp_path: Any, name: str, method: str) -> None:
    given = _layouts(tmp_path)[name]
    before = digest(given)
    np.testing.assert_allclose(path(given, method=method), path(X, method=method), rtol=0, atol=1e-12)
    assert digest(given) == before


@pytest.mark.parametrize("method", METHODS)
def test_a6_read_only_sparse_parts(method: str) -> None:
    given = sp.csr_array(X)
    want = path(given, method=method)
    for part in (given.data, given.indices, given.indptr):
        part.flags.writeable = False
    np.testing.assert_array_equal(path(given, method=method), want)


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("method", METHODS)
def test_a6_the_callers_bytes_stay(form: str, method: str) -> None:
    x, y, w, x0 = X.copy(), Y.copy(), np.linspace(0.5, 1.5, N), np.full(D, 0.1)
    given = x if form == "dense" else sp.csr_array(x)
    parts = [y, w, x0, *([x] if form == "dense" else [given.data, given.indices, given.indptr])]
    before = digest(*parts)
    P = erm(given, y, regularizer=EXP, sample_weight=w, intercept=False)
    solve(P, method, passes=5, seed=0, x0=x0, tol=1e-9)
    for _, _ in zip(dcopt.iterate(P, method, seed=0, x0=x0), range(20), strict=False):
        pass
    P.value(x0), dcopt.measures.gap(P, x0), dcopt.measures.criticality(P, x0), P.constants
    assert digest(*parts) == before


# ---- A7: unusual but right CSR


def _unsorted(csr: Any) -> Any:
    """The same matrix with the columns of every row in reverse order."""
    indices, data = csr.indices.copy(), csr.data.copy()
    for i in range(csr.shape[0]):
        span = slice(csr.indptr[i], csr.indptr[i + 1])
        indices[span], data[span] = indices[span][::-1].copy(), data[span][::-1].copy()
    return sp.csr_array((data, indices, csr.indptr.copy()), shape=csr.shape)


def _doubled(csr: Any) -> Any:
    """The same matrix with every entry stored as two halves."""
    return sp.csr_array((np.repeat(csr.data / 2, 2), np.repeat(csr.indices, 2), 2 * csr.indptr), shape=csr.shape)


def _long(csr: Any) -> Any:
    out = csr.copy()
    out.indices, out.indptr = out.indices.astype(np.int64), out.indptr.astype(np.int64)
    return out


@pytest.mark.parametrize("odd", [_unsorted, _doubled, _long, lambda c: _long(_unsorted(_doubled(c)))])
@pytest.mark.parametrize("method", METHODS)
def test_a7_odd_csr_is_the_canonical_matrix(odd: Any, method: str) -> None:
    plain = sp.csr_array(X)
    given = odd(plain)
    parts = (given.data, given.indices, given.indptr)
    before = digest(*parts)
    np.testing.assert_allclose(path(given, method=method), path(plain, method=method), rtol=0, atol=1e-12)
    np.testing.assert_allclose(path(given, method=method), path(X, method=method), rtol=0, atol=1e-12)
    assert digest(*(given.data, given.indices, given.indptr)) == before
    assert all(a is b for a, b in zip(parts, (given.data, given.indices, given.indptr), strict=True))


def test_a7_long_indices_stay_long_inside() -> None:
    rows = as_rows(_long(sp.csr_array(X)))
    np.testing.assert_array_equal(rows.dot(np.arange(6.0)), as_rows(sp.csr_array(X)).dot(np.arange(6.0)))
    assert rows.indices.dtype == np.int64


def test_a7_duplicates_of_small_integers_do_not_wrap() -> None:
    hundred = np.array([100, 100, 1], np.int8)
    csr = sp.csr_array((hundred, np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    coo = sp.coo_array((hundred, (np.array([0, 0, 1]), np.array([0, 0, 1]))), shape=(2, 2))
    for given in (csr, coo):
        np.testing.assert_array_equal(as_rows(given).dot(np.array([1.0, 0.0])), [200.0, 0.0])


def test_a7_duplicates_that_overflow_are_refused() -> None:
    csr = sp.csr_array((np.array([1e308, 1e308]), np.array([1, 1]), np.array([0, 0, 2])), shape=(2, 2))
    error = refused("X", csr, [0, 1])
    assert (error.row, error.column) == (1, 1)


# ---- A8: malformed CSR, before compiled code sees it


def _malformed() -> dict[str, Any]:
    cases = {
        "index >= d": ("indices", 3, D),
        "index far out": ("indices", 3, 2**31 - 1),
        "negative index": ("indices", 0, -1),
        "decreasing indptr": ("indptr", 5, 0),
        "indptr past the end": ("indptr", N, 10**6),
        "indptr short of the end": ("indptr", N, 1),
        "indptr[0]": ("indptr", 0, 1),
        "negative indptr": ("indptr", 1, -2),
    }
    out = {}
    for name, (part, place, value) in cases.items():
        for kind in (sp.csr_array, sp.csr_matrix):
            bad = kind(X)
            getattr(bad, part)[place] = value
            out[f"{kind.__name__} {name}"] = bad
    short = sp.csr_array(X)
    short.data = short.data[:-1]
    long = sp.csr_array(X)
    long.indptr = np.append(long.indptr, long.indptr[-1])
    return {**out, "data too short": short, "indptr too long": long}


MALFORMED = _malformed()


@pytest.mark.parametrize("name", MALFORMED)
def test_a8_malformed_csr_is_refused(name: str) -> None:
    assert "malformed" in str(refused("X", MALFORMED[name], Y))


@pytest.mark.parametrize(
    ("part", "place", "value"), [("indices", 2, N), ("indices", 0, -1), ("indptr", 3, 0), ("indptr", D, 10**6)]
)
def test_a8_malformed_csc_is_refused(part: str, place: int, value: int) -> None:
    bad = sp.csc_array(X)
    getattr(bad, part)[place] = value
    assert "malformed" in str(refused("X", bad, Y))


@pytest.mark.parametrize(("axis", "value"), [(0, N), (0, -1), (1, D), (1, 10**9), (1, -5)])
def test_a8_malformed_coo_is_refused(axis: int, value: int) -> None:
    bad = sp.coo_array(X)
    bad.coords[axis][3] = value
    assert "malformed" in str(refused("X", bad, Y))


def test_a8_malformed_bsr_is_refused() -> None:
    bad = sp.bsr_array(X, blocksize=(2, 2))
    bad.indices[0] = D
    assert "malformed" in str(refused("X", bad, Y))


def test_a8_malformed_lil_is_refused() -> None:
    bad = sp.lil_array(X)
    bad.rows[0], bad.data[0] = [D + 5], [1.0]
    assert "malformed" in str(refused("X", bad, Y))


# ---- A9: containers


class Frame:
    """A table that only knows how to become an array, as data frames do."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.values


SPARSE = ["csr", "csc", "coo", "bsr", "lil", "dia", "dok"]


@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_a9_every_sparse_format(name: str, kind: str) -> None:
    given = getattr(sp, f"{name}_{kind}")(X)
    np.testing.assert_allclose(path(given), path(X), rtol=0, atol=1e-12)
    assert as_rows(given).dtype == np.float64


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_a9_other_containers() -> None:
    want = path(X)
    mixed = np.empty((N, D), object)
    mixed[:] = X
    mixed[:, 0] = [float(v) for v in X[:, 0]]
    for given in (np.matrix(X), X.tolist(), tuple(map(tuple, X)), Frame(X), Frame(mixed), memoryview(X)):
        P = erm(given, Y, regularizer=EXP)
        assert P.f.a.a.dtype == np.float64
        np.testing.assert_array_equal(path(given), want)


def test_a9_a_frame_with_text_is_refused() -> None:
    mixed = np.empty((2, 2), object)
    mixed[:] = [["red", 1.0], ["blue", 2.0]]
    refused("X", Frame(mixed), [0, 1])


# ---- A11: no aliases


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("output", ["last", "best", "uniform"])
def test_a11_what_was_handed_out_is_the_callers(method: str, output: str) -> None:
    P = binary()
    x0 = np.full(6, 0.05)
    result = solve(P, method, passes=4, seed=0, x0=x0, output=output)
    x, state_x = result.x.copy(), np.array(result.state.x)
    certified = dcopt.measures.criticality(P, result.x)
    x0[:] = 7.0
    np.testing.assert_array_equal(result.x, x)
    result.x[:] = -1.0  # the caller's own copy: writing is allowed, and changes nothing else
    np.testing.assert_array_equal(result.state.x, state_x)
    assert result.certificate.value == pytest.approx(certified, rel=1e-9, abs=1e-15)
    np.testing.assert_array_equal(solve(P, method, passes=4, seed=0, x0=np.full(6, 0.05), output=output).x, x)


def test_a11_a_run_of_no_steps_does_not_hand_back_x0_itself() -> None:
    x0 = np.full(6, 0.05)
    result = solve(binary(), steps=0, seed=0, x0=x0)
    assert not np.shares_memory(result.x, x0) and not np.shares_memory(result.x, result.state.x)
    np.testing.assert_array_equal(result.x, x0)


def test_a11_labels_and_weights_are_kept_as_copies() -> None:
    y, w, t = Y.copy(), np.linspace(0.5, 1.5, N), T.copy()
    P, R = erm(X, y, sample_weight=w), erm(X, t, "squared")
    before = P.value(np.ones(D)), R.value(np.ones(D))
    y[:], w[:], t[:] = 1.0, 0.0, 9.0
    assert (P.value(np.ones(D)), R.value(np.ones(D))) == before


def test_a11_a_nan_written_into_x_after_the_door_is_not_survived_in_silence() -> None:
    mine = X.copy()
    P = erm(mine, Y, regularizer=EXP)
    mine[3, 2] = np.nan
    assert solve(P, passes=3, seed=0).status is dcopt.Status.DIVERGED


# ---- A12: the start, and settings that belong to a shape


@pytest.mark.parametrize(
    "bad",
    [
        np.zeros(D + 1),
        np.zeros(D - 1),
        np.zeros((D, 1)),
        np.zeros((1, D)),
        0.0,
        [[0.0] * D],
        ["a"] * D,
        np.zeros(D, complex),
    ],
)
def test_a12_starts_of_wrong_shape_are_refused(bad: Any) -> None:
    for use in (solve, dcopt.iterate):
        with pytest.raises(BadInput) as caught:
            use(binary(), x0=bad)
        assert caught.value.argument == "x0"


@pytest.mark.parametrize("x0", [np.full(D, 2.0), np.where(np.arange(D) == 3, -1.5, 0.0)])
def test_a12_starts_outside_the_domain_are_refused(x0: np.ndarray) -> None:
    P = binary(regularizer=Box(-1.0, 1.0))
    for use in (solve, dcopt.iterate):
        with pytest.raises(BadInput, match="domain"):
            use(P, x0=x0)


@pytest.mark.parametrize("method", METHODS)
def test_a12_a_start_inside_is_used_and_not_written_to(method: str) -> None:
    x0 = np.linspace(-1.0, 1.0, D)  # on the boundary, too
    before = digest(x0)
    x0.flags.writeable = False
    result = solve(binary(regularizer=Box(-1.0, 1.0)), method, passes=3, seed=0, x0=x0)
    assert digest(x0) == before
    assert result.trace["F"][0] == binary(regularizer=Box(-1.0, 1.0)).value(x0)
    assert np.all(np.abs(result.x) <= 1.0)


def test_a12_a_multiclass_start_has_the_shape_of_x() -> None:
    P = erm(X, np.arange(N) % 3, "softmax", regularizer=EXP)
    with pytest.raises(BadInput, match=r"\(6, 3\)"):
        solve(P, x0=np.zeros(D))
    assert solve(P, steps=2, x0=np.zeros((D, 3)), seed=0).x.shape == (D, 3)


@pytest.mark.parametrize(
    "regularizer",
    [
        Exponential(lam=0.1, alpha=5.0, weights=np.ones(D + 1)),
        Exponential(lam=0.1, alpha=5.0, groups=[[0, 1], [2]]),
        Box(np.zeros(D - 1), np.ones(D - 1)),
    ],
)
@pytest.mark.parametrize("loss", ["squared-sigmoid", "softmax"])
def test_a12_settings_of_another_length_are_refused_at_the_door(regularizer: Any, loss: str) -> None:
    assert str(D) in str(refused("regularizer", X, Y, loss, regularizer))


def test_a12_settings_of_the_right_length_pass_with_an_intercept() -> None:
    r = Exponential(lam=0.1, alpha=5.0, weights=np.ones(D))
    assert solve(erm(X, Y, regularizer=r, intercept=True), passes=2, seed=0).x.shape == (D + 1,)


def test_a12_the_reweighted_step_needs_a_profile() -> None:
    refused("", X, Y, "squared-sigmoid", L1MinusL2(0.1), concave_step="reweighted", error=BadSettings)


def test_a12_refusals_can_be_copied_and_sent() -> None:
    error = refused("X", spoiled(np.nan, 1, 2), Y)
    again = copy.copy(error)
    assert (again.argument, again.row, again.column, str(again)) == (
        error.argument,
        error.row,
        error.column,
        str(error),
    )


@pytest.mark.parametrize(
    "odd", [10**400, np.complex128(0), np.complex128(1 + 2j), np.datetime64(1, "s"), np.timedelta64(1, "s"), ""]
)
def test_objects_that_numpy_would_make_numbers_of(odd):
    """Of a complex number only the real part, of a date the seconds since 1970."""
    cells = np.array([[odd, 1], [1, 2]], object)
    with pytest.raises(BadInput, match="^X: holds objects that are not numbers"):
        dcopt.erm(cells, [0, 1])
    with pytest.raises(BadInput, match="^x0: holds objects that are not numbers"):
        dcopt.solve(dcopt.erm(np.eye(2), [0, 1]), x0=cells[0])


def test_a_list_of_masked_rows():
    with pytest.raises(BadInput, match="^X: has masked entries"):
        dcopt.erm([np.ma.array([1.0, 2.0], mask=[0, 1]), np.array([0.0, 1.0])], [0, 1])


@pytest.mark.parametrize("kind", [np.float64, np.uint64, np.int8])
def test_csr_with_indices_of_another_kind(kind):
    A = sp.csr_array(np.eye(3))
    A.indices = A.indices.astype(kind)
    with pytest.raises(BadInput, match="indptr and indices must be int32 or int64"):
        dcopt.erm(A, [0, 1, 0])
