"""Bandits: one state, many arms, and what not knowing them costs."""
