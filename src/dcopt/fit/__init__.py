"""What fitting a model needs besides an optimizer, without scikit-learn: tasks, penalties, solvers, paths, tuning."""
