"""Runs: what was asked for, the ledger of a run, its judge, its one driver, and how it is interrupted and resumed."""
