"""Layers that representations, encoders and the refiner share: attention, recurrence."""
