"""Support vector machines that tell classes."""
