"""Guarantees for predictions."""
