"""Searches over parameters: candidates, folds, scores, results."""
