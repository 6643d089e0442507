"""What is said to the processor itself, by compiled kernels: which registers it has, and what to have ready."""
