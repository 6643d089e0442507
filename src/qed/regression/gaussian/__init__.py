"""Linear models as Gaussian beliefs: generalised least squares, maximum a posteriori, the six estimators."""
