"""Fewer columns without looking at how they hang together: what other reductions have to beat."""
