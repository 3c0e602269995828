"""One way to call every solver: make(cell) converts the data, at(tol) sets the tolerance, and what it returns is timed.

tol is a share: of the critical distance at 0 where a solver stops at an absolute residual, otherwise it is handed on.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .measure import GAMMA, Cell

METHOD = os.environ.get("PEERS_METHOD", "auto")  # dcopt's
THREADS = int(os.environ.get("DCOPT_THREADS", "1"))
MOST = 10**6  # iterations, where a solver asks for a bound: the time limit is what stops it
_DENSE = 1.5e8  # entries: pycasso has no sparse matrices, and copies a dense one
_WIDE = 5000  # columns: glum forms all second derivatives

Run = Callable[[], np.ndarray]
At = Callable[[float], Run]


def ours(cell: Cell) -> Any:
    """The same penalty, dcopt's."""
    from dcopt.regularizers import L1, MCP, SCAD

    g = GAMMA[cell.penalty]
    return {"l1": lambda: L1(cell.lam), "mcp": lambda: MCP(cell.lam, gamma=g), "scad": lambda: SCAD(cell.lam, a=g)}[
        cell.penalty]()  # fmt: skip


def skglm_penalty(cell: Cell) -> Any:
    """The same penalty, skglm's."""
    from skglm.penalties import L1, SCAD, MCPenalty

    if cell.penalty == "l1":
        return L1(cell.lam)
    return (MCPenalty if cell.penalty == "mcp" else SCAD)(cell.lam, GAMMA[cell.penalty])


def _dcopt(cell: Cell) -> At:
    import dcopt

    def run(tol: float) -> np.ndarray:
        P = dcopt.erm(cell.X, cell.y, cell.loss, ours(cell))
        # passes: a bound that is not met; trace None: F is looked at only where the method needs it; all start at 0
        x0 = np.zeros(P.shape)
        return dcopt.solve(P, METHOD, atol=tol, measure="criticality", passes=1e5, trace=None, seed=0, x0=x0).x

    return lambda tol: lambda: run(tol * cell.distance0)


def _skglm(kind: str) -> Callable[[Cell], At]:
    def make(cell: Cell) -> At:
        from skglm import datafits, solvers

        X = _columns(cell.X)
        datafit: Any = datafits.Logistic if cell.loss == "logistic" else datafits.Quadratic
        if kind == "GramCD":  # has its own least squares
            datafit = lambda: None  # noqa: E731

        def at(tol: float) -> Run:
            solver = getattr(solvers, kind)(tol=tol * cell.most0, fit_intercept=False, max_iter=1000)
            return lambda: solver.solve(X, cell.y, datafit(), skglm_penalty(cell))[0]

        return at

    return make


def _celer(cell: Cell) -> At:
    import celer

    X = _columns(cell.X)
    if cell.loss == "squared":
        return lambda tol: lambda: celer.Lasso(cell.lam, tol=tol, max_iter=1000, fit_intercept=False).fit(
            X, cell.y).coef_  # fmt: skip
    C = 1.0 / (len(cell.y) * cell.lam)
    return lambda tol: lambda: celer.LogisticRegression(C=C, tol=tol, max_iter=1000).fit(X, cell.y).coef_


def _scikit(kind: str) -> Callable[[Cell], At]:
    def make(cell: Cell) -> At:
        from sklearn.linear_model import Lasso, LogisticRegression

        if kind == "lasso":
            X = _columns(cell.X)
            return lambda tol: lambda: Lasso(cell.lam, tol=tol, max_iter=MOST, fit_intercept=False).fit(
                X, cell.y).coef_  # fmt: skip
        settings: dict[str, Any] = {"C": 1.0 / (len(cell.y) * cell.lam), "l1_ratio": 1.0, "fit_intercept": False}
        return lambda tol: lambda: LogisticRegression(
            solver=kind, tol=tol, max_iter=MOST, random_state=0, **settings).fit(cell.X, cell.y).coef_  # fmt: skip

    return make


def _pycasso(cell: Cell) -> At:
    import pycasso

    X = cell.X.toarray() if sp.issparse(cell.X) else cell.X
    family = "binomial" if cell.loss == "logistic" else "gaussian"
    gamma = {} if cell.penalty == "l1" else {"gamma": GAMMA[cell.penalty]}

    def at(tol: float) -> Run:
        solver = pycasso.Solver(
            X, cell.y, lambdas=np.array([cell.lam]), family=family, penalty=cell.penalty, useintercept=False,
            standardize=False, prec=tol, max_ite=10**5, lla_max_stages=100, **gamma,
        )  # fmt: skip

        def run() -> np.ndarray:
            solver.train()
            return solver.result["beta"][-1]

        return run

    return at


def _glmnet(cell: Cell) -> At:
    from glmnet import ElasticNet, LogitNet

    X = _columns(cell.X)
    net = LogitNet if cell.loss == "logistic" else ElasticNet

    def at(tol: float) -> Run:
        model = net(alpha=1, lambda_path=np.array([cell.lam]), fit_intercept=False, standardize=False, tol=tol,
                    n_splits=0, max_iter=MOST)  # fmt: skip
        return lambda: model.fit(X, cell.y).coef_path_[..., -1].ravel()

    return at


def _adelie(cell: Cell) -> At:
    import adelie as ad

    A = _columns(cell.X)
    if sp.issparse(A):
        A = ad.matrix.sparse(A, method="naive", n_threads=THREADS)

    def at(tol: float) -> Run:
        glm = ad.glm.gaussian(cell.y) if cell.loss == "squared" else ad.glm.binomial((cell.y + 1.0) / 2.0)
        settings: dict[str, Any] = {"irls_tol": tol} if cell.loss == "logistic" else {}
        return lambda: ad.grpnet(
            A, glm, lmda_path=np.array([cell.lam]), intercept=False, tol=tol, early_exit=False, n_threads=THREADS,
            progress_bar=False, **settings,
        ).betas.toarray()[-1]  # fmt: skip

    return at


def _glum(cell: Cell) -> At:
    from glum import GeneralizedLinearRegressor

    X = _columns(cell.X)
    family, y = ("normal", cell.y) if cell.loss == "squared" else ("binomial", (cell.y + 1.0) / 2.0)

    def at(tol: float) -> Run:
        model = GeneralizedLinearRegressor(
            family=family, alpha=cell.lam, l1_ratio=1, fit_intercept=False, gradient_tol=tol * cell.most0,
            max_iter=10**4,
        )  # fmt: skip
        return lambda: model.fit(X, y).coef_

    return at


def _snapml(cell: Cell) -> At:
    from snapml import LinearRegression, LogisticRegression

    X = cell.X.astype(np.float32)  # all that it takes
    kind = LogisticRegression if cell.loss == "logistic" else LinearRegression
    # its least squares are ½‖·‖², its l1 weight is the whole of λN
    settings: dict[str, Any] = {"penalty": "l1", "dual": False, "fit_intercept": False, "n_jobs": THREADS}
    return lambda tol: lambda: kind(regularizer=cell.lam * len(cell.y), tol=tol, max_iter=10**5, **settings).fit(
        X, cell.y).coef_  # fmt: skip


def _cyanure(cell: Cell) -> At:
    from cyanure.estimators import Classifier, Regression

    kind, own = (Classifier, {"loss": "logistic"}) if cell.loss == "logistic" else (Regression, {})
    return lambda tol: lambda: kind(
        penalty="l1", lambda_1=cell.lam, fit_intercept=False, tol=tol, max_iter=10**5, verbose=False,
        n_threads=THREADS, **own).fit(cell.X, cell.y).get_weights()  # fmt: skip


def _columns(X: Any) -> Any:
    """CSC, or Fortran order."""
    return X.tocsc() if sp.issparse(X) else np.asfortranarray(X)


class Peer(NamedTuple):
    """`loss`: which of them it solves; `all`: MCP and SCAD too; `named`: in the list that the benchmark began with."""

    package: str
    make: Callable[[Cell], At]
    loss: tuple[str, ...] = ("logistic", "squared")
    all: bool = False
    named: bool = True

    def solves(self, loss: str, penalty: str) -> bool:
        return loss in self.loss and (self.all or penalty == "l1")

    def refuses(self, cell: Cell) -> str | None:
        """Why it is not asked, None if it is."""
        n, d = cell.X.shape
        if self.package == "pycasso" and n * d > _DENSE:
            return "dense matrices only"
        if self.package == "glum" and d > _WIDE:
            return "a Hessian of all columns"
        if self.make is GRAM and d > _WIDE:
            return "a Gram matrix of all columns"
        return None


GRAM = _skglm("GramCD")
LOGISTIC, SQUARED = ("logistic",), ("squared",)
SOLVERS = {
    "dcopt": Peer("dcopt", _dcopt, all=True),
    "skglm-newton": Peer("skglm", _skglm("ProxNewton"), LOGISTIC, all=True),
    "skglm-anderson": Peer("skglm", _skglm("AndersonCD"), all=True),
    "skglm-gram": Peer("skglm", GRAM, SQUARED, all=True),
    "celer": Peer("celer", _celer),
    "liblinear": Peer("sklearn", _scikit("liblinear"), LOGISTIC),
    "saga": Peer("sklearn", _scikit("saga"), LOGISTIC),
    "sklearn-lasso": Peer("sklearn", _scikit("lasso"), SQUARED),
    "pycasso": Peer("pycasso", _pycasso, all=True),
    "glmnet": Peer("glmnet", _glmnet, named=False),
    "adelie": Peer("adelie", _adelie, named=False),
    "glum": Peer("glum", _glum, named=False),
    "snapml": Peer("snapml", _snapml, named=False),
    "cyanure": Peer("cyanure", _cyanure, named=False),
}


def quietly(run: Run) -> np.ndarray:
    """What a solver has to say about convergence is not asked: the benchmark looks for itself."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return np.asarray(run(), np.float64).ravel()
