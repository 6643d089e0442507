"""Forests: many trees, each grown from rows and columns drawn by lot, and their mean."""
