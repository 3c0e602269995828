"""The output of all commands: results on stdout, everything else on stderr, or a single JSON object."""

from __future__ import annotations

import math
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from .exit_codes import NobodyReads
from .printable import as_json, printable
from .progress import Bar, Lines, Quiet

if TYPE_CHECKING:  # rich is imported late, because its import takes long and --version does not need it.
    from rich.console import Console, RenderableType

_OPEN = ("bound holds, not attained", "not distinguishable", "not testable here")
_STYLES = {"supported": "green", "not supported": "red"} | dict.fromkeys(_OPEN, "yellow")
_WIDE = 10_000  # The width of a pipe, so that lines are not wrapped.


class Terminal:
    """The output of a command: its amount and its form."""

    def __init__(self) -> None:
        self.quiet = self.json = self.debug = False

    def result(self, data: object, *shown: RenderableType) -> None:
        """Print the result of a command, once, at its end: `data` for programs, the rest for people."""
        if self.json:
            self._put(as_json(plain(data)) + "\n")
            return
        with self.out.capture() as written:
            for one in shown:
                text = printable(one) if isinstance(one, str) else one
                self.out.print(text, markup=False, highlight=False, soft_wrap=isinstance(one, str))
        text = written.get()
        self._put(text if self.out.is_terminal else "".join(f"{line.rstrip()}\n" for line in text.split("\n")[:-1]))

    def rows(self, data: object, text: str) -> None:
        """Print lines of a file unchanged. On a terminal control characters are escaped."""
        if self.json:
            self.result(data)
        else:
            self._put(printable(text) if self.out.is_terminal else text)

    def _put(self, text: str) -> None:
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError:
            raise NobodyReads from None

    def note(self, text: str) -> None:
        """Print a line about the progress."""
        if not (self.quiet or self.json):
            self.err.print(printable(text), style="dim", markup=False, highlight=False, soft_wrap=True)

    def error(self, text: str) -> None:
        """Print an error in one line, also with --quiet."""
        print(printable("dcopt: " + " ".join(text.split())), file=sys.stderr)

    def watch(self) -> AbstractContextManager[Bar | Lines | Quiet]:
        """The observer of long work. It restores the screen at the end of the block, also after an error."""
        if self.quiet or self.json:
            return Quiet()
        return Bar(self.err) if self.err.is_terminal and not self.err.is_dumb_terminal else Lines(self.err)

    def table(
        self, names: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[str] = (), head: bool = True
    ) -> RenderableType:
        """Aligned columns, those in `numbers` to the right, two blanks apart in a pipe."""
        from rich import box
        from rich.table import Table
        from rich.text import Text

        line = box.SIMPLE_HEAD if self.out.is_terminal else None
        table = Table(box=line, show_header=head, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0 if line else 1))
        for name in names:
            table.add_column(Text(printable(name)), justify="right" if name in numbers else "left", overflow="fold")
        for row in rows:
            # Names may not contain markup.
            table.add_row(*(Text(printable(cell), style=_STYLES.get(cell, "")) for cell in row))
        return table

    @cached_property
    def out(self) -> Console:
        return _console(sys.stdout)

    @cached_property
    def err(self) -> Console:
        return _console(sys.stderr)


def _console(stream: TextIO) -> Console:
    from rich.console import Console

    asked = os.environ.get("COLUMNS", "")
    if asked.isascii() and asked.isdigit() and int(asked) > 0:
        return Console(file=stream, width=int(asked))
    return Console(file=stream, width=shutil.get_terminal_size().columns if stream.isatty() else _WIDE)


def plain(data: Any) -> Any:
    """The same as JSON knows it: records as objects, paths as text, numbers that are none as null."""
    if is_dataclass(data) and not isinstance(data, type):
        return {f.name: plain(getattr(data, f.name)) for f in fields(data)}
    if isinstance(data, dict):
        return {str(k): plain(v) for k, v in data.items()}
    if isinstance(data, tuple) and hasattr(data, "_asdict"):
        return plain(data._asdict())
    if isinstance(data, list | tuple):
        return [plain(v) for v in data]
    if isinstance(data, Path):
        return str(data)
    if hasattr(data, "item") and not isinstance(data, float):  # A NumPy number.
        return plain(data.item())
    return None if isinstance(data, float) and not math.isfinite(data) else data
