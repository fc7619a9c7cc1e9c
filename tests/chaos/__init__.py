"""Processes that are killed at random moments."""
