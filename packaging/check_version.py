"""One version everywhere: python packaging/check_version.py [VERSION]

pyproject.toml, CITATION.cff and the newest heading of CHANGELOG.md agree, and are VERSION if it is given.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def versions() -> dict[str, str]:
    """Where a version is written: the version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.M)
    log = re.search(
        r"^## (?:\[Unreleased\] )?\[?([\d.]+\w*)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M
    )
    assert citation and log
    return {"pyproject.toml": project["version"], "CITATION.cff": citation[1], "CHANGELOG.md": log[1]}


if __name__ == "__main__":
    found = versions()
    if len({*found.values(), *sys.argv[1:2]}) > 1:
        raise SystemExit(f"versions differ: {found}, asked for {sys.argv[1:2]}")
    print(next(iter(found.values())))
