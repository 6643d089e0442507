"""Errors in all columns: total least squares, errors in variables, conics."""
