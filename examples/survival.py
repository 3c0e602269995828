"""Cox regression in two hospitals: which of 30 features shorten the time to an event, lasso beside SCAD and MCP.

The risk of both hospitals over time is different (strata), times are in whole months (ties), and a third is censored.
"""

from __future__ import annotations

import numpy as np

import dcopt

MATTER = {0: 0.8, 5: -0.6, 11: 0.5}


def patients(n: int = 600, seed: int = 0) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Features, (months, whether the event was seen), and the hospital"""
    rng = np.random.default_rng(seed)
    X, hospital = rng.normal(size=(n, 30)), rng.integers(0, 2, n)
    risk = np.exp(sum(b * X[:, j] for j, b in MATTER.items()))
    months = 12.0 * np.where(hospital == 1, rng.exponential(1.0, n), np.sqrt(rng.exponential(1.0, n))) / risk
    last = rng.uniform(6.0, 36.0, n)
    return X, (np.ceil(np.minimum(months, last)), months <= last), hospital


def main() -> None:
    X, times, hospital = patients()
    new_X, new_times, new_hospital = patients(seed=1)
    print("penalty  features  held-out: deviance  concordance")
    for penalty in ("l1", "scad", "mcp"):
        model = dcopt.DCSurvivalCV(penalty=penalty, random_state=0).fit(X, times, strata=hospital)
        deviance = model.deviance(new_X, new_times, strata=new_hospital)
        print(f"{penalty:8} {np.count_nonzero(model.coef_):8}  {deviance:18.1f}  {model.score(new_X, new_times):11.3f}")


if __name__ == "__main__":
    main()
