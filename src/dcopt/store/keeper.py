"""Saves a run from time to time. An error while saving does not end the run."""

from __future__ import annotations

import os
from time import perf_counter

from ..errors import BadSettings
from ..runs.driver import Driver
from .atomic import CALLS, Calls
from .checkpoint import Origin, save


class Keeper:
    """Called between two steps: writes the run if `every` seconds have passed since the last save ended.

    Saving is not counted in the run's seconds. If it fails, the run goes on, the last good file stays, `notes` says so.
    """

    def __init__(self, path: str | os.PathLike[str], every: float, origin: Origin, calls: Calls = CALLS) -> None:
        self.path, self.every, self.origin, self.calls = path, every, origin, calls
        self.trouble: OSError | None = None
        self.failed = 0
        self._last = perf_counter()

    def begin(self, run: Driver) -> None:
        """The first save, before the first step, so that an unwritable place is found at once."""
        self._save(run)
        if self.trouble is not None:
            raise BadSettings("checkpoint", str(self.path), f"a file that can be written: {self.trouble}")

    def __call__(self, run: Driver) -> None:
        if perf_counter() - self._last >= self.every:
            self._save(run)

    def end(self, run: Driver) -> None:
        """The last save. A failed step may have changed the memory of the state before it; then the last file stays."""
        if run.whole:
            self._save(run)

    def _save(self, run: Driver) -> None:
        try:
            save(self.path, self.origin, run, self.calls)
            self.trouble = None
        except OSError as why:
            self.trouble, self.failed = why, self.failed + 1
        self._last = perf_counter()

    def notes(self) -> tuple[str, ...]:
        if self.trouble is not None:
            return (f"the last save of the checkpoint failed: {self.trouble}",)
        return (f"{self.failed} saves of the checkpoint failed, the last one did not",) if self.failed else ()
