"""A pretrained BERT: of Hugging Face's format, or one of keras_nlp's presets."""

import pathlib
from typing import Any

import numpy as np

from uanet_lite.strict_json import Kinds, has_type, read_bytes, read_json, shown
from uanet_tf.data.bert_spec import BertPreset, BertSpec
from uanet_tf.errors import InputError, one_line
from uanet_tf.resources.keras_nlp_preset import read_keras_nlp

# Tables have some rows more than sub-words, for their number to be a multiple of 64 or 128.
LEAST_SHARE = 0.95


def read_bert_preset(preset: str) -> BertPreset:
    """Reads a pretrained BERT.

    Args:
      preset: a Hugging Face directory (config.json, vocab.txt, model.safetensors), a keras_nlp
        preset directory, or the name of a keras_nlp preset.

    Raises:
      InputError: there is none, it cannot be read, or its vocabulary is cut off.
    """
    found = _read(preset)
    words, rows = len(found.spec.vocabulary), found.spec.vocabulary_size
    if words < LEAST_SHARE * rows:
        raise InputError(
            f"--bert_preset={preset}: its vocabulary has {words:,} sub-words, but its embedding "
            f"table {rows:,} rows: the file of the vocabulary is probably cut off."
        )
    return found


def _read(preset: str) -> BertPreset:
    folder = pathlib.Path(preset).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").exists():
            raise InputError(f"--bert_preset={preset} holds no BERT: it has no config.json.")
        # Both kinds have a config.json; only keras_nlp presets have this file, and all of them do.
        if (folder / "metadata.json").exists():
            return read_keras_nlp(str(folder))
        return read_hugging_face(folder)
    # A name has no slash; a Kaggle handle begins with its scheme.
    named = "/" not in preset or "://" in preset
    if folder.exists() or preset.startswith((".", "~")) or not named:
        raise InputError(f"--bert_preset={preset} is not a directory.")
    return read_keras_nlp(preset)


MAX_CONFIG_BYTES = 2**20
MAX_VOCABULARY_BYTES = 2**27
_PICKLES = ("pytorch_model.bin", "pytorch_model.bin.index.json", "model.ckpt", "tf_model.h5")
_ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
}
# Our name: their name, in layer k. Their kernels are [out, in].
_LAYER = {
    "output": "attention.output.dense",
    "inner": "intermediate.dense",
    "outer": "output.dense",
}
_NORMS = {"attention_norm": "attention.output.LayerNorm", "norm": "output.LayerNorm"}
_DTYPES = {"F16": np.float16, "F32": np.float32, "F64": np.float64}


def read_hugging_face(folder: pathlib.Path) -> BertPreset:
    """Reads and converts a BERT.

    Args:
      folder: holds config.json, vocab.txt and model.safetensors; tokenizer_config.json, if there
        is one, decides on lower case, accents and Chinese characters. Without it, text is
        lower-cased where the vocabulary has no capital letter.

    Raises:
      InputError: a file is missing, cannot be read or is not of a BERT.
    """
    config = _read_json(folder / "config.json")
    vocabulary = _read_vocabulary(folder / "vocab.txt")
    options: dict[str, Any] = {}
    if (folder / "tokenizer_config.json").exists():
        options = _read_json(folder / "tokenizer_config.json")
    try:
        spec = BertSpec(
            vocabulary=vocabulary, **_tokenizer(options, vocabulary), **_architecture(config)
        )
        weights = _convert(_read_weights(folder / "model.safetensors"), spec)
        return BertPreset(spec, weights)
    except InputError as error:
        raise InputError(f"{folder}: {error}.") from error


def _read_json(path: pathlib.Path) -> dict[str, Any]:
    try:
        values = read_json(path, MAX_CONFIG_BYTES)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {one_line(error)}") from error
    if not isinstance(values, dict):
        raise InputError(f"{path} cannot be read: it holds no JSON object.")
    return values


def _value(
    values: dict[str, Any], key: str, kinds: Kinds, *default: Any, file: str = "config.json"
) -> Any:
    """The value of a key, if it has the right type; these files hold many other keys."""
    if key not in values and not default:
        raise InputError(f"{file} lacks {key!r}")
    value = values.get(key, *default)
    if not has_type(value, kinds):
        raise InputError(f"{file} is not of a BERT: {key!r} is {shown(value)}")
    return value


def _read_vocabulary(path: pathlib.Path) -> tuple[str, ...]:
    if not path.exists():
        raise InputError(
            f"{path.parent}: there is no vocab.txt, with one sub-word per line; `save_vocabulary` "
            "of its tokenizer in the package transformers writes it."
        )
    try:
        text = read_bytes(path, MAX_VOCABULARY_BYTES).decode("utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {one_line(error)}") from error
    # By line feeds only: some vocabularies hold other characters that end lines.
    return tuple(text.replace("\r\n", "\n").removesuffix("\n").split("\n"))


def _tokenizer(options: dict[str, Any], vocabulary: tuple[str, ...]) -> dict[str, Any]:
    file = "tokenizer_config.json"
    no_capitals = all(word == word.lower() for word in vocabulary if not word.startswith("["))
    lowercase = _value(options, "do_lower_case", bool, no_capitals, file=file)
    accents = _value(options, "strip_accents", (bool, type(None)), None, file=file)
    return {
        "lowercase": lowercase,
        # Their tokenizer's rule: by default accents are removed where text is lower-cased.
        "strip_accents": lowercase if accents is None else accents,
        "split_chinese": _value(options, "tokenize_chinese_chars", bool, True, file=file),
    }


def _architecture(config: dict[str, Any]) -> dict[str, Any]:
    kind = _value(config, "model_type", str, "bert")
    if kind != "bert":
        raise InputError(f"config.json is of a model of type {shown(kind)}, not of a BERT")
    positions = _value(config, "position_embedding_type", str, "absolute")
    if positions != "absolute":
        raise InputError(
            f"position_embedding_type={shown(positions)} in config.json is not supported"
        )
    activation = _value(config, "hidden_act", str, "gelu")
    if activation not in _ACTIVATIONS:
        raise InputError(f"hidden_act={shown(activation)} in config.json is not supported")
    return {
        "vocabulary_size": _value(config, "vocab_size", int),
        "width": _value(config, "hidden_size", int),
        "num_layers": _value(config, "num_hidden_layers", int),
        "num_heads": _value(config, "num_attention_heads", int),
        "feedforward_width": _value(config, "intermediate_size", int),
        "max_positions": _value(config, "max_position_embeddings", int),
        "activation": _ACTIVATIONS[activation],
        "epsilon": _value(config, "layer_norm_eps", float, 1e-12),
        "hidden_dropout": _value(config, "hidden_dropout_prob", float, 0.1),
        "attention_dropout": _value(config, "attention_probs_dropout_prob", float, 0.1),
    }


def _read_weights(path: pathlib.Path) -> dict[str, np.ndarray]:
    """Reads all floating-point weights, as float32, without a leading ``bert.``."""
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
    weights = {}
    for name, tensor in tensors.items():
        array = _to_float32(tensor["dtype"], tensor["data"])
        if array is not None:
            weights[name.removeprefix("bert.")] = array.reshape(tensor["shape"])
    return weights


def _to_float32(dtype: str, data: bytes) -> np.ndarray | None:
    if dtype == "BF16":  # the upper half of a float32
        return (np.frombuffer(data, np.uint16).astype(np.uint32) << 16).view(np.float32)
    if dtype not in _DTYPES:
        return None
    return np.frombuffer(data, _DTYPES[dtype]).astype(np.float32)


def _convert(weights: dict[str, np.ndarray], spec: BertSpec) -> dict[str, np.ndarray]:
    def take(name: str) -> np.ndarray:
        # Old files call a normalisation's scale and offset gamma and beta.
        old = name.replace("LayerNorm.weight", "LayerNorm.gamma")
        old = old.replace("LayerNorm.bias", "LayerNorm.beta")
        for known in (name, old):
            if known in weights:
                return weights[known]
        raise InputError(f"model.safetensors lacks {name}")

    converted = {
        "token_embeddings": take("embeddings.word_embeddings.weight"),
        "position_embeddings": take("embeddings.position_embeddings.weight"),
        # All text is of the first segment.
        "segment_embedding": take("embeddings.token_type_embeddings.weight")[0],
        "norm_scale": take("embeddings.LayerNorm.weight"),
        "norm_offset": take("embeddings.LayerNorm.bias"),
    }
    for number in range(spec.num_layers):
        here, there = f"layer_{number}/", f"encoder.layer.{number}."
        parts = [f"{there}attention.self.{name}" for name in ("query", "key", "value")]
        converted[f"{here}attention_kernel"] = np.concatenate(
            [take(f"{part}.weight").T for part in parts], axis=1
        )
        converted[f"{here}attention_bias"] = np.concatenate([take(f"{p}.bias") for p in parts])
        for mine, other in _LAYER.items():
            converted[f"{here}{mine}_kernel"] = take(f"{there}{other}.weight").T
            converted[f"{here}{mine}_bias"] = take(f"{there}{other}.bias")
        for mine, other in _NORMS.items():
            converted[f"{here}{mine}_scale"] = take(f"{there}{other}.weight")
            converted[f"{here}{mine}_offset"] = take(f"{there}{other}.bias")
    return converted
