"""Questions of every kind: sets of categories, a branch for each, distances from medians; and what all of them are worth."""
