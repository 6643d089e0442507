"""Rows as the work of a few hidden numbers, and of noise."""
