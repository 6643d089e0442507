"""Rows and sums of large Gram matrices."""
