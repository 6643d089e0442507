"""Clusters by similarities alone: k-means in the features of a kernel, and cuts of graphs by their spectra."""
