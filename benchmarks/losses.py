"""Held-out deviance and features kept, lasso beside SCAD and MCP, for every kind of target, on real data.

    DCOPT_DATA=folder python benchmarks/losses.py [--splits 10] [--plain]

prints a table in Markdown. Each split draws rows to fit at random, chooses λ by 5-fold cross-validation on them, and
takes the deviance on all other rows. Columns are the ranks of the features, their squares and the products of two, each
divided by its standard deviation. (Of the features themselves the products have tails so heavy that, under a log link,
single rows decide the held-out deviance: on abalone the lasso has D² = -4040.) diabetes is in scikit-learn, abalone and
cadata are LIBSVM's, randhie is in statsmodels, rossi and gbsg2 are in lifelines.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np

import dcopt

PENALTIES = ("l1", "scad", "mcp")


class Set(NamedTuple):
    """Features, targets, the rows that are fitted, and the model for a penalty"""

    name: str
    model: str
    fitted: int
    load: Callable[[], tuple[Any, Any]]
    make: Callable[[str], Any]


def products(X: Any, plain: bool) -> Any:
    """The ranks of the features (or they themselves), their squares and products, without constant or equal columns"""
    from scipy.stats import rankdata

    X = X if plain else rankdata(X, axis=0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    pairs = [X[:, i] * X[:, j] for i, j in combinations_with_replacement(range(X.shape[1]), 2)]
    wide = np.column_stack([X, *pairs])
    wide = wide[:, wide.std(axis=0) > 1e-9]
    alike = np.abs(np.corrcoef(wide.T)) > 1.0 - 1e-9
    return wide[:, ~np.triu(alike, 1).any(axis=0)]


def diabetes() -> tuple[Any, Any]:
    from sklearn.datasets import load_diabetes

    return load_diabetes(return_X_y=True)


def libsvm(name: str, unit: float = 1.0) -> Callable[[], tuple[Any, Any]]:
    def load() -> tuple[Any, Any]:
        X, y = dcopt.load_dataset(name)
        return np.asarray(X.toarray() if hasattr(X, "toarray") else X), y / unit

    return load


def randhie() -> tuple[Any, Any]:
    from statsmodels.datasets import randhie as visits

    table = visits.load_pandas().data
    return table.drop(columns="mdvis").to_numpy(float), table["mdvis"].to_numpy(float)


def rossi() -> tuple[Any, Any]:
    from lifelines.datasets import load_rossi

    table = load_rossi().astype(float)
    return table.drop(columns=["week", "arrest"]).to_numpy(), np.column_stack([table["week"], table["arrest"]])


def gbsg2() -> tuple[Any, Any]:
    import pandas as pd
    from lifelines.datasets import load_gbsg2

    table = load_gbsg2()
    X = pd.get_dummies(table.drop(columns=["time", "cens"]), drop_first=True).astype(float).to_numpy()
    return X, np.column_stack([table["time"], table["cens"]]).astype(float)


def regression(loss: str) -> Callable[[str], Any]:
    return lambda penalty: dcopt.DCRegressorCV(loss, penalty, standardize=True, random_state=0)


def survival(penalty: str) -> Any:
    return dcopt.DCSurvivalCV(penalty, standardize=True, random_state=0)


SETS = (
    Set("diabetes", "squared", 300, diabetes, regression("squared")),
    Set("cadata", "gamma", 500, libsvm("cadata", 1e5), regression("gamma")),
    Set("abalone", "poisson", 500, libsvm("abalone_scale"), regression("poisson")),
    Set("randhie", "negative-binomial", 1000, randhie, regression("negative-binomial(alpha=1.0)")),
    Set("rossi", "Cox", 300, rossi, survival),
    Set("gbsg2", "Cox", 400, gbsg2, survival),
)


def score(model: Any, X: Any, y: Any) -> tuple[float, float]:
    """The deviance for each row, or for each event, and D²"""
    if y.ndim == 1:
        return model.deviance(X, y), model.d2(X, y)
    return model.deviance(X, y) / float(y[:, 1].sum()), model.score(X, y)


def run(of: Set, splits: int, plain: bool) -> list[str]:
    """The lines of a set"""
    X, y = of.load()
    X = products(X, plain)
    seen: dict[str, list[tuple[float, float, int]]] = {penalty: [] for penalty in PENALTIES}
    for split in range(splits):
        order = np.random.default_rng(split).permutation(len(X))
        fit, rest = order[: of.fitted], order[of.fitted :]
        for penalty in PENALTIES:
            model = of.make(penalty).fit(X[fit], y[fit])
            assert model.status_ == "CONVERGED", (of.name, penalty, str(model.certificate_))
            seen[penalty].append((*score(model, X[rest], y[rest]), int(np.count_nonzero(model.coef_))))
    lines, lasso = [], np.array([end[0] for end in seen["l1"]])
    for penalty in PENALTIES:
        deviance, share, kept = (np.array(side) for side in zip(*seen[penalty], strict=True))
        more = (deviance - lasso) / lasso.mean()
        said = "" if penalty == "l1" else f"{more.mean():+.2%} ± {more.std(ddof=1) / np.sqrt(splits):.2%}"
        lines.append(
            f"| {of.name} | {of.model} | {of.fitted} of {len(X)} | {penalty} | {deviance.mean():.4g} | {said} "
            f"| {share.mean():.3f} | {kept.mean():.1f} of {X.shape[1]} |"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=10, help="at least 2")
    parser.add_argument("--only", default="", help="the name of a set, or a part of it")
    parser.add_argument("--plain", action="store_true", help="the features as they are, in the place of their ranks")
    given = parser.parse_args()
    print("| set | loss | rows fitted | penalty | held-out deviance | beside the lasso | D² or concordance | kept |")
    print("|---|---|---|---|---|---|---|---|")
    for of in SETS:
        if given.only in of.name:
            print("\n".join(run(of, given.splits, given.plain)), flush=True)


if __name__ == "__main__":
    main()
