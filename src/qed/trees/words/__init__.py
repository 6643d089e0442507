"""Trees as people read them: texts, sentences, and what drawings say."""
