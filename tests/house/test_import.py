"""`import dcopt` is light: heavy packages are imported where they are used."""

from __future__ import annotations

import subprocess
import sys

HEAVY = (
    "numba", "sklearn", "torch", "jax", "dask", "matplotlib", "pandas", "scipy", "typer", "rich", "pooch", "requests",
)  # fmt: skip


def test_import_loads_nothing_heavy() -> None:
    code = f"import sys, dcopt; print([m for m in {HEAVY!r} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_estimators_are_imported_at_first_use_and_compile_nothing() -> None:
    code = "import sys, dcopt; dcopt.DCRegressor; print([m for m in ('sklearn', 'numba') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "['sklearn']"


def test_no_code_runs_from_files() -> None:
    """No pickle, eval, exec, marshal or joblib anywhere in the package, and no fastmath."""
    import ast
    from pathlib import Path

    import dcopt

    for path in Path(dcopt.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert not {a.name.split(".")[0] for a in node.names} & {"pickle", "marshal", "joblib"}, path
            if isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[0] not in {"pickle", "marshal", "joblib"}, path
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"eval", "exec"}, path
            if isinstance(node, ast.keyword):
                assert node.arg not in {"fastmath", "parallel"}, path
