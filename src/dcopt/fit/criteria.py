"""AIC, BIC and EBIC of a solution: its fit to the rows that it was made from, and a price for every coefficient."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import require_number
from ..losses import Loss, MultiSquared, Squared, WithOffset

CRITERIA = ("aic", "bic", "ebic")


class Criteria(NamedTuple):
    """With N observations, the mean loss f, and s of d features in the model:

        deviance       2 N f: the sum of squares, −2 log-likelihood of the logistic losses, and of losses that are half
                       a deviance ("poisson", …) its sum over the rows
        df             free coefficients: those that are not 0, without the intercept; of c classes c − 1 of a feature,
                       because the same number added to the scores of all classes changes no prediction
        aic            D + 2 df,    D = N log(2f) for least squares, whose variance is estimated (N k log(2f/k) for
                       k targets), else D = 2 N f
        bic            D + df log N
        ebic           D + df log N + 2 γ s log d
        explained      1 − f / f₀, f₀ the mean loss of the model without features

    For losses that are no −log-likelihood (the sigmoids, the robust ones) 2 N f takes the place of the deviance: the
    criteria compare models with the same loss, and promise no more.
    """

    deviance: float
    explained: float
    df: int
    aic: float
    bic: float
    ebic: float


def criteria(
    loss: Loss, f: float, null: float, coef: NDArray[Any], observations: float, gamma: float = 1.0
) -> Criteria:
    """Of coefficients (d,) or (d, c) with the mean loss f; `null` is the loss of the model without features."""
    require_number("gamma", gamma, 0.0)
    each = np.count_nonzero(coef.reshape(len(coef), -1), axis=1)
    features = int(np.count_nonzero(each))
    df = int(np.minimum(each, coef.shape[1] - 1 if loss.labels == "class" else each).sum())
    n = observations
    own = loss.of if isinstance(loss, WithOffset) else loss
    fit = 2.0 * n * f
    if isinstance(own, Squared | MultiSquared):
        k = coef.shape[1] if isinstance(own, MultiSquared) else 1
        fit = n * k * math.log(max(2.0 * f / k, 1e-300))
    bic = fit + df * math.log(max(n, 2.0))
    explained = 1.0 - f / null if null > 0.0 else 0.0
    return Criteria(2.0 * n * f, explained, df, fit + 2.0 * df, bic, bic + 2.0 * gamma * features * math.log(len(coef)))
