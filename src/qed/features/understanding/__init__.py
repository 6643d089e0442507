"""Columns understood: what a table's columns are by the looks of their values and names, and which of them should not be learned from."""
