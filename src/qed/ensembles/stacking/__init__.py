"""A model that learns from what its members say of rows that they have not seen."""
