"""Fits what makes probabilities of scores: on development data, after training; NumPy only."""
