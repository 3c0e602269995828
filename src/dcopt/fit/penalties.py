"""From an estimator's settings to the regularizer of its problem."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadSettings, nearest, pick, require, require_number
from ..regularizers import L0, Bounded, Box, Regularizer, Zero
from .parts import own_lam, part_of

# The default λ, as a share of lam_max, near the best score of a path: on rows left out, with SCAD, the accuracy is
# .963 of at most .968 on breast cancer (standardised), .843 of .845 on a9a, and R² .488 of .489 on diabetes, with 5 of
# 30, 13 of 123 and 7 of 10 features. At .1 the accuracy on breast cancer is .947; at .01 twice as many features are in.
LAM_SHARE = 0.05
# Of classes with fewer rows than features, which are separable: there small λ leave the coefficients of a nonconvex
# penalty without a bound. On colon-cancer the log loss on rows left out is .43 at .6, .41 at .5, 1.4 at .3, 6.2 at .05.
LAM_SHARE_WIDE = 0.6

_ALL = {"rows": "rows", "entries": None}  # All coefficients of a feature form a group, or each is a group.


def penalty_of(
    spec: Any, groups: Any, unpenalized: Any, names: NDArray[Any] | None, d: int, classes: int, bounds: Any = None
) -> Regularizer:
    """The penalty over d features: with its groups ("rows" where there are classes), and weight 0 on free features.

    `bounds`: (low, high), within which it holds, or None.
    """
    r: Any = part_of("penalty", spec)
    has = {field.name for field in fields(r) if field.init} if is_dataclass(r) else set[str]()
    if is_dataclass(r):
        r = replace(r)  # type: ignore[type-var]  # The copy keeps cached values out of the estimator's parameter.
    if groups is not None:
        if "groups" not in has:
            raise BadSettings("groups", groups, f"None: {type(r).__name__} has no groups")
        r = replace(r, groups=_grouped(groups, names, d))
    elif classes > 2 and "groups" in has and r.groups is None:
        r = replace(r, groups="rows")  # A feature is selected for all classes or for none.
    if r.shape is not None and r.shape[0] != d:
        raise BadSettings("penalty", r, f"one for {d} features: its weights, groups or bounds are for {r.shape[0]}")
    free = features("unpenalized", unpenalized, names, d)
    if free.size:
        if "weights" not in has:
            raise BadSettings("unpenalized", unpenalized, f"None: {type(r).__name__} has no weights per feature")
        r = replace(r, weights=_weights(r, free, d))
    out: Regularizer = r if bounds is None else _bounded(r, bounds, d)
    return out


def limits(positive: Any, bounds: Any) -> tuple[Any, Any] | None:
    """(low, high) of an estimator's settings, None where there are none."""
    require(isinstance(positive, bool | np.bool_), "positive", positive, "True or False")
    if bounds is None:
        return (0.0, math.inf) if positive else None
    require(not positive, "bounds", bounds, "None where positive=True, which stands for (0, inf)")
    good = isinstance(bounds, tuple | list) and len(bounds) == 2
    require(good, "bounds", bounds, "a pair (low, high) of numbers, or of one number for each feature")
    return bounds[0], bounds[1]


def _bounded(r: Regularizer, bounds: tuple[Any, Any], d: int) -> Regularizer:
    """The penalty within bounds, refused by the names of an estimator's settings."""
    if free_rows(r, d).size:
        raise BadSettings("bounds", bounds, "no features without a penalty: the model without features has no bounds")
    if isinstance(r, L0):
        raise BadSettings("bounds", bounds, "None: the exchanges of l0 know no bounds; 'mcp' and 'scad' do")
    if isinstance(r, Zero):
        out: Regularizer = Box(*bounds)
    else:
        out = Bounded(r, *bounds)
    if out.shape is not None and out.shape[0] != d:
        raise BadSettings("bounds", bounds, f"one number, or one for each of {d} features: there are {out.shape[0]}")
    low, high = (np.asarray(b) for b in bounds)
    require(
        bool(np.all(low <= 0.0) and np.all(high >= 0.0)), "bounds", bounds, "low <= 0 <= high: a penalty pulls to 0"
    )
    return out


def chosen_lam(r: Regularizer, spec: Any, lam: Any, lam_scale: str, share: float) -> tuple[Regularizer, bool]:
    """The penalty with the λ that the settings ask for, and whether that is a share of lam_max.

    `lam_scale` says what a number means. None: an instance keeps its λ, and a penalty by name gets the default share.
    """
    pick("lam_scale", lam_scale, ("absolute", "max"))
    if isinstance(r, L0):
        require(lam is None, "lam", lam, "None: the size k of l0 takes its place, as in penalty='l0(k=5)'")
        return with_lam(r, 1.0), True
    if lam is not None:
        require_number("lam", lam, 0.0)
        return with_lam(r, float(lam)), lam_scale == "max"
    if own_lam(spec) or not hasattr(r, "lam"):
        return r, lam_scale == "max"
    return with_lam(r, share), True


def with_lam(r: Regularizer, lam: float) -> Regularizer:
    """The same penalty with another λ."""
    if isinstance(r, Bounded):
        return replace(r, of=with_lam(r.of, lam))
    if not hasattr(r, "lam"):
        raise BadSettings("lam", lam, f"None: {type(r).__name__} has no lam")
    return replace(r, lam=lam)  # type: ignore[type-var]


def features(setting: str, spec: Any, names: NDArray[Any] | None, d: int) -> NDArray[np.int64]:
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
                near = nearest(one, map(str, known))
                hint = "" if near is None else f"; did you mean {near!r}?"
                where = "a number: the columns of X have no names" if names is None else f"a column of X{hint}"
                raise BadSettings(setting, one, where)
            found.append(known[one])
        elif isinstance(one, int | np.integer) and -d <= one < d and not isinstance(one, bool):
            found.append(int(one) % d)
        else:
            raise BadSettings(setting, one, f"a name, a column number below {d}, or a mask of {d} booleans")
    return np.unique(np.asarray(found, np.int64))


def free_rows(r: Regularizer, d: int) -> NDArray[np.int64]:
    """The features that r never penalises: those of weight 0."""
    weights, groups = getattr(r, "weights", None), getattr(r, "groups", None)
    if weights is None:
        return np.empty(0, np.int64)
    if isinstance(groups, tuple):
        return np.array(sorted(j for g, w in zip(groups, weights, strict=True) if w == 0.0 for j in g), np.int64)
    return np.flatnonzero(np.asarray(weights) == 0.0)


def _grouped(groups: Any, names: NDArray[Any] | None, d: int) -> str | None | list[list[int]]:
    """The groups of the regularizer: "rows", None (entries), or lists of features that part 0 … d − 1."""
    expected = f'None, "rows", "entries", lists of features that enter together, or one label for each of {d} features'
    if isinstance(groups, str):
        if groups not in _ALL:
            raise BadSettings("groups", groups, expected)
        return _ALL[groups]
    if isinstance(groups, Mapping):
        raise BadSettings("groups", groups, f"{expected}; write groups=list(groups.values())")
    if not isinstance(groups, Iterable):
        raise BadSettings("groups", groups, expected)
    many = list(groups)
    if many and all(np.ndim(one) == 0 for one in many):
        if len(many) != d:
            raise BadSettings("groups", f"{len(many)} labels", expected)
        return _labelled(many)
    return _parted(many, names, d)


def _labelled(labels: list[Any]) -> list[list[int]]:
    """Features with the same label form a group."""
    found: dict[Any, list[int]] = {}
    for j, label in enumerate(labels):
        if label is None or label != label:
            raise BadSettings("groups", label, f"a label for every feature: feature {j} has none")
        found.setdefault(label, []).append(j)
    return list(found.values())


def _parted(groups: Sequence[Any], names: NDArray[Any] | None, d: int) -> list[list[int]]:
    """Index groups; features that are in none are groups of their own."""
    parts, home = [], dict[int, int]()
    for k, group in enumerate(groups):
        part = features("groups", group, names, d).tolist()
        if not part:
            raise BadSettings("groups", group, f"groups that are not empty: group {k} is")
        for j in part:
            if j in home:
                name = f"feature {j}" if names is None else f"feature {str(names[j])!r}"
                raise BadSettings("groups", name, f"each feature in one group: it is in group {home[j]} and group {k}")
            home[j] = k
        parts.append(part)
    return parts + [[j] for j in range(d) if j not in home]


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
