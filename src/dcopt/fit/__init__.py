"""The parts of fitting a model that need no scikit-learn: tasks, penalties, choice of solver, paths and tuning."""
