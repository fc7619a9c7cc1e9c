"""An encoder from keras_nlp: a preset by name, or a preset's directory, read as data."""

import dataclasses
import pathlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from uanet_lite.strict_json import read_bytes, read_json, shown
from uanet_tf.data.encoder_spec import (
    ABSOLUTE,
    BPE,
    RELATIVE,
    WORDPIECE,
    Architecture,
    EncoderSpec,
    PretrainedEncoder,
)
from uanet_tf.errors import InputError, one_line
from uanet_tf.files.weight_file import at_most, check_weight_file
from uanet_tf.representation.transformer.encoder_types import TYPES, Weights, value_of
from uanet_tf.representation.transformer.tokenizer_files import tokenizer_of_vocabulary

MAX_CONFIG_BYTES = 2**20
MAX_WORDS_BYTES = 2**27
# What the constructors of all layers take; nothing of it is used.
_OF_LAYERS = ("name", "trainable", "dtype")
# Their names of sizes, and ours; one that is not stored has the constructors' default.
_SIZES = {
    "vocabulary_size": "vocabulary_size",
    "vocab_size": "vocabulary_size",
    "hidden_dim": "width",
    "num_layers": "num_layers",
    "num_heads": "num_heads",
    "intermediate_dim": "feedforward_width",
    "max_sequence_length": "max_positions",
    "embedding_dim": "embedding_width",
    "num_groups": "groups",
    "num_inner_repetitions": "group_layers",
    "bucket_size": "buckets",
}
# As the tokenizers have them; their vocabularies are in files of their own.
_TOKENIZER_FIXED: dict[str, Any] = {
    **dict.fromkeys(("vocabulary", "merges", "proto", "sequence_length")),
    **dict.fromkeys(("unsplittable_tokens", "special_tokens")),
    **dict.fromkeys(("add_prefix_space", "special_tokens_in_strings"), False),
    **dict.fromkeys(("split", "split_on_cjk"), True),
    "suffix_indicator": "##",
    "oov_token": "[UNK]",
}


class Backbone(NamedTuple):
    """A class of keras_nlp.

    Attributes:
      kind: the type of ``encoder_types`` that it is of.
      activation: of its layers; keras_nlp's presets are of Google's models, or Hugging Face's.
      more: fields of its ``Architecture`` where the configuration has none.
    """

    kind: str
    activation: str = "gelu"
    more: Mapping[str, Any] = {}


BACKBONES = {
    "Bert": Backbone("bert", "gelu_tanh"),
    "DistilBert": Backbone("distilbert"),
    "Roberta": Backbone("roberta"),
    "XLMRoberta": Backbone("xlm-roberta"),
    "Electra": Backbone("electra", "gelu_tanh"),
    "Albert": Backbone("albert", "gelu_tanh", {"groups": 1}),
    "DebertaV3": Backbone("deberta-v2", more={"positions": RELATIVE, "buckets": 256}),
}


def preset_file(preset: str, name: str) -> str:
    """The path of a file of a preset; keras_nlp downloads those of a preset that it knows by name.

    OSError, ValueError or ImportError if there is no such file, or it cannot be downloaded.
    """
    from keras_nlp.src.utils import preset_utils

    return preset_utils.get_file(preset, name)


def read_backbone(path: str) -> tuple[str, dict[str, Any], Architecture]:
    """A backbone from ``config.json``: name in ``BACKBONES``, arguments, all numbers, and sizes.

    Raises:
      InputError: it is of another class, or has other keys, types or impossible sizes.
      OSError, ValueError, TypeError: it cannot be read, or lacks a size.
    """
    name, values = _config_of(path, "Backbone")
    for key in values:
        if key not in (*_SIZES, "dropout", "num_segments"):
            raise InputError(f"{pathlib.Path(path).name} has the unknown key {shown(key)}")
    dropout, row = values.get("dropout", 0.1), BACKBONES[name]
    sizes = {_SIZES[key]: value for key, value in values.items() if key in _SIZES}
    if sizes.get("embedding_width") == sizes.get("width") and row.kind != "albert":
        sizes["embedding_width"] = 0  # not projected
    rates = {"hidden_dropout": dropout, "attention_dropout": dropout}
    usual = {"max_positions": 512, "activation": row.activation, **rates, **row.more}
    return name, values, Architecture(**{**usual, **sizes})


def read_tokenizer_options(path: str, name: str) -> dict[str, bool]:
    """Options of the tokenizer of a backbone, without its vocabulary, from ``tokenizer.json``.

    Raises:
      InputError: it is of another class, or has other keys or values than that tokenizer.
      OSError, ValueError: it cannot be read.
    """
    found, values = _config_of(path, "Tokenizer")
    file = pathlib.Path(path).name
    if found != name:
        raise InputError(f"{file} is of a {found}Tokenizer, not of a {name}'s")
    options = {key: values.pop(key, False) for key in ("lowercase", "strip_accents")}
    for key, value in values.items():
        if key not in _TOKENIZER_FIXED or value != _TOKENIZER_FIXED[key]:
            raise InputError(f"{file} has {shown(value)} for {shown(key)}, unlike a {name}'s")
    if not all(isinstance(value, bool) for value in options.values()):
        raise InputError(f"{file} has for {', '.join(options)} something else than true or false")
    return options


def _config_of(path: str, suffix: str) -> tuple[str, dict[str, Any]]:
    """The configuration of an object, and its class among ``BACKBONES``, without the suffix.

    The rest of the file, such as the module where Keras would look for the class, is not read.
    """
    file = pathlib.Path(path)
    saved = read_json(file, MAX_CONFIG_BYTES)
    kind = value_of(saved, "class_name", str, file=file.name)
    name = kind.removesuffix(suffix)
    own = saved.get("registered_name") == f"keras_nlp>{name}{suffix}" and kind != name
    if name not in BACKBONES or not own:
        known = ", ".join(f"{known}{suffix}" for known in BACKBONES)
        raise InputError(f"{file.name} is of {shown(kind)}; read are {known}")
    values = value_of(saved, "config", dict, file=file.name)
    return name, {key: value for key, value in values.items() if key not in _OF_LAYERS}


def read_keras_nlp(preset: str) -> PretrainedEncoder:
    """Loads a preset; one by name is downloaded once and kept by keras_nlp.

    Args:
      preset: a name such as ``bert_base_en``, a ``kaggle://`` handle, or a directory with
        config.json, model.weights.h5, tokenizer.json, metadata.json and the vocabulary's files in
        assets/tokenizer.

    Raises:
      InputError: there is no such preset, it cannot be downloaded, or is not of ``BACKBONES``.
    """
    try:
        import keras_nlp
    except ImportError as error:
        raise InputError(
            f"`pretrained={preset}` needs the package keras-nlp, which cannot be imported "
            f"({error})."
        ) from None
    models = keras_nlp.models
    handle = "://" in preset or pathlib.Path(preset).is_dir()
    classes = [getattr(models, f"{name}Backbone") for name in BACKBONES]
    if not handle and not any(preset in each.presets for each in classes):
        raise InputError(
            f"`pretrained={preset}` is neither a directory nor the name of an encoder of "
            "keras_nlp, such as bert_base_en."
        )
    try:
        return _load(preset, models)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, ImportError) as error:
        raise InputError(
            f"`pretrained={preset}` cannot be loaded by keras_nlp: {one_line(error)}"
        ) from error


def _load(preset: str, models: Any) -> PretrainedEncoder:
    """Not by ``from_preset``, which makes whatever the configuration names.

    The files are read here, and plain numbers are passed to a class of ``BACKBONES``.
    """
    name, sizes, own = read_backbone(preset_file(preset, "config.json"))
    options = read_tokenizer_options(preset_file(preset, "tokenizer.json"), name)
    kind = TYPES[BACKBONES[name].kind]
    files = {WORDPIECE: ["vocabulary.txt"], BPE: ["vocabulary.json", "merges.txt"]}
    data = [
        read_bytes(pathlib.Path(preset_file(preset, f"assets/tokenizer/{file}")), MAX_WORDS_BYTES)
        for file in files.get(kind.tokenizer, ["vocabulary.spm"])
    ]
    tokenizer_config = {}
    if kind.tokenizer == WORDPIECE:
        lowercase = options["lowercase"]
        tokenizer_config = {
            "do_lower_case": lowercase,
            # Those of Google without capitals were trained without accents too, although the
            # presets' tokenizers keep them.
            "strip_accents": lowercase or options["strip_accents"],
        }
        # As keras_nlp reads them: one per line, stripped.
        lines = data[0].decode("utf-8").replace("\r\n", "\n").replace("\r", "\n").split("\n")
        data = ["\n".join(line.rstrip() for line in lines).encode("utf-8")]
    tokenizer = tokenizer_of_vocabulary(kind, data, tokenizer_config)
    weights = preset_file(preset, "model.weights.h5")
    with at_most(check_weight_file(weights)):
        backbone = getattr(models, f"{name}Backbone")(**sizes)
        backbone.load_weights(weights)
    own = dataclasses.replace(own, epsilon=backbone.embeddings_layer_norm.epsilon)
    return PretrainedEncoder(EncoderSpec(own, tokenizer), _weights(backbone, own))


def _weights(backbone: Any, own: Architecture) -> Weights:
    norm = backbone.embeddings_layer_norm
    weights = {
        "token_embeddings": backbone.token_embedding.embeddings.numpy(),
        **_norm("norm", norm),
    }
    if own.positions == ABSOLUTE:
        table = (
            getattr(backbone, "position_embedding", None) or backbone.embeddings.position_embedding
        )
        weights["position_embeddings"] = table.position_embeddings.numpy()
        if hasattr(backbone, "segment_embedding"):  # all text is of the first segment
            weights["position_embeddings"] += backbone.segment_embedding.embeddings.numpy()[0]
    if own.positions == RELATIVE:
        relative = backbone.relative_embeddings
        weights["relative_embeddings"] = relative.rel_embeddings.numpy()
        weights |= _norm("relative_norm", relative.layer_norm)
    if own.embedding_width:
        weights |= _dense("projection", backbone.embeddings_projection)
    weights = {f"embeddings/{key}": value for key, value in weights.items()}
    layers = backbone.transformer_layers
    if own.groups:
        layers = [layer for group in layers for layer in group]
    for number, layer in enumerate(layers):
        weights |= {f"layer_{number}/{key}": value for key, value in _layer_weights(layer).items()}
    return weights


def _dense(name: str, layer: Any) -> Weights:
    return {f"{name}_kernel": layer.kernel.numpy(), f"{name}_bias": layer.bias.numpy()}


def _norm(name: str, layer: Any) -> Weights:
    return {f"{name}_scale": layer.gamma.numpy(), f"{name}_offset": layer.beta.numpy()}


def _layer_weights(layer: Any) -> Weights:
    """The weights of one ``TransformerEncoder``; its attention keeps heads as an axis."""
    attention = layer._self_attention_layer
    dense = (attention._query_dense, attention._key_dense, attention._value_dense)
    width = dense[0].kernel.shape[0]
    kernels = [part.kernel.numpy().reshape(width, -1) for part in dense]
    return {
        "attention_kernel": np.concatenate(kernels, axis=1),
        "attention_bias": np.concatenate([part.bias.numpy().reshape(-1) for part in dense]),
        "output_kernel": attention._output_dense.kernel.numpy().reshape(-1, width),
        "output_bias": attention._output_dense.bias.numpy(),
        **_norm("attention_norm", layer._self_attention_layer_norm),
        **_dense("inner", layer._feedforward_intermediate_dense),
        **_dense("outer", layer._feedforward_output_dense),
        **_norm("norm", layer._feedforward_layer_norm),
    }
