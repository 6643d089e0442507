"""Threads: how many there may be, what BLAS may use of them, who lends a hand to a fold, and a team for fine-grained work."""
