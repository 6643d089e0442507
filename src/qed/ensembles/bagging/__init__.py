"""Members that are fitted side by side, each to rows and columns drawn by lot."""
