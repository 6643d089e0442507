"""A package, so that no other that calls itself ``tests`` is found in its place by processes that tests start."""
