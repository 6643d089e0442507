"""Any source of data as rows that are read block by block."""
