"""Traces on disk: a line of JSON for each finished run, below a line with the whole recipe."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import BadInput, BadSettings

Line = dict[str, Any]


def _any_line(line: Line, where: str) -> None:
    """The check of a ledger whose lines have no form but their key."""


class Ledger:
    """The finished runs of one recipe by key; those of a process that was killed are kept.

    `check(line, where)` raises BadSettings for a line that the experiment cannot have written.
    """

    def __init__(
        self, path: Path, head: Line, force: bool = False, check: Callable[[Line, str], object] = _any_line
    ) -> None:
        self.path, self.notes = path, list[str]()
        self.lines: dict[str, Line] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if force:
            path.unlink(missing_ok=True)
        whole = self._whole() if path.exists() else b""
        if not whole:
            self._write({"head": head})
            return
        first, *rest = whole.splitlines()
        if self._parse(1, first).get("head") != head:
            raise BadSettings("out", str(path), "traces of this recipe and version; --force starts over")
        for number, text in enumerate(rest, 2):
            line = self._parse(number, text)
            if not isinstance(line.get("key"), str):
                raise self._refusal(number, "it has no key")
            try:
                check(line, f"line {number}")
            except BadSettings as why:
                raise self._refusal(number, str(why)) from None
            self.lines[line["key"]] = line

    def append(self, line: Line) -> None:
        """Write a finished run to the disk."""
        self._write(line)
        self.lines[line["key"]] = line

    def _write(self, line: Line) -> None:
        text = json.dumps(line, ensure_ascii=False, allow_nan=False)
        with self.path.open("ab") as file:
            file.write(text.encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _whole(self) -> bytes:
        """The whole lines: a last one that was cut off with its process is removed."""
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if whole != data:
            self.notes.append(f"{self.path}: the last line was cut off with its process; that run is made again")
            with self.path.open("r+b") as file:
                file.truncate(len(whole))
        return whole

    def _parse(self, number: int, text: bytes) -> Line:
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            raise self._refusal(number, "it is not JSON") from None
        if not isinstance(line, dict):
            raise self._refusal(number, "it is not a JSON object")
        return line

    def _refusal(self, number: int, why: str) -> BadInput:
        return BadInput(str(self.path), f"is not a line of this ledger ({why}); --force starts over", row=number)
