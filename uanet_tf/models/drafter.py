"""The drafter: words to draft labels and their uncertainty (Eq. 3 to 5), and its loss (Eq. 9)."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from uanet_tf.config import Config
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.decoders.decoder import Decoder
from uanet_tf.decoders.softmax import SoftmaxDecoder
from uanet_tf.encoders.encoder import Encoder
from uanet_tf.models.distilled_head import DistilledHead
from uanet_tf.models.labels import ValidLabels
from uanet_tf.models.parts import (
    check_classes,
    check_distribution,
    check_masks,
    check_states,
    check_vectors,
    make_decoder,
    make_encoder,
    make_representation,
)
from uanet_tf.models.results import Draft
from uanet_tf.models.sampling import DropoutSeed, plain_states, sample_states, sampling_seed
from uanet_tf.ops.dropout import fold_in
from uanet_tf.ops.graphs import LiteGraph, lite_argument
from uanet_tf.ops.losses import entropy, expectation_linear_penalty, mutual_information
from uanet_tf.ops.masking import keep, sequence_mask
from uanet_tf.ops.numerics import widen
from uanet_tf.ops.shapes import spread
from uanet_tf.representation.representation import Features, Representation, WordVectors
from uanet_tf.settings import InferenceOptions

Losses = dict[str, tf.Tensor]


class Drafter(tf.keras.layers.Layer):
    """Representation, encoder and decoder: a tagger without refiner is a drafter only.

    With ``keep_states`` drafts hold the states, for a refiner that reads them. In the loss
    ``expectation_linear`` is the factor on the distance of states with and without dropout. The
    head ``distilled`` predicts the samples' mean; it is None where there is nothing to sample, or
    more than the states is read.
    """

    def __init__(
        self,
        representation: Representation,
        encoder: Encoder,
        decoder: Decoder,
        valid_labels: ValidLabels,
        *,
        keep_states: bool = False,
        expectation_linear: float = 0.0,
        **kwargs: Any,
    ):
        # Its parts have their own precision.
        super().__init__(dtype=tf.float32, **kwargs)
        check_masks(encoder)
        self.representation = representation
        self.encoder = encoder
        self.decoder = decoder
        self.valid_labels = valid_labels
        self.keep_states = keep_states
        self.expectation_linear = expectation_linear
        self.distilled: DistilledHead | None = None
        if isinstance(decoder, SoftmaxDecoder) and self.samples_differ:
            self.distilled = DistilledHead(decoder.num_classes, name="distilled")

    @classmethod
    def from_settings(
        cls, config: Config, vocabulary: Vocabulary, *, keep_states: bool, **kwargs: Any
    ) -> "Drafter":
        """The drafter that a run's settings describe."""
        return cls(
            make_representation(config, vocabulary, "representation"),
            make_encoder(config, vocabulary, "encoder"),
            make_decoder(config, vocabulary, "decoder"),
            ValidLabels(vocabulary.labels, vocabulary.internal_scheme),
            keep_states=keep_states,
            expectation_linear=config.training.expectation_linear,
            **kwargs,
        )

    # ------------------------------------------------------------------ inference

    def draft(
        self, features: Features, options: InferenceOptions, lite: LiteGraph | None = None
    ) -> Draft:
        """Samples the draft (Eq. 4, 5); the options say M, the seed, and how samples are spent."""
        mask = token_mask(features)
        words = self.word_vectors(features, lite)
        if options.sampling == "distilled" and self.distilled is not None:
            return self._distilled_draft(words, mask, options, lite)
        seed = sampling_seed(options.mc_seed)
        samples = self.sample_states(words, mask, options.num_samples, seed, lite)  # [M, B, T, H]
        decoded = self.decoder.decide(samples, mask, lite)
        p = decoded.probabilities
        u = keep(mask, entropy(p))
        (ids,) = self.sequences([decoded.label_ids], [p], mask, options, lite)
        states = tf.reduce_mean(samples, axis=0) if self.keep_states else None
        disagreement = None
        if options.return_mutual_information:
            disagreement = keep(mask, mutual_information(decoded.samples))
        return Draft(ids, p, u, mask, words.of_tokens(), states, disagreement)

    def first_draft(self, features: Features) -> Draft:
        """A draft of one pass, after which all weights exist."""
        options = InferenceOptions(num_samples=0, valid_labels=False)
        draft = self.draft(features, options)
        if tf.executing_eagerly():
            check_distribution(self.decoder, draft.probabilities)
        if self.distilled is not None:
            self.draft(features, options.replace(sampling="distilled"))
        return draft

    def num_passes(self, options: InferenceOptions) -> int:
        """How often the encoder runs, see ``draft``: M times, or once."""
        if options.sampling == "distilled" or not self.samples_differ:
            return 1
        return max(1, options.num_samples)

    def word_vectors(self, features: Features, lite: LiteGraph | None = None) -> WordVectors:
        """The word vectors of a batch, without dropout."""
        if not self.representation.of_forms:
            vectors = self.representation(features)
            check_vectors(self.representation, vectors, features["form_index"])
            return WordVectors(vectors)
        part = self.representation
        forms = part(features, spread=False, **lite_argument(part, lite))  # [U, D]
        if "form_index" not in features:
            return WordVectors(spread(forms, None))
        return WordVectors(forms, features["form_index"])

    def sample_states(
        self,
        words: WordVectors,
        mask: tf.Tensor | None,
        num_samples: int,
        seed: tf.Tensor | None,
        lite: LiteGraph | None = None,
    ) -> tf.Tensor:
        """States [M, B, T, H]; see ``models.sampling.sample_states``."""
        states = sample_states(
            self.encoder,
            words.vectors,
            mask,
            num_samples=num_samples,
            seed=seed,
            index=words.form_index,
            lite=lite,
        )
        check_states(self.encoder, states, mask, are_samples=True)
        return states

    def plain_states(
        self, words: WordVectors, mask: tf.Tensor | None, lite: LiteGraph | None = None
    ) -> tf.Tensor:
        """States [B, T, H] of a pass without dropout."""
        states = plain_states(self.encoder, words.vectors, mask, words.form_index, lite)
        check_states(self.encoder, states, mask, are_samples=False)
        return states

    def _distilled_draft(
        self,
        words: WordVectors,
        mask: tf.Tensor | None,
        options: InferenceOptions,
        lite: LiteGraph | None,
    ) -> Draft:
        """The draft of one pass without dropout, with the samples' predicted distribution."""
        states = self.plain_states(words, mask, lite)  # [B, T, H]
        head: Any = self.distilled
        p, disagreement = head(states, self._logits(states), mask=mask, lite=lite)
        ids = keep(mask, tf.argmax(p, axis=-1, output_type=tf.int32))
        (ids,) = self.sequences([ids], [p], mask, options, lite)
        asked = keep(mask, disagreement) if options.return_mutual_information else None
        return Draft(ids, p, keep(mask, entropy(p)), mask, words.of_tokens(), states, asked)

    def sequences(
        self,
        label_ids: Sequence[tf.Tensor],
        probabilities: Sequence[tf.Tensor],
        mask: tf.Tensor | None,
        options: InferenceOptions,
        lite: LiteGraph | None = None,
    ) -> list[tf.Tensor]:
        """Label sequences that are valid, where the options ask for them; see `ValidLabels`."""
        if not options.valid_labels:
            return list(label_ids)
        return self.valid_labels(label_ids, probabilities, mask, lite)

    @property
    def samples_differ(self) -> bool:
        """Whether the encoder has dropout masks to sample."""
        return any(rate for _, rate in self.encoder.mask_widths(1).values())

    # ------------------------------------------------------------------ training

    def read(self, features: Features, dropout_seed: tf.Tensor | None = None) -> Features:
        """Features with what is computed once per batch; see ``Representation.read``."""
        return self.representation.read(features, fold_in(dropout_seed, DropoutSeed.READING))

    def loss_terms(
        self, features: Features, labels: tf.Tensor, dropout_seed: tf.Tensor
    ) -> tuple[Losses, tf.Tensor]:
        """L1, the loss of one sampled pass, summed over tokens (Eq. 9).

        Gives scalars by the optimizer that minimizes them, and the states [B, T, H] that they
        score. Labels are class ids [B, T]; the seed [2] int32 is of this step's masks, of which
        each sentence has its own.
        """
        mask = token_mask(features)
        vectors, auxiliary = self.representation.with_auxiliary_loss(
            features, dropout_seed=fold_in(dropout_seed, DropoutSeed.REPRESENTATION)
        )
        # An iterated encoder is scored after every iterate: K states of each token.
        states = tf.unstack(
            self.encoder.training_states(vectors, mask, fold_in(dropout_seed, DropoutSeed.ENCODER))
        )  # K times [B, T, H]
        seed = fold_in(dropout_seed, DropoutSeed.DECODER)
        parts = [self.decoder.loss_terms(part, labels, mask, seed) for part in states]
        losses = {name: tf.add_n([part[name] for part in parts]) / len(parts) for name in parts[0]}
        losses["draft"] += auxiliary
        if self.expectation_linear:
            plain = self.encoder.training_states(self.representation(features), mask, None)
            gap = expectation_linear_penalty(tf.stack(states), plain, mask)
            losses["draft"] += self.expectation_linear * gap / len(states)
        return losses, states[-1]

    def training_draft(
        self, features: Features, states: tf.Tensor, words: tf.Tensor | None
    ) -> Draft:
        """The draft of a sampled pass with ``states`` [B, T, H], as a refiner in training reads it.

        ``words`` are vectors [B, T, D] for the refiner; None where it has its own.
        """
        # No refiner trains the drafter by way of its draft (Eq. 9 and 10).
        p = tf.stop_gradient(tf.nn.softmax(widen(self._logits(states))))
        mask = token_mask(features)
        nothing = tf.zeros_like(mask, p.dtype)
        ids = tf.argmax(p, axis=-1, output_type=tf.int32)
        return Draft(ids, p, nothing, mask, words, states)

    def _logits(self, states: tf.Tensor) -> tf.Tensor:
        """Scores [B, T, C] of the labels, of a decoder that has them."""
        logits = self.decoder.logits(states)
        check_classes(self.decoder, logits)
        return logits

    def variable_groups(self) -> dict[str, list[tf.Variable]]:
        """Trainable variables by optimizer; a decoder's own ones share the layers below."""
        own, shared = self.representation.trainable_variables, []
        groups = {}
        if self.representation.optimizer == "draft":
            shared += own
        elif own:
            groups[self.representation.optimizer] = list(own)
        shared += self.encoder.trainable_variables
        decoders = {name: shared + part for name, part in self.decoder.variable_groups().items()}
        return {**decoders, **groups}


def token_mask(features: Features) -> tf.Tensor | None:
    """[B, T] boolean, True at tokens; None for the features of one sentence, without lengths."""
    if "lengths" not in features:
        return None
    return sequence_mask(features["lengths"], tf.shape(features["form_index"])[1])
