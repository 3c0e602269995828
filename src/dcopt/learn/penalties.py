"""From an estimator's settings to the regularizer of its problem."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadSettings
from ..regularizers import Regularizer
from ..regularizers import regularizer as as_regularizer

_ALL = {"rows": "rows", "entries": None}  # all coefficients of a feature together, or each by itself


def penalty_of(
    spec: Any, groups: Any, unpenalized: Any, names: NDArray[Any] | None, d: int, classes: int
) -> Regularizer:
    """The penalty over d features: with its groups ("rows" where there are classes), and weight 0 on free features."""
    r: Any = as_regularizer(spec, "penalty")
    has = {field.name for field in fields(r) if field.init} if is_dataclass(r) else set[str]()
    if is_dataclass(r):
        r = replace(r)  # type: ignore[type-var]  # what it computes once shall not be seen in the estimator's parameter
    if groups is not None:
        if "groups" not in has:
            raise BadSettings("groups", groups, f"None: {type(r).__name__} has no groups")
        if groups not in _ALL if isinstance(groups, str) else not isinstance(groups, Iterable):
            raise BadSettings("groups", groups, 'None, "rows", "entries" or lists of features')
        r = replace(r, groups=_ALL[groups] if isinstance(groups, str) else _parted(groups, names, d))
    elif classes > 2 and "groups" in has and r.groups is None:
        r = replace(r, groups="rows")  # a feature is in or out for all classes
    if r.shape is not None and r.shape[0] != d:
        raise BadSettings("penalty", r, f"one for {d} features: its weights, groups or bounds are for {r.shape[0]}")
    free = features(unpenalized, names, d)
    out: Regularizer = r
    if not free.size:
        return out
    if "weights" not in has:
        raise BadSettings("unpenalized", unpenalized, f"None: {type(r).__name__} has no weights per feature")
    out = replace(r, weights=_weights(r, free, d))
    return out


def with_lam(r: Regularizer, lam: float) -> Regularizer:
    """The same penalty with another λ."""
    if not hasattr(r, "lam"):
        raise BadSettings("lam", lam, f"None: {type(r).__name__} has no lam")
    return replace(r, lam=lam)  # type: ignore[type-var]


def features(spec: Any, names: NDArray[Any] | None, d: int) -> NDArray[np.int64]:
    """Column numbers from a name, a number, a mask or a list of them."""
    if spec is None:
        return np.empty(0, np.int64)
    many = [spec] if isinstance(spec, str) or np.ndim(spec) == 0 else list(spec)
    if len(many) == d and all(isinstance(j, bool | np.bool_) for j in many):
        return np.flatnonzero(np.asarray(many, bool))
    known = {} if names is None else {name: j for j, name in enumerate(names)}
    found = []
    for one in many:
        if isinstance(one, str):
            if one not in known:
                where = "a number: the columns of X have no names" if names is None else "a column of X"
                raise BadSettings("feature", one, where)
            found.append(known[one])
        elif isinstance(one, int | np.integer) and -d <= one < d and not isinstance(one, bool):
            found.append(int(one) % d)
        else:
            raise BadSettings("feature", one, f"a name, or a column number below {d}")
    return np.unique(np.asarray(found, np.int64))


def free_rows(r: Regularizer, d: int) -> NDArray[np.int64]:
    """The features that r never penalises: those of weight 0."""
    weights, groups = getattr(r, "weights", None), getattr(r, "groups", None)
    if weights is None:
        return np.empty(0, np.int64)
    if isinstance(groups, tuple):
        return np.array(sorted(j for g, w in zip(groups, weights, strict=True) if w == 0.0 for j in g), np.int64)
    return np.flatnonzero(np.asarray(weights) == 0.0)


def _parted(groups: Sequence[Any], names: NDArray[Any] | None, d: int) -> list[list[int]]:
    """Index groups; features that are in none are groups of their own."""
    parts = [features(group, names, d).tolist() for group in groups]
    alone = sorted(set(range(d)) - {j for part in parts for j in part})
    return parts + [[j] for j in alone]


def _weights(r: Any, free: NDArray[np.int64], d: int) -> NDArray[np.float64]:
    groups = r.groups
    if not isinstance(groups, tuple):
        weights = np.ones(d) if r.weights is None else np.array(r.weights)
        if weights.size == d:
            weights[free] = 0.0
        return weights
    chosen = set(free.tolist())
    weights = np.ones(len(groups)) if r.weights is None else np.array(r.weights)
    for k, group in enumerate(groups):
        if chosen & set(group):
            if not chosen >= set(group):
                raise BadSettings("unpenalized", sorted(chosen), f"all of the group {list(group)}, or none of it")
            weights[k] = 0.0
    return weights
