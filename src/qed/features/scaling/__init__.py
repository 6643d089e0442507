"""Columns shifted and stretched."""
