"""UANet: draft, refine, gate."""

import tensorflow as tf

from uanet_tf.models import registry
from uanet_tf.models.tagger import Tagger, Tensors
from uanet_tf.ops.cross_entropy import masked_cross_entropy
from uanet_tf.ops.dropout import fold_in
from uanet_tf.representation.word_representation import WordRepresentation


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class UANet(Tagger):
    """A tagger whose uncertain draft labels are refined from words and draft labels.

    Arguments, inputs and outputs are those of ``Tagger``.

    Reference:
      Gui et al., EMNLP 2020, "Uncertainty-Aware Label Refinement for Sequence Labeling".
    """

    def make_parts(self) -> None:
        super().make_parts()
        self.refiner = registry.make_refiner(self.settings, len(self.vocabulary.labels))
        self.refiner_representation = None
        if self.settings.decoder.refiner_embeddings == "own":
            self.refiner_representation = registry.make_representation(
                self.settings, self.vocabulary, "refiner_representation"
            )

    def refine(self, features, draft, mask, asked=None):
        if asked is None:
            return self._refined(features, draft, mask)
        # Sentences do not see one another, so leaving some out changes nothing for the others.
        rows = tf.where(tf.reduce_any(asked & mask, axis=1))  # [R, 1]
        return tf.cond(
            tf.size(rows) > 0,
            lambda: self._refined_rows(features, draft, mask, rows),
            lambda: draft,
        )

    def _refined(self, features: Tensors, draft: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
        logits = self._refined_logits(features, draft, mask)
        return tf.nn.softmax(tf.cast(logits, tf.float32))

    def _refined_rows(
        self, features: Tensors, draft: tf.Tensor, mask: tf.Tensor, rows: tf.Tensor
    ) -> tf.Tensor:
        """Refines the sentences ``rows`` [R, 1]; the others keep their draft."""
        part = {
            **features,
            "form_index": tf.gather_nd(features["form_index"], rows),
            "lengths": tf.gather_nd(features["lengths"], rows),
        }
        refined = self._refined(part, tf.gather_nd(draft, rows), tf.gather_nd(mask, rows))
        return tf.tensor_scatter_nd_update(draft, rows, refined)

    def losses(self, features: Tensors, labels: tf.Tensor, dropout_seed: tf.Tensor) -> Tensors:
        """L1 of the draft and L2 of the refined labels (Eq. 9, 10)."""
        logits, mask = self.sampled_logits(features, dropout_seed)
        draft = tf.nn.softmax(tf.cast(logits, tf.float32))
        refined = self._refined_logits(features, draft, mask, fold_in(dropout_seed, 2))
        return {
            "draft": masked_cross_entropy(logits, labels, mask),
            "refined": masked_cross_entropy(refined, labels, mask),
        }

    def variable_groups(self) -> dict[str, list[tf.Variable]]:
        refiner = list(self.refiner.trainable_variables)
        if self.refiner_representation is not None:
            refiner += self.refiner_representation.trainable_variables
        return {**super().variable_groups(), "refined": refiner}

    def word_representations(self) -> list[WordRepresentation]:
        own = self.refiner_representation
        return super().word_representations() + ([] if own is None else [own])

    def _refined_logits(self, features, draft, mask, dropout_seed=None):
        words = self.refiner_representation or self.representation
        vectors = words(features, dropout_seed=fold_in(dropout_seed, 0))
        if self.refiner_representation is None:
            # The drafter's words are the drafter's to train (two optimizers, Eq. 9 and 10).
            vectors = tf.stop_gradient(vectors)
        return self.refiner(vectors, draft, mask=mask, dropout_seed=fold_in(dropout_seed, 1))
