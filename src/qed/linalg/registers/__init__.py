"""Products that stay in the registers of the processor."""
