"""The files that the command line writes. It writes only files that its options name.

The journal of a fit holds the paths that the fit was asked to write. They are shown, and not written: a journal may
come from a stranger.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..datasets.named import DATASETS
from ..errors import BadSettings
from ..store.atomic import previous, refuse


def distinct(outputs: Mapping[str, str | None], inputs: Mapping[str, str | None]) -> None:
    """Refuse an output that is another output or an input, also under another name or through a link."""
    seen: dict[str, str] = {what: path for what, path in inputs.items() if path is not None and path not in DATASETS}
    for what, path in outputs.items():
        if path is None:
            continue
        for other, taken in seen.items():
            if _same(path, taken):
                raise BadSettings("file", path, f"two files: {what} and {other} are the same file")
        seen[what] = path


def _same(one: str, other: str) -> bool:
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)


def of_checkpoint(checkpoint: str | None) -> dict[str, str | None]:
    """The files of a checkpoint, by what they are."""
    if checkpoint is None:
        return {}
    refuse(Path(checkpoint))
    said = {"the checkpoint before it": str(previous(checkpoint)), "the journal": str(beside(checkpoint))}
    return {"--checkpoint": checkpoint, **said}


def is_page(report: str | None) -> None:
    """Refuse a name of the report that promises another format."""
    if report is not None and not report.lower().endswith((".html", ".htm")):
        raise BadSettings("report", report, "a name that ends in .html: the report is a page for a browser")


def free(paths: Sequence[str | None], force: bool, instead: str = "") -> None:
    """Refuse unwritable places and existing files before the fit."""
    for path in filter(None, paths):
        refuse(Path(path))
        if os.path.lexists(path) and not force:
            raise BadSettings("file", path, f"a path without a file; --force replaces the file{instead}")
        if not Path(path).absolute().parent.is_dir():
            raise BadSettings("file", path, "a path in a folder that exists")


def beside(checkpoint: str | Path) -> Path:
    """The journal of a checkpoint."""
    path = Path(checkpoint)
    return path.with_name(path.name + ".fit")


def set_aside(checkpoint: str) -> list[str]:
    """Rename an old checkpoint, the generation before it and its journal; what was renamed, in words.

    `dcopt resume` can go on with the renamed ones. Those that an earlier --force renamed are replaced.
    """
    aside = checkpoint + ".old"
    pairs = [(Path(checkpoint), Path(aside)), (previous(checkpoint), previous(aside))]
    pairs.append((beside(checkpoint), beside(aside)))
    there = [(old, new) for old, new in pairs if os.path.lexists(old)]
    for _, new in pairs if there else ():
        refuse(new)
    for _, new in pairs if there else ():
        new.unlink(missing_ok=True)  # Rename all files of one checkpoint, or none.
    for old, new in there:
        old.replace(new)
    return [f"{old} is renamed to {new}" for old, new in there]


def resume_command(checkpoint: str, data: str, out: str | None, report: str | None) -> str:
    """The shell command that continues a fit."""
    words = ["dcopt", "resume", checkpoint, data]
    for option, path in (("--out", out), ("--report", report)):
        words += [] if path is None else [option, path]
    return shlex.join(words)
