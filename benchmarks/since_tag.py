"""What has become slower since the last tag: python benchmarks/since_tag.py [REF]

The ratios of benchmarks/check.py, measured with the code of REF (by default the last tag) and with that of now, in
turns, in processes of their own. Exit code 1 if something is more than 1.3 times slower. A comparison that REF does not
know is left out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SLOWER, TURNS = 1.3, 3
MEASURE = """
import json, check
print(json.dumps({name: check.ratio(pair) for name, pair in check.pairs().items()}))
"""


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr.strip())
    return done.stdout.strip()


def measured(tree: Path) -> dict[str, float]:
    """The ratios to SciPy with the code of this tree, one thread."""
    one = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")} | {"DCOPT_THREADS": "1"}
    path = os.pathsep.join(map(str, (tree / "src", tree / "benchmarks")))
    done = subprocess.run(
        [sys.executable, "-c", MEASURE], env=os.environ | one | {"PYTHONPATH": path}, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"{tree}: {done.stderr[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main(ref: str | None) -> int:
    ref = ref or git("describe", "--tags", "--abbrev=0")
    with tempfile.TemporaryDirectory() as folder:
        then = Path(folder) / "then"
        git("worktree", "add", "--detach", str(then), ref)
        try:
            rounds = [(measured(then), measured(ROOT)) for _ in range(TURNS)]
        finally:
            git("worktree", "remove", "--force", str(then))
    print(f"{'seconds / SciPy':50} {ref[:12]:>12} {'now':>8} {'change':>8}")
    slower = False
    for name in rounds[0][1]:
        if name not in rounds[0][0]:
            continue
        old, new = (min(both[k][name] for both in rounds) for k in (0, 1))
        slower |= new > SLOWER * old
        print(f"{name:50} {old:12.3f} {new:8.3f} {new / old:8.2f}{'  slower' if new > SLOWER * old else ''}")
    return int(slower)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else None))
