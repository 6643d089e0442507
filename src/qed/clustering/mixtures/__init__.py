"""Mixtures of normal distributions, and the alternation that finds them: expectation and maximisation."""
