"""Bootstrap inclusion frequencies: how often a whole fit, with its choice of λ, takes each feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from ..errors import BadInput, require, require_count, require_number
from ..fit.resamples import groups_of, repetitions
from ..fit.text_table import Table
from ..sums import Parted
from .base import DCBase
from .jobs import side_by_side


@dataclass(frozen=True, eq=False, repr=False)
class Inclusion:
    """The result of `bootstrap_inclusion`, over B bootstrap samples.

    frequencies : (d,), the share of the samples whose model has each feature
    coefs : (B, d), or (B, c, d) for c > 2 classes, the coefficients of each sample
    coef : of the fit to the rows themselves
    statuses : how each fit ended
    """

    frequencies: NDArray[np.float64]
    coefs: NDArray[np.float64]
    coef: NDArray[np.float64]
    statuses: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of features of each model."""
        return np.asarray(np.sum(_used(self.coefs), axis=1))

    def quantiles(self, low: float = 0.05, high: float = 0.95) -> NDArray[np.float64]:
        """(2, …): these quantiles of each coefficient over the samples, 0 where a feature is not in the model.

        They show how much a coefficient moves from sample to sample. They are no confidence intervals: a penalty shifts
        the coefficients, and a feature that is left out has exactly 0.
        """
        require_number("low", low, 0.0, 1.0)
        require_number("high", high, low, 1.0)
        return np.asarray(np.quantile(self.coefs, (low, high), axis=0))

    def plot(self, ax: Any = None) -> Any:
        """Bars of the frequencies of the most frequent features. Needs dcopt[plot]."""
        from ..fit.plots_of_resamples import draw_inclusion

        return draw_inclusion(self, ax)

    def __repr__(self) -> str:
        order = np.argsort(-self.frequencies, kind="stable")[:_SHOWN].tolist()
        mine = _used(self.coef[None])[0]
        columns: dict[str, list[Any]] = {
            "feature": [self.names[j] if self.names else f"x{j}" for j in order],
            "share of samples": [float(self.frequencies[j]) for j in order],
            "in the model": ["yes" if mine[j] else "no" for j in order],
        }
        ends = ", ".join(f"{self.statuses.count(one)} {one}" for one in sorted(set(self.statuses)))
        sizes = np.quantile(self.sizes, (0.05, 0.95)).round().astype(int)
        said = (
            f"{len(self.coefs)} bootstrap samples ({ends}); 90 % of the models have {sizes[0]} to {sizes[1]} features"
        )
        return f"{said}\n{Table(columns)}"


_SHOWN = 12  # The number of features that are printed.


def bootstrap_inclusion(
    estimator: Any, X: Any, y: Any, *, n_samples: int = 200, n_jobs: int | None = None, random_state: Any = None
) -> Inclusion:
    """How often each feature is in the model of a bootstrap sample: (1/B) Σ_b 1{coefficient j of sample b is not 0}.

    A sample is the same rows with random weights: how often each row was drawn, out of its own class where there are
    classes. So a fit of `DCClassifierCV` never has copies of one row both in a fold and outside of it, and the choice
    of λ is made anew for every sample. A frequency measures how stable the choice is. It is no probability that the
    feature matters: of two features that are nearly equal each may be in half of the models.

    Parameters
    ----------
    estimator : DCClassifier, DCRegressor, DCSurvival, or one of their CV versions; it is not changed
    n_samples : B, the number of samples
    n_jobs : parallel jobs over samples, as in scikit-learn; the result is the same to the bit for any number of them
    random_state : the seed of the samples

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> draw = np.random.default_rng(0)
    >>> X = draw.normal(size=(100, 5))
    >>> y = X[:, 1] + draw.normal(size=100)
    >>> model = dcopt.DCRegressorCV(penalty="mcp", rule="bic", n_lams=10)
    >>> dcopt.bootstrap_inclusion(model, X, y, n_samples=20, random_state=0).frequencies.round(2)
    array([0.1 , 1.  , 0.  , 0.15, 0.1 ])
    """
    require(isinstance(estimator, DCBase), "estimator", estimator, "one of dcopt's estimators")
    require_count("n_samples", n_samples, 2)
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    if isinstance(X, Parted):
        raise BadInput("X", "is rows in parts: bootstrap samples need rows in memory")
    me = clone(estimator)
    task = me._task(X, y, None)
    codes = task.fold_codes
    groups = groups_of(codes, task.n, 2, "bootstrap samples")

    settings: dict[str, Any] = {"n_jobs": None} if hasattr(estimator, "n_jobs") else {}
    if estimator.random_state is None:
        settings["random_state"] = seed

    def one(number: int) -> tuple[NDArray[np.float64], str]:
        here = clone(estimator).set_params(**settings)
        weights = None if number < 0 else repetitions(groups, seed, number)
        if here._fit(X, y, weights).ctrl_c:
            raise KeyboardInterrupt
        coef = np.asarray(here.coef_, np.float64)
        return coef[0] if coef.shape[0] == 1 and coef.ndim == 2 else coef, here.status_

    own, *samples = side_by_side(lambda k: one(k - 1), n_samples + 1, n_jobs)
    coefs = np.array([coef for coef, _ in samples])
    names = tuple(map(str, getattr(me, "feature_names_in_", ())))
    return Inclusion(_used(coefs).mean(axis=0), coefs, own[0], tuple(status for _, status in samples), names)


def _used(coefs: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(B, d): which features the model of each sample has."""
    return np.asarray(np.any(coefs.reshape(len(coefs), -1, coefs.shape[-1]) != 0.0, axis=1))
