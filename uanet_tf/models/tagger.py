"""A tagger: representation, encoder and softmax; the base of every system."""

from typing import Any

import numpy as np
import tensorflow as tf

from uanet_tf.config import Config, from_dict
from uanet_tf.data.token_lookup import TokenLookup
from uanet_tf.data.vocabulary import INTERNAL_SCHEME, Vocabulary
from uanet_tf.decoders.softmax import SoftmaxDecoder
from uanet_tf.inference.monte_carlo import draft_from_samples, sample_states, sampling_seed
from uanet_tf.inference.output_labels import OutputLabels
from uanet_tf.inference.refinement_gate import refinement_gate
from uanet_tf.models import registry
from uanet_tf.ops.cross_entropy import masked_cross_entropy
from uanet_tf.ops.dropout import fold_in
from uanet_tf.ops.masking import sequence_mask
from uanet_tf.representation.word_representation import WordRepresentation
from uanet_tf.settings import MAX_SEED

Tensors = dict[str, tf.Tensor]


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class Tagger(tf.keras.Model):
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
        self.head = SoftmaxDecoder(len(self.vocabulary.labels), name="head")

    # ------------------------------------------------------------------ inference

    def features(self, inputs: Tensors) -> Tensors:
        """Tokens to features: each distinct token is looked up and represented once.

        Raises:
          InvalidArgumentError: a length beyond the width of ``tokens``.
        """
        if "form_index" in inputs:
            return inputs
        tokens, lengths = inputs["tokens"], tf.cast(inputs["lengths"], tf.int32)
        width = tf.shape(tokens)[1]
        tf.debugging.assert_less_equal(lengths, width, "A length is beyond the width of tokens.")
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

    def draft(self, features: Tensors) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Samples the draft: p [B, T, C], u [B, T] in nats, and the mask [B, T]."""
        mask = sequence_mask(features["lengths"], tf.shape(features["form_index"])[1])
        states = sample_states(
            self.encoder,
            self.representation(features),
            mask,
            num_samples=self._num_samples,
            seed=sampling_seed(self._mc_seed),
        )
        p, u = draft_from_samples(self.head(states), self.settings.sampling.uncertainty)
        return p, tf.where(mask, u, 0.0), mask

    def refine(
        self,
        features: Tensors,
        draft: tf.Tensor,
        mask: tf.Tensor,
        asked: tf.Tensor | None = None,
    ) -> tf.Tensor:
        """Refined distribution [B, T, C]; without a refiner, the draft's own.

        Args:
          features: of the batch.
          draft: [B, T, C] mean draft distribution p.
          mask: [B, T] boolean.
          asked: [B, T] boolean, tokens whose refined label is wanted; None: all.
        """
        del features, mask, asked
        return draft

    def decide(self, features: Tensors, threshold: tf.Tensor | None = None) -> Tensors:
        """Draft, refinement and gate, as class ids; see ``refinement_gate``."""
        p, u, mask = self.draft(features)
        gamma = self.gamma if threshold is None else threshold
        refined = self.refine(features, p, mask, None if self._refine_all else u > _column(gamma))
        decided = refinement_gate(p, refined, u, gamma, mask)
        chosen = tf.where(tf.expand_dims(decided["refined"], -1), refined, p)
        return {**decided, "uncertainty": u, "probabilities": chosen, "mask": mask}

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
        """Cross entropy of one sampled pass, summed over tokens, for each part (Eq. 9).

        Args:
          features: of one batch.
          labels: [B, T] class ids.
          dropout_seed: [2] int32 seed of this step's masks.
        """
        logits, mask = self.sampled_logits(features, dropout_seed)
        return {"draft": masked_cross_entropy(logits, labels, mask)}

    def sampled_logits(
        self, features: Tensors, dropout_seed: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Draft logits [B, T, C] under one draw of masks a sentence, and the mask [B, T]."""
        mask = sequence_mask(features["lengths"], tf.shape(features["form_index"])[1])
        vectors = self.representation(features, dropout_seed=fold_in(dropout_seed, 0))
        masks = self.encoder.draw_masks(
            fold_in(dropout_seed, 1), tf.shape(vectors)[0], vectors.shape[-1]
        )
        return self.head(self.encoder(vectors, mask=mask, dropout_masks=masks)), mask

    def variable_groups(self) -> dict[str, list[tf.Variable]]:
        """Trainable variables by the optimizer that updates them."""
        parts = (self.representation, self.encoder, self.head)
        return {"draft": [v for part in parts for v in part.trainable_variables]}

    def word_representations(self) -> list[WordRepresentation]:
        """Every layer that owns a word embedding, for pretrained vectors."""
        return [self.representation]

    # ------------------------------------------------------------------ properties

    @property
    def threshold(self) -> float:
        """Gamma, nats. Setting it takes effect at once and is saved with the model."""
        return float(self.gamma.numpy())

    @threshold.setter
    def threshold(self, value: float) -> None:
        if not value >= 0:
            raise ValueError(f"`threshold` must be at least 0 nats. Received: threshold={value}")
        self.gamma.assign(value)

    @property
    def num_samples(self) -> int:
        """Monte Carlo samples M; 0: one pass without dropout."""
        return self._num_samples

    @num_samples.setter
    def num_samples(self, value: int) -> None:
        if value < 0:
            raise ValueError(f"`num_samples` must be at least 0. Received: num_samples={value}")
        self._num_samples = value
        self._forget_graphs()

    @property
    def mc_seed(self) -> int:
        """Seed of the sampling masks; negative: new masks at each call."""
        return self._mc_seed

    @mc_seed.setter
    def mc_seed(self, value: int) -> None:
        if value > MAX_SEED:
            raise ValueError(f"`mc_seed` must be at most {MAX_SEED}. Received: mc_seed={value}")
        self._mc_seed = value
        self._forget_graphs()

    @property
    def return_probabilities(self) -> bool:
        """Whether ``predict`` also returns the distribution behind each label."""
        return self._return_probabilities

    @return_probabilities.setter
    def return_probabilities(self, value: bool) -> None:
        self._return_probabilities = value
        self._forget_graphs()

    @property
    def refine_all(self) -> bool:
        """Whether sentences without an uncertain token are refined too.

        False saves their refinement and changes neither labels nor uncertainty, confidence or
        ``refined``; in those sentences ``refined_labels`` are then the draft's.
        """
        return self._refine_all

    @refine_all.setter
    def refine_all(self, value: bool) -> None:
        self._refine_all = value
        self._forget_graphs()

    def _forget_graphs(self) -> None:
        self._tag_function = None
        self.predict_function = None

    @property
    def label_names(self) -> list[str]:
        """Output labels, in the scheme of the training file."""
        return self._outputs.names

    @property
    def label_scheme(self) -> str | None:
        """Tag scheme of the output; None for labels that are not chunks."""
        return self.vocabulary.scheme

    @property
    def class_names(self) -> list[str]:
        """What the axis C of probabilities stands for; BIOES for chunks."""
        return list(self.vocabulary.labels)

    @property
    def internal_scheme(self) -> str | None:
        """Tag scheme of ``class_names``."""
        return None if self.vocabulary.scheme is None else INTERNAL_SCHEME

    @property
    def max_tokens(self) -> int:
        """Longest sentence tagged in one piece; longer ones are tagged in windows."""
        return self.settings.data.max_tokens

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


def _column(threshold: tf.Tensor) -> tf.Tensor:
    """A scalar as it is, one threshold a sentence [B] as [B, 1]."""
    threshold = tf.convert_to_tensor(threshold)
    return tf.expand_dims(threshold, -1) if threshold.shape.rank == 1 else threshold


_INTERNAL = ("probabilities", "mask")
