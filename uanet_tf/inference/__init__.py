"""Monte Carlo sampling, the gate, tagging and scoring of sentences."""
