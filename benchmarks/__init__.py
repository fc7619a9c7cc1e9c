"""Speed of the package on the machine at hand: `make bench` writes runs/benchmarks.md."""

import uanet_tf  # noqa: F401 - before TensorFlow, whose start it quiets and whose products it chooses
