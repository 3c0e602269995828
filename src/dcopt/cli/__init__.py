"""The command line: `dcopt` in a shell, `python -m dcopt.cli` without its script on the path."""

from __future__ import annotations

import os
import sys

PROGRAM_OPTIONS = ("--quiet", "-q", "--json", "--debug")  # These options may stand anywhere on the line.


def main() -> None:
    """Run the words of the command line, and exit with the codes of `exit_codes`."""
    try:
        from .app import app
        from .exit_codes import ended
        from .terminal import Terminal
    except KeyboardInterrupt:
        print("dcopt: interrupted", file=sys.stderr)
        sys.exit(130)

    if sys.stdout is None:  # The shell has closed the stream, so that output is discarded.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # κ on a terminal without Greek is no error
    terminal, words = Terminal(), in_front(sys.argv[1:])
    sys.exit(ended(lambda: app(words, prog_name="dcopt", standalone_mode=False, obj=terminal), terminal))


def in_front(words: list[str]) -> list[str]:
    """`dcopt datasets --json` is `dcopt --json datasets`; what follows `--` stays where it is."""
    end = words.index("--") if "--" in words else len(words)
    ours = [word for word in words[:end] if word in PROGRAM_OPTIONS]
    return ours + [word for word in words[:end] if word not in PROGRAM_OPTIONS] + words[end:]
