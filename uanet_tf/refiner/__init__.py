"""The two-stream refiner: words and draft labels to refined label scores."""
