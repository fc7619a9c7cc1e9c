"""Trained models that come with the package."""
