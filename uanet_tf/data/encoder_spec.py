"""The specification of a pretrained encoder without its weights: architecture and tokenizer."""

import base64
import binascii
import dataclasses
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from uanet_lite.strict_json import all_strings, check_fields, has_type
from uanet_tf.errors import InputError

ACTIVATIONS = ("gelu", "gelu_tanh", "relu")
ABSOLUTE, RELATIVE, ROTARY = POSITIONS = ("absolute", "relative", "rotary")
WORDPIECE, BPE, UNIGRAM = TOKENIZERS = ("wordpiece", "bpe", "unigram")
# What is done to a token's text, see ``data.subword_lookup``: {name: number of arguments}.
STEPS = {
    **dict.fromkeys(("clean", "chinese", "accents", "lower", "marks", "charsmap"), 0),
    "form": 1,
    "replace": 2,
}
Shape = tuple[int, ...]
# From 1 to far above any encoder; they bound the lists and arrays that a few numbers can ask for.
_MOST = {
    "vocabulary_size": 10_000_000,
    "width": 65_536,
    "num_layers": 1_000,
    "num_heads": 65_536,
    "feedforward_width": 262_144,
    "max_positions": 1_048_576,
    "group_layers": 1_000,
    "global_every": 1_000,
}
_FLOATS = {
    **dict.fromkeys(("epsilon", "hidden_dropout", "attention_dropout"), (0, 1)),
    **dict.fromkeys(("global_theta", "local_theta"), (1, 10**12)),
}
# As of _MOST, but from 0 on.
_MOST_OR_NONE = {"embedding_width": 65_536, "groups": 1_000, "buckets": 65_536, "reach": 1_048_576}


@dataclasses.dataclass(frozen=True)
class Architecture:
    """Sizes and kinds of layers of a Transformer encoder.

    Attributes:
      vocabulary_size: rows of the embedding table.
      width: width D of the states.
      num_layers: number of layers; of ALBERT, of passes through a group of layers.
      feedforward_width: inner width of a layer's feed-forward part.
      max_positions: most sub-words in one piece, the first and the last one included.
      activation: ``gelu`` (exact), ``gelu_tanh`` (its approximation) or ``relu``.
      epsilon: of the layer normalisations.
      hidden_dropout: rate of dropout on embeddings and on the layers' outputs.
      positions: ``absolute`` embeddings; ``relative``, disentangled (DeBERTa); ``rotary`` (RoPE).
      embedding_width: width of the embeddings, which are projected to D; 0: D, not projected.
      groups: groups of layers that share weights (ALBERT); 0: no layer shares any.
      buckets: rows for distances to one side (DeBERTa).
      normed_first: each part of a layer reads normalised states (pre-norm, ModernBERT).
      gated: the feed-forward part is gated (GeGLU).
      biases: whether products and normalisations have them.
      reach: most distance of local attention; 0: all attention is global.
      global_every: with ``reach``, each so many layers, the first included, are global.
      global_theta: base of the rotations' wavelengths; local_theta: the same in local layers.

    Raises:
      InputError: the values contradict one another.
    """

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
    positions: str = ABSOLUTE
    embedding_width: int = 0
    groups: int = 0
    group_layers: int = 1
    buckets: int = 0
    normed_first: bool = False
    gated: bool = False
    biases: bool = True
    reach: int = 0
    global_every: int = 1
    global_theta: float = 10_000.0
    local_theta: float = 10_000.0

    def __post_init__(self) -> None:
        self._check_types()
        if self.width % self.num_heads:
            raise InputError(
                f"the width {self.width} is not a multiple of its {self.num_heads} attention heads"
            )
        if self.activation not in ACTIVATIONS:
            raise InputError(f"the activation {self.activation!r} is not known")
        if self.positions not in POSITIONS:
            raise InputError(f"positions of the kind {self.positions!r} are not known")
        if self.max_positions < 3:
            raise InputError(f"there is no room for words in {self.max_positions} positions")
        if self.positions == ROTARY and self.width // self.num_heads % 2:
            raise InputError(f"heads of the odd width {self.width // self.num_heads} do not rotate")
        if self.positions == RELATIVE and self.buckets < 4:
            raise InputError(f"{self.buckets} rows are too few for relative positions")
        if self.num_layers * self.group_layers > _MOST["num_layers"]:
            raise InputError(f"{self.num_layers} times {self.group_layers} layers are too many")
        if self.groups > self.num_layers:
            raise InputError(f"{self.num_layers} layers do not make {self.groups} groups")

    def _check_types(self) -> None:
        for name, most in {**_MOST, **_MOST_OR_NONE}.items():
            value, least = getattr(self, name), int(name in _MOST)
            if type(value) is not int or not least <= value <= most:
                raise InputError(f"{name} must be from {least} to {most}. Received: {value!r:.60}")
        for name, (least, most) in _FLOATS.items():
            value = getattr(self, name)
            if not has_type(value, float) or not least <= value < most:
                raise InputError(f"{name} must be in [{least}, {most}). Received: {value!r:.60}")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Architecture":
        """Inverse of ``dataclasses.asdict``; raises InputError for what is none."""
        return cls(**check_fields(dict(values), *_fields(cls), where="the architecture"))

    @property
    def blocks(self) -> tuple[int, ...]:
        """The block of weights that each layer has, in the order of the layers."""
        if not self.groups:
            return tuple(range(self.num_layers))
        return tuple(
            number * self.groups // self.num_layers * self.group_layers + inner
            for number in range(self.num_layers)
            for inner in range(self.group_layers)
        )

    def is_local(self, number: int) -> bool:
        """Whether attention of layer ``number`` has a limited reach."""
        return self.reach > 0 and number % self.global_every > 0

    def embedding_shapes(self) -> dict[str, Shape]:
        """{name: shape} of the weights of the embeddings."""
        width = self.embedding_width or self.width
        shapes: dict[str, Shape] = {"token_embeddings": (self.vocabulary_size, width)}
        if self.positions == ABSOLUTE:
            shapes["position_embeddings"] = (self.max_positions, width)
        shapes |= self._norm("norm", width)
        if self.embedding_width:
            shapes |= {"projection_kernel": (width, self.width), "projection_bias": (self.width,)}
        if self.positions == RELATIVE:
            shapes["relative_embeddings"] = (2 * self.buckets, self.width)
            shapes |= self._norm("relative_norm", self.width)
        return shapes

    def layer_shapes(self, number: int) -> dict[str, Shape]:
        """{name: shape} of the weights of a block."""
        width, inner = self.width, self.feedforward_width
        shapes: dict[str, Shape] = {
            **self._product("attention", width, 3 * width),  # queries, keys, values
            **self._product("output", width, width),
            **self._norm("attention_norm", width),
            **self._product("inner", width, (1 + self.gated) * inner),
            **self._product("outer", inner, width),
            **self._norm("norm", width),
        }
        if self.normed_first and number == 0:  # it reads the embeddings, which are normalised
            return {key: shape for key, shape in shapes.items() if "attention_norm" not in key}
        return shapes

    def last_shapes(self) -> dict[str, Shape]:
        """{name: shape} of the weights after the last layer."""
        return self._norm("last_norm", self.width) if self.normed_first else {}

    def weight_shapes(self) -> dict[str, Shape]:
        """{name: shape} of all weights, under the names that ``TransformerEncoder`` gives them."""
        shapes = {f"embeddings/{name}": shape for name, shape in self.embedding_shapes().items()}
        for number in sorted(set(self.blocks)):
            layer = self.layer_shapes(number)
            shapes |= {f"layer_{number}/{name}": shape for name, shape in layer.items()}
        return {**shapes, **self.last_shapes()}

    def _product(self, name: str, rows: int, columns: int) -> dict[str, Shape]:
        kernel: dict[str, Shape] = {f"{name}_kernel": (rows, columns)}
        return {**kernel, f"{name}_bias": (columns,)} if self.biases else kernel

    def _norm(self, name: str, width: int) -> dict[str, Shape]:
        scale: dict[str, Shape] = {f"{name}_scale": (width,)}
        return {**scale, f"{name}_offset": (width,)} if self.biases else scale


@dataclasses.dataclass(frozen=True)
class TokenizerSpec:
    """How a token becomes sub-words; part of a saved model.

    Attributes:
      kind: ``wordpiece``, ``bpe`` (of bytes) or ``unigram`` (SentencePiece).
      vocabulary: sub-words, id = position. Of WordPiece, "##" begins one that continues a word.
      first: id of the sub-word that begins a row, such as [CLS]; last: of that which ends it.
      steps: names of ``STEPS``, each with its arguments: what is done to the text before.
      scores: of unigram, the logarithm of each sub-word's probability; 0: it is no text.
      charsmap: SentencePiece's normalisation of characters, in base 64; read by its step.
      merges: of BPE, pairs with a blank between, the first to be merged first.

    Raises:
      InputError: the values contradict one another.
    """

    kind: str
    vocabulary: tuple[str, ...]
    first: int
    last: int
    unknown: int
    steps: tuple[tuple[str, ...], ...] = ()
    scores: tuple[float, ...] = ()
    charsmap: str = ""
    merges: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in TOKENIZERS:
            raise InputError(f"tokenizers of the kind {self.kind!r} are not known")
        if not all_strings((*self.vocabulary, *self.merges)):
            raise InputError("a sub-word of the vocabulary is not text")
        if not all(0 <= n < len(self.vocabulary) for n in (self.first, self.last, self.unknown)):
            raise InputError("the vocabulary lacks its first, last or unknown sub-word")
        steps_known = all(
            step and step[0] in STEPS and len(step) == 1 + STEPS[step[0]] and all_strings(step)
            for step in self.steps
        )
        if not steps_known:
            raise InputError("a step of the tokenizer is not known")
        if self.kind == UNIGRAM and (
            len(self.scores) != len(self.vocabulary)
            or not all(has_type(score, float) for score in self.scores)
        ):
            raise InputError("not every sub-word has a score")
        try:
            base64.b64decode(self.charsmap, validate=True)
        except (binascii.Error, ValueError) as error:
            raise InputError("the map of characters is not in base 64") from error

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "TokenizerSpec":
        """Inverse of ``dataclasses.asdict``, with lists for tuples; raises InputError."""
        values = check_fields(dict(values), *_fields(cls), where="the tokenizer")
        if not all(type(step) in (list, tuple) for step in values.get("steps", ())):
            raise InputError("a step of the tokenizer is not a list")
        steps = tuple(tuple(step) for step in values.get("steps", ()))
        lists = {key: tuple(value) for key, value in values.items() if type(value) is list}
        return cls(**{**values, **lists, "steps": steps})


def _fields(cls: type) -> tuple[dict[str, Any], dict[str, Any]]:
    """{name: types} in JSON of the fields that a value must have, and may have."""
    required: dict[str, Any] = {}
    optional: dict[str, Any] = {}
    for field in dataclasses.fields(cls):
        group = required if field.default is dataclasses.MISSING else optional
        group[field.name] = field.type if field.type in (int, float, str, bool) else (list, tuple)
    return required, optional


@dataclasses.dataclass(frozen=True)
class EncoderSpec:
    """Architecture and tokenizer of a pretrained encoder; part of a saved model.

    Raises InputError where the tokenizer has sub-words without an embedding.
    """

    architecture: Architecture
    tokenizer: TokenizerSpec

    def __post_init__(self) -> None:
        words, rows = len(self.tokenizer.vocabulary), self.architecture.vocabulary_size
        if words > rows:
            raise InputError(
                f"the vocabulary has {words} sub-words, but the embedding table {rows} rows"
            )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON and for Keras configurations."""
        return json.loads(json.dumps(dataclasses.asdict(self)))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "EncoderSpec":
        """Inverse of ``to_dict``; raises InputError for a missing, unknown or impossible value."""
        fields = {"architecture": dict, "tokenizer": dict}
        check_fields(dict(values), fields, where="the vocabulary's encoder")
        return cls(
            Architecture.from_dict(values["architecture"]),
            TokenizerSpec.from_dict(values["tokenizer"]),
        )


@dataclasses.dataclass(frozen=True)
class PretrainedEncoder:
    """A pretrained encoder: an array for every name of ``spec.architecture.weight_shapes()``."""

    spec: EncoderSpec
    weights: dict[str, np.ndarray]

    def __post_init__(self) -> None:
        for name, shape in self.spec.architecture.weight_shapes().items():
            if name not in self.weights:
                raise InputError(f"there is no weight for {name}")
            if self.weights[name].shape != shape:
                raise InputError(
                    f"the weight for {name} has the shape {self.weights[name].shape}, but the "
                    f"configuration says {shape}"
                )
            if not np.isfinite(self.weights[name]).all():
                raise InputError(f"the weight for {name} is not finite")
