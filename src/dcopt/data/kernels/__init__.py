"""The compiled kernels of sparse rows, the compiler, and the replacement by SciPy where Numba is absent."""
