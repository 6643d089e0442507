"""New columns from old ones: polynomials, functions of the user's, approximations of kernels."""
