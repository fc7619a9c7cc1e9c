"""Attention with relative positions, shared by encoders and the refiner."""
