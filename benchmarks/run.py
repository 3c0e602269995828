"""`make bench`: every small benchmark in one run, as Markdown with date, versions and machine."""

from __future__ import annotations

import datetime
import os
import platform
import sys

import first_solve
import load
import numba
import numpy
import scipy
import step
import stream

if __name__ == "__main__":
    print(
        f"{datetime.date.today()}, Python {platform.python_version()}, NumPy {numpy.__version__}, "
        f"SciPy {scipy.__version__}, Numba {numba.__version__}, {platform.machine()}, {os.cpu_count()} cores\n"
    )
    for part in (step, first_solve, load, stream) if "--all" in sys.argv else (step, first_solve, load):
        print("\n".join(part.main()), end="\n\n")
