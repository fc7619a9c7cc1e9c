"""UANet: draft, refine, gate."""

import tensorflow as tf

from uanet_tf.inference.refinement_gate import passes, refinement_gate
from uanet_tf.models import registry
from uanet_tf.models.tagger import Tagger, Tensors
from uanet_tf.ops.cross_entropy import masked_cross_entropy
from uanet_tf.ops.dropout import fold_in
from uanet_tf.representation.form_representation import FormRepresentation


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

    def decide(self, features: Tensors, threshold: tf.Tensor | None = None) -> Tensors:
        """Draft, refinement and gate; see ``Tagger.decide`` and ``refinement_gate``."""
        drafted = self.draft(features)
        p, u, mask = (drafted[key] for key in ("probabilities", "uncertainty", "mask"))
        gamma = self.gamma if threshold is None else threshold
        refined = self.refine(features, p, mask, None if self.refine_all else passes(u, gamma))
        decided = refinement_gate(p, refined, u, gamma, mask)
        chosen = tf.where(tf.expand_dims(decided["refined"], -1), refined, p)
        return {**decided, "uncertainty": u, "probabilities": chosen, "mask": mask}

    def refine(
        self,
        features: Tensors,
        draft: tf.Tensor,
        mask: tf.Tensor,
        asked: tf.Tensor | None = None,
    ) -> tf.Tensor:
        """Refined distribution p_hat [B, T, C].

        Args:
          features: of the batch.
          draft: [B, T, C] mean draft distribution p.
          mask: [B, T] boolean.
          asked: [B, T] boolean, tokens whose refined label is wanted: sentences without one
            keep their draft. None: all.
        """
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
        words, _ = self._refiner_words(features)
        logits = self.refiner(words, draft, mask=mask)
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
        loss, states, mask = self.draft_loss(features, labels, dropout_seed)
        draft = tf.nn.softmax(tf.cast(self.decoder(states), tf.float32))
        words, auxiliary = self._refiner_words(features, fold_in(fold_in(dropout_seed, 2), 0))
        refined = self.refiner(
            words, draft, mask=mask, dropout_seed=fold_in(fold_in(dropout_seed, 2), 1)
        )
        return {"draft": loss, "refined": masked_cross_entropy(refined, labels, mask) + auxiliary}

    def variable_groups(self) -> dict[str, list[tf.Variable]]:
        refiner = list(self.refiner.trainable_variables)
        if self.refiner_representation is not None:
            refiner += self.refiner_representation.trainable_variables
        return {**super().variable_groups(), "refined": refiner}

    def word_representations(self) -> list[FormRepresentation]:
        own = self.refiner_representation
        return super().word_representations() + ([] if own is None else [own])

    def _refiner_words(
        self, features: Tensors, dropout_seed: tf.Tensor | None = None
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """The refiner's word vectors [B, T, D], and the loss of its own representation."""
        if self.refiner_representation is not None:
            return self.refiner_representation.with_auxiliary_loss(
                features, dropout_seed=dropout_seed
            )
        # The drafter's words are the drafter's to train (two optimizers, Eq. 9 and 10).
        vectors = self.representation(features, dropout_seed=dropout_seed)
        return tf.stop_gradient(vectors), tf.zeros([])
