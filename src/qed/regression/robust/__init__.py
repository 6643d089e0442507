"""Regression that outliers hardly move."""
