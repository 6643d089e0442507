"""Benchmarks: qed and its peers on the same data, in one process, alternating."""
