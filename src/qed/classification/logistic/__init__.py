"""Logistic regression: its likelihood, Newton's method in the way that costs least, and the proof of the minimum."""
