"""Long lists in layers."""

import dataclasses
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Entries(Generic[T]):
    """Hides a list of plain values from Keras.

    Keras searches every list of a layer whenever it collects layers or weights: with
    20,000 words that was a third of the time of loading a model.
    """

    values: list[T]
