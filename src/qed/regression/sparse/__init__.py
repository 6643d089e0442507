"""Penalties that make coefficients zero: the lasso and the elastic net."""
