"""The fingerprint: every bit of the data counts, and nothing else does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from small import EXP, binary, matrix, signs

import dcopt
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
        replace(P, inner_tol=1e-9), P.fixed(), P.with_kappa(3.0), P.with_kappa(3.0).shift(1.0), replace(P, r=EXP.kink),
        dcopt.erm(as_rows(matrix()), signs(matrix()), regularizer=dcopt.regularizers.L1(0.1, weights=np.ones(6))),
        dcopt.erm(as_rows(matrix()), signs(matrix()), regularizer=dcopt.regularizers.L1(0.1, weights=np.arange(6))),
    ]  # fmt: skip
    prints = [same, *map(fingerprint, others)]
    assert len({tuple(p.items()) for p in prints}) == len(prints)
    assert all(differences(same, p) for p in prints[1:]) and not differences(same, same)
