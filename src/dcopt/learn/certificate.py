"""The certificate of a fit: the measure, its tolerance and one sentence."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, repr=False)
class FitCertificate:
    """`value` is the measure, recomputed at the solution; `tol` is its tolerance, in the units of the measure.

    str() is one sentence. On a stream they are those of the held-out sample, and None until the sample is complete.
    """

    measure: str
    value: float | None
    tol: float | None
    text: str

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text
