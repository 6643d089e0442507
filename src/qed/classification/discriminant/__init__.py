"""Discriminant analysis: every class a Gaussian, with one covariance for all (linear) or one for each (quadratic)."""
