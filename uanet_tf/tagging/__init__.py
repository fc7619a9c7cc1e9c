"""Tagging of sentences, streams, rows and documents; monitoring; the terminal."""
