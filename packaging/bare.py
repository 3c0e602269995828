"""What the scripts of this folder share: a bare environment, and commands that must succeed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORK = ROOT / "build" / "packaging"


def run(*words: str | Path, cwd: Path = WORK, **more: str) -> str:
    """What a command prints; where it fails, all that it said, and the end."""
    done = subprocess.run(
        [*map(str, words)], cwd=cwd, capture_output=True, text=True, encoding="utf-8", env=clean(more)
    )
    if done.returncode:
        raise SystemExit(
            f"{' '.join(map(str, words))[:200]}\nexit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        )
    return done.stdout


def clean(more: dict[str, str]) -> dict[str, str]:
    """The environment without a PYTHONPATH, so that the installed package is what is imported."""
    import os

    return {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | more


def build() -> Path:
    """dist/ with the sdist and the wheel that is made from it; the wheel."""
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    run(sys.executable, "-m", "build", cwd=ROOT)
    (wheel,) = (ROOT / "dist").glob("*.whl")
    return wheel


def environment(name: str, *requirements: str | Path) -> Path:
    """A new environment that holds these and nothing else: its python. `pip check` has nothing to say."""
    place = WORK / name
    shutil.rmtree(place, ignore_errors=True)
    WORK.mkdir(parents=True, exist_ok=True)
    run(sys.executable, "-m", "venv", place)
    python = place / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    run(python, "-m", "pip", "install", "--quiet", *requirements)
    run(python, "-m", "pip", "check")
    return python
