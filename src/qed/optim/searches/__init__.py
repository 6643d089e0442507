"""How far to go along a direction."""
