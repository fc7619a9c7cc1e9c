"""A recurrence in both directions, shared by representations and encoders."""
