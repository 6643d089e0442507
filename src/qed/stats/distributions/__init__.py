"""Distributions and their estimators."""
