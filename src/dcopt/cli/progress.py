"""The display of progress: a bar on a terminal, occasional lines in a file, and nothing with --quiet."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self

from .printable import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

EVERY = 10.0  # Seconds between two lines in a file.


class Pace:
    """The progress of a batch of runs and its remaining time. Runs kept from before do not count for the speed."""

    def __init__(self, total: int, done: int) -> None:
        self.total, self.kept, self.done = total, done, done
        self.started = self.last = time.monotonic()

    def advance(self) -> None:
        self.done, self.last = self.done + 1, time.monotonic()

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.started

    @property
    def left(self) -> float | None:
        """Seconds: the mean of the runs so far, times those to come, less what the current ones have had."""
        fresh = self.done - self.kept
        if not fresh:
            return None
        each = (self.last - self.started) / fresh
        return max(each * (self.total - self.done) - (time.monotonic() - self.last), 0.0)

    def __str__(self) -> str:
        left = "" if self.left is None or self.done == self.total else f", {clock(self.left)} left"
        return f"{clock(self.elapsed)}{left}"


def clock(seconds: float) -> str:
    """1:02:03, or 2:03 within the hour."""
    minutes, s = divmod(round(seconds), 60)
    hours, m = divmod(minutes, 60)
    return f"{hours}:{m:02}:{s:02}" if hours else f"{m}:{s:02}"


class Quiet:
    """Shows nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def note(self, text: str) -> None: ...
    def begin(self, title: str, total: int, done: int, unit: str = "runs") -> None: ...
    def advance(self, text: str) -> None: ...
    def end(self) -> None: ...


class Lines(Quiet):
    """For a stderr that is a file: a line when a batch begins and ends, and at most one in ten seconds between."""

    def __init__(self, console: Console) -> None:
        self._console, self._title, self._pace, self._said = console, "", Pace(0, 0), 0.0

    def note(self, text: str) -> None:
        self._console.print(printable(text), markup=False, highlight=False, soft_wrap=True)

    def begin(self, title: str, total: int, done: int, unit: str = "runs") -> None:
        self._title, self._pace, self._said = title, Pace(total, done), time.monotonic()
        self.note(f"{title}: {total} {unit}" + (f", {done} of them kept from before" if done else ""))

    def advance(self, text: str) -> None:
        self._pace.advance()
        if time.monotonic() - self._said >= EVERY and self._pace.done < self._pace.total:
            self._said = time.monotonic()
            p = self._pace
            self.note(f"{self._title}: {p.done}/{p.total} ({p.done / p.total:.0%}), {p}; {text}")

    def end(self) -> None:
        if self._title:
            p, title, self._title = self._pace, self._title, ""
            self.note(f"{title}: {p.done}/{p.total} in {clock(p.elapsed)}")


class Bar(Quiet):
    """For a terminal: one bar a batch, with the last run, the time it took and an estimate of the rest."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._now: tuple[Progress, TaskID, Pace] | None = None

    def note(self, text: str) -> None:
        self._console.print(
            printable(text), style="dim", markup=False, highlight=False, soft_wrap=True
        )  # This prints above the bar.

    def begin(self, title: str, total: int, done: int, unit: str = "runs") -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, Task, TaskProgressColumn, TextColumn
        from rich.table import Column
        from rich.text import Text

        self.end()
        pace = Pace(total, done)

        class Clock(TextColumn):
            max_refresh = 0.5

            def render(self, task: Task) -> Text:
                return Text(str(pace), style="dim")

        short = Column(ratio=1, no_wrap=True, overflow="ellipsis")
        progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=16),
            TaskProgressColumn(),
            MofNCompleteColumn(),
            Clock(""),
            TextColumn("{task.fields[last]}", style="dim", markup=False, table_column=short),
            console=self._console,
            expand=True,
        )
        self._now = progress, progress.add_task(printable(title), total=total, completed=done, last=""), pace
        progress.start()

    def advance(self, text: str) -> None:
        if self._now:
            progress, task, pace = self._now
            pace.advance()
            progress.update(task, advance=1, last=printable(text))

    def end(self) -> None:
        if self._now:
            self._now[0].stop()
            self._now = None
