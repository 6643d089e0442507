"""Rows to learn from and rows to be judged by."""
