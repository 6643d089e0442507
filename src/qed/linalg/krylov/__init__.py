"""The largest eigenvalues of large symmetric matrices, from products with a few columns."""
