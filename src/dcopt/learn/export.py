"""A fitted model for programs without dcopt: as an estimator of scikit-learn, and as JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..errors import BadSettings
from ..version import __version__


class Exported:
    """to_sklearn() and to_json() of a fitted estimator."""

    def to_sklearn(self: Any) -> Any:
        """A fitted estimator of scikit-learn with the same predictions, which needs no dcopt to be loaded

        classes: LogisticRegression for the losses that have probabilities, else LinearSVC; numbers: LinearRegression,
        and with a log link PoissonRegressor or GammaRegressor, which have it too. Its other settings are not those of
        the fit. An offset or exposure belongs to the rows, and is not a part of it.
        """
        check_is_fitted(self)
        if self._estimator_type_ not in ("classifier", "regressor"):
            expected = "a classifier or a regressor: scikit-learn has no survival times"
            raise BadSettings("model", type(self).__name__, expected)
        model = _classifier(self) if self._estimator_type_ == "classifier" else _regressor(self)
        model.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            model.feature_names_in_ = self.feature_names_in_
        return model

    def to_json(self: Any) -> str:
        """The coefficients that are not 0, the intercepts, the loss, its link and the certificate, as text

        score = intercept + Σ coefficient · feature; of two classes the second has the positive scores, of more the one
        with the largest score is predicted; numbers are the score, or with a log link its exponential.
        """
        check_is_fitted(self)
        loss = self.loss if isinstance(self.loss, str) else repr(self.loss)
        penalty = self.penalty if isinstance(self.penalty, str) else repr(self.penalty)
        classes = getattr(self, "classes_", None)
        named = [str(v) for v in classes.tolist()] if classes is not None else None
        coef, intercept = np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_)
        rows = [named[-1]] if named is not None and len(coef) == 1 else named or _scores(len(coef))
        out = {
            "dcopt": __version__, "estimator": type(self).__name__, "loss": loss, "penalty": penalty,
            "lam": None if self.lam_ is None else float(self.lam_), "link": _link(self), "classes": named,
            "features": int(self.n_features_in_),
            "scores": {
                row: {
                    "intercept": float(intercept[k]),
                    "coefficients": {self._name(j): float(coef[k, j]) for j in np.flatnonzero(coef[k])},
                }
                for k, row in enumerate(rows)
            },
            "status": self.status_, "certificate": str(self.certificate_),
        }  # fmt: skip
        return json.dumps(out, indent=2, ensure_ascii=False)


def _scores(k: int) -> list[str]:
    """The names of the scores of numbers"""
    return ["score"] if k == 1 else [f"score {j}" for j in range(k)]


def _link(model: Any) -> str | None:
    if model._estimator_type_ == "regressor":
        return str(model._loss().link)
    return "logit" if hasattr(model, "predict_proba") else None


def _classifier(model: Any) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    out = LogisticRegression() if hasattr(model, "predict_proba") else LinearSVC()
    out.classes_, out.coef_ = model.classes_, np.array(model.coef_)
    out.intercept_, out.n_iter_ = np.array(model.intercept_), np.array([model.n_iter_])
    return out


def _regressor(model: Any) -> Any:
    from sklearn.linear_model import GammaRegressor, LinearRegression, PoissonRegressor

    out: Any = LinearRegression()
    if model._loss().link == "log":
        out = GammaRegressor() if model._loss().domain == "positive" else PoissonRegressor()
        out._base_loss = out._get_loss()  # `predict` takes the link from it.
    out.coef_, out.intercept_, out.n_iter_ = np.array(model.coef_), np.array(model.intercept_)[()], model.n_iter_
    return out
