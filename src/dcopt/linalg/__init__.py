"""Small symmetric matrices: what LAPACK does faster than NumPy lets it."""
