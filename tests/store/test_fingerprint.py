"""The fingerprint: every bit of the data counts, and nothing else does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from small import EXP, binary, matrix, signs

import dcopt
from dcopt.convex import least_squares
from dcopt.data.check import as_rows
from dcopt.store.fingerprint import _digest, differences, fingerprint


def test_it_is_repeatable_and_does_not_depend_on_use() -> None:
    P = binary(loss="logistic", intercept=True)
    before = fingerprint(P)
    dcopt.solve(P, "dca-page", passes=3, seed=0)
    P.constants  # noqa: B018  # cached properties are no part of it
    assert before == fingerprint(P) == fingerprint(binary(loss="logistic", intercept=True))


def test_layout_and_index_width_do_not_count() -> None:
    X = matrix(50, 7, density=0.4)
    y = signs(X)
    assert fingerprint(dcopt.erm(np.asfortranarray(X), y)) == fingerprint(dcopt.erm(X, y))
    narrow = sp.csr_array(X)
    wide = sp.csr_array((narrow.data, narrow.indices.astype(np.int64), narrow.indptr.astype(np.int64)), shape=X.shape)
    assert fingerprint(dcopt.erm(narrow, y)) == fingerprint(dcopt.erm(wide, y))


def test_every_value_counts() -> None:
    X = np.arange(24.0).reshape(6, 4)
    digests = {_digest(X), _digest(X.astype(np.float32)), _digest(X.T), _digest(X.reshape(4, 6)), _digest(X.ravel())}
    for k in range(X.size):
        Y = X.copy()
        Y.flat[k] = np.nextafter(Y.flat[k], 99)
        digests.add(_digest(Y))
    assert len(digests) == 5 + X.size
    big = np.zeros((3_000, 1_000))  # more than one block
    other = big.copy()
    other[-1, -1] = 1.0
    assert _digest(big) != _digest(other)


def test_settings_of_all_parts_count() -> None:
    P = binary()
    same = fingerprint(P)
    others = [
        P.fixed(), P.with_kappa(3.0), P.with_kappa(3.0).shift(1.0), replace(P, r=EXP.kink),
        dcopt.erm(as_rows(matrix()), signs(matrix()), regularizer=dcopt.regularizers.L1(0.1, weights=np.ones(6))),
        dcopt.erm(as_rows(matrix()), signs(matrix()), regularizer=dcopt.regularizers.L1(0.1, weights=np.arange(6))),
    ]  # fmt: skip
    prints = [same, *map(fingerprint, others)]
    assert len({tuple(p.items()) for p in prints}) == len(prints)
    assert all(differences(same, p) for p in prints[1:]) and not differences(same, same)


def nudged(P: dcopt.Problem, name: str) -> dcopt.Problem:
    """The same with a G as another BLAS would have computed it from the same data."""
    return replace(P, G=replace(P.G, **{name: np.nextafter(getattr(P.G, name), np.inf)}))


@pytest.mark.parametrize(("decomposition", "name"), [("gram", "Q"), ("diagonal", "m")])
def test_what_was_computed_from_the_data_counts_by_the_data(decomposition: str, name: str) -> None:
    P = binary(loss="logistic", decomposition=decomposition)
    G = P.G
    assert not np.array_equal(getattr(nudged(P, name).G, name), getattr(G, name))
    assert fingerprint(nudged(P, name)) == fingerprint(P)
    by_hand, other = replace(P, G=replace(G, made_of=None)), replace(P, G=G.scaled(2.0))
    assert differences(fingerprint(P), fingerprint(by_hand)) and differences(fingerprint(P), fingerprint(other))
    assert differences(fingerprint(by_hand), fingerprint(nudged(by_hand, name)))


def test_least_squares_counts_by_its_data() -> None:
    X = matrix(30, 4)
    of = dcopt.Function(lambda x: 0.0, lambda x: 0.0 * x, (4,))
    made = [dcopt.Problem(least_squares(X, b, w), of, "l1") for b in (X[:, 0], X[:, 1]) for w in (None, np.arange(30))]
    assert len({fingerprint(P)["G"] for P in made}) == 4
    assert fingerprint(made[0]) == fingerprint(nudged(made[0], "Q")) == fingerprint(nudged(made[0], "q"))


def test_tolerances_are_no_part_of_it() -> None:
    P = binary()
    assert fingerprint(P) == fingerprint(replace(P, inner_tol=1e-5))


def test_numbers_may_differ_by_rounding() -> None:
    """A scale that was computed from the data has other last digits on another machine."""
    then = {"the loss": "Excess(of=Tukey(c=8.809875557458083))", "the shape of x": "(300,)"}
    assert not differences(then, then | {"the loss": "Excess(of=Tukey(c=8.809875557458053))"})
    for other in ("Excess(of=Tukey(c=8.80987557))", "Excess(of=Huber(c=8.809875557458083))", "Tukey(c=8.8)", "None"):
        assert differences(then, then | {"the loss": other}), other
    assert differences(then, then | {"the shape of x": "(301,)"})
    tiny = {"the loss": "Huber(c=1e-12)"}
    assert differences(tiny, {"the loss": "Huber(c=1.1e-12)"}) and not differences(tiny, dict(tiny))
    digests = {"G": "Gram of sha256:1e5, tau=2.0000000000001"}
    assert not differences(digests, {"G": "Gram of sha256:1e5, tau=2.0"})
    assert differences(digests, {"G": "Gram of sha256:10e4, tau=2.0"})
