"""Two-layer networks against Adam at the same passes: python benchmarks/problems/two_layer.py [seeds]

16 hidden units, μ = 1e-3, the same start, float64. Adam (PyTorch) takes shuffled batches of 32, its default settings
and four rates; the rate with the least median training F is shown beside the default, 1e-3. Passes of ours are
gradients of components / N, two for a correction at two points; the last program of "difference" may exceed the budget.
Held-out: the mean loss without μ, and the errors of the sign. No number of ours was chosen on these data.
"""

from __future__ import annotations

import sys
from time import perf_counter

import numpy as np
import torch
from sklearn.datasets import load_digits

import dcopt
from dcopt.problems import two_layer, two_layer_output, two_layer_start

HIDDEN, MU, SHARPNESS, PASSES = 16, 1e-3, 4.0, (20, 100)
RATES = (1e-3, 3e-3, 1e-2, 3e-2)
Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def split(X: np.ndarray, y: np.ndarray, n: int, m: int) -> Split:
    order = np.random.default_rng(0).permutation(len(y))
    train, held = order[:n], order[n : n + m]
    return X[train], y[train], X[held], y[held]


def digits() -> Split:
    X, y = load_digits(return_X_y=True)
    return split(X / 16.0, np.where(y % 2 == 1, 1.0, -1.0), 1297, 500)


def a9a() -> Split:
    X, y = dcopt.load_dataset("a9a")
    return split(np.asarray(X.toarray(), np.float64), np.asarray(y, np.float64), 2000, 5000)


def cadata() -> Split:
    X, y = dcopt.load_dataset("cadata")
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    return split(X, y, 2000, 5000)


def adam(data: Split, loss: str, x0: np.ndarray, rate: float, seed: int, passes: int) -> np.ndarray:
    """x after so many passes"""
    A = torch.from_numpy(np.column_stack([data[0], np.ones(len(data[0]))]))
    y, signs = torch.from_numpy(data[1]), torch.ones(HIDDEN, dtype=torch.float64)
    signs[HIDDEN - HIDDEN // 2 :] = -1.0
    x = torch.tensor(x0, requires_grad=True)
    optimizer, generator = torch.optim.Adam([x], lr=rate), torch.Generator().manual_seed(seed)
    for _ in range(passes):
        for rows in torch.randperm(len(A), generator=generator).split(32):
            out = torch.nn.functional.softplus(A[rows] @ x, beta=SHARPNESS) @ signs
            each = torch.nn.functional.softplus(-y[rows] * out) if loss == "logistic" else 0.5 * (out - y[rows]) ** 2
            optimizer.zero_grad()
            (each.mean() + 0.5 * MU * (x * x).sum()).backward()
            optimizer.step()
    return x.detach().numpy()


def ours(P: dcopt.Problem, method: str, kappa: str | None, x0: np.ndarray, seed: int, passes: int) -> dcopt.Result:
    return dcopt.solve(P, method, kappa=kappa, x0=x0, seed=seed, passes=passes, tol=1e-12, trace=None)


OURS: dict[str, tuple[tuple[str, str, str | None], ...]] = {  # form, method, κ
    "logistic": (
        ("gram", "dca", None), ("gram", "dca-page", None), ("gram", "dca-page", "adaptive"), ("gram", "dca-svrg", None),
        ("scalar", "dca-page", None), ("scalar", "dca-page", "adaptive"), ("difference", "dca", None),
    ),
    "squared": (("difference", "dca", None), ("scalar", "dca-page", "adaptive"), ("scalar", "dca", "adaptive")),
}  # fmt: skip


class Task:
    """One set of data and its problems"""

    def __init__(self, name: str, data: Split, loss: str) -> None:
        self.name, self.data, self.loss = name, data, loss
        kappa = None if loss == "logistic" else 10.0  # With squared loss a guess, which adapting corrects.
        self.problems = {"difference": self.problem("difference", None), "scalar": self.problem("scalar", kappa)}
        if loss == "logistic":
            self.problems["gram"] = self.problem("gram", None)

    def problem(self, form: str, kappa: float | None) -> dcopt.Problem:
        X, y = self.data[:2]
        return two_layer(X, y, HIDDEN, loss=self.loss, mu=MU, sharpness=SHARPNESS, form=form, kappa=kappa)

    def row(self, label: str, runs: list[tuple[np.ndarray, float, float]]) -> tuple[float, str]:
        """The median F, and a row, of runs (x, passes, seconds)"""
        P, found = self.problems["difference"], []
        for x, passes, seconds in runs:
            out = two_layer_output(P, x, self.data[2])
            m = self.data[3] * out
            held = np.logaddexp(0.0, -m) if self.loss == "logistic" else 0.5 * (out - self.data[3]) ** 2
            found.append((P.value(x), held.mean(), np.mean(m <= 0.0), passes, seconds))
        F, held, errors, passes, seconds = np.array(found).T
        wrong = f"{np.median(errors):.1%}" if self.loss == "logistic" else ""
        span = f"{np.median(F):.4f} ({F.min():.4f} to {F.max():.4f})"
        many = f"{np.median(passes):.0f}"
        rest = f"{span} | {np.median(held):.4f} | {wrong} | {np.median(seconds):.1f} |"
        return float(np.median(F)), f"| {self.name} | {many} | {label} | {rest}"

    def starts(self, seeds: int) -> list[np.ndarray]:
        return [two_layer_start(self.problems["difference"], seed=seed) for seed in range(seeds)]

    def adam(self, rate: float, seeds: int, passes: int) -> tuple[float, str]:
        runs = []
        for seed, x0 in enumerate(self.starts(seeds)):
            began = perf_counter()
            x = adam(self.data, self.loss, x0, rate, seed, passes)
            runs.append((x, float(passes), perf_counter() - began))
        return self.row(f"Adam, rate {rate:g}", runs)

    def ours(self, form: str, method: str, kappa: str | None, seeds: int, passes: int) -> tuple[float, str]:
        runs = []
        for seed, x0 in enumerate(self.starts(seeds)):
            res = ours(self.problems[form], method, kappa, x0, seed, passes)
            runs.append((res.x, res.spent.gradients / len(self.data[0]), res.seconds))
        return self.row(
            f"{method}, {form}" + (f", adaptive {'κ' if form == 'scalar' else 'shift'}" if kappa else ""), runs
        )


def main(seeds: int = 5) -> None:
    torch.set_num_threads(1)
    print("| data | passes | method | training F: median (least to largest) | held-out loss | held-out errors | s |")
    print("|---|---|---|---|---|---|---|")
    for name, made, loss in (("digits", digits, "logistic"), ("a9a", a9a, "logistic"), ("cadata", cadata, "squared")):
        task = Task(name, made(), loss)
        for passes in PASSES:
            rates = [task.adam(rate, seeds, passes) for rate in RATES]
            shown = [rates[0][1]] + ([min(rates)[1]] if min(rates) != rates[0] else [])
            print("\n".join(shown), flush=True)
            for how in OURS[loss]:
                print(task.ours(*how, seeds, passes)[1], flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
