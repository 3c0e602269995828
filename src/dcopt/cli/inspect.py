"""`dcopt inspect`: the kind and the contents of a file."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import Any

import numpy as np

from ..datasets.coding import Coding, from_plain
from ..datasets.file_form import STDIN, form_of, standard_input
from ..datasets.named import DATASETS
from ..datasets.tables import Columns, opened, read
from ..learn.files import load_estimator
from ..shards import open_set
from ..store import Peek, peek
from ..store.checked import START
from ..store.restored import guarded
from ..store.tensors import read as read_tensors
from .coefficients import chosen_features, classes_of
from .describe import HEAD, of_rows, of_table, shown
from .sources import is_shards, of_shards
from .terminal import Terminal, plain

_SHOWN = 30  # The number of entries of a dictionary on the screen; --json has all.
_COLUMNS = 40  # The number of rows of a table on the screen; --json has all.


def run(
    terminal: Terminal, source: str, target: str | None, decimal: str | None = None, header: bool | None = None,
    verify: bool = False,
) -> None:  # fmt: skip
    """A model, a checkpoint, the journal of a fit, or data."""
    columns: list[dict[str, Any]] = []
    if is_shards(source):
        known = of_shards(open_set(source, verify=verify)) | ({"digests": "all are as written"} if verify else {})
    elif source not in DATASETS and _ours(source):
        said = peek(source)
        of = _checkpoint if said.kind == "checkpoint" else _model
        known = guarded(source, lambda: of(source, said))
        known |= {"dcopt": said.version, "format": said.format, "sha256": _digest(source)}
    else:
        known, columns = _data(source, target, decimal, header)
    lines = [(key, _text(value)) for key, value in known.items()]
    below = ["", terminal.table(HEAD, shown(columns, _COLUMNS), ("column", "missing"))] if columns else []
    each = {"each column": columns} if columns else {}
    terminal.result({"file": source} | known | each, terminal.table(("", ""), lines, head=False), *below)


def _ours(path: str) -> bool:
    """Whether the file begins like a file of dcopt."""
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
    extra = header["extra"]
    table = extra.get("table")
    if table is not None:
        known["columns"] = _coding(from_plain(table))
    return known | {k: v for k, v in extra.items() if v is not None and k not in known and k != "table"}


def _coding(coding: Coding) -> list[str]:
    """The coding of columns that are not all numbers, and of missing cells."""
    said = [f"{one.name} (yes/no as 1/0)" for one in coding.columns if one.kind == "yes/no"]
    for one in coding.columns:
        if one.kind == "levels":
            said.append(f"{one.name} (levels {', '.join(one.levels)}; reference {one.levels[0]})")
    return [*said, f"missing cells: {coding.missing}"]


def _checkpoint(path: str, said: Peek) -> dict[str, Any]:
    origin, state, ledger = (said.header[part] for part in ("origin", "state", "ledger"))
    trace = {k: v for k, v in read_tensors(path, "checkpoint", allow_nonfinite=True)[1].items() if "trace." in k}
    columns = ("passes", "F", "measure", "nnz") if len(trace["trace.t"]) else ()
    last = {name: float(trace[f"trace.{name}"][-1]) for name in columns}
    known = {
        "what": "checkpoint of a run",
        "method": origin.get("method", origin.get("estimator"))["name"],
        "seed": origin["seed"],
        "step": state["t"],
        "gradients": state["spent"][0],
        "seconds": ledger["seconds"],
        "ended": None if ledger["end"] is None else ": ".join(ledger["end"]),
        "last in the trace": last,
        "told": {k: v for k, v in origin["told"].items() if v is not None},
        "of": origin["fingerprint"],
    }
    return {k: v for k, v in known.items() if v is not None}


def _data(
    source: str, target: str | None, decimal: str | None, header: bool | None
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The description of the data, and of each column of a table."""
    with ExitStack() as stack:
        path = stack.enter_context(standard_input()) if source == STDIN else source
        form = None if source in DATASETS else form_of(path)
        wanted = Columns(target, must=False, decimal=decimal, header=header)
        if form in (None, "LIBSVM text"):
            return of_rows(read(path, wanted)), []
        return of_table(opened(stack, path, form, wanted, skip_odd=True), target)


def _text(value: Any) -> str:
    """A value on one line."""
    value = plain(value)
    if isinstance(value, dict):
        first = [f"{k} = {_text(v)}" for k, v in list(value.items())[:_SHOWN]]
        return ", ".join([*first, *(["…"] if len(value) > _SHOWN else [])])
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)
