"""Statistics of counts, and of columns class by class."""
