"""Holes in tables, and what fills them."""
