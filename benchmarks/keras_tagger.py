"""A plain Keras tagger, as one would write it without this package: a yardstick.

Word embeddings (100) and a character CNN (50), a BiLSTM (200 per direction), dropout 0.5 before
and after it, softmax over BIOES, Adam 1e-3, batches of 16 sentences as they come. The epoch that is
best on the development file is kept. No vectors, no samples, no tuning.
"""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from uanet_lite.sentence import Sentence
from uanet_lite.tag_schemes import convert
from uanet_tf.metrics.scoring import score_systems

BATCH = 16
MOST_CHARACTERS = 20


class KerasTagger:
    """The tagger.

    Args:
      train: sentences with labels in IOB2.
    """

    def __init__(self, train: Sequence[Sentence]):
        words = sorted({word for sentence in train for word in sentence.tokens})
        characters = sorted(set("".join(words)))
        self._labels = ["O", *sorted({label for s in train for label in _bioes(s)} - {"O"})]
        self._words = tf.keras.layers.StringLookup(vocabulary=words, mask_token="")
        self._characters = tf.keras.layers.StringLookup(vocabulary=characters, mask_token="")
        self.model = _build(len(words) + 2, len(characters) + 2, len(self._labels))
        self._train = train

    def fit(self, dev: Sequence[Sentence], epochs: int) -> float:
        """Trains; the F1 of the best epoch on ``dev``, whose weights are kept.

        Args:
          dev: sentences with labels in IOB2.
          epochs: over the training sentences.
        """
        loss = tf.keras.losses.SparseCategoricalCrossentropy()
        self.model.compile(tf.keras.optimizers.Adam(1e-3), loss)
        classes = {label: number for number, label in enumerate(self._labels)}
        best, weights = -1.0, self.model.get_weights()
        for _ in range(epochs):
            for rows in np.array_split(
                np.random.permutation(len(self._train)), -(-len(self._train) // BATCH)
            ):
                batch = [self._train[row] for row in rows]
                features = self._features(batch)
                gold = np.zeros(features[0].shape, np.int32)
                for row, sentence in enumerate(batch):
                    gold[row, : len(sentence.tokens)] = [classes[x] for x in _bioes(sentence)]
                mask = tf.cast(features[0] > 0, tf.float32)
                self.model.train_on_batch(features, gold, sample_weight=mask)
            if (score := self.score(dev)) > best:
                best, weights = score, self.model.get_weights()
        self.model.set_weights(weights)
        return best

    def score(self, sentences: Sequence[Sentence]) -> float:
        """Entity F1, in percent."""
        found: list[list[str]] = []
        sentences = sorted(sentences, key=lambda sentence: len(sentence.tokens))
        for start in range(0, len(sentences), 64):
            batch = sentences[start : start + 64]
            ids = self.model.predict_on_batch(self._features(batch)).argmax(-1)
            for row, sentence in zip(ids, batch, strict=True):
                found.append([self._labels[k] for k in row[: len(sentence.tokens)]])
        gold = [_bioes(sentence) for sentence in sentences]
        return score_systems(gold, task="ner", found=found)["found"]["f1"]

    def _features(self, batch: Sequence[Sentence]) -> tuple[tf.Tensor, tf.Tensor]:
        """Ids of words [B, T] and of their characters [B, T, C]; 0 is padding."""
        words = tf.ragged.constant([sentence.tokens for sentence in batch]).to_tensor("")
        characters = tf.strings.unicode_split(words, "UTF-8").to_tensor("")
        return self._words(words), self._characters(characters[..., :MOST_CHARACTERS])


def _build(words: int, characters: int, labels: int) -> tf.keras.Model:
    layers = tf.keras.layers
    word_ids = tf.keras.Input([None], dtype=tf.int64)
    character_ids = tf.keras.Input([None, None], dtype=tf.int64)
    x = layers.Embedding(words, 100)(word_ids)
    c = layers.Embedding(characters, 30)(character_ids)
    c = layers.TimeDistributed(layers.Conv1D(50, 3, padding="same", activation="relu"))(c)
    c = layers.TimeDistributed(layers.GlobalMaxPooling1D())(c)
    x = layers.Dropout(0.5)(layers.Concatenate()([x, c]))
    mask = layers.Lambda(lambda ids: ids > 0)(word_ids)
    x = layers.Bidirectional(layers.LSTM(200, return_sequences=True))(x, mask=mask)
    p = layers.Dense(labels, activation="softmax")(layers.Dropout(0.5)(x))
    return tf.keras.Model([word_ids, character_ids], p)


def _bioes(sentence: Sentence) -> list[str]:
    return convert(sentence.labels, "IOB2", "BIOES")
