"""Scores of labels and of uncertainty."""
