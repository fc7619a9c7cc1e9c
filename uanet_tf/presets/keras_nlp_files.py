"""The files of a keras_nlp preset, read as data: no class that they name is looked up."""

import pathlib
from typing import Any

from uanet_tf.errors import InputError
from uanet_tf.strict_json import Kinds, check_fields, read_bytes, read_json, shown

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
