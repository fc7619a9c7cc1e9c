"""A tagger: representation, encoder and decoder; the base of every system."""

from typing import Any

import numpy as np
import tensorflow as tf

from uanet_tf.config import Config, from_dict
from uanet_tf.data.token_lookup import TokenLookup
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.inference.monte_carlo import draft_uncertainty, sample_states, sampling_seed
from uanet_tf.inference.output_labels import OutputLabels
from uanet_tf.models import registry
from uanet_tf.models.tagger_properties import TaggerProperties
from uanet_tf.ops.dropout import fold_in
from uanet_tf.ops.expectation_linear import expectation_linear_penalty
from uanet_tf.ops.masking import sequence_mask
from uanet_tf.representation.form_representation import FormRepresentation

Tensors = dict[str, tf.Tensor]


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class Tagger(TaggerProperties, tf.keras.Model):
    """Tags sentences: strings in, labels with uncertainty and confidence out.

    Args:
      config: a Config, or what its ``to_dict`` gives.
      vocabulary: a Vocabulary, or what its ``to_dict`` gives.

    Call arguments:
      inputs: a dictionary with ``tokens`` [B, T] strings and ``lengths`` [B] int32; what
        stands at or beyond ``lengths`` is never looked at. Features (see
        ``data.batching.BatchBuilder``) are taken in place of tokens.

    Returns:
      A dictionary: labels, draft_labels, refined_labels [B, T] strings in the scheme of
      the training file; uncertainty [B, T] in nats; confidence [B, T], probability of the
      given label; refined [B, T] boolean: the refined label was taken. "" and 0 at padding.
      Strings are bytes, as Keras gives them. A sentence is read in one piece, however long:
      ``uanet_tf.tag`` reads one of more than ``max_tokens`` in overlapping windows.
      With ``return_probabilities`` also probabilities [B, T, C] over ``class_names``.
    """

    def __init__(self, config: Config | dict, vocabulary: Vocabulary | dict, **kwargs: Any):
        super().__init__(**kwargs)
        self.settings = config if isinstance(config, Config) else from_dict(config)
        self.vocabulary = (
            vocabulary if isinstance(vocabulary, Vocabulary) else Vocabulary.from_dict(vocabulary)
        )
        self.lookup = TokenLookup(
            list(self.vocabulary.words),
            list(self.vocabulary.chars),
            normalize_digits=self.settings.data.normalize_digits,
            lowercase_words=self.settings.data.lowercase_words,
            max_chars=self.settings.data.max_chars,
            name="lookup",
        )
        self._outputs = OutputLabels(self.vocabulary.labels, self.vocabulary.scheme)
        self._num_samples = self.settings.sampling.num_samples
        self._mc_seed = self.settings.sampling.mc_seed
        self._return_probabilities = False
        self._refine_all = True
        self._tag_function: Any = None
        # A weight, so that a tuned Gamma is saved with the model and can be changed live.
        self.gamma = self.add_weight(
            name="gamma",
            shape=[],
            trainable=False,
            initializer=tf.keras.initializers.Constant(self.settings.sampling.threshold),
        )
        self.make_parts()
        # All weights exist from here on, so that a saved model can be filled at once.
        self.decide(self.features({"tokens": tf.constant([["a"]]), "lengths": tf.constant([1])}))
        self.built = True

    def make_parts(self) -> None:
        """Creates the layers."""
        self.representation = registry.make_representation(
            self.settings, self.vocabulary, "representation"
        )
        self.encoder = registry.make_encoder(self.settings)
        self.decoder = registry.make_decoder(self.settings, self.vocabulary)

    # ------------------------------------------------------------------ inference

    def features(self, inputs: Tensors) -> Tensors:
        """Tokens to features: each distinct token is looked up and represented once.

        Raises:
          InvalidArgumentError: a length is negative, or beyond the width of ``tokens``.
        """
        if "form_index" in inputs:
            return inputs
        tokens, lengths = inputs["tokens"], tf.cast(inputs["lengths"], tf.int32)
        # A batch of empty sentences alone still has one (padding) column.
        tokens = tf.pad(tokens, [[0, 0], [0, tf.maximum(0, 1 - tf.shape(tokens)[1])]])
        width = tf.shape(tokens)[1]
        tf.debugging.assert_less_equal(lengths, width, "A length is beyond the width of tokens.")
        tf.debugging.assert_non_negative(lengths, "A length is negative.")
        # Whatever a client or server put into the padding is made one and the same token.
        tokens = tf.where(sequence_mask(lengths, width), tokens, "")
        # With the padding token in front, so that a batch of nothing still has a form.
        forms, index = tf.unique(tf.concat([[""], tf.reshape(tokens, [-1])], axis=0))
        word_ids, char_ids = self.lookup(forms)
        return {
            "form_word_ids": word_ids,
            "form_char_ids": char_ids,
            "form_index": tf.reshape(index[1:], tf.shape(tokens)),
            "lengths": lengths,
        }

    def draft(self, features: Tensors) -> Tensors:
        """Samples the draft.

        Returns:
          label_ids [B, T], probabilities p [B, T, C], uncertainty u [B, T] in nats, 0 at
          padding, and the mask [B, T].
        """
        mask = sequence_mask(features["lengths"], tf.shape(features["form_index"])[1])
        states = sample_states(
            self.encoder,
            self.representation(features),
            mask,
            num_samples=self._num_samples,
            seed=sampling_seed(self._mc_seed),
        )
        drafted = self.decoder.decide(states, mask)
        u = draft_uncertainty(drafted["samples"], self.settings.sampling.uncertainty)
        return {
            "label_ids": drafted["label_ids"],
            "probabilities": drafted["probabilities"],
            "uncertainty": tf.where(mask, u, 0.0),
            "mask": mask,
        }

    def decide(self, features: Tensors, threshold: tf.Tensor | None = None) -> Tensors:
        """Labels as class ids, and what they rest on.

        Args:
          features: of the batch.
          threshold: Gamma in nats, a scalar or one a sentence [B]; None: the model's. A tagger
            without a refiner has no gate, and does not look at it.

        Returns:
          label_ids, draft_label_ids, refined_label_ids [B, T]; refined [B, T] boolean;
          confidence, uncertainty [B, T]; probabilities [B, T, C], the distribution that the
          label comes from; mask [B, T].
        """
        del threshold
        drafted = self.draft(features)
        ids, p, mask = drafted["label_ids"], drafted["probabilities"], drafted["mask"]
        # Not the maximum: a decoded sequence may pass over a token's most probable label.
        confidence = tf.gather(p, ids, axis=-1, batch_dims=2)
        return {
            **drafted,
            "draft_label_ids": ids,
            "refined_label_ids": ids,
            "refined": tf.zeros_like(mask),
            "confidence": tf.where(mask, confidence, 0.0),
        }

    def tag(self, features: Tensors) -> Tensors:
        """As ``decide``, with labels as positions in ``label_names``."""
        decided = self.decide(features)
        mask = decided["mask"]
        return {
            "labels": self._outputs(decided["label_ids"], mask),
            "draft_labels": self._outputs(decided["draft_label_ids"], mask),
            "refined_labels": self._outputs(decided["refined_label_ids"], mask),
            **{key: decided[key] for key in ("uncertainty", "confidence", "refined")},
            "probabilities": decided["probabilities"],
            "mask": mask,
        }

    def call(self, inputs, training=None):
        tagged = self.tag(self.features(inputs))
        names = tf.constant(self.label_names)
        outputs = {
            key: tf.where(tagged["mask"], tf.gather(names, tagged[key]), "")
            for key in ("labels", "draft_labels", "refined_labels")
        }
        outputs.update({key: tagged[key] for key in ("uncertainty", "confidence", "refined")})
        if self._return_probabilities:
            kept = tf.expand_dims(tagged["mask"], -1)
            outputs["probabilities"] = tf.where(kept, tagged["probabilities"], 0.0)
        if "tokens" in inputs:
            width = tf.shape(inputs["tokens"])[1]
            outputs = {name: values[:, :width] for name, values in outputs.items()}
        return outputs

    def tag_batch(self, tokens: np.ndarray, lengths: np.ndarray) -> dict[str, np.ndarray]:
        """Tags one padded batch; labels are positions in ``label_names``.

        Args:
          tokens: [B, T] strings.
          lengths: [B] tokens of each sentence.
        """
        if self._tag_function is None:
            strings = tf.TensorSpec([None, None], tf.string)
            numbers = tf.TensorSpec([None], tf.int32)

            def run(tokens, lengths):
                tagged = self.tag(self.features({"tokens": tokens, "lengths": lengths}))
                return {key: tagged[key] for key in tagged if key not in _INTERNAL}

            self._tag_function = tf.function(run, input_signature=[strings, numbers])
        tagged = self._tag_function(tf.constant(tokens, tf.string), tf.constant(lengths, tf.int32))
        return {key: value.numpy() for key, value in tagged.items()}

    # ------------------------------------------------------------------- training

    def losses(self, features: Tensors, labels: tf.Tensor, dropout_seed: tf.Tensor) -> Tensors:
        """Loss of one sampled pass, summed over tokens, for each part (Eq. 9).

        Args:
          features: of one batch.
          labels: [B, T] class ids.
          dropout_seed: [2] int32 seed of this step's masks.
        """
        loss, _, _ = self.draft_loss(features, labels, dropout_seed)
        return {"draft": loss}

    def draft_loss(
        self, features: Tensors, labels: tf.Tensor, dropout_seed: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Loss of the draft under one draw of masks a sentence.

        Returns:
          The loss, a scalar; the states [B, T, H] that it scores; the mask [B, T].
        """
        mask = sequence_mask(features["lengths"], tf.shape(features["form_index"])[1])
        vectors, auxiliary = self.representation.with_auxiliary_loss(
            features, dropout_seed=fold_in(dropout_seed, 0)
        )
        # An iterated encoder is scored after every iterate: K states of each token.
        states = tf.unstack(
            self.encoder.training_states(vectors, mask, fold_in(dropout_seed, 1))
        )  # K times [B, T, H]
        seed = fold_in(dropout_seed, 3)
        losses = [self.decoder.loss(part, labels, mask, seed) for part in states]
        loss = tf.add_n(losses) / len(losses) + auxiliary
        weight = self.settings.training.expectation_linear
        if weight:
            plain = self.encoder.training_states(self.representation(features), mask, None)
            loss += weight * expectation_linear_penalty(tf.stack(states), plain, mask) / len(states)
        return loss, states[-1], mask

    def variable_groups(self) -> dict[str, list[tf.Variable]]:
        """Trainable variables by the optimizer that updates them."""
        parts = (self.representation, self.encoder, self.decoder)
        return {"draft": [v for part in parts for v in part.trainable_variables]}

    def word_representations(self) -> list[FormRepresentation]:
        """Every layer that owns a word embedding, for pretrained vectors."""
        return [self.representation]

    def get_config(self):
        return {
            "name": self.name,
            "config": self.settings.to_dict(),
            "vocabulary": self.vocabulary.to_dict(),
        }

    def get_build_config(self):
        return {}

    def build_from_config(self, config):
        """Nothing to build: ``__init__`` made every weight."""


_INTERNAL = ("probabilities", "mask")
