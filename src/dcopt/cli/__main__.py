"""`python -m dcopt.cli`."""

from . import main

if __name__ == "__main__":  # Worker processes import this file, too.
    main()
