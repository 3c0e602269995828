"""What `dcopt COMMAND --help` says, as a page of the reference."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

HEAD = """# Command line

What every command says of itself with `--help`. [Fit a model](fit.md) shows the commands at work.
"""
PLAIN = {"COLUMNS": "84", "NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}


def pages() -> Iterator[tuple[str, str]]:
    from dcopt.cli.app import app

    commands = [entry.name or entry.callback.__name__ for entry in app.registered_commands if entry.callback]
    running = {
        name: subprocess.Popen(
            [sys.executable, "-m", "dcopt.cli", name, "--help"], stdout=subprocess.PIPE, env={**os.environ, **PLAIN}
        )
        for name in commands
    }
    parts = [HEAD]
    for name, process in running.items():
        said = process.communicate()[0].decode()
        if process.returncode:
            raise SystemExit(f"dcopt {name} --help ended with {process.returncode}")
        lines = "\n".join(line.rstrip() for line in said.strip("\n").splitlines())
        parts.append(f"## dcopt {name}\n\n```text\n{lines.strip()}\n```\n")
    yield "commands.md", "\n".join(parts)
