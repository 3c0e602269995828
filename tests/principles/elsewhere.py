"""The other process: it reads jobs, continues each on a problem that it builds itself, and writes what came out.

python -m principles.elsewhere JOBS ANSWERS
"""

from __future__ import annotations

import pickle
import sys
import traceback
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from principles.shared import facts, make, step_facts

import dcopt


class Job(NamedTuple):
    """Continue from a file: a pickled State ("iterate") or a checkpoint ("resume")."""

    what: str
    kind: str
    method: str
    seed: int
    path: str
    steps: int | None  # iterate: so many more; resume: so many in all, None: as the run was told


class Failed(NamedTuple):
    """The error of a job: the others go on."""

    said: str


def run(job: Job) -> Any:
    P = make(job.kind)
    if job.what == "resume":
        return facts(dcopt.resume(job.path, P, job.method, seed=job.seed, every=1e9, steps=job.steps))
    state = pickle.loads(Path(job.path).read_bytes())
    return [step_facts(s) for s in islice(dcopt.iterate(P, job.method, seed=job.seed, state=state), job.steps)]


def main(asked: str, answered: str) -> None:
    answers = []
    for job in pickle.loads(Path(asked).read_bytes()):
        try:
            answers.append(run(job))
        except Exception:
            answers.append(Failed(traceback.format_exc()))
    Path(answered).write_bytes(pickle.dumps(answers))


if __name__ == "__main__":
    from principles import elsewhere  # What is pickled belongs to the module, not to the script.

    elsewhere.main(*sys.argv[1:])
