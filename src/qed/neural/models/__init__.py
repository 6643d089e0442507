"""Networks as models of tables."""
