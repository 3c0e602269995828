"""DCSurvival: Cox regression with any penalty."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from ..data import check
from ..data.survival import survival, survival_strata, time_and_event
from ..errors import BadSettings, elsewhere, pick
from ..fit.parts import OTHER_NAMES
from ..fit.standard import columns_of, scaling_of
from ..fit.survival_task import PartialLikelihood, SurvivalTask
from ..sums.risk_sets import RiskSets
from . import messages
from .base import FLOATS, DCBase
from .callbacks import with_callbacks
from .concordance import concordance
from .cv import CrossValidated
from .door import examine, weights_of
from .ending import nothing_half_done
from .offsets import NO_OFFSETS, Offsets


class Strata(NamedTuple):
    """The stratum of every row, as a caller gave it"""

    of: Any = None


class Survives(DCBase):
    """Survival times, censored from the right."""

    _estimator_type_ = "survival"
    loss = "cox"
    fit_intercept = False  # The partial likelihood does not see one.
    validation_fraction = None

    @with_callbacks
    @elsewhere(groups="cv=list(GroupKFold(5).split(X, groups=groups)), to DCSurvivalCV")
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, strata: Any = None) -> Any:
        """Fit to X (N, d) and y: a pair (time, event), an array of two fields of which one is bool, or two columns.

        A time is above 0; an event is 1 or True where it was seen, 0 or False where the row is censored. Rows are
        compared within a stratum only. `sample_weight` counts repetitions.
        """
        with nothing_half_done(self):
            end = self._fit(X, y, sample_weight, Strata(strata))  # type: ignore[arg-type]  # `_task` takes both
        if end.ctrl_c:
            raise KeyboardInterrupt
        messages.warn(end.warning, end.hint)
        return self

    def _examine_targets(self, y: Any) -> None:
        """`_task` examines them."""

    def _targets(self, y: Any, weights: Any, dtype: Any) -> Any:
        raise NotImplementedError("`_task` makes them")

    def _task(self, X: Any, y: Any, sample_weight: Any, offsets: Any = NO_OFFSETS) -> SurvivalTask:
        pick("ties", self.ties, ("efron", "breslow"))
        if isinstance(offsets, Offsets) and offsets != NO_OFFSETS:
            raise BadSettings("offset", offsets, "None: offsets are for DCRegressor")
        examine(X, sample_weight=sample_weight)
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS)
        rows, counts = check.as_rows(X), weights_of(X, sample_weight)
        time, event = survival(*time_and_event(y), rows.shape[0])
        strata = survival_strata(offsets.of if isinstance(offsets, Strata) else None, rows.shape[0])
        labels = np.stack([time, event, strata], axis=1)
        columns = columns_of(rows, counts)
        scaling = scaling_of(columns, rows.can().stored is not None, True) if self.standardize else None
        own = rows if scaling is None else scaling.of(rows)
        loss: Any = PartialLikelihood(self.ties)
        return SurvivalTask(own, labels, counts, loss, (), False, counts, columns, rows, scaling)

    def _attributes(self, x: NDArray[Any]) -> dict[str, Any]:
        return {"x_": x, "coef_": np.array(x), "intercept_": x.dtype.type(0.0)}

    def predict(self, X: Any) -> NDArray[Any]:
        """⟨a, x⟩: the logarithm of the risk, up to a constant; a larger one means an earlier event"""
        return self._scores(X)

    def score(self, X: Any, y: Any) -> float:
        """Harrell's concordance: of pairs whose order is known, the share in which the earlier has the larger risk"""
        risk = self.predict(X)
        time, event = survival(*time_and_event(y), len(risk))
        return concordance(time, event, risk)

    def deviance(self, X: Any, y: Any, sample_weight: Any = None, *, strata: Any = None) -> float:
        """−2 log L of these rows"""
        return -2.0 * self._log_likelihood(self.predict(X), y, sample_weight, strata)

    def d2(self, X: Any, y: Any, sample_weight: Any = None, *, strata: Any = None) -> float:
        """1 − log L / log L of the model without features"""
        z = np.asarray(self.predict(X), np.float64)
        mine, null = (self._log_likelihood(at, y, sample_weight, strata) for at in (z, 0.0 * z))
        return 1.0 - mine / null if null < 0.0 else float(mine == 0.0)

    def _log_likelihood(self, z: NDArray[Any], y: Any, sample_weight: Any, strata: Any) -> float:
        check_is_fitted(self)
        time, event = survival(*time_and_event(y), len(z))
        w = None if sample_weight is None else check.vector(sample_weight, "sample_weight", len(z))
        return -RiskSets(time, event, survival_strata(strata, len(z)), w, self.ties).at(z).value


class DCSurvival(Survives):
    """min −(1/Σw) log L(x) + r(x),   log L = Σ_events w_i (⟨a_i, x⟩ − log Σ_{j at risk at t_i} w_j e^{⟨a_j, x⟩})

    Cox regression with a penalty and a certificate. `ties` : "efron" or "breslow", how equal times of events are
    counted. There is no intercept. All other settings and attributes are those of `DCClassifier`. Model files do not
    hold it.

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 10))
    >>> time = rng.exponential(np.exp(-X[:, 0] + 0.5 * X[:, 3]))
    >>> model = dcopt.DCSurvival(penalty="mcp", lam=0.3, lam_scale="max").fit(X, (time, time < 2.0))
    >>> np.flatnonzero(model.coef_).tolist(), model.status_
    ([0, 3], 'CONVERGED')
    """

    @elsewhere(**OTHER_NAMES)
    def __init__(
        self,
        penalty: Any = "scad",
        lam: float | None = None,
        *,
        ties: str = "efron",
        lam_scale: str = "absolute",
        groups: Any = None,
        unpenalized: Any = None,
        positive: bool = False,
        bounds: Any = None,
        standardize: bool = False,
        solver: str = "auto",
        search: bool = False,
        tol: float = 1e-4,
        measure: str = "criticality",
        max_passes: float = 1000,
        max_seconds: float | None = None,
        warm_start: bool = False,
        callbacks: Any = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.penalty, self.lam, self.ties, self.lam_scale = penalty, lam, ties, lam_scale
        self.groups, self.unpenalized, self.standardize = groups, unpenalized, standardize
        self.positive, self.bounds = positive, bounds
        self.solver, self.search, self.tol, self.measure = solver, search, tol, measure
        self.max_passes, self.max_seconds, self.warm_start = max_passes, max_seconds, warm_start
        self.callbacks, self.verbose, self.random_state = callbacks, verbose, random_state


class DCSurvivalCV(CrossValidated, Survives):
    """`DCSurvival` with λ by cross-validation; settings and attributes as in `DCClassifierCV`.

    A fold is judged by the partial likelihood of its own rows, so that it needs some events: each gets its share.
    """

    scoring = None

    @elsewhere(**OTHER_NAMES | dict.fromkeys(("lam", "alpha", "C"), "lams=, or DCSurvival for one value"))
    def __init__(
        self,
        penalty: Any = "scad",
        *,
        ties: str = "efron",
        n_lams: int = 100,
        ratio: float | None = None,
        lams: Any = None,
        cv: Any = None,
        rule: str = "best",
        relaxed: bool = False,
        n_jobs: int | None = None,
        groups: Any = None,
        unpenalized: Any = None,
        positive: bool = False,
        bounds: Any = None,
        standardize: bool = False,
        solver: str = "auto",
        tol: float = 1e-4,
        measure: str = "criticality",
        max_passes: float = 1000,
        max_seconds: float | None = None,
        callbacks: Any = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.penalty, self.ties, self.n_lams, self.ratio, self.lams = penalty, ties, n_lams, ratio, lams
        self.cv, self.rule, self.n_jobs = cv, rule, n_jobs
        self.relaxed = relaxed
        self.groups, self.unpenalized, self.standardize = groups, unpenalized, standardize
        self.positive, self.bounds = positive, bounds
        self.solver, self.tol, self.measure = solver, tol, measure
        self.max_passes, self.max_seconds = max_passes, max_seconds
        self.callbacks, self.verbose, self.random_state = callbacks, verbose, random_state
