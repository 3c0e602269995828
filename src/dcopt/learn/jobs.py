"""Parallel jobs that leave the bits of a result as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from ..data.workers import by_itself
from ..errors import require
from ..linalg.blas_threads import always_one_thread

Made = TypeVar("Made")


def require_jobs(n_jobs: Any) -> None:
    """Refuse what is no number of jobs."""
    good = n_jobs is None or (isinstance(n_jobs, int | np.integer) and n_jobs != 0 and not isinstance(n_jobs, bool))
    require(good, "n_jobs", n_jobs, "None or a whole number that is not 0; -1 uses all processors")


def side_by_side(work: Callable[[int], Made], count: int, n_jobs: Any) -> list[Made]:
    """work(0), …, work(count − 1), each in one thread for any n_jobs, which so changes no bit of a result."""
    require_jobs(n_jobs)
    made: list[Made] = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(in_one_thread)(work, k) for k in range(count))
    return made


def in_one_thread(work: Callable[..., Made], *args: Any) -> Made:
    """work(…) without threads of its own: the jobs share the processors."""
    with always_one_thread(), by_itself():
        return work(*args)


def with_one_blas_thread(work: Callable[..., Made], *args: Any) -> Made:
    """work(…) with the bits of `in_one_thread`: of all threads only those of BLAS decide bits."""
    with always_one_thread():
        return work(*args)
