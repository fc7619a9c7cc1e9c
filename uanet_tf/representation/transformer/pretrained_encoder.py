"""A pretrained encoder: of Hugging Face's format, or one of keras_nlp's presets."""

import pathlib

import numpy as np

from uanet_tf.data.encoder_spec import WORDPIECE, EncoderSpec, PretrainedEncoder
from uanet_tf.errors import InputError, one_line
from uanet_tf.representation.transformer.encoder_types import (
    Weights,
    architecture_of,
    convert,
    type_of,
)
from uanet_tf.representation.transformer.keras_nlp_preset import read_keras_nlp
from uanet_tf.representation.transformer.tokenizer_files import read_object, read_tokenizer

# Tables have some rows more than sub-words, for their number to be a multiple of 64 or 128.
LEAST_SHARE = 0.95
_PICKLES = ("pytorch_model.bin", "pytorch_model.bin.index.json", "model.ckpt", "tf_model.h5")
_DTYPES = {"F16": np.float16, "F32": np.float32, "F64": np.float64}


def read_pretrained(preset: str) -> PretrainedEncoder:
    """Reads a pretrained encoder.

    Args:
      preset: a Hugging Face folder (config.json, model.safetensors, files of the tokenizer), a
        keras_nlp preset's folder, or the name of a keras_nlp preset.

    Raises:
      InputError: there is none, it cannot be read, or its vocabulary is cut off.
    """
    found = _read(preset)
    words = len(found.spec.tokenizer.vocabulary)
    rows = found.spec.architecture.vocabulary_size
    if found.spec.tokenizer.kind == WORDPIECE and words < LEAST_SHARE * rows:
        raise InputError(
            f"`pretrained={preset}`: its vocabulary has {words:,} sub-words, but its embedding "
            f"table {rows:,} rows: the file of the vocabulary is probably cut off."
        )
    return found


def _read(preset: str) -> PretrainedEncoder:
    folder = pathlib.Path(preset).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").exists():
            raise InputError(f"`pretrained={preset}` holds no encoder: it has no config.json.")
        # Both kinds have a config.json; only keras_nlp presets have this file, and all of them do.
        if (folder / "metadata.json").exists():
            return read_keras_nlp(str(folder))
        return read_hugging_face(folder)
    # A name has no slash; a Kaggle handle begins with its scheme.
    named = "/" not in preset or "://" in preset
    if folder.exists() or preset.startswith((".", "~")) or not named:
        raise InputError(f"`pretrained={preset}` is not a directory.")
    return read_keras_nlp(preset)


def read_hugging_face(folder: pathlib.Path) -> PretrainedEncoder:
    """Reads and converts an encoder of one of the types of ``encoder_types``.

    Args:
      folder: holds config.json, model.safetensors and the tokenizer: see ``read_tokenizer``.

    Raises:
      InputError: a file is missing, cannot be read, or is not of such an encoder.
    """
    try:
        config = read_object(folder / "config.json")
        kind = type_of(config)
        architecture = architecture_of(kind, config)
        spec = EncoderSpec(architecture, read_tokenizer(folder, kind))
        weights = _read_weights(folder / "model.safetensors", kind.prefix)
        return PretrainedEncoder(spec, convert(kind, weights, architecture))
    except InputError as error:
        raise InputError(f"{folder}: {error}.") from error


def _read_weights(path: pathlib.Path, prefix: str) -> Weights:
    """Reads all floating-point weights, as float32, without a leading prefix."""
    import safetensors

    if not path.is_file():
        pickles = [name for name in _PICKLES if (path.parent / name).exists()]
        other = f"{pickles[0]} is not read, since such files can run code; " if pickles else ""
        raise InputError(
            f"there is no model.safetensors; {other}`save_pretrained` of the package transformers "
            "writes it"
        )
    try:
        data = path.read_bytes()
        tensors = dict(safetensors.deserialize(data))
    except (OSError, safetensors.SafetensorError) as error:
        raise InputError(f"model.safetensors cannot be read: {one_line(error)}") from error
    weights: Weights = {}
    for name, tensor in tensors.items():
        array = _to_float32(tensor["dtype"], tensor["data"])
        if array is not None:
            weights[name.removeprefix(prefix)] = array.reshape(tensor["shape"])
    return weights


def _to_float32(dtype: str, data: bytes) -> np.ndarray | None:
    if dtype == "BF16":  # the upper half of a float32
        return (np.frombuffer(data, np.uint16).astype(np.uint32) << 16).view(np.float32)
    if dtype not in _DTYPES:
        return None
    return np.frombuffer(data, _DTYPES[dtype]).astype(np.float32)
