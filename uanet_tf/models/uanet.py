"""UANet: draft, refine, gate."""

import tensorflow as tf

from uanet_tf.decoders.decoder import Decoder
from uanet_tf.decoders.softmax import SoftmaxDecoder
from uanet_tf.inference.refinement_gate import passes, refinement_gate
from uanet_tf.models.tagger import Tagger, Tensors
from uanet_tf.ops.cross_entropy import masked_cross_entropy
from uanet_tf.ops.dropout import fold_in
from uanet_tf.refiner.two_stream_refiner import TwoStreamRefiner
from uanet_tf.representation.form_representation import FormRepresentation
from uanet_tf.representation.representation import OF_SENTENCES


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class UANet(Tagger):
    """A tagger whose uncertain draft labels are refined from words and draft labels.

    Arguments, inputs and outputs are those of ``Tagger``.

    Reference:
      Gui et al., EMNLP 2020, "Uncertainty-Aware Label Refinement for Sequence Labeling".
    """

    def make_parts(self) -> None:
        super().make_parts()
        self.refiner = TwoStreamRefiner.from_settings(
            self.settings, self.vocabulary, name="refiner"
        )
        self.refiner_representation = None
        if self.settings.decoder.refiner_embeddings == "own":
            self.refiner_representation = self.make_representation("refiner_representation")

    @property
    def refines_states(self) -> bool:
        """Whether the refiner reads the drafter's states; see ``--refiner_states``."""
        return self.settings.decoder.refiner_states

    def make_decoder(self, name: str) -> Decoder:
        """The decoder of the draft: a softmax (Eq. 4)."""
        return SoftmaxDecoder.from_settings(self.settings, self.vocabulary, name=name)

    def decide(self, features: Tensors, threshold: tf.Tensor | None = None) -> Tensors:
        """Draft, refinement and gate; see ``Tagger.decide`` and ``refinement_gate``."""
        drafted = self.draft(features, threshold)
        p, u, mask = (drafted[key] for key in ("probabilities", "uncertainty", "mask"))
        gamma = self.gamma if threshold is None else threshold
        refined = self.refine(features, drafted, None if self.refine_all else passes(u, gamma))
        gated = refinement_gate(p, refined, u, gamma, mask)
        chosen = gated["probabilities"]
        ids, refined_ids = self.valid_labels(
            [gated["label_ids"], gated["refined_label_ids"]], [chosen, refined], mask
        )
        return {
            "label_ids": ids,
            "draft_label_ids": drafted["label_ids"],
            "refined_label_ids": refined_ids,
            "refined": gated["refined"],
            "confidence": tf.where(mask, tf.gather(chosen, ids, axis=-1, batch_dims=2), 0.0),
            "uncertainty": u,
            "probabilities": chosen,
            "mask": mask,
        }

    def refine(
        self,
        features: Tensors,
        drafted: Tensors,
        asked: tf.Tensor | None = None,
    ) -> tf.Tensor:
        """Refined distribution p_hat [B, T, C].

        Args:
          features: of the batch.
          drafted: what ``draft`` gave for them; probabilities p [B, T, C], the mask [B, T] and,
            with ``refiner_states``, states [B, T, H] are read.
          asked: [B, T] boolean, tokens whose refined label is wanted; the others keep their
            draft. None: all.
        """
        read = ["probabilities", "mask", *(["states"] if self.refines_states else [])]
        drafted = {key: drafted[key] for key in read}
        if asked is None:
            return self._refined(features, drafted)
        # Sentences do not see one another, so leaving some out changes nothing for the others.
        asked &= drafted["mask"]
        rows = tf.where(tf.reduce_any(asked, axis=1))  # [R, 1]
        return tf.cond(
            tf.size(rows) > 0,
            lambda: self._refined_tokens(features, drafted, asked, rows),
            lambda: drafted["probabilities"],
        )

    def _refined(
        self,
        features: Tensors,
        drafted: Tensors,
        query_positions: tf.Tensor | None = None,
    ) -> tf.Tensor:
        words, _ = self._refiner_words(features, drafted)
        p, mask = drafted["probabilities"], drafted["mask"]
        logits = self.refiner(words, p, mask=mask, query_positions=query_positions)
        return tf.nn.softmax(tf.cast(logits, tf.float32))

    def _refined_tokens(
        self,
        features: Tensors,
        drafted: Tensors,
        asked: tf.Tensor,
        rows: tf.Tensor,
    ) -> tf.Tensor:
        """Refines the tokens ``asked`` of the sentences ``rows`` [R, 1]."""
        rows = rows[:, 0]
        of_sentences = {name: features[name] for name in OF_SENTENCES if name in features}
        part = {**features, **{k: tf.gather(v, rows) for k, v in of_sentences.items()}}
        asked = tf.gather(asked, rows)  # [R, T]
        counts = tf.reduce_sum(tf.cast(asked, tf.int32), axis=1)
        most = tf.reduce_max(counts)  # Q
        # Among equals top_k takes the leftmost: asked tokens in order, then fillers.
        positions = tf.math.top_k(tf.cast(asked, tf.int32), k=most).indices  # [R, Q]
        part_drafted = {key: tf.gather(value, rows) for key, value in drafted.items()}
        refined = self._refined(part, part_drafted, positions)  # [R, Q, C]
        slots = tf.where(tf.sequence_mask(counts, most))  # [K, 2], K asked tokens
        sentences = tf.gather(rows, slots[:, 0])
        tokens = tf.cast(tf.gather_nd(positions, slots), tf.int64)
        targets = tf.stack([sentences, tokens], axis=1)
        draft = drafted["probabilities"]
        return tf.tensor_scatter_nd_update(draft, targets, tf.gather_nd(refined, slots))

    def losses(self, features: Tensors, labels: tf.Tensor, dropout_seed: tf.Tensor) -> Tensors:
        """L1 of the draft and L2 of the refined labels (Eq. 9, 10)."""
        features = self.read_training(features, dropout_seed)
        losses, states, mask = self.draft_losses(features, labels, dropout_seed)
        draft = tf.nn.softmax(tf.cast(self.decoder(states), tf.float32))
        seed = fold_in(dropout_seed, 2)
        words, auxiliary = self._refiner_words(features, {"states": states}, fold_in(seed, 0))
        refined = self.refiner(words, draft, mask=mask, dropout_seed=fold_in(seed, 1))
        return {**losses, "refined": masked_cross_entropy(refined, labels, mask) + auxiliary}

    def variable_groups(self) -> dict[str, list[tf.Variable]]:
        refiner = list(self.refiner.trainable_variables)
        if self.refiner_representation is not None:
            refiner += self.refiner_representation.trainable_variables
        return {**super().variable_groups(), "refined": refiner}

    def word_representations(self) -> list[FormRepresentation]:
        own = self.refiner_representation
        return super().word_representations() + ([] if own is None else [own])

    def _refiner_words(
        self, features: Tensors, drafted: Tensors, dropout_seed: tf.Tensor | None = None
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """What the refiner reads of words [B, T, D or D + H], and its representation's loss."""
        vectors, auxiliary = self._refiner_vectors(features, dropout_seed)
        if self.refines_states:
            # The drafter learns from its own loss only.
            states = tf.stop_gradient(tf.cast(drafted["states"], vectors.dtype))
            vectors = tf.concat([vectors, states], axis=-1)
        return vectors, auxiliary

    def _refiner_vectors(
        self, features: Tensors, dropout_seed: tf.Tensor | None
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """The refiner's word vectors [B, T, D], and the loss of its own representation."""
        if self.refiner_representation is not None:
            return self.refiner_representation.with_auxiliary_loss(
                features, dropout_seed=dropout_seed
            )
        # The drafter's words are the drafter's to train (two optimizers, Eq. 9 and 10).
        vectors = self.representation(features, dropout_seed=dropout_seed)
        return tf.stop_gradient(vectors), tf.zeros([])
