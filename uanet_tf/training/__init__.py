"""Losses, schedules, callbacks and the training loop."""
