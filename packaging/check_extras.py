"""Every extra by itself, in an environment of its own: python packaging/check_extras.py [extra ...]

What an extra is for must work with it. An extra without a program here is an error.
"""

from __future__ import annotations

import sys
import tomllib

import bare

SMALL = """
import numpy as np, dcopt
X = np.random.default_rng(0).normal(size=(60, 5)); y = X[:, 0] + 0.1 * X[:, 1]
"""
NEEDS = {  # extra: a program that needs it
    "plot": SMALL + "dcopt.DCRegressor(penalty='scad').path(X, y, n_lams=5).plot_path().figure.savefig('path.png')",
    "arrow": SMALL + """
import pyarrow as pa, pyarrow.parquet as pq, subprocess, sys
pq.write_table(pa.table({**{f"x{j}": X[:, j] for j in range(5)}, "y": y}), "rows.parquet")
words = [sys.executable, "-m", "dcopt.cli", "fit", "rows.parquet", "--target", "y", "--lam", "0.1"]
assert "CONVERGED" in subprocess.run(words, check=True, capture_output=True, text=True).stdout
""",
    "cvxpy": SMALL + """
P = dcopt.erm(X, y, "squared", dcopt.regularizers.L1(lam=0.1), decomposition="gram")
a, b = (dcopt.solve(P, "dca", steps=3, subsolver=s).x for s in ("oracle", None))
assert np.abs(a - b).max() < 1e-4
""",
    "formula": SMALL + """
model = dcopt.DCFormula("y ~ a * b", dcopt.DCRegressor(lam=0.01)).fit({"a": X[:, 0], "b": X[:, 1], "y": y})
assert model.score({"a": X[:, 0], "b": X[:, 1], "y": y}) > 0.9
""",
    "bench": "import skglm, dccp",
    "torch": SMALL + """
import torch
f = dcopt.components(lambda x, batch: 0.5 * (batch[0] @ x - batch[1]) ** 2, (torch.tensor(X), torch.tensor(y)), shape=5)
P = dcopt.Problem(dcopt.convex.ScaledIdentity(9.0), f=f, r="zero")
assert np.abs(dcopt.solve(P, "dca", tol=1e-8).x - np.linalg.lstsq(X, y)[0]).max() < 1e-4
""",
    "jax": SMALL + """
import jax
jax.config.update("jax_enable_x64", True)
data = jax.numpy.asarray(X), jax.numpy.asarray(y)
f = dcopt.components(lambda x, batch: 0.5 * (batch[0] @ x - batch[1]) ** 2, data, shape=5)
P = dcopt.Problem(dcopt.convex.ScaledIdentity(9.0), f=f, r="zero")
assert np.abs(dcopt.solve(P, "dca", tol=1e-8).x - np.linalg.lstsq(X, y)[0]).max() < 1e-4
""",
    "dask": SMALL + """
import dask.array, distributed
if __name__ == "__main__":
    with distributed.Client(processes=False, n_workers=1, dashboard_address=None) as client:
        A, b = dask.array.from_array(X, chunks=(20, 5)), dask.array.from_array(y, chunks=20)
        P = dcopt.erm(dcopt.from_dask(A, b, client=client), loss="squared")
        assert np.abs(dcopt.solve(P, tol=1e-8).x - np.linalg.lstsq(X, y)[0]).max() < 1e-4
""",
}  # fmt: skip


def extras() -> dict[str, list[str]]:
    declared: dict[str, list[str]] = tomllib.loads((bare.ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]["optional-dependencies"]
    return declared


def main(asked: list[str]) -> None:
    unknown = set(extras()) ^ set(NEEDS)
    if unknown:
        raise SystemExit(f"extras without a program here, or programs without an extra: {', '.join(sorted(unknown))}")
    wheel = bare.build()
    for extra in asked or list(NEEDS):
        python = bare.environment(f"extra-{extra}", f"{wheel}[{extra}]")
        bare.run(python, "-W", "error::DeprecationWarning:dcopt", "-c", NEEDS[extra])
        print(f"dcopt[{extra}] is installed alone, pip check is content, and it does what it is for")


if __name__ == "__main__":
    main(sys.argv[1:])
