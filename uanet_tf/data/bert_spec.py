"""The specification of a BERT without its weights: sizes, activation and tokenizer."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from uanet_lite.strict_json import all_strings, check_fields, has_type
from uanet_tf.errors import InputError

UNKNOWN, FIRST, LAST = "[UNK]", "[CLS]", "[SEP]"
ACTIVATIONS = ("gelu", "gelu_tanh", "relu")
Shape = tuple[int, ...]
# Far above any BERT; they bound the lists and arrays that a few numbers can ask for.
_MOST = {
    "vocabulary_size": 10_000_000,
    "width": 65_536,
    "num_layers": 1_000,
    "num_heads": 65_536,
    "feedforward_width": 262_144,
    "max_positions": 1_048_576,
}


@dataclasses.dataclass(frozen=True)
class BertSpec:
    """Architecture and tokenizer of a BERT; part of a saved model.

    Attributes:
      vocabulary: sub-words, id = position; "##" begins one that continues a word.
      lowercase: the tokenizer lower-cases.
      strip_accents: the tokenizer removes accents.
      split_chinese: the tokenizer makes every Chinese character a word of its own.
      vocabulary_size: rows of the embedding table, at least the number of sub-words.
      width: width of the states.
      num_layers: number of Transformer layers.
      num_heads: attention heads of a layer.
      feedforward_width: inner width of a layer's feed-forward part.
      max_positions: most sub-words in one piece, [CLS] and [SEP] included.
      activation: ``gelu`` (exact, as Hugging Face's BERTs), ``gelu_tanh`` (its
        approximation, as Google's) or ``relu``.
      epsilon: of the layer normalisations.
      hidden_dropout: rate of dropout on embeddings and on the layers' outputs.
      attention_dropout: rate of dropout on attention weights.

    Raises:
      InputError: the values contradict one another.
    """

    vocabulary: tuple[str, ...]
    lowercase: bool
    strip_accents: bool
    split_chinese: bool
    vocabulary_size: int
    width: int
    num_layers: int
    num_heads: int
    feedforward_width: int
    max_positions: int
    activation: str = "gelu"
    epsilon: float = 1e-12
    hidden_dropout: float = 0.1
    attention_dropout: float = 0.1

    def __post_init__(self) -> None:
        self._check_values()
        missing = [word for word in (UNKNOWN, FIRST, LAST) if word not in self.vocabulary]
        if missing:
            raise InputError(f"the vocabulary lacks {', '.join(missing)}")
        if len(self.vocabulary) > self.vocabulary_size:
            raise InputError(
                f"the vocabulary has {len(self.vocabulary)} sub-words, but the embedding table "
                f"{self.vocabulary_size} rows"
            )
        if self.width % self.num_heads:
            raise InputError(
                f"the width {self.width} is not a multiple of its {self.num_heads} attention heads"
            )
        if self.activation not in ACTIVATIONS:
            raise InputError(f"the activation {self.activation!r} is not known")
        if self.max_positions < 3:
            raise InputError(f"there is no room for words in {self.max_positions} positions")

    def _check_values(self) -> None:
        values = vars(self)
        for name, most in _MOST.items():
            if type(values[name]) is not int or not 1 <= values[name] <= most:
                raise InputError(f"{name} must be from 1 to {most}. Received: {values[name]!r:.60}")
        for name in ("lowercase", "strip_accents", "split_chinese"):
            if type(values[name]) is not bool:
                raise InputError(f"{name} must be true or false. Received: {values[name]!r:.60}")
        for name in ("epsilon", "hidden_dropout", "attention_dropout"):
            if not has_type(values[name], float) or not 0 <= values[name] < 1:
                raise InputError(f"{name} must be in [0, 1). Received: {values[name]!r:.60}")
        if not all_strings(self.vocabulary):
            raise InputError("a sub-word of the vocabulary is not text")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON and for Keras configurations."""
        return {**dataclasses.asdict(self), "vocabulary": list(self.vocabulary)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "BertSpec":
        """Inverse of ``to_dict``.

        Raises:
          InputError: a key is missing or unknown, or has an impossible value.
        """
        # Their types are checked with their values.
        known = {field.name: (bool, int, float, str) for field in dataclasses.fields(cls)}
        check_fields(values, {**known, "vocabulary": list}, where="the vocabulary's BERT")
        return cls(**{**values, "vocabulary": tuple(values["vocabulary"])})

    def weight_shapes(self) -> dict[str, Shape]:
        """{name: shape} of all weights, under the names that ``BertEncoder`` gives them."""
        width, inner = self.width, self.feedforward_width
        shapes: dict[str, Shape] = {
            "token_embeddings": (self.vocabulary_size, width),
            "position_embeddings": (self.max_positions, width),
            "segment_embedding": (width,),
            "norm_scale": (width,),
            "norm_offset": (width,),
        }
        layer: dict[str, Shape] = {
            "attention_kernel": (width, 3 * width),  # queries, keys, values
            "attention_bias": (3 * width,),
            "output_kernel": (width, width),
            "output_bias": (width,),
            "attention_norm_scale": (width,),
            "attention_norm_offset": (width,),
            "inner_kernel": (width, inner),
            "inner_bias": (inner,),
            "outer_kernel": (inner, width),
            "outer_bias": (width,),
            "norm_scale": (width,),
            "norm_offset": (width,),
        }
        for number in range(self.num_layers):
            shapes |= {f"layer_{number}/{name}": shape for name, shape in layer.items()}
        return shapes


@dataclasses.dataclass(frozen=True)
class BertPreset:
    """A pretrained BERT.

    Attributes:
      spec: what it is.
      weights: {name: array} for every name of ``spec.weight_shapes()``.
    """

    spec: BertSpec
    weights: dict[str, np.ndarray]

    def __post_init__(self) -> None:
        shapes = self.spec.weight_shapes()
        for name, shape in shapes.items():
            if name not in self.weights:
                raise InputError(f"there is no weight for {name}")
            if self.weights[name].shape != shape:
                raise InputError(
                    f"the weight for {name} has the shape {self.weights[name].shape}, but the "
                    f"configuration says {shape}"
                )
            if not np.isfinite(self.weights[name]).all():
                raise InputError(f"the weight for {name} is not finite")
