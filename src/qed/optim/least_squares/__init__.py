"""Linear least squares: the ways to the minimum, what proves it, and cross-validation from sums."""
