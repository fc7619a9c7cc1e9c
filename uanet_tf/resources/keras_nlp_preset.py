"""A BERT from keras_nlp: a preset by name, or a preset's directory, read as data."""

import pathlib
from typing import Any

import numpy as np

from uanet_lite.strict_json import Kinds, check_fields, read_bytes, read_json, shown
from uanet_tf.data.bert_spec import BertPreset, BertSpec
from uanet_tf.errors import InputError, one_line
from uanet_tf.files.weight_file import at_most, check_weight_file

MAX_CONFIG_BYTES = 2**20
MAX_WORDS_BYTES = 2**27
MAX_SIZE = 10_000_000
MAX_LAYERS = 1_000
_NOTHING = type(None)
# What the constructors of all layers take; nothing of it is used.
_OF_LAYERS: dict[str, Kinds] = {"name": str, "trainable": bool, "dtype": (str, dict, _NOTHING)}
_BACKBONE = {
    "vocabulary_size": int,
    "num_layers": int,
    "num_heads": int,
    "hidden_dim": int,
    "intermediate_dim": int,
}
_BACKBONE_OPTIONS = {"dropout": float, "max_sequence_length": int, "num_segments": int}
_TOKENIZER_OPTIONS = {"lowercase": bool, "strip_accents": bool}
# As the tokenizer of a BERT has them; its words are in a file of their own.
_TOKENIZER_FIXED: dict[str, Any] = {
    "vocabulary": None,
    "sequence_length": None,
    "split": True,
    "split_on_cjk": True,
    "suffix_indicator": "##",
    "oov_token": "[UNK]",
    "special_tokens": None,
    "special_tokens_in_strings": False,
}


def preset_file(preset: str, name: str) -> str:
    """The path of a file of a preset; keras_nlp downloads those of a preset that it knows by name.

    Raises:
      OSError, ValueError, ImportError: there is no such file, or it cannot be downloaded.
    """
    from keras_nlp.src.utils import preset_utils

    return preset_utils.get_file(preset, name)


def read_backbone(path: str) -> dict[str, Any]:
    """Arguments of ``BertBackbone``, all numbers, from ``config.json``.

    Raises:
      InputError: it is of another class, or has other keys, types or impossible sizes.
      OSError, ValueError: it cannot be read.
    """
    values = _config_of(path, "BertBackbone")
    where = f"the config of {pathlib.Path(path).name}"
    check_fields(values, _BACKBONE, {**_BACKBONE_OPTIONS, **_OF_LAYERS}, where=where)
    sizes = {key: values[key] for key in (*_BACKBONE, *_BACKBONE_OPTIONS) if key in values}
    for key, value in sizes.items():
        most = MAX_LAYERS if key == "num_layers" else MAX_SIZE
        if key != "dropout" and not 1 <= value <= most:
            raise InputError(f"{where} has {value} for {key!r}, not a number from 1 to {most}")
    if not 0 <= sizes.get("dropout", 0) < 1:
        raise InputError(f"{where} has {sizes['dropout']} for 'dropout', not a rate in [0, 1)")
    return sizes


def read_tokenizer(path: str) -> dict[str, bool]:
    """Arguments of ``BertTokenizer``, without its words, from ``tokenizer.json``.

    Raises:
      InputError: it is of another class, or has other keys or values than a BERT's.
      OSError, ValueError: it cannot be read.
    """
    values = _config_of(path, "BertTokenizer")
    where = f"the config of {pathlib.Path(path).name}"
    fixed = dict.fromkeys(_TOKENIZER_FIXED, (bool, str, _NOTHING))
    check_fields(values, {}, {**_TOKENIZER_OPTIONS, **fixed, **_OF_LAYERS}, where=where)
    for key, value in _TOKENIZER_FIXED.items():
        if values.get(key, value) != value:
            raise InputError(f"{where} has {shown(values[key])} for {key!r}, unlike a BERT's")
    return {key: values[key] for key in _TOKENIZER_OPTIONS if key in values}


def read_words(path: str) -> list[str]:
    """The sub-words of ``vocabulary.txt``, as keras_nlp reads them: one per line, stripped."""
    text = read_bytes(pathlib.Path(path), MAX_WORDS_BYTES).decode("utf-8")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
    return [line.rstrip() for line in lines]


def _config_of(path: str, class_name: str) -> dict[str, Any]:
    """The configuration of an object that must be of the class of this name."""
    file = pathlib.Path(path)
    saved = check_fields(
        read_json(file, MAX_CONFIG_BYTES),
        # The module is where Keras would look for the class. Nobody looks there.
        {"module": str, "class_name": str, "config": dict, "registered_name": str},
        {"assets": list, "weights": (str, _NOTHING), "build_config": (dict, _NOTHING)},
        where=file.name,
    )
    expected = {"class_name": class_name, "registered_name": f"keras_nlp>{class_name}"}
    for key, value in expected.items():
        if saved[key] != value:
            raise InputError(f"{file.name} has {shown(saved[key])} for {key!r}, not {value!r}")
    return saved["config"]


Weights = dict[str, np.ndarray]


def read_keras_nlp(preset: str) -> BertPreset:
    """Loads a preset; one by name is downloaded once and kept by keras_nlp.

    Args:
      preset: a name such as ``bert_base_en``, a ``kaggle://`` handle, or a directory with
        config.json, model.weights.h5, tokenizer.json, metadata.json and
        assets/tokenizer/vocabulary.txt.

    Raises:
      InputError: there is no such preset, it cannot be downloaded, or it is not of a BERT.
    """
    try:
        import keras_nlp
    except ImportError as error:
        raise InputError(
            f"--bert_preset={preset} needs the package keras-nlp, which cannot be imported "
            f"({error})."
        ) from None
    models = keras_nlp.models
    handle = "://" in preset or pathlib.Path(preset).is_dir()
    if not handle and preset not in models.BertBackbone.presets:
        raise InputError(
            f"--bert_preset={preset} is neither a directory nor the name of a BERT of keras_nlp, "
            "such as bert_base_en."
        )
    try:
        backbone, tokenizer = _load(preset, models)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, ImportError) as error:
        raise InputError(
            f"--bert_preset={preset} cannot be loaded by keras_nlp: {one_line(error)}"
        ) from error
    return convert(backbone, tokenizer, preset)


def _load(preset: str, models: Any) -> tuple[Any, Any]:
    """The backbone with its weights, and the tokenizer.

    Not by ``from_preset``, which makes whatever the configuration names: the files are read here,
    and their plain numbers are passed to the two classes.
    """
    sizes = read_backbone(preset_file(preset, "config.json"))
    options = read_tokenizer(preset_file(preset, "tokenizer.json"))
    words = read_words(preset_file(preset, "assets/tokenizer/vocabulary.txt"))
    weights = preset_file(preset, "model.weights.h5")
    with at_most(check_weight_file(weights)):
        backbone = models.BertBackbone(**sizes)
        backbone.load_weights(weights)
    return backbone, models.BertTokenizer(vocabulary=words, **options)


def convert(backbone: Any, tokenizer: Any, name: str = "BERT") -> BertPreset:
    """The preset that a keras_nlp ``BertBackbone`` and ``BertTokenizer`` make up.

    Args:
      backbone: with its weights.
      tokenizer: with its vocabulary.
      name: for messages.

    Raises:
      InputError: the parts do not fit together.
    """
    try:
        spec = BertSpec(
            vocabulary=tuple(tokenizer.get_vocabulary()),
            lowercase=bool(tokenizer.lowercase),
            # Its presets are Google's BERTs. Those without capitals were trained without
            # accents too, although the presets' tokenizers keep them.
            strip_accents=bool(tokenizer.lowercase or tokenizer.strip_accents),
            split_chinese=True,
            vocabulary_size=backbone.vocabulary_size,
            width=backbone.hidden_dim,
            num_layers=backbone.num_layers,
            num_heads=backbone.num_heads,
            feedforward_width=backbone.intermediate_dim,
            max_positions=backbone.max_sequence_length,
            # The activation of BertBackbone, and that of Google's code.
            activation="gelu_tanh",
            hidden_dropout=float(backbone.dropout),
            attention_dropout=float(backbone.dropout),
        )
        return BertPreset(spec, _weights(backbone))
    except InputError as error:
        raise InputError(f"{name}: {error}.") from error


def _weights(backbone: Any) -> Weights:
    weights = {
        "token_embeddings": backbone.token_embedding.embeddings.numpy(),
        "position_embeddings": backbone.position_embedding.position_embeddings.numpy(),
        # All text is of the first segment.
        "segment_embedding": backbone.segment_embedding.embeddings.numpy()[0],
        "norm_scale": backbone.embeddings_layer_norm.gamma.numpy(),
        "norm_offset": backbone.embeddings_layer_norm.beta.numpy(),
    }
    for number, layer in enumerate(backbone.transformer_layers):
        weights |= {f"layer_{number}/{key}": value for key, value in _layer_weights(layer).items()}
    return weights


def _layer_weights(layer: Any) -> Weights:
    """The weights of one ``TransformerEncoder``; its attention keeps heads as an axis."""
    attention = layer._self_attention_layer
    dense = (attention._query_dense, attention._key_dense, attention._value_dense)
    width = dense[0].kernel.shape[0]
    kernels = [part.kernel.numpy().reshape(width, -1) for part in dense]
    first_norm, last_norm = layer._self_attention_layer_norm, layer._feedforward_layer_norm
    return {
        "attention_kernel": np.concatenate(kernels, axis=1),
        "attention_bias": np.concatenate([part.bias.numpy().reshape(-1) for part in dense]),
        "output_kernel": attention._output_dense.kernel.numpy().reshape(-1, width),
        "output_bias": attention._output_dense.bias.numpy(),
        "attention_norm_scale": first_norm.gamma.numpy(),
        "attention_norm_offset": first_norm.beta.numpy(),
        "inner_kernel": layer._feedforward_intermediate_dense.kernel.numpy(),
        "inner_bias": layer._feedforward_intermediate_dense.bias.numpy(),
        "outer_kernel": layer._feedforward_output_dense.kernel.numpy(),
        "outer_bias": layer._feedforward_output_dense.bias.numpy(),
        "norm_scale": last_norm.gamma.numpy(),
        "norm_offset": last_norm.beta.numpy(),
    }
