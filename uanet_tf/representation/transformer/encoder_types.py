"""The table of model types: how each calls its sizes and weights, and what its tokenizer is."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from uanet_lite.strict_json import has_type, shown
from uanet_tf.data.encoder_spec import BPE, RELATIVE, ROTARY, UNIGRAM, WORDPIECE, Architecture
from uanet_tf.errors import InputError

Weights = dict[str, np.ndarray]
_ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
}


def _named(names: str, others: str) -> dict[str, str]:
    """{name: other} of two lines of words."""
    return dict(zip(names.split(), others.split(), strict=True))


# Fields of an ``Architecture`` and how most types call them in config.json.
_SIZES = (
    "vocabulary_size width num_layers num_heads feedforward_width max_positions "
    "activation epsilon hidden_dropout attention_dropout"
)
_SIZES_OF_BERT = (
    "vocab_size hidden_size num_hidden_layers num_attention_heads intermediate_size "
    "max_position_embeddings hidden_act layer_norm_eps hidden_dropout_prob "
    "attention_probs_dropout_prob"
)
# Our names of weights, up to "_kernel" or "_scale", and theirs, up to ".weight".
_EMBEDDINGS = {
    "token_embeddings": "embeddings.word_embeddings",
    "position_embeddings": "embeddings.position_embeddings",
    "norm": "embeddings.LayerNorm",
}
_LAYER = "query key value output attention_norm inner outer norm"
_LAYER_OF_BERT = (
    "attention.self.query attention.self.key attention.self.value attention.output.dense "
    "attention.output.LayerNorm intermediate.dense output.dense output.LayerNorm"
)
_BRACKETS, _ANGLES = ("[CLS]", "[SEP]", "[UNK]"), ("<s>", "</s>", "<unk>")


class EncoderType(NamedTuple):
    """One value of ``model_type``.

    Attributes:
      tokenizer: kind of its tokenizer.
      prefix: what stands before the names of weights in a model with a head.
      special: the sub-words that begin and end a row, and the unknown one.
      sizes: keys of config.json for the fields ``_SIZES``.
      defaults: values of fields where config.json has none, or that it never has.
      expects: {key of config.json: the only value that is read}.
      more: further fields, from config.json.
      embeddings: {our weight: theirs} before and after the layers.
      layer: their weights for ours, ``_LAYER``, in a layer; "*": queries, keys and values are one.
      place: what stands before these; {0}: number of the layer or group, {1}: number in the group.
      vocabulary: files of the vocabulary, read where there is no tokenizer.json.
      pieces: sub-words before and after those of a SentencePiece file, and how many of the file's
        are left out.
    """

    tokenizer: str
    prefix: str
    special: tuple[str, str, str] = _BRACKETS
    sizes: str = _SIZES_OF_BERT
    defaults: Mapping[str, Any] = {"epsilon": 1e-12}
    expects: Mapping[str, Any] = {"position_embedding_type": "absolute"}
    more: Callable[[Mapping[str, Any]], dict[str, Any]] = lambda config: {}
    embeddings: Mapping[str, str] = _EMBEDDINGS
    layer: str = _LAYER_OF_BERT
    place: str = "encoder.layer.{0}."
    vocabulary: tuple[str, ...] = ("vocab.txt",)
    pieces: tuple[tuple[str, ...], tuple[str, ...], int] = ((), (), 0)


def _offset_positions(config: Mapping[str, Any]) -> dict[str, Any]:
    """Positions begin after that of padding, and no other is used before it."""
    return {"max_positions": config["max_position_embeddings"] - config.get("pad_token_id", 1) - 1}


def _electra(config: Mapping[str, Any]) -> dict[str, Any]:
    narrow = config.get("embedding_size", config["hidden_size"])
    return {} if narrow == config["hidden_size"] else {"embedding_width": narrow}


def _albert(config: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "embedding_width": config.get("embedding_size", 128),
        "groups": config.get("num_hidden_groups", 1),
        "group_layers": config.get("inner_group_num", 1),
    }


def _deberta(config: Mapping[str, Any]) -> dict[str, Any]:
    if config.get("max_relative_positions", -1) not in (-1, config["max_position_embeddings"]):
        raise InputError("max_relative_positions in config.json is not supported")
    if sorted(config.get("pos_att_type") or ()) not in (["c2p", "p2c"], sorted("c2p|p2c")):
        raise InputError("pos_att_type in config.json is not c2p|p2c")
    return {"buckets": config.get("position_buckets", -1)}


def _modernbert(config: Mapping[str, Any]) -> dict[str, Any]:
    biases = {key: config.get(key, False) for key in ("norm_bias", "attention_bias", "mlp_bias")}
    if len(set(biases.values())) > 1:
        raise InputError(f"{', '.join(biases)} in config.json are not all the same")
    thetas = {"full_attention": 160_000.0, "sliding_attention": 10_000.0}
    olds = {"full_attention": "global_rope_theta", "sliding_attention": "local_rope_theta"}
    for kind, old in olds.items():
        rope = (config.get("rope_parameters") or {}).get(kind) or {}
        if rope.get("rope_type", "default") != "default" or config.get("rope_scaling"):
            raise InputError("rope_parameters in config.json of another type than default")
        thetas[kind] = float(rope.get("rope_theta", config.get(old, thetas[kind])))
    every = config.get("global_attn_every_n_layers", 3)
    kinds = config.get("layer_types")
    if kinds:
        every = next((k for k in range(1, len(kinds)) if kinds[k] == "full_attention"), len(kinds))
        pattern = [
            "sliding_attention" if k % every else "full_attention" for k in range(len(kinds))
        ]
        if kinds != pattern:
            raise InputError("layer_types in config.json are in no order that is supported")
    return {
        "biases": biases["norm_bias"],
        "reach": config.get("local_attention", 128) // 2,
        "global_every": every,
        "global_theta": thetas["full_attention"],
        "local_theta": thetas["sliding_attention"],
        "normed_first": True,
        "gated": True,
        "positions": ROTARY,
    }


_BERT = EncoderType(WORDPIECE, "bert.")
_ROBERTA = EncoderType(
    BPE, "roberta.", _ANGLES, more=_offset_positions, vocabulary=("vocab.json", "merges.txt")
)
# In SentencePiece's own file <unk>, <s> and </s> come first.
_XLM_ROBERTA = _ROBERTA._replace(
    tokenizer=UNIGRAM,
    vocabulary=("sentencepiece.bpe.model",),
    pieces=(("<s>", "<pad>", "</s>", "<unk>"), ("<mask>",), 3),
)
TYPES: dict[str, EncoderType] = {
    "bert": _BERT,
    "distilbert": _BERT._replace(
        prefix="distilbert.",
        sizes="vocab_size dim n_layers n_heads hidden_dim max_position_embeddings activation "
        "layer_norm_eps dropout attention_dropout",
        layer="attention.q_lin attention.k_lin attention.v_lin attention.out_lin sa_layer_norm "
        "ffn.lin1 ffn.lin2 output_layer_norm",
        place="transformer.layer.{0}.",
    ),
    "roberta": _ROBERTA,
    "xlm-roberta": _XLM_ROBERTA,
    "camembert": _XLM_ROBERTA._replace(
        pieces=(("<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED"), ("<mask>",), 1)
    ),
    "electra": _BERT._replace(
        prefix="electra.",
        more=_electra,
        embeddings={**_EMBEDDINGS, "projection": "embeddings_project"},
    ),
    "albert": EncoderType(
        UNIGRAM,
        "albert.",
        ("[CLS]", "[SEP]", "<unk>"),
        more=_albert,
        embeddings={**_EMBEDDINGS, "projection": "encoder.embedding_hidden_mapping_in"},
        layer="attention.query attention.key attention.value attention.dense attention.LayerNorm "
        "ffn ffn_output full_layer_layer_norm",
        place="encoder.albert_layer_groups.{0}.albert_layers.{1}.",
        vocabulary=("spiece.model",),
    ),
    "deberta-v2": EncoderType(
        UNIGRAM,
        "deberta.",
        defaults={"epsilon": 1e-7, "positions": RELATIVE},
        expects={
            "relative_attention": True,
            "position_biased_input": False,
            "share_att_key": True,
            "norm_rel_ebd": "layer_norm",
            "type_vocab_size": 0,
            "conv_kernel_size": 0,
        },
        more=_deberta,
        embeddings={
            **_EMBEDDINGS,
            "relative_embeddings": "encoder.rel_embeddings",
            "relative_norm": "encoder.LayerNorm",
        },
        layer="attention.self.query_proj attention.self.key_proj attention.self.value_proj "
        + _LAYER_OF_BERT.split(" ", 3)[3],
        vocabulary=("spm.model",),
    ),
    "modernbert": EncoderType(
        BPE,
        "model.",
        sizes="vocab_size hidden_size num_hidden_layers num_attention_heads intermediate_size "
        "max_position_embeddings hidden_activation norm_eps mlp_dropout attention_dropout",
        defaults={"epsilon": 1e-5, "hidden_dropout": 0.0, "attention_dropout": 0.0},
        expects={},
        more=_modernbert,
        embeddings=_named(
            "token_embeddings norm last_norm",
            "embeddings.tok_embeddings embeddings.norm final_norm",
        ),
        layer="attn.Wqkv * * attn.Wo attn_norm mlp.Wi mlp.Wo mlp_norm",
        place="layers.{0}.",
        vocabulary=(),
    ),
}
# What config.json need not say.
_DEFAULTS = {"activation": "gelu", "hidden_dropout": 0.1, "attention_dropout": 0.1}
_OPTIONAL_EXPECTED = {"position_embedding_type", "conv_kernel_size"}


def type_of(config: Mapping[str, Any]) -> EncoderType:
    """The row of a config.json's ``model_type``; InputError for another one."""
    name = value_of(config, "model_type", str, "bert")
    if name not in TYPES:
        raise InputError(
            f"config.json is of a model of type {shown(name)}; read are {', '.join(TYPES)}"
        )
    return TYPES[name]


def architecture_of(kind: EncoderType, config: Mapping[str, Any]) -> Architecture:
    """The architecture that a config.json describes.

    Raises:
      InputError: it lacks a size, or describes what is not supported.
    """
    for key, value in kind.expects.items():
        if config.get(key, value if key in _OPTIONAL_EXPECTED else None) != value:
            raise InputError(f"{key}={shown(config.get(key))} in config.json is not supported")
    values: dict[str, Any] = {**_DEFAULTS, **kind.defaults}
    keys = _named(_SIZES, kind.sizes)
    for field, key in keys.items():
        of = float if field.endswith("dropout") or field == "epsilon" else int
        wanted = str if field == "activation" else of
        default = (values[field],) if field in values else ()
        values[field] = value_of(config, key, wanted, *default)
    if values["activation"] not in (*_ACTIVATIONS, *_ACTIVATIONS.values()):
        told = f"{keys['activation']}={shown(values['activation'])}"
        raise InputError(f"{told} in config.json is not supported")
    values["activation"] = _ACTIVATIONS.get(values["activation"], values["activation"])
    try:
        return Architecture(**{**values, **kind.more(config)})
    except (TypeError, AttributeError, KeyError) as error:
        raise InputError(f"config.json is not of such a model ({error})") from error


def value_of(
    values: Mapping[str, Any], key: str, kinds: Any, *default: Any, file: str = "config.json"
) -> Any:
    """The value of a key, if it has the right type; these files hold many other keys."""
    if key not in values and not default:
        raise InputError(f"{file} lacks {key!r}")
    value = values.get(key, *default)
    if not has_type(value, kinds):
        raise InputError(f"{file} is not of a pretrained encoder: {key!r} is {shown(value)}")
    return value


def convert(kind: EncoderType, weights: Weights, own: Architecture) -> Weights:
    """Their weights under our names and in our shapes; InputError where one is missing."""

    def take(name: str) -> np.ndarray:
        # Old files call a normalisation's scale and offset gamma and beta.
        old = name.replace("LayerNorm.weight", "LayerNorm.gamma")
        old = old.replace("LayerNorm.bias", "LayerNorm.beta")
        for known in (name, old):
            if known in weights:
                return weights[known]
        raise InputError(f"model.safetensors lacks {name}")

    def take_as(name: str, names: Mapping[str, str], place: str) -> np.ndarray:
        if name in names:  # a table
            return take(f"{place}{names[name]}.weight")
        stem, _, part = name.rpartition("_")
        stems = ("query", "key", "value") if stem == "attention" else (stem,)
        their_part = "bias" if part in ("bias", "offset") else "weight"
        parts = [take(f"{place}{names[s]}.{their_part}") for s in stems if names[s] != "*"]
        # Their kernels are [out, in].
        return np.concatenate(parts).T if part == "kernel" else np.concatenate(parts)

    of_layer = _named(_LAYER, kind.layer)
    converted = {}
    for name in own.weight_shapes():
        layer, _, rest = name.rpartition("/")
        if layer.startswith("layer_"):
            block = divmod(int(layer.removeprefix("layer_")), own.group_layers)
            converted[name] = take_as(rest, of_layer, kind.place.format(*block))
        else:
            converted[name] = take_as(rest, kind.embeddings, "")
    positions = converted.get("embeddings/position_embeddings")
    if positions is not None:
        if kind.more is _offset_positions:
            positions = positions[len(positions) - own.max_positions :]
        segments = weights.get("embeddings.token_type_embeddings.weight")
        # All text is of the first segment.
        converted["embeddings/position_embeddings"] = (
            positions if segments is None else positions + segments[0]
        )
    return converted
