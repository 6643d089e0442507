"""Regression on the features of a kernel."""
