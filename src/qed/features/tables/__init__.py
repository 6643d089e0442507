"""Mixed tables as numbers: encoders, and what they learn of each column."""
