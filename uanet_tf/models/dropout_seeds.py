"""Who drops what in a training step: each consumer derives its seed from the step's by a number."""

import enum


class DropoutSeed(enum.IntEnum):
    """Consumers of a training step's seed, see ``ops.dropout.fold_in``."""

    REPRESENTATION = 0
    ENCODER = 1
    REFINER = 2
    DECODER = 3
    READING = 4  # what a representation computes once per step (BERT)


class RefinerSeed(enum.IntEnum):
    """Consumers of the refiner's seed."""

    WORDS = 0
    BLOCKS = 1
