"""Least squares and ridge regression, with their paths, inference and proofs."""
