"""From contextual states to label probabilities."""
