"""Boosting: trees that are added one after another, each where the loss falls fastest."""
