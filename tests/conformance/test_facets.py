"""Every facet that a row matrix declares keeps its laws, whoever wrote the matrix; each law refuses something."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from small import Verbs

import dcopt
from dcopt.data import csr as csr_module
from dcopt.data.check import as_rows
from dcopt.data.dense import DenseRows
from dcopt.data.intercept import WithIntercept
from dcopt.data.rows import NOTHING, Can, RowMatrix
from dcopt.laws import ROW_LAWS
from dcopt.laws.base import LawBroken
from dcopt.laws.facets import LAWS
from dcopt.laws.rows import LAWS as VERBS


def table(dtype: str = "float64", n: int = 9, d: int = 6) -> Any:
    """With an empty row and column, a column far from 0 and one that is nearly constant."""
    draw = np.random.default_rng(0)
    a = draw.normal(size=(n, d)) * (draw.random((n, d)) < 0.6)
    a[n // 2] = a[:, d // 2] = 0.0
    a[:, 1] += 30.0
    return a.astype(dtype)


def sparse(dtype: str = "float64") -> RowMatrix:
    return as_rows(sp.csr_array(table(dtype)))


class Own(Verbs):
    """A user's matrix that declares all that NumPy can do."""

    def can(self) -> Can:
        return Can(self.one_pass, self.pair, self.gram, self, self, self.entrywise, int(np.count_nonzero(self.a)))

    def one_pass(self, x: Any, of: Any) -> Any:
        z = self.a @ x
        half = len(z) // 2
        c = np.concatenate([of(z[half:], half, len(z))[:], of(z[:half], 0, half)])  # in any order
        return z, self.a.T @ np.roll(c, half, axis=0)

    def pair(self, x: Any, prev: Any, rows: Any = None) -> Any:
        return np.stack((self.dot(x, rows), self.dot(prev, rows)))

    def gram(self, weights: Any, columns: Any) -> Any:
        some = self.a[:, columns].astype(np.float64)
        return some.T @ (some if weights is None else some * weights[:, None])

    def rough_weights(self, weights: Any, k: int, rows: int) -> Any:
        return weights

    def single_gram(self, weights: Any, columns: Any) -> Any:
        return self.gram(weights, columns)

    def count(self, columns: Any) -> int:
        return int(np.count_nonzero(self.a[:, columns]))

    def columns(self, columns: Any) -> Any:
        place = [np.flatnonzero(self.a[:, j]) for j in columns]
        end = np.cumsum([len(rows) for rows in place], dtype=np.int64)
        begin = end - np.array([len(rows) for rows in place], np.int64)
        rows = np.concatenate([np.zeros(0, np.int64), *place])
        values = np.concatenate([np.zeros(0), *(self.a[rows, j] for rows, j in zip(place, columns, strict=True))])
        return begin, end, rows.astype(np.int32), values.astype(np.float64)

    def entrywise(self, function: Any) -> Any:
        return type(self)(function(self.a))


KINDS: dict[str, Callable[[], Any]] = {
    "dense": lambda: as_rows(table()),
    "dense-float32": lambda: as_rows(table("float32")),
    "csr": sparse,
    "csr-float32": lambda: sparse("float32"),
    "intercept-dense": lambda: WithIntercept(as_rows(table())),
    "intercept-dense-float32": lambda: WithIntercept(as_rows(table("float32"))),
    "intercept-csr": lambda: WithIntercept(sparse()),
    "intercept-csr-float32": lambda: WithIntercept(sparse("float32")),
    "intercept-twice": lambda: WithIntercept(WithIntercept(sparse())),
    "four-verbs": lambda: Verbs(table()),
    "four-verbs-at-the-door": lambda: as_rows(Verbs(table())),
    "intercept-four-verbs": lambda: WithIntercept(as_rows(Verbs(table()))),
    "own": lambda: Own(table()),
    "own-float32": lambda: Own(table("float32")),
    "intercept-own": lambda: WithIntercept(as_rows(Own(table()))),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", KINDS)
def test_law(name: str, law: str) -> None:
    LAWS[law](KINDS[name]())


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("ones", [False, True])
def test_law_of_rows_that_are_visited_in_parts(
    ones: bool, dtype: str, law: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if they were large: side by side, in four parts, with copies of few columns."""
    monkeypatch.setattr(csr_module, "_LARGE", 0)
    monkeypatch.setattr(csr_module, "_BLOCK", 8)
    monkeypatch.setattr(csr_module, "parts_for", lambda work, size: 4)
    a = sparse(dtype)
    LAWS[law](WithIntercept(a) if ones else a)


@pytest.mark.parametrize("name", KINDS)
def test_check_runs_all_of_them(name: str) -> None:
    """Also on a matrix of a user's own that has the four verbs alone."""
    assert set(dcopt.check(KINDS[name]())) == set(ROW_LAWS) == {*VERBS, *LAWS}


def test_the_facets_of_ours_are_declared() -> None:
    """A law says nothing of a facet that is not there."""
    for name in ("dense", "intercept-dense"):
        can = KINDS[name]().can()
        assert None not in can[:6] and can.stored is None and can.csr is None and not (can.ones or can.compiled)
    for name in ("csr", "intercept-csr"):
        can = KINDS[name]().can()
        assert None not in (can.one_pass, can.pair, can.gram, can.columns, can.entrywise, can.stored, can.csr)
        assert can.rough is None and can.compiled and can.ones == (name == "intercept-csr")
    assert None not in Own(table()).can()[:7] and as_rows(Verbs(table())).can() is NOTHING


# ---- broken ones


class Unsteady(Own):
    calls = 0

    def can(self) -> Can:
        Unsteady.calls += 1
        return Can(gram=self.gram) if Unsteady.calls % 2 else NOTHING


class NoCan(Own):
    def can(self) -> Any:
        return {"gram": self.gram}


class Shifted(Own):
    """Says that every piece begins at row 0."""

    def one_pass(self, x: Any, of: Any) -> Any:
        z = self.a @ x
        half = len(z) // 2
        return z, self.a.T @ np.concatenate((of(z[:half], 0, half), of(z[half:], 0, len(z) - half)))


class Twice(Own):
    """Asks for the first row again."""

    def one_pass(self, x: Any, of: Any) -> Any:
        z = self.a @ x
        of(z[:1], 0, 1)
        return z, self.a.T @ of(z, 0, len(z))


class Frozen(Own):
    """Keeps what it found at the first x."""

    def one_pass(self, x: Any, of: Any) -> Any:
        z = self.a @ np.ones_like(x)
        return z, self.a.T @ of(z, 0, len(z))


class Swapped(Own):
    def pair(self, x: Any, prev: Any, rows: Any = None) -> Any:
        return super().pair(prev, x, rows)


class RootsOfWeights(Own):
    """For weights that are never negative."""

    def gram(self, weights: Any, columns: Any) -> Any:
        return super().gram(None if weights is None else np.abs(weights), columns)


class HalfGram(Own):
    def gram(self, weights: Any, columns: Any) -> Any:
        return np.tril(super().gram(weights, columns))


class Halved(Own):
    def single_gram(self, weights: Any, columns: Any) -> Any:
        return self.gram(weights, columns).astype(np.float16).astype(np.float64)


class Unscaled(Own):
    """Leaves rows out and does not make the others heavier."""

    def rough_weights(self, weights: Any, k: int, rows: int) -> Any:
        return np.where(np.arange(len(self.a)) % 2, 1.0 if weights is None else weights, 0.0)


class Drops(Own):
    def rough_weights(self, weights: Any, k: int, rows: int) -> Any:
        return None


class Backwards(Own):
    def columns(self, columns: Any) -> Any:
        begin, end, rows, values = super().columns(columns)
        return begin, end, rows[::-1].copy(), values[::-1].copy()


class Miscounts(Own):
    def count(self, columns: Any) -> int:
        return len(self.a) * len(columns)


class Stale(Own):
    """Gives the columns of the first question for ever."""

    first: Any = None

    def columns(self, columns: Any) -> Any:
        self.first = super().columns(columns) if self.first is None else self.first
        return tuple(part[: len(columns)] if k < 2 else part for k, part in enumerate(self.first))


class Plain(Own):
    def entrywise(self, function: Any) -> Any:
        return type(self)(self.a)


class InPlace(Own):
    def entrywise(self, function: Any) -> Any:
        self.a[:] = function(self.a)
        return type(self)(self.a.copy())


class Everything(Own):
    def can(self) -> Can:
        return super().can()._replace(stored=self.a.size)


class Fewer(Own):
    def can(self) -> Can:
        return Can(stored=1)


@dataclass
class Csr:
    """CSR arrays of other rows."""

    d: int
    fixed: Any


def arrays(a: Any, frozen: bool = True) -> Csr:
    X = sp.csr_array(a)
    parts = tuple(np.array(part) for part in (X.indptr, X.indices, X.data))
    for part in parts:
        part.flags.writeable = not frozen
    return Csr(X.shape[1], parts)


class OtherRows(Verbs):
    def can(self) -> Can:
        return Can(csr=arrays(self.a[::-1]), compiled=True)


class Writable(Verbs):
    def can(self) -> Can:
        return Can(csr=arrays(self.a, frozen=False), compiled=True)


class TwoIntercepts(Verbs):
    """Says that one 1 stands behind the rows; there are two."""

    def __init__(self, a: Any) -> None:
        super().__init__(np.concatenate((a, np.ones((len(a), 2))), axis=1))

    def can(self) -> Can:
        return Can(csr=arrays(self.a[:, :-2]), ones=True, compiled=True)

    def take(self, rows: Any) -> Any:
        return TwoIntercepts(self.a[rows, :-2])


class Silent(Verbs):
    def can(self) -> Can:
        return Can(csr=arrays(self.a))


class Writes(Own):
    def gram(self, weights: Any, columns: Any) -> Any:
        out = super().gram(weights, columns)
        if weights is not None:
            weights *= 1.0 + 1e-9
        return out


BROKEN: list[tuple[Any, str]] = [
    (NoCan, "can-is-declared"), (Unsteady, "can-is-declared"),
    (Shifted, "one-pass-is-dot-and-tdot"), (Twice, "one-pass-is-dot-and-tdot"), (Frozen, "one-pass-is-dot-and-tdot"),
    (Swapped, "pair-is-declared-right"),
    (RootsOfWeights, "gram-is-a-sum-of-products"), (HalfGram, "gram-is-a-sum-of-products"),
    (Halved, "single-gram-is-nearly-gram"),
    (Unscaled, "rough-weights-stand-for-all"), (Drops, "rough-weights-stand-for-all"),
    (Backwards, "columns-are-the-stored-entries"), (Miscounts, "columns-are-the-stored-entries"),
    (Stale, "columns-are-the-stored-entries"),
    (Plain, "entrywise-is-of-every-entry"), (InPlace, "entrywise-is-of-every-entry"),
    (Everything, "stored-counts-entries"), (Fewer, "stored-counts-entries"),
    (OtherRows, "csr-holds-the-entries"), (Writable, "csr-holds-the-entries"), (TwoIntercepts, "csr-holds-the-entries"),
    (Silent, "compiled-is-said"),
    (Writes, "facets-change-nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("broken", "law"), BROKEN, ids=lambda x: x if isinstance(x, str) else x.__name__)
def test_a_broken_facet_is_refused(broken: Any, law: str) -> None:
    with pytest.raises(LawBroken):
        LAWS[law](broken(table()))


def test_every_law_refuses_something() -> None:
    assert {law for _, law in BROKEN} == set(LAWS)


def test_a_facet_without_the_others_is_enough() -> None:
    """Each facet alone: nothing asks for two of them at once."""
    for facet in Can._fields[:7]:
        own = Own(table())
        alone = Can(**{facet: getattr(own.can(), facet)})
        own.can = lambda alone=alone: alone  # type: ignore[method-assign, misc]
        for law in LAWS.values():
            law(SimpleNamespace(**{name: getattr(own, name) for name in ("shape", "dtype", "dot", "tdot", "norms2")},
                                take=own.take, can=own.can))  # fmt: skip
        y = np.where(np.arange(9) % 2, 1.0, -1.0)
        P, S = (dcopt.erm(a, y, "logistic", dcopt.regularizers.L1(lam=0.02)) for a in (own, table()))
        for method in ("dca-local", "dca-page"):
            one, two = (dcopt.solve(Q, method, steps=6, seed=0).certificate.F for Q in (P, S))
            assert one == pytest.approx(two, rel=1e-6)
    assert isinstance(as_rows(table()), DenseRows)


def test_rows_with_a_column_of_ones_and_an_intercept_have_their_gradient() -> None:
    """Loops that are compiled for one 1 behind each row are not taken for two of them."""
    y, x, prev = np.where(np.arange(9) % 2, 1.0, -1.0), np.linspace(-1.0, 1.0, 8), np.zeros(8)
    fits = [dcopt.erm(WithIntercept(rows), y, "logistic", intercept=True).sum for rows in (sparse(), as_rows(table()))]
    some = [f.sample(4, dcopt.draw.Draw(0, 0)) for f in fits]
    np.testing.assert_allclose(*(batch.diff(x, prev) for batch in some), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(*(f.all().grad(x) for f in fits), rtol=1e-12, atol=1e-15)
