"""Graphs: their Laplacians, parts and spectra."""
