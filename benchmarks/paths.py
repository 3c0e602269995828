"""Paths of 100 λ beside the peers: `python benchmarks/paths.py [logistic|squared|mcp] [sets …]`.

Every contender solves for the same λ with an intercept, on one thread. Its tolerance is the loosest of a ladder at
which the worst critical distance along its path, computed here, is at most 1e-5. Seconds are medians of rounds in
turns.
"""

from __future__ import annotations

import os
import sys

ONE = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")} | {"DCOPT_THREADS": "1"}
if __name__ == "__main__" and any(os.environ.get(key) != one for key, one in ONE.items()):  # read when libraries load
    os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | ONE)

import warnings  # noqa: E402
from collections.abc import Callable  # noqa: E402
from time import perf_counter  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402
from scipy.special import expit  # noqa: E402

import dcopt  # noqa: E402

WORST = 1e-5  # The largest critical distance that counts as solved.
N_LAMS, ROUNDS = 100, 5
LONG = 60.0  # Seconds of a path after which no finer tolerance is tried.
GAMMA = 3.0  # of MCP
DENSE = ("breast-cancer", "madelon", "colon-cancer", "dna")
SETS = ("a9a", "w8a", "breast-cancer", "madelon", "colon-cancer", "dna", "news20")
Path = tuple[np.ndarray, np.ndarray]  # Coefficients (λ, d) and intercepts (λ,).


class Data(NamedTuple):
    name: str
    X: Any  # a dense array, or CSR
    y: np.ndarray  # −1, 1
    lams: np.ndarray

    @property
    def ratio(self) -> float:
        return 1e-3 if self.X.shape[0] >= self.X.shape[1] else 1e-2


def load(name: str, task: str = "logistic") -> Data:
    """Dense columns have mean 0 and deviation 1; sparse ones are as they are. For numbers all columns are dense."""
    if name == "breast-cancer":
        from sklearn.datasets import load_breast_cancer

        X, y = load_breast_cancer(return_X_y=True)
    else:
        X, y = dcopt.load_dataset({"dna": "dna.scale"}.get(name, name))
        X = X[:, :1000] if name == "news20" else X
        y = y > 10 if name == "news20" else y == 3 if name == "dna" else y > 0
    y = np.where(np.asarray(y) > 0, 1.0, -1.0)
    if name in ("madelon", "colon-cancer", "breast-cancer") or task != "logistic":
        X = X.toarray() if sp.issparse(X) else np.asarray(X)
        X = X[:, X.std(axis=0) > 0]
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    else:
        X = sp.csr_matrix(X)
        X.sort_indices()
    made = Data(name, X, y, np.empty(0))
    b = np.log((y > 0).mean() / (y < 0).mean())
    null = expit(b) - (y > 0) if task == "logistic" else y.mean() - y
    top = np.abs(X.T @ null).max() / len(y)
    return made._replace(lams=top * np.geomspace(1.0, made.ratio, N_LAMS))


def distance(data: Data, path: Path, slopes: Callable[[np.ndarray], np.ndarray], mcp: bool = False) -> float:
    """The worst dist(−∇f, ∂r) along a path, r = λ|·|₁ or MCP"""
    worst = 0.0
    for lam, x, b in zip(data.lams, *path, strict=False):  # A path may end before the grid does.
        c = slopes(data.X @ x + b) / len(data.y)
        g = data.X.T @ c
        pull = np.maximum(lam - np.abs(x) / GAMMA, 0.0) if mcp else lam
        off = np.where(x != 0.0, g + pull * np.sign(x), np.maximum(np.abs(g) - lam, 0.0))
        worst = max(worst, float(np.hypot(np.linalg.norm(off), c.sum())))
    return worst


# ---- contenders: each takes the data and a tolerance of its ladder


def ours(loss: str, penalty: str, tol: float, data: Data) -> Path:
    kind = dcopt.DCClassifier if loss == "logistic" else dcopt.DCRegressor
    found = kind(loss=loss, penalty=penalty, tol=tol).path(data.X, data.y, n_lams=N_LAMS, ratio=data.ratio)
    return found.coefs.reshape(len(found.lams), -1), found.intercepts.reshape(-1)


def glmnet_logistic(tol: float, data: Data) -> Path:
    from glmnet import LogitNet

    model = LogitNet(alpha=1, lambda_path=data.lams, standardize=False, n_splits=0, tol=tol, max_iter=10**7)
    model.fit(data.X, data.y)
    return model.coef_path_.reshape(data.X.shape[1], -1).T, model.intercept_path_.reshape(-1)


def logistic_slopes(y: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    return lambda z: -y * expit(-y * z)


def squared_slopes(y: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    return lambda z: z - y


def on_centred(data: Data, coefs: np.ndarray) -> Path:
    """With the intercepts of least squares, whose columns have mean 0"""
    return coefs, np.full(len(coefs), data.y.mean())


def sklearn_lasso(tol: float, data: Data) -> Path:
    from sklearn.linear_model import lasso_path

    found = lasso_path(data.X, data.y - data.y.mean(), alphas=data.lams, tol=tol, max_iter=100_000)[1]
    return on_centred(data, found.T)


def celer_lasso(tol: float, data: Data) -> Path:
    from celer import celer_path

    found = celer_path(data.X, data.y - data.y.mean(), "lasso", alphas=data.lams, tol=tol, max_iter=1000)[1]
    return on_centred(data, found.T)


def skglm_mcp(tol: float, data: Data) -> Path:
    from skglm import MCPRegression

    model = MCPRegression(gamma=GAMMA, tol=tol, fit_intercept=False, max_iter=500)
    return on_centred(data, model.path(data.X, data.y - data.y.mean(), data.lams)[1].T)


def pycasso_mcp(tol: float, data: Data) -> Path:
    from pycasso import Solver

    model = Solver(data.X, data.y, lambdas=data.lams, penalty="mcp", gamma=GAMMA, prec=tol, max_ite=100_000)
    model.train()
    return np.asarray(model.result["beta"]), np.asarray(model.result["intercept"]).ravel()


Contender = Callable[[float, Data], Path]


def contenders(task: str) -> dict[str, tuple[Contender, tuple[float, ...]]]:
    """Each with its ladder of tolerances, the loosest first"""
    ladder = tuple(10.0**-k for k in np.arange(3.0, 9.0, 0.5))
    fine = tuple(10.0**-k for k in range(4, 16))
    if task == "logistic":
        return {
            "dcopt": (lambda tol, data: ours("logistic", "l1", tol, data), ladder),
            "glmnet": (glmnet_logistic, tuple(10.0**-k for k in range(7, 22))),
        }
    if task == "squared":
        return {
            "dcopt": (lambda tol, data: ours("squared", "l1", tol, data), ladder),
            "lasso_path": (sklearn_lasso, fine),
            "celer": (celer_lasso, fine),
        }
    if task == "mcp":
        return {
            "dcopt": (lambda tol, data: ours("squared", f"mcp(gamma={GAMMA})", tol, data), ladder),
            "skglm": (skglm_mcp, fine),
            "pycasso": (pycasso_mcp, fine),
        }
    raise SystemExit(f"unknown task {task!r}")


def settle(data: Data, run: Contender, ladder: tuple[float, ...], slopes: Any, mcp: bool) -> tuple[float, float, int]:
    """The loosest tolerance that solves every λ, the worst distance with it, and the number of λ"""
    for tol in ladder:
        began = perf_counter()
        path = run(tol, data)
        off = distance(data, path, slopes(data.y), mcp)
        if off <= WORST:
            return tol, off, len(path[1])
        if perf_counter() - began > LONG:
            break
    return float("nan"), off, len(path[1])


def main(task: str, names: list[str]) -> None:
    warnings.simplefilter("ignore")
    print(f"| {task} | rows × columns | contender | tolerance | worst distance | λ | ms a λ | dcopt / contender |")
    print("|---|---|---|---|---|---|---|---|")
    ratios: dict[str, list[float]] = {}
    for name in names or (SETS if task == "logistic" else DENSE):
        data, slopes = load(name, task), logistic_slopes if task == "logistic" else squared_slopes
        found = {
            key: (run, *settle(data, run, ladder, slopes, task == "mcp"))
            for key, (run, ladder) in contenders(task).items()
        }
        seen: dict[str, list[float]] = {key: [] for key in found}
        for _ in range(ROUNDS):
            for key, (run, tol, _, _) in found.items():
                if tol == tol:
                    began = perf_counter()
                    run(tol, data)
                    seen[key].append(perf_counter() - began)
        mine = np.array(seen["dcopt"]) / found["dcopt"][3]
        for key, (_, tol, off, lams) in found.items():
            size = f"{data.X.shape[0]} × {data.X.shape[1]}"
            if tol != tol:
                print(f"| {name} | {size} | {key} | – | {off:.1e} | {lams} | not reached | |", flush=True)
                continue
            own = np.array(seen[key]) / lams
            ratio = "" if key == "dcopt" else f"{np.median(mine / own):.2f}"
            if ratio:
                ratios.setdefault(key, []).append(float(ratio))
            cells = name, size, key, f"{tol:.0e}", f"{off:.1e}", lams, f"{np.median(own) * 1e3:.3f}", ratio
            print("|", " | ".join(map(str, cells)), "|", flush=True)
    for key, each in ratios.items():
        print(f"\n{key}: geometric mean {np.exp(np.log(each).mean()):.2f}, worst {max(each):.2f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "logistic", sys.argv[2:])
