"""Eq. 7 and 8 in plain NumPy with explicit loops, for whatever is built of these layers."""

import numpy as np
import tensorflow as tf

HEADS, HEAD_WIDTH = 3, 5
WIDTH = HEADS * HEAD_WIDTH


def reference_sinusoid(distance: int) -> np.ndarray:
    sines, cosines = (WIDTH + 1) // 2, WIDTH // 2
    angle = [distance / 10000 ** (2 * k / WIDTH) for k in range(sines)]
    return np.array([np.sin(a) for a in angle] + [np.cos(a) for a in angle[:cosines]])


def reference_attention(words, context, mask, w_q, w_k, w_v, w_kr, u, v):
    """Eq. 7, one number at a time."""
    batch, length = mask.shape
    outputs = np.zeros([batch, length, WIDTH])
    for b in range(batch):
        tokens = [j for j in range(length) if mask[b, j]]
        for head in range(HEADS):
            part = slice(head * HEAD_WIDTH, (head + 1) * HEAD_WIDTH)
            for i in range(length):
                query = words[b, i] @ w_q[:, part]
                scores = []
                for j in tokens:
                    key = context[b, j] @ w_k[:, part]
                    position = reference_sinusoid(i - j) @ w_kr[:, part]
                    score = query @ key + query @ position + u[part] @ key + v[part] @ position
                    scores.append(score / np.sqrt(HEAD_WIDTH))
                weights = np.exp(scores) / np.sum(np.exp(scores))
                for weight, j in zip(weights, tokens, strict=True):
                    outputs[b, i, part] += weight * (context[b, j] @ w_v[:, part])
    return outputs


def normal(x, scale, offset):
    return (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True) * scale + offset


def reference_stream(stream, w_kr, words, context, residual, mask, masks=None):
    """Eq. 8 for one AttentionStream; ``masks`` are rows a sentence on its two outputs."""
    masks = {name: rows[:, None] for name, rows in (masks or {}).items()}
    weights = {w.name.rsplit("/", 1)[-1][:-2]: w.numpy().astype(float) for w in stream.weights}
    if stream.context_width is None:
        w_q, w_k, w_v = np.split(weights["kernel"], 3, axis=1)
    else:
        w_q, (w_k, w_v) = weights["query_kernel"], np.split(weights["context_kernel"], 2, axis=1)
    u, v = weights["content_bias"], weights["position_bias"]
    attended = reference_attention(words, context, mask, w_q, w_k, w_v, w_kr, u, v)
    h = attended @ weights["output_kernel"] + weights["output_bias"]
    h = residual + h * masks.get("attention", 1)
    h = normal(h, weights["attention_norm_scale"], weights["attention_norm_offset"])
    hidden = np.maximum(h @ weights["hidden_kernel"] + weights["hidden_bias"], 0)
    forward = hidden @ weights["feedforward_kernel"] + weights["feedforward_bias"]
    h = h + forward * masks.get("feedforward", 1)
    return normal(h, weights["feedforward_norm_scale"], weights["feedforward_norm_offset"])


def randomise(layer: tf.keras.layers.Layer) -> None:
    """Gives all weights, those that start at 0 or 1 as well, values that show in the outputs."""
    rng = np.random.default_rng(8)
    layer.set_weights([0.5 * rng.standard_normal(w.shape) for w in layer.get_weights()])
