"""Sentences, streams, windows and documents through a model."""
