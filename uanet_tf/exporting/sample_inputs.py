"""Sentences to check an exported model and to warm up a server."""

from collections.abc import Sequence

import numpy as np

from uanet_tf.data.vocabulary import Vocabulary

# What is rare in training data: empty words, blanks, other scripts, digits, a very long word.
_ODD = ("", " ", "Ωmega", "東京", "😀", "٣,٥", "1984", "x" * 200, "a\rb", "c\td", "e\u2028f")
_LENGTHS = (1, 2, 3, 5, 8, 13, 21, 34, 1, 4, 7, 12, 20)
_COMMON = 2_000  # words that the sentences are drawn from


def sample_sentences(
    vocabulary: Vocabulary, lengths: Sequence[int] = _LENGTHS, *, seed: int = 1
) -> list[list[str]]:
    """Sentences of a vocabulary's words, now and then an unusual one; the same ones everywhere."""
    random = np.random.default_rng(seed)
    words = vocabulary.words[:_COMMON] or ("word",)
    return [
        [
            _ODD[random.integers(len(_ODD))]
            if random.random() < 0.15
            else words[random.integers(len(words))]
            for _ in range(length)
        ]
        for length in lengths
    ]


def pad_documents(documents: Sequence[Sequence[Sequence[str]]]) -> dict[str, np.ndarray]:
    """A batch of documents, filled up as ``pad`` does: the inputs of ``document_signature``."""
    joined = [[token for sentence in document for token in sentence] for document in documents]
    counts = [len(document) for document in documents]
    lengths = np.full([len(documents), max([1, *counts])], 7, np.int32)
    for row, document in enumerate(documents):
        lengths[row, : len(document)] = [len(sentence) for sentence in document]
    return {
        "tokens": pad(joined)["tokens"],
        "sentence_lengths": lengths,
        "sentences": np.array(counts, np.int32),
    }


def pad(sentences: Sequence[Sequence[str]]) -> dict[str, np.ndarray]:
    """A batch as TF Serving makes one: short sentences are filled with the first token of all.

    Its tokens [B, T] strings and lengths [B] int32; T is the longest length, at least 1.
    """
    lengths = [len(sentence) for sentence in sentences]
    fill = next((tokens[0] for tokens in sentences if tokens), "")
    width = max([1, *lengths])
    rows = [[*tokens, *[fill] * (width - len(tokens))] for tokens in sentences]
    tokens = np.array(rows, object).reshape(len(sentences), width)
    return {"tokens": tokens, "lengths": np.array(lengths, np.int32)}
