"""`dcopt inspect`: what a file is, and what it says of itself."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..learn.files import load_estimator
from ..learn.say import column_squares
from ..store import Peek, peek
from ..store.checked import START
from ..store.restored import guarded
from ..store.tensors import read as read_tensors
from .coefficients import chosen_features, classes_of
from .names import DATASETS
from .tables import Columns, read
from .terminal import Terminal, plain

_SHOWN = 30  # entries of a dictionary on the screen; all of them are in --json


def run(terminal: Terminal, source: str, target: str | None) -> None:
    """A model, a checkpoint, the journal of a fit, or data."""
    if source not in DATASETS and _ours(source):
        said = peek(source)
        of = _checkpoint if said.kind == "checkpoint" else _model
        known = guarded(source, lambda: of(source, said))
        known |= {"dcopt": said.version, "format": said.format, "sha256": _digest(source)}
    else:
        known = _data(source, target)
    shown = [(key, _text(value)) for key, value in known.items()]
    terminal.result({"file": source} | known, terminal.table(("", ""), shown, head=False))


def _ours(path: str) -> bool:
    """Whether it begins as our files do."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(8 + len(START))[8:] == START


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return file.read(8 + len(START) + 64)[-64:].decode("ascii")


def _model(path: str, said: Peek) -> dict[str, Any]:
    if "fit" in said.header:
        asked, lam = said.header["fit"], said.header.get("lam")
        stage = "λ is being chosen" if "at" not in said.header else f"λ = {lam:.6g}" if lam is not None else "running"
        given = {k: v for k, v in asked.items() if v not in (None, [])}
        return {"what": "journal of dcopt fit, beside its checkpoint", "stage": stage} | given
    if "estimator" not in said.header:
        arrays = {name: f"{dtype} {list(shape)}" for name, (dtype, shape) in said.arrays.items()}
        return {"what": "model of another kind", "header": sorted(said.header), "arrays": arrays}
    model, header = load_estimator(path), said.header
    names = getattr(model, "feature_names_in_", None)
    chosen = chosen_features(model, lambda j: f"feature {j + 1}" if names is None else str(names[j]), 1.0)
    known: dict[str, Any] = {
        "what": f"model: {header['estimator']}",
        "loss": repr(model.loss),
        "penalty": repr(model.penalty),
        "lam": model.lam_,
        "features": f"{len(chosen)} of {model.n_features_in_} in the model",
        "coefficients": {one["name"]: one["coefficient"] for one in chosen},
        "favours": {one["name"]: one["favours"] for one in chosen if one["favours"] is not None},
        "intercept": np.atleast_1d(model.intercept_).tolist(),
        "status": model.status_,
        "certificate": str(model.certificate_),
        "solver": ": ".join(getattr(model, "solver_", ("", ""))[1:]),
        "settings": {k: v for k, v in header["params"].items() if v is not None},
    }
    if hasattr(model, "classes_"):
        known["classes"] = classes_of(model)
    known = {k: v for k, v in known.items() if v not in ({}, None)}
    return known | {k: v for k, v in header["extra"].items() if v is not None and k not in known}


def _checkpoint(path: str, said: Peek) -> dict[str, Any]:
    origin, state, run = said.header["origin"], said.header["state"], said.header["run"]
    trace = {k: v for k, v in read_tensors(path, "checkpoint", allow_nonfinite=True)[1].items() if "trace." in k}
    columns = ("passes", "F", "measure", "nnz") if len(trace["trace.t"]) else ()
    last = {name: float(trace[f"trace.{name}"][-1]) for name in columns}
    known = {
        "what": "checkpoint of a run",
        "method": origin.get("method", origin.get("estimator"))["name"],
        "seed": origin["seed"],
        "step": state["t"],
        "gradients": state["spent"][0],
        "seconds": run["seconds"],
        "ended": None if run["end"] is None else ": ".join(run["end"]),
        "last in the trace": last,
        "told": {k: v for k, v in origin["told"].items() if v is not None},
        "of": origin["fingerprint"],
    }
    return {k: v for k, v in known.items() if v is not None}


def _data(source: str, target: str | None) -> dict[str, Any]:
    data = read(source, Columns(target, must=False))
    n, d = data.X.shape
    sparse = hasattr(data.X, "tocsr")
    nnz = int(data.X.nnz) if sparse else int(np.count_nonzero(data.X))
    known: dict[str, Any] = {
        "what": f"data: {data.form}", "rows": n, "columns": d, "non-zeros": f"{nnz} ({nnz / (n * d):.3g} of all)",
        "stored": "sparse" if sparse else "dense",
    }  # fmt: skip
    if data.names is not None:
        known["names"] = [*data.names[:10], *(["…"] if d > 10 else [])]
    if data.y is not None and data.real:
        known["targets"] = f"numbers from {data.y.min():g} to {data.y.max():g}"
    elif data.y is not None:
        labels, counts = np.unique(data.y, return_counts=True)
        shown = ", ".join(f"{label}: {count}" for label, count in list(zip(labels, counts, strict=True))[:10])
        known["targets"] = f"{len(labels)} classes ({shown}{', …' if len(labels) > 10 else ''})"
    size = np.sqrt(_squares(data.X) / n)
    used = size[size > 0.0]
    ratio = float(used.max() / used.min()) if used.size else 1.0
    known["column scales"] = f"differ by a factor of {ratio:.3g}"
    if used.size < d:
        known["empty columns"] = d - int(used.size)
    return known


def _squares(X: Any) -> Any:
    return column_squares(X.tocsr()) if hasattr(X, "tocsr") else np.einsum("ij,ij->j", X, X)


def _text(value: Any) -> str:
    """A value on one line."""
    value = plain(value)
    if isinstance(value, dict):
        first = [f"{k} = {_text(v)}" for k, v in list(value.items())[:_SHOWN]]
        return ", ".join([*first, *(["…"] if len(value) > _SHOWN else [])])
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)
