"""Speed of the package on the machine at hand: `make bench` writes docs/benchmarks.md."""
