"""The files that the command line writes: only those that its words name.

The journal of a fit holds the paths that the fit was asked to write. They are shown, and not written: a journal may
come from a stranger.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from ..errors import BadSettings
from ..store.atomic import refuse


def free(paths: Sequence[str | None], force: bool, instead: str = "") -> None:
    """Refuse, before the work, places that cannot be written and files that exist."""
    for path in filter(None, paths):
        refuse(Path(path))
        if os.path.lexists(path) and not force:
            raise BadSettings("file", path, f"a path without a file; --force replaces the file{instead}")
        if not Path(path).absolute().parent.is_dir():
            raise BadSettings("file", path, "a path in a folder that exists")


def resume_command(checkpoint: str, data: str, out: str | None, report: str | None) -> str:
    """What to type, in a shell, to go on with a fit."""
    words = ["dcopt", "resume", checkpoint, data]
    for option, path in (("--out", out), ("--report", report)):
        words += [] if path is None else [option, path]
    return shlex.join(words)
