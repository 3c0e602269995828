"""Rates of rare events: counts with exposures, Poisson against negative binomial, and which features matter.

Policies of a simulated portfolio run for a part of a year (the exposure), claims are rare, and 4 of 20 features matter.
"""

from __future__ import annotations

import numpy as np

import dcopt
from dcopt.losses import NegativeBinomial

MATTER = {0: 0.6, 3: -0.5, 7: 0.4, 12: -0.3}


def portfolio(n: int = 4000, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, numbers of claims, and years of exposure; the claims vary more than Poisson's do."""
    rng = np.random.default_rng(seed)
    X, years = rng.normal(size=(n, 20)), rng.uniform(0.1, 1.0, n)
    mean = years * np.exp(sum(b * X[:, j] for j, b in MATTER.items()) - 1.0)
    claims = rng.poisson(mean * rng.gamma(2.0, 0.5, n))
    return X, claims.astype(float), years


def main() -> None:
    X, claims, years = portfolio()
    new_X, new_claims, new_years = portfolio(seed=1)
    print("loss               penalty  features  held-out D²")
    for name, loss in (("poisson", "poisson"), ("negative-binomial", NegativeBinomial(alpha=0.5))):
        for penalty in ("l1", "scad", "mcp"):
            model = dcopt.DCRegressorCV(loss=loss, penalty=penalty, random_state=0).fit(X, claims, exposure=years)
            kept = np.flatnonzero(model.coef_)
            d2 = model.d2(new_X, new_claims, exposure=new_years)
            print(f"{name:18} {penalty:8} {len(kept):8}  {d2:.4f}")
    print("claims expected of the first new policy in its", f"{new_years[0]:.2f} years:",
          f"{model.predict(new_X[:1], exposure=new_years[:1])[0]:.3f}")  # fmt: skip


if __name__ == "__main__":
    main()
