"""Naive Bayes: columns that are independent of each other within each class."""
