"""The perceptron: its visits of the rows, and what they prove."""
