"""Linear algebra that methods share: solving, decomposing and approximating matrices."""
