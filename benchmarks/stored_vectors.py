"""What the bits of stored vectors change: labels beside those of the file's own float32 vectors.

    python -m benchmarks.stored_vectors RUN VECTORS DATA ...

RUN was trained with ``--word_vectors=VECTORS``. Prints the share of tokens of the labelled files
whose label is the same.
"""

import sys
from typing import Any

import numpy as np
import tensorflow as tf

from benchmarks.command_line import make_parser
from uanet_lite.columns_file import read_corpus
from uanet_lite.token_ids import FIRST_ID
from uanet_tf.data.lookup import normalize_words
from uanet_tf.data.vectors_file import read_vectors
from uanet_tf.models.loading import load_model
from uanet_tf.tagging.streams import tag_in_context


def float_vectors(model: Any, path: str) -> np.ndarray:
    """The file's vectors of a model's words [V, D], by id; 0 of words that it does not have."""
    data = model.settings.data
    words, matrix = read_vectors(path, width=model.settings.representation.word_width)
    forms = normalize_words(
        tf.constant(words), digits=data.normalize_digits, lowercase=data.lowercase_words
    )
    numbers = {word: number for number, word in enumerate(words)}
    for number, form in enumerate(forms.numpy()):
        numbers.setdefault(form.decode(), number)
    rows = np.zeros([len(model.vocabulary.words) + FIRST_ID, matrix.shape[1]], np.float32)
    for place, word in enumerate(model.vocabulary.words, FIRST_ID):
        found = numbers.get(word, numbers.get(word.lower()))
        if found is not None:
            rows[place] = matrix[found]
    return rows


class FloatVectors:
    """Looks ids up as ``PretrainedVectors`` does, in float32."""

    def __init__(self, rows: np.ndarray, has_vector: np.ndarray):
        self.rows, self.has_vector = tf.constant(rows), tf.constant(has_vector)

    def __call__(self, ids: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return tf.gather(self.rows, ids), tf.gather(self.has_vector, ids)


def labels(model: Any, paths: list[str]) -> np.ndarray:
    """The labels given to all tokens."""
    data = model.settings.data
    columns = {"token_column": data.token_column, "label_column": data.label_column}
    sentences = (each for path in paths for each in read_corpus(path, **columns))
    return np.array([x for _, answer in tag_in_context(model, sentences) for x in answer.labels])


def main(run_dir: str, vectors: str, paths: list[str]) -> None:
    """Prints the agreement."""
    stored = labels(load_model(run_dir), paths)
    model: Any = load_model(run_dir)
    part = model.drafter.representation.pretrained
    rows = float_vectors(model, vectors)
    error = np.abs(part.rows.numpy() * part.scales.numpy()[:, None] - rows).max()
    part.call = FloatVectors(rows, part.scales.numpy() > 0)
    same = stored == labels(model, paths)
    sys.stdout.write(
        f"{100 * same.mean():.3f} % of {len(same):,} labels are the same; of numbers the largest "
        f"error is {error:.4f}\n"
    )


if __name__ == "__main__":
    parser = make_parser("stored_vectors", __doc__)
    parser.add_argument("run_dir")
    parser.add_argument("vectors")
    parser.add_argument("data", nargs="+")
    arguments = parser.parse_args()
    main(arguments.run_dir, arguments.vectors, arguments.data)
