"""BERT's forward pass in plain NumPy, from weights under Hugging Face's names.

It follows the definition one word, head and layer at a time, in float64, with the exact GELU (or
its approximation), and shares no code with the package.
"""

import math
from typing import Any

import numpy as np

Weights = dict[str, np.ndarray]
_ERF = np.vectorize(math.erf)


def gelu(x: np.ndarray) -> np.ndarray:
    """x times the normal distribution function at x."""
    return 0.5 * x * (1.0 + _ERF(x / math.sqrt(2.0)))


def gelu_tanh(x: np.ndarray) -> np.ndarray:
    """Google's approximation of it."""
    return 0.5 * x * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))


ACTIVATIONS = {"gelu": gelu, "gelu_new": gelu_tanh, "relu": lambda x: np.maximum(x, 0.0)}


def reference_bert(weights: Weights, config: dict[str, Any], ids: list[int]) -> np.ndarray:
    """States [S, D] of one sequence of sub-word ids, all of segment 0."""
    w = {name: value.astype(np.float64) for name, value in weights.items()}
    epsilon = config["layer_norm_eps"]

    def norm(x, name):
        mean = x.mean(axis=-1, keepdims=True)
        deviation = np.sqrt(((x - mean) ** 2).mean(axis=-1, keepdims=True) + epsilon)
        return (x - mean) / deviation * w[f"{name}.weight"] + w[f"{name}.bias"]

    def dense(x, name):
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    x = np.stack(
        [
            w["embeddings.word_embeddings.weight"][number]
            + w["embeddings.position_embeddings.weight"][position]
            + w["embeddings.token_type_embeddings.weight"][0]
            for position, number in enumerate(ids)
        ]
    )
    x = norm(x, "embeddings.LayerNorm")
    heads = config["num_attention_heads"]
    size = config["hidden_size"] // heads
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        queries, keys, values = (
            dense(x, f"{layer}.attention.self.{name}") for name in ("query", "key", "value")
        )
        attended = np.zeros_like(x)
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            for i in range(len(ids)):
                scores = keys[:, part] @ queries[i, part] / math.sqrt(size)
                shares = np.exp(scores - scores.max())
                attended[i, part] = (shares / shares.sum()) @ values[:, part]
        x = norm(
            x + dense(attended, f"{layer}.attention.output.dense"),
            f"{layer}.attention.output.LayerNorm",
        )
        inner = ACTIVATIONS[config["hidden_act"]](dense(x, f"{layer}.intermediate.dense"))
        x = norm(x + dense(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    return x
