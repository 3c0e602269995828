"""Data from files and by name: LIBSVM text, CSV and Parquet tables, the catalogue, its cache and its downloads."""
