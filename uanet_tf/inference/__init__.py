"""Monte Carlo sampling, the gate, and labels: the part of inference inside the graph."""
