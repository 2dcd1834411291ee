"""Benchmarks: ratios against a bare baseline measured in the same run. `scripts/bench` runs them."""
