"""Model files that can be loaded without running anything."""
