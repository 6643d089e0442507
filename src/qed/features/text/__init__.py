"""Text as numbers: words that are counted, and what a word is worth."""
