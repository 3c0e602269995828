"""The data of a command: a file, the name of a data set, or a folder of shards."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from ..datasets.coding import from_plain
from ..datasets.shards.manifest import is_set
from ..datasets.tables import Columns, Data, Say, read
from ..errors import BadFile, BadSettings
from ..shards import Shards, open_set

COMMAND = 40  # bytes a row that `dcopt fit` takes besides: labels and predictions of all rows, for its scores


def is_shards(source: str) -> bool:
    """Whether it is a folder of shards"""
    return Path(source).is_dir() and is_set(Path(source))


def data_of(source: str, wanted: Columns, say: Say) -> Data:
    """The data, as `read` gives them; of shards X is what `dcopt.open` gives."""
    if not is_shards(source):
        return read(source, wanted, say)
    for option, value in {"target": wanted.target, "drop": wanted.drop, "categorical": wanted.categorical}.items():
        if value and wanted.must:
            raise BadSettings(option, value, f"no --{option}: the columns were chosen when the shards were packed")
    rows = open_set(source)
    manifest = rows.manifest
    assert manifest is not None  # `is_set` says so.
    y = rows.y
    if wanted.must and y is None:
        raise BadFile(source, "has no labels: dcopt pack writes them with the rows")
    kind = None if y is None else "regression" if rows.classes is None else "binary" if len(rows.classes) == 2 else None
    table = manifest.reading.get("table")
    coding = None if table is None else from_plain(table)
    if (fitted := wanted.fitted) is not None and fitted.width != rows.shape[1]:
        raise BadFile(source, f"has {rows.shape[1]} features, the model was fitted to {fitted.width}")
    if fitted is not None and fitted.names is not None and manifest.names not in (None, fitted.names):
        raise BadFile(source, "its features are not those that the model was fitted to")
    zero_based = bool(manifest.reading.get("zero_based"))
    return Data(rows, y, manifest.names, kind, source, "shards", coding, zero_based)


def of_shards(rows: Shards) -> dict[str, Any]:
    """The description of a set of shards, with the memory that work on it takes"""
    manifest = rows.manifest
    assert manifest is not None  # It was packed.
    n, d = rows.shape
    filled = manifest.entries / (n * d)
    sizes = [shard.rows for shard in manifest.shards]
    known: dict[str, Any] = {
        "what": "data: shards", "rows": n, "columns": d,
        "non-zeros": f"{manifest.entries} ({filled:.3g} of all)" if manifest.kind == "csr" else None,
        "stored": ("sparse" if manifest.kind == "csr" else "dense") + f", {manifest.dtype}",
        "values": "all 1, stored once" if manifest.ones else None,
        "order": "as in the input" if manifest.seed is None else f"shuffled, seed {manifest.seed}",
        "shards": f"{len(sizes)} of {min(sizes)} to {max(sizes)} rows, {manifest.size / 1e6:,.1f} MB together",
        "largest row": f"norm {math.sqrt(manifest.norm2):.6g}",
        "targets": "none" if not manifest.labels else "numbers" if manifest.classes is None else list(manifest.classes),
        "weights": "yes" if manifest.weights else None,
        "a pass reads": f"{rows.data.bytes / 1e6:,.1f} MB",
        "memory": f"a run takes at most {rows.memory_bound() / 1e6:,.0f} MB besides mapped files, "
        f"dcopt fit {(rows.memory_bound() + COMMAND * n) / 1e6:,.0f} MB (losses of one number a row)",
    }  # fmt: skip
    return {key: value for key, value in known.items() if value is not None}
