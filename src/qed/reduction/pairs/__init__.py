"""Two tables about the same rows, and what they share."""
