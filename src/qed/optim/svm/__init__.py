"""Solvers of support vector machines: the dual with a kernel, and the linear ones."""
