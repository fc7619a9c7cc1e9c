"""Composition of representation, encoder, decoder and refiner; no new mathematics."""
