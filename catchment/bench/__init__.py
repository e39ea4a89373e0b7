"""Benchmarks: what is measured, against what, in one run."""
