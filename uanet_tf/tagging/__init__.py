"""Tagging of sentences, streams, windows and documents."""
