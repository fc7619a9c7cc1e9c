"""A tagger: representation, encoder and decoder; the base of every system."""

import math
from typing import Any

import numpy as np
import tensorflow as tf

from uanet_tf.config import Config, from_dict
from uanet_tf.data.lookup import look_up, make_lookup
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.decoders.decoder import Decoder
from uanet_tf.inference.adaptive import NUM_CHECKPOINTS, adaptive_draft
from uanet_tf.inference.monte_carlo import draft_uncertainty, sample_states, sampling_seed
from uanet_tf.inference.output_labels import OutputLabels
from uanet_tf.inference.valid_labels import ValidLabels
from uanet_tf.models.layer_precision import layer_precision
from uanet_tf.models.tagger_properties import TaggerProperties
from uanet_tf.models.tagger_training import TaggerTraining, Tensors
from uanet_tf.ops.graph_function import graph_function
from uanet_tf.ops.masking import sequence_mask
from uanet_tf.registry import DECODERS, ENCODERS, REPRESENTATIONS, find
from uanet_tf.representation.representation import Representation
from uanet_tf.representation.spelling_layer import SpellingLayer
from uanet_tf.representation.word_representation import WordRepresentation


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class Tagger(TaggerProperties, TaggerTraining, tf.keras.Model):
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
        self.lookup = make_lookup(self.settings.data, self.vocabulary)
        self._outputs = OutputLabels(self.vocabulary.labels, self.vocabulary.scheme)
        self.valid_labels = ValidLabels(self.vocabulary.labels, self.internal_scheme)
        self._num_samples = self.settings.sampling.num_samples
        self._mc_seed = self.settings.sampling.mc_seed
        self._return_probabilities = False
        self._refine_all = True
        self._sampling = "exact"
        self._tag_function: Any = None
        # A weight, so that a tuned Gamma is saved with the model and can be changed live.
        self.gamma = self.add_weight(
            name="gamma",
            shape=[],
            trainable=False,
            initializer=tf.keras.initializers.Constant(self.settings.sampling.threshold),
        )
        # In nats, a row a checkpoint: a token at or below the first is certain, at or above the
        # second uncertain, and needs no more samples. At first none is ever settled.
        self.adaptive_limits = self.add_weight(
            name="adaptive_limits",
            shape=[NUM_CHECKPOINTS, 2],
            trainable=False,
            initializer=lambda shape, dtype: tf.constant([[-1.0, math.inf]] * shape[0], dtype),
        )
        with layer_precision(self.settings.training.mixed_bfloat16):
            self.make_parts()
        # All weights exist from here on, so that a saved model can be filled at once.
        self.decide(self.features({"tokens": tf.constant([["a"]]), "lengths": tf.constant([1])}))
        self.built = True
        self.sampling = self.settings.sampling.sampling

    def make_parts(self) -> None:
        """Creates the layers."""
        self.representation = self.make_representation("representation")
        self.encoder = self._make(ENCODERS[self.settings.encoder.encoder], "encoder")
        self.decoder = self.make_decoder("decoder")

    def make_representation(self, name: str) -> Representation:
        """The representation of the settings; a layer over characters with the words beside it."""
        line = REPRESENTATIONS[self.settings.representation.representation]
        if not issubclass(find(line), SpellingLayer):
            return self._make(line, name)
        return WordRepresentation.from_settings(
            self.settings, self.vocabulary, char_layer=self._make(line), name=name
        )

    def make_decoder(self, name: str) -> Decoder:
        """The decoder of the settings."""
        return self._make(DECODERS[self.settings.decoder.decoder], name)

    def _make(self, line: str, name: str | None = None) -> Any:
        return find(line).from_settings(self.settings, self.vocabulary, name=name)

    # ------------------------------------------------------------------ inference

    def features(self, inputs: Tensors) -> Tensors:
        """Tokens to features, see ``look_up``; what is computed once a batch included (BERT).

        Features in place of tokens, see ``data.batching.BatchBuilder``, are taken as they are.
        """
        if "form_index" not in inputs:
            inputs = look_up(self.lookup, inputs["tokens"], inputs["lengths"])
        return self.representation.read(inputs)

    def draft(self, features: Tensors, threshold: tf.Tensor | None = None) -> Tensors:
        """Samples the draft.

        Args:
          features: of the batch.
          threshold: the Gamma that follows, see ``decide``; adaptive sampling depends on it.

        Returns:
          label_ids [B, T], probabilities p [B, T, C], uncertainty u [B, T] in nats, 0 at
          padding, and the mask [B, T]; where the refiner reads them, states [B, T, H], their
          mean over the samples.
        """
        mask = sequence_mask(features["lengths"], tf.shape(features["form_index"])[1])
        words = self.representation(features)
        seed = sampling_seed(self._mc_seed)
        if self._sampling == "adaptive" and self.can_adapt:
            drafted = adaptive_draft(
                self.encoder,
                self.decoder,
                words,
                mask,
                limits=self._limits(threshold),
                num_samples=self._num_samples,
                seed=seed,
                keep_states=self.refines_states,
            )
            u = drafted["uncertainty"]
        else:
            states = sample_states(
                self.encoder, words, mask, num_samples=self._num_samples, seed=seed
            )
            drafted = self.decoder.decide(states, mask)
            if self.refines_states:
                drafted["states"] = tf.reduce_mean(states, axis=0)
            u = draft_uncertainty(drafted["samples"], self.settings.sampling.uncertainty)
        p = drafted["probabilities"]
        (label_ids,) = self.valid_labels([drafted["label_ids"]], [p], mask)
        return {
            "label_ids": label_ids,
            "probabilities": p,
            "uncertainty": tf.where(mask, u, 0.0),
            "mask": mask,
            **({"states": drafted["states"]} if self.refines_states else {}),
        }

    def _limits(self, threshold: tf.Tensor | None) -> tf.Tensor:
        """What counts as settled [S, 2], or [S, B, 1, 2]; it moves with Gamma."""
        if threshold is None:
            return self.adaptive_limits
        ratio = tf.where(self.gamma > 0.0, threshold / self.gamma, 1.0)
        ratio = tf.reshape(ratio, [1, -1, 1, 1])
        return tf.reshape(self.adaptive_limits, [-1, 1, 1, 2]) * ratio

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

    def tag(self, features: Tensors, threshold: tf.Tensor | None = None) -> Tensors:
        """As ``decide``, with labels as positions in ``label_names``."""
        decided = self.decide(features, threshold)
        mask = decided["mask"]
        return {
            "labels": self._outputs(decided["label_ids"], mask),
            "draft_labels": self._outputs(decided["draft_label_ids"], mask),
            "refined_labels": self._outputs(decided["refined_label_ids"], mask),
            **{key: decided[key] for key in ("uncertainty", "confidence", "refined")},
            "probabilities": decided["probabilities"],
            "mask": mask,
        }

    def tag_draft(self, features: Tensors) -> Tensors:
        """The draft alone: labels as positions in ``label_names``, uncertainty and mask."""
        drafted = self.draft(features)
        mask = drafted["mask"]
        labels = self._outputs(drafted["label_ids"], mask)
        return {"labels": labels, "uncertainty": drafted["uncertainty"], "mask": mask}

    # As in ``graph_function``, for the graphs that Keras makes.
    @tf.autograph.experimental.do_not_convert
    def call(self, inputs, training=None):
        return self.answer(inputs)

    def answer(self, inputs: Tensors, threshold: tf.Tensor | None = None) -> Tensors:
        """What a call returns; with ``threshold``, under another Gamma (see ``decide``)."""
        tagged = self.tag(self.features(inputs), threshold)
        outputs = {
            key: self._label_strings(tagged[key], tagged["mask"])
            for key in ("labels", "draft_labels", "refined_labels")
        }
        outputs.update({key: tagged[key] for key in ("uncertainty", "confidence", "refined")})
        if self._return_probabilities:
            kept = tf.expand_dims(tagged["mask"], -1)
            outputs["probabilities"] = tf.where(kept, tagged["probabilities"], 0.0)
        return _cut(outputs, inputs)

    def answer_draft(self, inputs: Tensors) -> Tensors:
        """The draft alone, without its refinement: labels and uncertainty, as a call's."""
        drafted = self.tag_draft(self.features(inputs))
        labels = self._label_strings(drafted["labels"], drafted["mask"])
        return _cut({"labels": labels, "uncertainty": drafted["uncertainty"]}, inputs)

    def _label_strings(self, positions: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
        """[B, T] positions in ``label_names`` as strings; "" at padding."""
        return tf.where(mask, tf.gather(tf.constant(self.label_names), positions), "")

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

            # The concrete function: of others TensorFlow counts how often they are made anew, and
            # warns who loads several models or tries several M.
            function = graph_function([strings, numbers])(run)
            self._tag_function = function.get_concrete_function()
        tagged = self._tag_function(tf.constant(tokens, tf.string), tf.constant(lengths, tf.int32))
        return {key: value.numpy() for key, value in tagged.items()}

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


def _cut(outputs: Tensors, inputs: Tensors) -> Tensors:
    """Answers as wide as the tokens: features have at least one column."""
    if "tokens" not in inputs:
        return outputs
    width = tf.shape(inputs["tokens"])[1]
    return {name: values[:, :width] for name, values in outputs.items()}
