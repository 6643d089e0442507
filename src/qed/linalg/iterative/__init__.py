"""Equations that are solved by products alone, such as those of sparse tables."""
