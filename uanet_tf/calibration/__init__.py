"""Turns scores into probabilities, fitted on development data after training; NumPy only."""
