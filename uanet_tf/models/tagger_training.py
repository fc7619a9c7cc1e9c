"""What a tagger is trained by: its losses, and who updates which weights."""

import tensorflow as tf

from uanet_tf.config import Config
from uanet_tf.decoders.decoder import Decoder
from uanet_tf.encoders.encoder import Encoder
from uanet_tf.ops.dropout import fold_in
from uanet_tf.ops.expectation_linear import expectation_linear_penalty
from uanet_tf.ops.masking import sequence_mask
from uanet_tf.representation.form_representation import FormRepresentation
from uanet_tf.representation.representation import Representation

Tensors = dict[str, tf.Tensor]


class TaggerTraining:
    """The part of ``Tagger`` that only training calls."""

    representation: Representation
    encoder: Encoder
    decoder: Decoder
    settings: Config

    def losses(self, features: Tensors, labels: tf.Tensor, dropout_seed: tf.Tensor) -> Tensors:
        """Loss of one sampled pass, summed over tokens, for each part (Eq. 9).

        Args:
          features: of one batch.
          labels: [B, T] class ids.
          dropout_seed: [2] int32 seed of this step's masks.
        """
        losses, _, _ = self.draft_losses(features, labels, dropout_seed)
        return losses

    def draft_losses(
        self, features: Tensors, labels: tf.Tensor, dropout_seed: tf.Tensor
    ) -> tuple[Tensors, tf.Tensor, tf.Tensor]:
        """Losses of the draft under one draw of masks a sentence.

        Returns:
          The losses, scalars, by the optimizer that minimizes them; the states [B, T, H] that
          they score; the mask [B, T].
        """
        mask = sequence_mask(features["lengths"], tf.shape(features["form_index"])[1])
        features = self.read_training(features, dropout_seed)
        vectors, auxiliary = self.representation.with_auxiliary_loss(
            features, dropout_seed=fold_in(dropout_seed, 0)
        )
        # An iterated encoder is scored after every iterate: K states of each token.
        states = tf.unstack(
            self.encoder.training_states(vectors, mask, fold_in(dropout_seed, 1))
        )  # K times [B, T, H]
        seed = fold_in(dropout_seed, 3)
        parts = [self.decoder.losses(part, labels, mask, seed) for part in states]
        losses = {name: tf.add_n([part[name] for part in parts]) / len(parts) for name in parts[0]}
        losses["draft"] += auxiliary
        weight = self.settings.training.expectation_linear
        if weight:
            plain = self.encoder.training_states(self.representation(features), mask, None)
            gap = expectation_linear_penalty(tf.stack(states), plain, mask)
            losses["draft"] += weight * gap / len(states)
        return losses, states[-1], mask

    def read_training(self, features: Tensors, dropout_seed: tf.Tensor) -> Tensors:
        """Features of a training step with what is computed once in it; see ``Representation``."""
        return self.representation.read(features, fold_in(dropout_seed, 4))

    def variable_groups(self) -> dict[str, list[tf.Variable]]:
        """Trainable variables by the optimizer that updates them.

        A decoder with optimizers of its own shares the layers below among them.
        """
        own, shared = self.representation.trainable_variables, []
        groups = {}
        if self.representation.optimizer == "draft":
            shared += own
        elif own:
            groups[self.representation.optimizer] = list(own)
        shared += self.encoder.trainable_variables
        decoders = {name: shared + part for name, part in self.decoder.variable_groups().items()}
        return {**decoders, **groups}

    def word_representations(self) -> list[FormRepresentation]:
        """Every layer that owns a word embedding, for pretrained vectors."""
        own = self.representation
        return [own] if isinstance(own, FormRepresentation) else []
