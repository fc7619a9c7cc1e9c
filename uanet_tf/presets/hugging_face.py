"""A BERT in Hugging Face's format: config.json, vocab.txt, model.safetensors."""

import json
import pathlib
from typing import Any

import numpy as np

from uanet_tf.data.bert_spec import BertPreset, BertSpec
from uanet_tf.errors import InputError

_ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
}
# Name here: name there, in layer k. Kernels stand there as [out, in].
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
      folder: holds config.json, vocab.txt and model.safetensors; what tokenizer_config.json
        says of lower case, accents and Chinese characters is heeded. Without it, text is
        lower-cased where the vocabulary knows no capital letter.

    Raises:
      InputError: a file is missing, cannot be read or is not of a BERT.
    """
    config = _read_json(folder / "config.json")
    vocabulary = _read_vocabulary(folder / "vocab.txt")
    options: dict[str, Any] = {}
    if (folder / "tokenizer_config.json").exists():
        options = _read_json(folder / "tokenizer_config.json")
    lowercase = options.get("do_lower_case", not _has_capitals(vocabulary))
    strip_accents = options.get("strip_accents")
    try:
        spec = BertSpec(
            vocabulary=vocabulary,
            lowercase=bool(lowercase),
            # Their tokenizer's rule: accents go with capitals unless it is told otherwise.
            strip_accents=bool(lowercase if strip_accents is None else strip_accents),
            split_chinese=bool(options.get("tokenize_chinese_chars", True)),
            **_architecture(config),
        )
        weights = _convert(_read_weights(folder / "model.safetensors"), spec)
        return BertPreset(spec, weights)
    except InputError as error:
        raise InputError(f"{folder}: {error}.") from error


def _read_json(path: pathlib.Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    if not isinstance(values, dict):
        raise InputError(f"{path} cannot be read: it holds no JSON object.")
    return values


def _read_vocabulary(path: pathlib.Path) -> tuple[str, ...]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    # By line feeds alone: some vocabularies hold other characters that end lines.
    return tuple(text.removesuffix("\n").split("\n"))


def _has_capitals(vocabulary: tuple[str, ...]) -> bool:
    return any(word != word.lower() for word in vocabulary if not word.startswith("["))


def _architecture(config: dict[str, Any]) -> dict[str, Any]:
    kind = config.get("model_type", "bert")
    if kind != "bert":
        raise InputError(f"config.json is of a model of type {kind!r}, not of a BERT")
    positions = config.get("position_embedding_type", "absolute")
    if positions != "absolute":
        raise InputError(f"position_embedding_type={positions!r} in config.json is not supported")
    activation = config.get("hidden_act", "gelu")
    if activation not in _ACTIVATIONS:
        raise InputError(f"hidden_act={activation!r} in config.json is not supported")
    try:
        return {
            "vocabulary_size": int(config["vocab_size"]),
            "width": int(config["hidden_size"]),
            "num_layers": int(config["num_hidden_layers"]),
            "num_heads": int(config["num_attention_heads"]),
            "feedforward_width": int(config["intermediate_size"]),
            "max_positions": int(config["max_position_embeddings"]),
            "activation": _ACTIVATIONS[activation],
            "epsilon": float(config.get("layer_norm_eps", 1e-12)),
            "hidden_dropout": float(config.get("hidden_dropout_prob", 0.1)),
            "attention_dropout": float(config.get("attention_probs_dropout_prob", 0.1)),
        }
    except KeyError as error:
        raise InputError(f"config.json lacks {error}") from error
    except (TypeError, ValueError) as error:
        raise InputError(f"config.json is not of a BERT: {error}") from error


def _read_weights(path: pathlib.Path) -> dict[str, np.ndarray]:
    """Reads all floating-point weights, as float32, without a leading ``bert.``."""
    import safetensors

    if not path.exists():
        raise InputError(
            "there is no model.safetensors; `save_pretrained` of the package transformers writes it"
        )
    try:
        data = path.read_bytes()
        tensors = dict(safetensors.deserialize(data))
    except (OSError, safetensors.SafetensorError) as error:
        raise InputError(f"model.safetensors cannot be read: {error}") from error
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
