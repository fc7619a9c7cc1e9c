"""Tiny BERTs with random weights, as files that a user might have."""

import atexit
import functools
import json
import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

ARCHIVE = Path(__file__).parent / "representation" / "transformer" / "encoders.zip"
# Pieces of words that the tests use, [PAD] at 0 as everywhere.
SUBWORDS = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *".,;:-!?()'\"#@/",
    *"abcdefghijklmnopqrstuvwxyz0123456789",
    *(f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz0123456789"),
    *("the", "of", "saw", "near", "met", "yesterday", "ann", "oslo", "new", "york", "bo", "van"),
    *("##eck", "##er", "##ing", "##ed", "un", "aff", "##aff", "##able", "東", "京"),
)


def tiny_config(vocabulary: Sequence[str] = SUBWORDS, **changes: Any) -> dict[str, Any]:
    """A Hugging Face config.json of a BERT with two layers of width 16."""
    return {
        "model_type": "bert",
        "architectures": ["BertModel"],
        "vocab_size": len(vocabulary),
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 24,
        "max_position_embeddings": 64,
        "type_vocab_size": 2,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-12,
        "hidden_dropout_prob": 0.1,
        "attention_probs_dropout_prob": 0.1,
        **changes,
    }


def random_weights(
    config: dict[str, Any], *, seed: int = 1, scale: float = 0.5
) -> dict[str, np.ndarray]:
    """Random weights under Hugging Face's names; the larger, the more the layers change."""
    rng = np.random.default_rng(seed)
    width, inner = config["hidden_size"], config["intermediate_size"]
    shapes = {
        "embeddings.word_embeddings.weight": (config["vocab_size"], width),
        "embeddings.position_embeddings.weight": (config["max_position_embeddings"], width),
        "embeddings.token_type_embeddings.weight": (config["type_vocab_size"], width),
        "embeddings.LayerNorm.weight": (width,),
        "embeddings.LayerNorm.bias": (width,),
        "pooler.dense.weight": (width, width),
        "pooler.dense.bias": (width,),
    }
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}."
        dense = {
            "attention.self.query": (width, width),
            "attention.self.key": (width, width),
            "attention.self.value": (width, width),
            "attention.output.dense": (width, width),
            "intermediate.dense": (inner, width),
            "output.dense": (width, inner),
        }
        for name, shape in dense.items():
            shapes[f"{layer}{name}.weight"] = shape
            shapes[f"{layer}{name}.bias"] = shape[:1]
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"{layer}{name}.weight"] = (width,)
            shapes[f"{layer}{name}.bias"] = (width,)
    weights = {}
    for name, shape in shapes.items():
        size = 0.5 if "embeddings" in name else scale / np.sqrt(shape[-1])
        values = size * rng.standard_normal(shape)
        if name.endswith("LayerNorm.weight"):
            values = 1 + 0.2 * rng.standard_normal(shape)
        weights[name] = values.astype(np.float32)
    return weights


def write_tiny_encoder(
    folder: Path,
    *,
    vocabulary: Sequence[str] = SUBWORDS,
    seed: int = 1,
    scale: float = 0.5,
    tokenizer: dict[str, Any] | None = None,
    prefix: str = "",
    **changes: Any,
) -> Path:
    """Writes a BERT in Hugging Face's format.

    Args:
      folder: where; made if it does not exist.
      vocabulary: sub-words.
      seed: of the weights.
      scale: of the weights, see ``random_weights``.
      tokenizer: tokenizer_config.json; None: there is none.
      prefix: stands before the names of the weights, as ``bert.`` in models with a head.
      changes: other values in config.json.
    """
    from safetensors.numpy import save_file

    folder.mkdir(parents=True, exist_ok=True)
    config = tiny_config(vocabulary, **changes)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    if tokenizer is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    weights = random_weights(config, seed=seed, scale=scale)
    save_file(
        {prefix + name: value for name, value in weights.items()}, folder / "model.safetensors"
    )
    return folder


@functools.cache
def tiny_encoder() -> str:
    """The folder of a tiny BERT, the same for all tests of a process."""
    return str(write_tiny_encoder(_folder()))


@functools.cache
def encoders_of_all_types() -> Path:
    """A folder with one for each type, as transformers wrote it: see make_encoder_files.py."""
    folder = _folder()
    with zipfile.ZipFile(ARCHIVE) as archive:
        archive.extractall(folder)
    return folder


def _folder() -> Path:
    folder = tempfile.mkdtemp(prefix="tiny_encoder_")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def count_runs(encoder: Any) -> list[int]:
    """A list that grows by one with each run of a TransformerEncoder."""
    runs: list[int] = []
    call = encoder.call

    def counted(*args, **kwargs):
        runs.append(1)
        return call(*args, **kwargs)

    encoder.call = counted
    return runs
