"""Duality: Lagrangians, dual functions, the conditions of optimality, and convex quadratic programs with proof."""
