"""Compatibility with other services of the same specification: their paths, answers and addresses."""
