"""Fitted estimators as model files: settings, the solution and its certificate, without code."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..errors import BadInput, BadModel, BadSettings, DcoptError
from ..fit.parts import part_of
from ..fit.penalties import with_lam
from ..fit.solver_choice import Choice
from ..runs.trace import Record, Trace
from ..store import load_model, save_model
from ..store.components import describe, rebuild
from .base import DCBase
from .certificate import FitCertificate
from .classifier import DCClassifier
from .regressor import DCRegressor

ESTIMATORS: dict[str, Any] = {"DCClassifier": DCClassifier, "DCRegressor": DCRegressor}
_NOT_KEPT = ("loss", "penalty", "callbacks")  # The first two are stored elsewhere, and functions are code.
_FEATURES = ("groups", "unpenalized")  # These settings may be as long as x.
_ONE_KIND: tuple[Any, ...] = ((bool, np.bool_), (int, np.integer), str)
_INTEGERS = ("t", "gradients", "paper", "nnz")
_KINDS = "expected a fitted DCClassifier, DCRegressor, DCClassifierCV or DCRegressorCV"
_ADVICE = (
    f"{_KINDS}. save_estimator(path, pipeline[-1]) saves the last step, which expects rows that the other steps have "
    "transformed; an estimator with standardize=True needs no scaler before it"
)
_NO_MODEL = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError)


def save_estimator(path: str | os.PathLike[str], model: Any, extra: Mapping[str, Any] | None = None) -> None:
    """Write a fitted estimator, completely or not at all. `extra` holds further plain settings.

    One with cross-validation is kept as the estimator of its chosen λ. Loss and penalty have to be registered ones: a
    file holds names, not code. Callbacks, and the memory of partial_fit, are not kept.

    Examples
    --------
    >>> import dcopt, numpy as np, pathlib, tempfile
    >>> from dcopt.learn.files import load_estimator, save_estimator
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 2.0], [2.0, 0.5]]), ["no", "yes", "no", "yes"]
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.dcm"
    >>> save_estimator(path, dcopt.DCClassifier(lam=0.01).fit(X, y))
    >>> load_estimator(path).predict(X).tolist()
    ['no', 'yes', 'no', 'yes']
    """
    if isinstance(model, DCBase) and model._estimator_type_ not in ("classifier", "regressor"):
        raise BadInput("model", f"is a {type(model).__name__}: model files hold classifiers and regressors")
    if not isinstance(model, DCBase):
        from sklearn.pipeline import Pipeline  # It is imported here because the import takes long.

        raise BadInput("model", f"is a {type(model).__name__}: {_ADVICE if isinstance(model, Pipeline) else _KINDS}")
    check_is_fitted(model)
    kind = next((name for name, known in ESTIMATORS.items() if model._estimator_type_ == known._estimator_type_), "")
    params = model.get_params(deep=False)
    penalty = part_of("penalty", model.penalty)
    if params.get("lam") is None and model.lam_ is not None:  # The fit chose λ.
        penalty = with_lam(penalty, float(model.lam_))
        params |= {"lam": float(model.lam_), "lam_scale": "absolute"}
    known = ESTIMATORS[kind]().get_params(deep=False)
    arrays: dict[str, Any] = {}
    kept = {k: v for k, v in params.items() if k in known and k not in _NOT_KEPT}
    header = {
        "estimator": kind,
        "params": {k: _down(k, v) for k, v in kept.items() if not _as_arrays(k, v, arrays)},
        "loss": describe("loss", part_of("loss", model.loss), arrays),
        "penalty": describe("regularizer", penalty, arrays),
        "fitted": {
            "features": int(model.n_features_in_),
            "lam": None if model.lam_ is None else float(model.lam_),
            "status": model.status_,
            "certificate": [model.certificate_.value, model.certificate_.tol, str(model.certificate_)],
            "notes": list(model.notes_),
            "objective": float(getattr(model, "objective_", np.nan)),
            "steps": int(model.n_iter_),
            "solver": list(getattr(model, "solver_", ())),
            "measure": model.certificate_.measure,
        },
        "extra": dict(extra or {}),
    }
    arrays["x"] = np.asarray(model.x_)
    if getattr(model, "scale_", None) is not None:
        arrays["scale"] = model.scale_
    if hasattr(model, "classes_"):
        arrays["classes"] = model.classes_
    if hasattr(model, "feature_names_in_"):
        arrays["names"] = [str(name) for name in model.feature_names_in_]
    trace = getattr(model, "trace_", ())
    for name in Record._fields:
        arrays[f"trace.{name}"] = np.array([getattr(r, name) for r in trace], _type(name))
    save_model(path, header, arrays, allow_nonfinite=True)


def load_estimator(path: str | os.PathLike[str]) -> Any:
    """The fitted estimator. Nothing in the file is executed. BadModel names any defect of the file."""
    header, arrays = load_model(path, allow_nonfinite=True)
    if "estimator" not in header:
        raise BadModel(path, "is a model without an estimator")
    try:
        return _restored(header, arrays)
    except _NO_MODEL as why:
        raise BadModel(path, f"is not an estimator of this version ({type(why).__name__}: {str(why)[:80]})") from None


def _restored(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Any:
    fitted, params = header["fitted"], {k: _up(k, v) for k, v in header["params"].items()} | _from_arrays(arrays)
    params["loss"] = rebuild(header["loss"], "loss", arrays)
    params["penalty"] = rebuild(header["penalty"], "regularizer", arrays)
    model = ESTIMATORS[header["estimator"]](**params)
    d, x = int(fitted["features"]), arrays["x"]
    model.n_features_in_ = d
    width = _width(model, arrays)
    if x.shape not in ((d, *width), (d + 1, *width)) or x.dtype.kind != "f" or not np.isfinite(x).all():
        raise ValueError(f"x has shape {x.shape}")
    if "names" in arrays:
        if arrays["names"].shape != (d,):
            raise ValueError(f"{arrays['names'].shape} names")
        model.feature_names_in_ = arrays["names"].astype(object)
    for name, value in model._attributes(x).items():
        setattr(model, name, value)
    columns = [arrays[f"trace.{name}"].tolist() for name in Record._fields]
    model.trace_ = Trace(str(fitted["measure"]), [Record(*line) for line in zip(*columns, strict=True)])
    model.lam_, model.status_ = fitted["lam"], str(fitted["status"])
    model.certificate_, model.objective_ = _certificate(fitted), float(fitted["objective"])
    model.notes_ = tuple(map(str, fitted.get("notes", ())))
    model.scale_ = arrays.get("scale")
    if model.scale_ is not None and model.scale_.shape != (d,):
        raise ValueError(f"deviations of {model.scale_.shape} columns")
    model.n_iter_ = int(fitted["steps"])
    if fitted["solver"]:
        model.solver_ = Choice(*map(str, fitted["solver"]))
    return model


def _certificate(fitted: dict[str, Any]) -> FitCertificate:
    """The certificate in the file. Files of version 0.1 hold only its sentence."""
    said = fitted["certificate"]
    value, tol, text = (None, None, said) if isinstance(said, str) else said
    value, tol = (None if number is None else float(number) for number in (value, tol))
    return FitCertificate(str(fitted["measure"]), value, tol, str(text))


def _width(model: Any, arrays: Mapping[str, NDArray[Any]]) -> tuple[int, ...]:
    """The shape of x beside its rows: one column for every class if the loss has classes."""
    if model._estimator_type_ == "regressor":
        return arrays["x"].shape[1:]
    model.classes_ = arrays["classes"]
    c = len(model.classes_)
    if model.classes_.ndim != 1 or c < 2:
        raise ValueError("expected a list of two or more classes")
    return (c,) if model._loss(c).labels == "class" else ()


def _type(name: str) -> Any:
    return np.int64 if name in _INTEGERS else np.float64


def _as_arrays(name: str, value: Any, arrays: dict[str, Any]) -> bool:
    """Whether the value is a list of features (names, numbers or a mask) or of groups of them: stored as arrays.

    A header holds 1 MiB: less than a mask over 200 000 features takes there.
    """
    if name not in _FEATURES or not isinstance(value, list | tuple | np.ndarray) or not len(value):
        return False
    groups = all(isinstance(one, list | tuple | np.ndarray) for one in value)
    flat = [one for group in value for one in group] if groups else list(value)
    kind = next((one for one in _ONE_KIND if all(isinstance(v, one) for v in flat)), None)
    if kind is None:
        return False  # It mixes names and numbers.
    arrays[f"params.{name}"] = [str(v) for v in flat] if kind is str else np.asarray(flat)
    if groups:
        arrays[f"params.{name}.sizes"] = np.array([len(group) for group in value], np.int64)
    return True


def _from_arrays(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """The value that `_as_arrays` stored."""
    found: dict[str, Any] = {}
    for name in _FEATURES:
        if f"params.{name}" in arrays:
            flat = arrays[f"params.{name}"].tolist()
            sizes = arrays.get(f"params.{name}.sizes")
            if sizes is not None:
                flat = [flat[end - size : end] for size, end in zip(sizes, np.cumsum(sizes), strict=True)]
            found[name] = flat
    return found


def _down(name: str, value: Any) -> Any:
    """A setting as plain values."""
    if name == "random_state" and not isinstance(value, int | np.integer):
        return None
    if name == "class_weight" and isinstance(value, Mapping):
        return [[_plain(k), float(v)] for k, v in value.items()]
    try:
        return _plain(value)
    except DcoptError:
        raise BadSettings(name, value, "a setting that a file can hold: numbers, strings and lists of them") from None


def _up(name: str, value: Any) -> Any:
    return dict(value) if name == "class_weight" and isinstance(value, list) else value


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise BadSettings("value", value, "a plain one")
