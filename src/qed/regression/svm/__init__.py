"""Support vector machines that predict numbers."""
