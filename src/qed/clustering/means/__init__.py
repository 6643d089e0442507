"""Clusters around centres: k-means and its relatives, where they begin, and how rows find the nearest centre."""
