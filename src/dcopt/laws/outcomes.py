"""Every outcome of the draws of one step, with its chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, product
from typing import Any, TypeVar

import numpy as np

from ..draw import Draw, Rows, Sampling

T = TypeVar("T")
_COINS = 16  # where the chance of a refresh is not known, coins are the middles of so many intervals


class Outcome(Draw):
    """A draw that takes prescribed turns; the same question has the same answer, as with every Draw."""

    __slots__ = ("p", "script", "chance", "_said")

    def __init__(self, t: int, p: float | None, script: list[tuple[int, int]]) -> None:
        super().__init__(0, t)
        self.p, self.script, self.chance = p, script, 1.0
        self._said: dict[Any, Any] = {}

    def coin(self) -> float:
        """Just below p with chance p, p itself otherwise: any other threshold would show."""
        p = self.p
        if p is None:
            return self._ask("coin", [((k + 0.5) / _COINS, 1.0 / _COINS) for k in range(_COINS)])
        sides = [(float(np.nextafter(p, 0.0)), p)] + [(p, 1.0 - p)] * (p < 1.0)
        return self._ask("coin", sides)

    def rows(self, n: int, b: int, sampling: Sampling = "iid") -> Rows:
        if sampling == "cyclic":
            return super().rows(n, b, sampling)
        every = list(product(range(n), repeat=b) if sampling == "iid" else combinations(range(n), b))
        return np.array(self._ask((n, b, sampling), [(rows, 1.0 / len(every)) for rows in every]), np.int64)

    def _ask(self, question: Any, answers: list[tuple[T, float]]) -> T:
        if question not in self._said:
            if len(self._said) == len(self.script):
                self.script.append((0, len(answers)))
            answer, chance = answers[self.script[len(self._said)][0]]
            self._said[question] = answer
            self.chance *= chance
        said: T = self._said[question]
        return said


def outcomes(t: int, p: float | None, act: Callable[[Outcome], T]) -> Iterator[tuple[float, T]]:
    """(chance, act(draw)) for every outcome of the draw of step t, each once: E is a finite sum."""
    script: list[tuple[int, int]] = []
    while True:
        draw = Outcome(t, p, script)
        result = act(draw)
        yield draw.chance, result
        while script and script[-1][0] + 1 == script[-1][1]:
            script.pop()
        if not script:
            return
        script[-1] = (script[-1][0] + 1, script[-1][1])


class Permuted(Draw):
    """The rows of another draw under their new names."""

    __slots__ = ("of", "names")

    def __init__(self, of: Draw, names: Rows) -> None:
        super().__init__(of.seed, of.t)
        self.of, self.names = of, names

    def coin(self) -> float:
        return self.of.coin()

    def rows(self, n: int, b: int, sampling: Sampling = "iid") -> Rows:
        return self.names[self.of.rows(n, b, sampling)]
