"""One layer that runs over time in both directions, shared by representations and encoders."""
