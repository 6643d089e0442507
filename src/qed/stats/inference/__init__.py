"""What can be said about estimates beyond their values."""
