"""`dcopt.open`: a problem on shards is the problem on the same parts in memory, bit for bit."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import dcopt
from dcopt.shards import Reader, ShardsSum


def data(n: int = 12_000, d: int = 30, dense: bool = False, seed: int = 0) -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, 0.2, format="csr", random_state=rng)
    y = np.where(X @ rng.normal(size=d) + 0.3 * rng.normal(size=n) > 0.1, "yes", "no")
    return (X.toarray() if dense else X), y


@pytest.fixture(scope="module", params=[False, True], ids=["csr", "dense"])
def packed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dcopt.Shards:
    X, y = data(dense=request.param)
    out = tmp_path_factory.mktemp("open") / "set"
    dcopt.pack([(X, y, np.linspace(0.5, 2.0, len(y)))], out, shard_mb=1.0 if request.param else 0.2)
    S = dcopt.open(out)
    assert len(S.shards) > 2
    return S


def problem(S: Any, y: Any = None, weight: Any = None, **more: Any) -> dcopt.Problem:
    return dcopt.erm(
        S,
        y,
        loss="logistic",
        regularizer=dcopt.regularizers.SCAD(lam=0.02),
        intercept=True,
        sample_weight=weight,
        **more,
    )


def test_it_is_the_problem_on_all_rows(packed: dcopt.Shards) -> None:
    """F and its gradient are those of one matrix up to rounding, with labels in words and weights."""
    rows = np.concatenate([np.asarray(s.rows.dot(np.eye(30))) for s in packed.shards])
    P, Q = problem(packed), problem(rows, packed.y, packed.sample_weight)
    assert P.classes is not None and P.classes.tolist() == ["no", "yes"] and P.n == 12_000
    x = np.random.default_rng(1).normal(size=31)
    one, two = P.sum.look(x), Q.sum.look(x)
    np.testing.assert_allclose(one.f, two.f, rtol=1e-13)
    np.testing.assert_allclose(one.grad, two.grad, rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("method", ["auto", "dca", "dca-page", "dca-svrg", "dca-saga", "dca-local"])
def test_the_bits_and_the_certificate_are_those_of_the_parts_in_memory(packed: dcopt.Shards, method: str) -> None:
    ends = [dcopt.solve(problem(S), method, passes=8, tol=1e-6, seed=3) for S in (packed, packed.in_memory())]
    assert ends[0].x.tobytes() == ends[1].x.tobytes() and ends[0].x.any()
    assert ends[0].certificate.value == ends[1].certificate.value and ends[0].spent == ends[1].spent


def test_other_losses(packed: dcopt.Shards, tmp_path: Path) -> None:
    X, y = data(2000)
    codes = (np.arange(2000) % 3) * 5
    dcopt.pack([(X, codes)], tmp_path / "three", shard_mb=0.05)
    S = dcopt.open(tmp_path / "three")
    A = np.concatenate([np.asarray(s.rows.dot(np.eye(30))) for s in S.shards])
    for loss in ("softmax", "squared"):
        P, Q = dcopt.erm(S, loss=loss), dcopt.erm(A, S.y, loss=loss)
        x = np.random.default_rng(1).normal(size=P.shape)
        np.testing.assert_allclose(P.value(x), Q.value(x), rtol=1e-12)
    with pytest.raises(dcopt.BadInput, match="3 classes"):
        dcopt.erm(S, loss="logistic")
    with pytest.raises(dcopt.BadInput, match="words"):
        dcopt.erm(packed, loss="squared")
    dcopt.pack([(X, np.linspace(0.0, 1.0, 2000))], tmp_path / "real", shard_mb=0.05)
    R = dcopt.open(tmp_path / "real")
    A = np.concatenate([np.asarray(s.rows.dot(np.eye(30))) for s in R.shards])
    x = np.ones(30)
    np.testing.assert_allclose(dcopt.erm(R, loss="huber").value(x), dcopt.erm(A, R.y, loss="huber").value(x))
    dcopt.pack([(X,)], tmp_path / "none")
    with pytest.raises(dcopt.BadInput, match="no labels"):
        dcopt.erm(dcopt.open(tmp_path / "none"))
    with pytest.raises(dcopt.BadInput, match="beside rows in parts"):
        dcopt.erm(packed, y)


def test_a_sample_is_the_first_rows_of_every_shard_without_a_copy(packed: dcopt.Shards) -> None:
    f: Any = problem(packed).sum
    assert isinstance(f, ShardsSum)
    part = f.part(0, 0.25)
    assert part.sizes == tuple(-(-n // 4) for n in f.sizes) and part is f.part(7, 0.25)
    x = np.random.default_rng(0).normal(size=31)
    starts = f.starts[:-1]
    rows = np.concatenate([np.arange(s, s + n) for s, n in zip(starts, part.sizes, strict=True)])
    own = f.take(rows)
    np.testing.assert_allclose(part.look(x).f, own.look(x).f, rtol=1e-13)
    for shard, home in zip(packed.shards, f.homes.homes, strict=True):
        first = home._made[part.recipe.name].a.a
        array = "data" if shard.sparse else "X"
        given = first.data if shard.sparse else first.a
        assert np.shares_memory(given, shard._map(array).values)


def test_rows_that_were_not_shuffled_are_sampled_at_random(tmp_path: Path) -> None:
    """Sorted by label, the first rows of a shard say nothing of the others."""
    X, y = data(4000)
    order = np.argsort(y)
    dcopt.pack([(X[order], y[order])], tmp_path / "sorted", shuffle=False, shard_mb=10.0)
    S = dcopt.open(tmp_path / "sorted")
    assert len(S.shards) == 1
    f = problem(S).sum
    sample: Any = f.part(0, 0.25)  # type: ignore[attr-defined]
    at_zero = -np.array([f.look(np.zeros(31)).grad[-1], sample.look(np.zeros(31)).grad[-1]])  # ½ mean(y)
    assert abs(at_zero[0] - at_zero[1]) < 0.05 and abs(at_zero[1]) < 0.4
    assert dcopt.solve(problem(S), seed=0).status is dcopt.Status.CONVERGED


def test_what_is_read_ahead_and_given_back_changes_no_bit(packed: dcopt.Shards) -> None:
    """With memory for one shard all others are given back after use: the same numbers."""
    little = dcopt.open(packed.data.folder)
    reader = Reader(little.shards, memory=int(1.1 / 0.6 * little.shards[0].bytes))
    assert reader.stays[0] and not any(reader.stays[1:])
    object.__setattr__(little.homes, "reader", reader)
    ends = [dcopt.solve(problem(S), "dca-local", passes=8) for S in (packed, little)]
    assert ends[0].x.tobytes() == ends[1].x.tobytes()


def test_damage_is_named_from_within_a_run(tmp_path: Path) -> None:
    X, y = data(4000)
    dcopt.pack([(X, y)], tmp_path / "set", shard_mb=0.1)
    path = tmp_path / "set" / "shard-00001" / "X" / "data" / "c" / "0"
    raw = bytearray(path.read_bytes())
    raw[1000] ^= 4
    path.write_bytes(raw)
    with pytest.raises(dcopt.BadFile, match="shard-00001/X/data/c/0: is damaged"):
        dcopt.solve(problem(dcopt.open(tmp_path / "set")), "dca", passes=2)


def test_it_travels_to_another_process(packed: dcopt.Shards) -> None:
    again = pickle.loads(pickle.dumps(packed))
    x = np.random.default_rng(1).normal(size=31)
    assert problem(again).value(x) == problem(packed).value(x)


def test_a_checkpoint_on_shards(packed: dcopt.Shards, tmp_path: Path) -> None:
    whole = dcopt.solve(problem(packed), "dca-page", passes=6, seed=1, tol=0.0)
    file = tmp_path / "run.ckpt"
    dcopt.solve(problem(packed), "dca-page", passes=2, seed=1, tol=0.0, checkpoint=file)
    again = dcopt.resume(file, problem(dcopt.open(packed.data.folder)), passes=6)
    assert again.x.tobytes() == whole.x.tobytes()


def test_lean_rows_keep_no_columns_and_have_the_same_bits() -> None:
    from dcopt.data.csr import CsrRows

    X, _ = data(80_000)
    rows, lean = (CsrRows(X.indptr, X.indices, X.data, 30, lean) for lean in (False, True))
    assert rows.large and rows.can().columns is not None and lean.can().columns is None
    columns, w = np.array([2, 5, 11]), np.linspace(0.0, 1.0, 80_000)
    assert rows.by_columns.gram(w, columns).tobytes() == lean.by_columns.gram(w, columns).tobytes()
    assert rows.by_columns.few(columns) is not None and lean.by_columns.few(columns) is None


def test_the_statistics_of_columns_are_those_that_were_written(tmp_path: Path) -> None:
    """They are what a pass finds; with weights, which they do not know, a pass is made."""
    X, y = data(3000)
    for name, weights in (("plain", ()), ("weighted", (np.linspace(0.1, 2.0, 3000),))):
        dcopt.pack([(X, y, *weights)], tmp_path / name, shard_mb=0.05)
        S = dcopt.open(tmp_path / name)
        f: Any = problem(S).sum
        assert (f.means is not None) == (not weights)
        A = np.concatenate([np.asarray(s.rows.dot(np.eye(30))) for s in S.shards])
        g: Any = problem(A, S.y, S.sample_weight).sum
        np.testing.assert_allclose(f.column_means, g.column_means, rtol=1e-12, atol=1e-16)
        np.testing.assert_allclose(f.column_mean_squares, g.column_mean_squares, rtol=1e-12)
        assert S.chosen(np.array([1, 2])).statistics() is None  # Those of all shards would be others.
