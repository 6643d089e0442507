"""Members that are fitted one after another, each to what those before it got wrong."""
