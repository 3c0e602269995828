"""What the benchopt benchmark and the tables share: the data, the objective, and one way to call every solver."""
