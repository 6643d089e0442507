"""What minimises: one method a file."""
