"""All models on one table: contenders, leaderboard, the model for tables."""
