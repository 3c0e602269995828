"""Components of the user's own on a9a: seconds a pass against a bare loop in the same framework, in one run.

The loss is the paper's squared sigmoid. Full passes are steps of `dca`; small batches are steps of `dca-page` with
b' = 181 and without refreshes, so that a step is one correction. The bare loops are what a user would write without
this library.
`from_function` is compared with the built-in loss on CSR rows.
"""

from __future__ import annotations

import os

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")  # Both sides take one thread: barriers between threads are not compared.
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

from collections.abc import Callable  # noqa: E402
from functools import partial  # noqa: E402
from itertools import islice  # noqa: E402
from time import perf_counter  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
from scipy.special import expit  # noqa: E402

import dcopt  # noqa: E402
from dcopt.convex import ScaledIdentity  # noqa: E402
from dcopt.datasets.named import available  # noqa: E402
from dcopt.estimators import PAGE  # noqa: E402
from dcopt.losses import from_function  # noqa: E402
from dcopt.regularizers import Exponential  # noqa: E402

B, ALPHA, ROUNDS = 181, 5.0, 9
STEPS = {"dca": 30, "dca-page": 1500}
PAGE_ONLY = PAGE(p=1e-12, b_small=B)


def in_numpy(x: Any, batch: Any) -> Any:
    A, y = batch
    return expit(-y * (A @ x)) ** 2


def gradient(x: Any, batch: Any) -> Any:
    A, y = batch
    s = expit(-y * (A @ x))
    return A.T @ (-2.0 * y * s * s * (1.0 - s)) / len(y)


def bare_numpy(A: Any, y: Any, kappa: float, lam: float) -> dict[str, Callable[[int], Any]]:
    rng, n = np.random.default_rng(0), len(y)

    def step(x: Any, g: Any) -> Any:
        w = lam * ALPHA * np.sign(x) * (1.0 - np.exp(-ALPHA * np.abs(x)))
        u = x - (g - w) / kappa
        return np.sign(u) * np.maximum(np.abs(u) - lam * ALPHA / kappa, 0.0)

    def full(steps: int) -> Any:
        x = np.zeros(A.shape[1])
        for _ in range(steps):
            x = step(x, gradient(x, (A, y)))
        return x

    def page(steps: int) -> Any:
        x = np.zeros(A.shape[1])
        g = gradient(x, (A, y))
        x, prev = step(x, g), x
        for _ in range(steps - 1):
            rows = rng.integers(n, size=B)
            batch = A[rows], y[rows]
            g = g + gradient(x, batch) - gradient(prev, batch)
            x, prev = step(x, g), x
        return x

    return {"dca": full, "dca-page": page}


def bare_torch(A: Any, y: Any, kappa: float, lam: float) -> tuple[Any, dict[str, Callable[[int], Any]]]:
    import torch

    data, n = (torch.from_numpy(A), torch.from_numpy(y)), len(y)

    def fn(x: Any, batch: Any) -> Any:
        A, y = batch
        return torch.sigmoid(-y * (A @ x)) ** 2

    def grad(x: Any, batch: Any) -> Any:
        x = x.detach().requires_grad_()
        return torch.autograd.grad(fn(x, batch).mean(), x)[0]

    def step(x: Any, g: Any) -> Any:
        w = lam * ALPHA * torch.sign(x) * (1.0 - torch.exp(-ALPHA * torch.abs(x)))
        return torch.nn.functional.softshrink(x - (g - w) / kappa, lam * ALPHA / kappa)

    def full(steps: int) -> Any:
        x = torch.zeros(A.shape[1], dtype=torch.float64)
        for _ in range(steps):
            x = step(x, grad(x, data))
        return x

    def page(steps: int) -> Any:
        x = torch.zeros(A.shape[1], dtype=torch.float64)
        g = grad(x, data)
        x, prev = step(x, g), x
        for _ in range(steps - 1):
            rows = torch.randint(n, (B,))
            batch = data[0][rows], data[1][rows]
            g = g + grad(x, batch) - grad(prev, batch)
            x, prev = step(x, g), x
        return x

    return fn, {"dca": full, "dca-page": page}


def bare_jax(A: Any, y: Any, kappa: float, lam: float) -> tuple[Any, dict[str, Callable[[int], Any]]]:
    """`dca-page`: rows by NumPy, a compiled step. "one compiled step": draws and the gathering of rows are in it."""
    import jax
    import jax.numpy as jnp

    with jax.enable_x64(True):
        data, n = (jnp.asarray(A), jnp.asarray(y)), len(y)

    def fn(x: Any, batch: Any) -> Any:
        A, y = batch
        return jax.nn.sigmoid(-y * (A @ x)) ** 2

    grad = jax.grad(lambda x, batch: fn(x, batch).mean())

    def step(x: Any, g: Any) -> Any:
        w = lam * ALPHA * jnp.sign(x) * (1.0 - jnp.exp(-ALPHA * jnp.abs(x)))
        u = x - (g - w) / kappa
        return jnp.sign(u) * jnp.maximum(jnp.abs(u) - lam * ALPHA / kappa, 0.0)

    @jax.jit
    def full_step(x: Any, data: Any) -> Any:
        return step(x, grad(x, data))

    @jax.jit
    def host_step(x: Any, prev: Any, g: Any, batch: Any) -> Any:
        g = g + grad(x, batch) - grad(prev, batch)
        return step(x, g), x, g

    def page(steps: int) -> Any:
        rng = np.random.default_rng(0)
        with jax.enable_x64(True):
            x = jnp.zeros(A.shape[1])
            g = jax.jit(grad)(x, data)
            x, prev = step(x, g), x
            for _ in range(steps - 1):
                rows = rng.integers(n, size=B)
                x, prev, g = host_step(x, prev, g, (A[rows], y[rows]))
            return np.asarray(x)

    @jax.jit
    def page_step(x: Any, prev: Any, g: Any, key: Any, data: Any) -> Any:
        key, own = jax.random.split(key)
        rows = jax.random.randint(own, (B,), 0, n)
        batch = data[0][rows], data[1][rows]
        g = g + grad(x, batch) - grad(prev, batch)
        return step(x, g), x, g, key

    def full(steps: int) -> Any:
        with jax.enable_x64(True):
            x = jnp.zeros(A.shape[1])
            for _ in range(steps):
                x = full_step(x, data)
            return np.asarray(x)

    def compiled(steps: int) -> Any:
        with jax.enable_x64(True):
            x = jnp.zeros(A.shape[1])
            g, key = jax.jit(grad)(x, data), jax.random.key(0)
            x, prev = step(x, g), x
            for _ in range(steps - 1):
                x, prev, g, key = page_step(x, prev, g, key, data)
            return np.asarray(x)

    return fn, {"dca": full, "dca-page": page, "one compiled step": compiled}


def times(contenders: dict[str, Callable[[], Any]]) -> dict[str, np.ndarray]:
    """Seconds of every contender, in turns; the first round is not counted."""
    seen: dict[str, list[float]] = {name: [] for name in contenders}
    for k in range(ROUNDS + 1):
        for name, run in contenders.items():
            began = perf_counter()
            run()
            if k:
                seen[name].append(perf_counter() - began)
    return {name: np.array(values) for name, values in seen.items()}


def steps_of(P: dcopt.Problem, how: Any, steps: int) -> Any:
    return next(islice(dcopt.iterate(P, how, seed=0), steps - 1, None))


def main() -> list[str]:
    name = "a9a" if available("a9a") else "breast-cancer"
    X, labels = dcopt.load_dataset(name)
    A, y = np.ascontiguousarray(X.toarray()), np.where(labels > 0, 1.0, -1.0)
    n, lam = len(y), 1.0 / len(y)
    built_in = dcopt.erm(X, y, "squared-sigmoid", Exponential(lam=lam, alpha=ALPHA))
    kappa = built_in.G.L
    lines = [f"| {name} | steps | bare loop, s/pass | dcopt, s/pass | ratio |", "|---|---|---|---|---|"]
    frameworks: dict[str, Any] = {"NumPy": (in_numpy, bare_numpy(A, y, kappa, lam), gradient)}
    frameworks["PyTorch"] = (*bare_torch(A, y, kappa, lam), None)
    frameworks["JAX"] = (*bare_jax(A, y, kappa, lam), None)
    for framework, (fn, bare, grad) in frameworks.items():
        f = dcopt.components(fn, (A, y), shape=A.shape[1], grad=grad, lower=0.0)
        P = dcopt.Problem(ScaledIdentity(kappa), f=f, r=built_in.r)
        for method in bare:
            steps = STEPS["dca" if method == "dca" else "dca-page"]
            passes = steps if method == "dca" else 1 + 2 * B * (steps - 1) / n
            how = "dca" if method == "dca" else PAGE_ONLY

            seen = times({"bare": partial(bare[method], steps), "ours": partial(steps_of, P, how, steps)})
            one, two = (np.median(seen[key]) / passes for key in ("bare", "ours"))
            ratio = np.median(seen["ours"] / seen["bare"])
            lines.append(f"| {framework} | {method} | {one:.4f} | {two:.4f} | {ratio:.2f} |")
    own = dcopt.erm(X, y, from_function(lambda m: expit(-m) ** 2, kind="margin"), built_in.r)
    lines += ["", f"| {name}, CSR | steps | built-in, µs | from_function, µs | ratio |", "|---|---|---|---|---|"]
    for method, how, steps in (("dca-page", PAGE_ONLY, 6000), ("dca", "dca", 60)):
        runs = {
            key: partial(dcopt.solve, P, how, steps=steps, seed=0, trace=None)
            for key, P in (("built-in", built_in), ("own", own))
        }
        seen = times(runs)
        one, two = (np.median(seen[key]) / steps * 1e6 for key in ("built-in", "own"))
        ratio = np.median(seen["own"] / seen["built-in"])
        lines.append(f"| squared sigmoid | {method} | {one:.1f} | {two:.1f} | {ratio:.2f} |")
    return lines


if __name__ == "__main__":
    print("\n".join(main()))
