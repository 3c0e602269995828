"""Labels that go by in blocks: numbers as they are, words by their numbers, and which different ones there are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST = 1000  # different labels up to which they are taken for classes


class Labels:
    """The different labels so far: `words` in the order of their first row, `numbers` sorted, None: too many."""

    def __init__(self) -> None:
        self.words = dict[str, int]()
        self.numbers: list[float] | None = []

    def plain(self) -> Any:
        return [list(self.words), self.numbers]

    def restore(self, said: Any) -> None:
        self.words, self.numbers = {word: k for k, word in enumerate(said[0])}, said[1]

    def add(self, labels: NDArray[Any]) -> NDArray[np.float64]:
        """The labels of a block as numbers"""
        if labels.dtype.kind not in "biuf":
            said = [str(word) for word in labels.tolist()]
            for word in dict.fromkeys(said):
                self.words.setdefault(word, len(self.words))
            return np.array([self.words[word] for word in said], np.float64)
        values = labels.astype(np.float64)
        if self.numbers is not None:
            seen = np.union1d(self.numbers, values)
            whole = bool(np.all(seen == np.floor(seen))) and len(seen) <= _MOST
            self.numbers = seen.tolist() if whole else None
        return values

    @property
    def classes(self) -> tuple[Any, ...] | None:
        """The sorted classes; None where the labels are numbers that are no classes"""
        if self.words:
            return tuple(sorted(self.words))
        if self.numbers is None or len(self.numbers) < 2:
            return None
        return tuple(int(value) for value in self.numbers)

    def coded(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Labels as they are kept: −1 and +1 for two classes, 0, 1, … for more, numbers as they are."""
        classes = self.classes
        if classes is None:
            return values
        if self.words:
            rank = {word: k for k, word in enumerate(classes)}
            codes = np.array([rank[word] for word in self.words], np.float64)[values.astype(np.int64)]
        else:
            codes = np.searchsorted(np.array(classes, np.float64), values).astype(np.float64)
        return 2.0 * codes - 1.0 if len(classes) == 2 else codes
