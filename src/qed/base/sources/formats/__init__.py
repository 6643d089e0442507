"""Files as people have them: how text is written in them, and formats that are read as a whole."""
