"""The risk sets of survival times: who was under observation when somebody had the event."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ties = Literal["efron", "breslow"]
_Vec = NDArray[Any]


class Likelihood(NamedTuple):
    """−log of the partial likelihood of scores z, and its gradient in them, in the order of the rows that were given"""

    value: float
    slope: _Vec
    weight: _Vec  # Σ_t v_t π_tj, the diagonal of the part of the Hessian that is not subtracted
    log_sums: _Vec  # log D_t of every term


class RiskSets:
    """−log L = Σ_t v_t log D_t − Σ_events w_i z_i,   D_t = Σ_{at risk} w_j e^{z_j} − s_t Σ_{events then} w_j e^{z_j}

    Breslow: one term for a time with events, v_t the sum of their weights, s_t = 0. Efron: a term for each of its m
    events, v_t the mean of their weights, s_t = 0, 1/m, …, (m − 1)/m. At risk at a time are the rows of the stratum
    with that time or a later one. Rows of weight 0 count nowhere.
    """

    def __init__(self, time: _Vec, event: _Vec, stratum: _Vec, weights: _Vec | None, ties: Ties) -> None:
        w = np.ones(len(time)) if weights is None else np.asarray(weights, np.float64)
        self.order = np.lexsort((-time, stratum))  # by stratum, and in it from the latest time on
        time, stratum, w = time[self.order], stratum[self.order], w[self.order]
        event = (event[self.order] != 0) & (w > 0.0)
        with np.errstate(divide="ignore"):
            self.log_w = np.log(w)
        self.own = np.where(event, w, 0.0)
        n = len(time)
        new_stratum = np.flatnonzero(np.diff(stratum, prepend=stratum[:1] - 1.0)) if n else np.zeros(0, np.int64)
        self.strata = list(zip(new_stratum.tolist(), [*new_stratum[1:].tolist(), n], strict=True))
        new_time = np.zeros(n, np.bool_)
        new_time[new_stratum] = True
        new_time[1:] |= np.diff(time) != 0.0
        group = np.cumsum(new_time) - 1
        last = np.append(np.flatnonzero(new_time)[1:], n) - 1  # of every group of equal times
        self.events = np.flatnonzero(event)
        named, self.first_event, self.of_event = np.unique(group[self.events], return_index=True, return_inverse=True)
        self.end = last[named]  # The last row that is at risk at each time with events.
        counts = np.bincount(self.of_event, minlength=len(named))
        total: _Vec = np.bincount(self.of_event, self.own[self.events], minlength=len(named))
        if ties == "breslow":
            self.term_of, self.share, self.v = np.arange(len(named)), np.zeros(len(named)), total
        else:
            self.term_of = np.repeat(np.arange(len(named)), counts)
            first = np.cumsum(counts) - counts
            place = np.arange(len(self.term_of)) - first[self.term_of]
            self.share = place / np.asarray(counts[self.term_of], np.float64)
            self.v = (total / counts)[self.term_of]
        self.first_term = np.searchsorted(self.term_of, np.arange(len(named)))

    @cached_property
    def tied(self) -> bool:
        """Whether a term leaves out a share of its events."""
        return bool(self.share.any())

    def running(self, a: _Vec, add: Any, backwards: bool = False) -> _Vec:
        """The sums of a from the latest time on (or from the earliest), in every stratum"""
        out = np.empty_like(a)
        for low, high in self.strata:
            part = slice(low, high)
            out[part] = add.accumulate(a[part][::-1])[::-1] if backwards else add.accumulate(a[part])
        return out

    def at(self, z: _Vec) -> Likelihood:
        """At scores of any size: sums of exponentials are kept as logarithms."""
        with np.errstate(invalid="ignore"):  # NaN stays NaN.
            return self._at(np.asarray(z, np.float64)[self.order])

    def _at(self, z: _Vec) -> Likelihood:
        a = z + self.log_w
        log_sums = self.running(a, np.logaddexp)[self.end][self.term_of]
        if self.tied:
            mine = np.logaddexp.reduceat(a[self.events], self.first_event)[self.term_of]
            log_sums = log_sums + np.log1p(-self.share * np.exp(mine - log_sums))
        value = float(self.v @ log_sums - self.own @ z)
        each = np.log(self.v) - log_sums
        reach = np.full(len(a), -np.inf)
        reach[self.end] = np.logaddexp.reduceat(each, self.first_term)
        weight = np.exp(a + self.running(reach, np.logaddexp, backwards=True))
        if self.tied:
            with np.errstate(divide="ignore"):
                less = np.logaddexp.reduceat(each + np.log(self.share), self.first_term)[self.of_event]
            weight[self.events] -= np.exp(a[self.events] + less)
        return Likelihood(value, self._given(weight - self.own), self._given(weight), log_sums)

    def means(self, z: _Vec, log_sums: _Vec, A: _Vec) -> Iterator[tuple[_Vec, _Vec]]:
        """v_t and the means ā_t = Σ_j π_tj a_j of rows, π_tj the share of w_j e^{z_j} in D_t, stratum by stratum"""
        z, A = np.asarray(z, np.float64)[self.order], A[self.order]
        a = z + self.log_w
        for low, high in self.strata:
            terms = np.flatnonzero((self.end[self.term_of] >= low) & (self.end[self.term_of] < high))
            if not terms.size:
                continue
            top = float(a[low:high].max())
            wide = np.exp(a[low:high] - top)[:, None] * A[low:high]
            at = self.term_of[terms]
            sums = np.cumsum(wide, axis=0)[self.end[at] - low]
            if self.tied:
                events = self.events[(self.events >= low) & (self.events < high)]
                groups, first = np.unique(self.of_event[np.searchsorted(self.events, events)], return_index=True)
                own = np.add.reduceat(wide[events - low], first, axis=0)
                sums = sums - self.share[terms, None] * own[np.searchsorted(groups, at)]
            below = np.exp(log_sums[terms] - top)
            seen = below > 0.0  # A sum that underflows beside the largest score is left out of the model.
            yield self.v[terms][seen], sums[seen] / below[seen, None]

    def _given(self, a: _Vec) -> _Vec:
        """In the order of the rows that were given"""
        out = np.empty_like(a)
        out[self.order] = a
        return out
