"""Iterative methods: their steps, the one loop that runs them, and those who watch."""
