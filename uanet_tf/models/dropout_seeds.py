"""Seeds of dropout in a training step: each consumer derives its own from the step's."""

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
    DOCUMENT = 2
