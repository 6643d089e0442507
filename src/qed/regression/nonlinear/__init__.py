"""Least squares for curves of the user's own."""
