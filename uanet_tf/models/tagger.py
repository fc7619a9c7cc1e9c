"""A tagger: draft, refine, gate; the model of every system."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from uanet_lite.tokenizer import Tokenizer
from uanet_tf.config import Config, from_dict, saved_options
from uanet_tf.data.lookup import ONE_PIECE_TOKENS, Lookup, look_up_inputs, make_lookup
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.errors import InputError
from uanet_tf.inference.acceptance import Acceptance
from uanet_tf.inference.calibration import Calibration
from uanet_tf.inference.decision import Decision
from uanet_tf.inference.draft import Draft
from uanet_tf.inference.refinement_gate import RefinementGate
from uanet_tf.models.answers import Answers, Tensors
from uanet_tf.models.drafter import Drafter, Losses
from uanet_tf.models.dropout_seeds import DropoutSeed, RefinerSeed
from uanet_tf.models.keras_methods import KerasMethods
from uanet_tf.models.label_refiner import LabelRefiner
from uanet_tf.models.layer_precision import layer_precision
from uanet_tf.models.option_checks import check_sampling
from uanet_tf.models.option_properties import with_option_properties
from uanet_tf.models.part_checks import check_logits
from uanet_tf.models.tag_graphs import TagGraphs
from uanet_tf.models.tagger_options import TaggerOptions
from uanet_tf.ops.dropout import fold_in
from uanet_tf.registry import REFINED_DECODERS
from uanet_tf.representation.representation import DRAFTS_ELSEWHERE, Features


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
@with_option_properties
class Tagger(TaggerOptions, KerasMethods):
    """Tags sentences: strings in, labels with uncertainty and confidence out.

    The options of inference (``threshold``, ``num_samples``, ...; see ``InferenceOptions``) are
    properties of the model, which can be set: ``model.num_samples = 16``. A tagger without a
    refiner has no gate: ``threshold`` and ``refine_all`` are None and cannot be set. A saved
    model keeps its options, beside those of its training (``settings.inference``).

    Of Keras' methods ``predict``, ``predict_on_batch``, ``save``, ``summary`` and those of weights
    and layers work, and so do copies (``copy``, ``pickle``, ``clone_model``); ``fit`` and
    ``evaluate`` are refused: ``uanet_tf.train`` trains, ``uanet evaluate`` scores.

    Args:
      lookup: strings to ids.
      drafter: gives labels and their uncertainty.
      refiner: gives the labels of uncertain tokens; None: there is no gate either.
      config: the settings of the run, with its inference options.
      vocabulary: words, characters and labels.

    Call arguments:
      inputs: a dictionary with ``tokens`` [B, T] strings and ``lengths`` [B] int32, which ends
        each row; or features (see ``data.batching.BatchBuilder``). A refiner of documents
        also takes ``document`` [B] int32: equal numbers in sentences of one document, which
        must be in one batch (``predict`` makes batches of 32 rows).

    Returns:
      A dictionary: labels, draft_labels, refined_labels [B, T] strings in the scheme of
      the training file; uncertainty [B, T] in nats; confidence [B, T], probability of the
      given label (calibrated, if the run is); refined [B, T] boolean: the refined label was used.
      With a target precision also accepted [B, T] boolean; with ``return_mutual_information``
      that, in nats, [B, T]; with ``return_probabilities`` also probabilities [B, T, C] over
      ``class_names``. "" and 0 at padding. Strings are bytes, as Keras gives them. A sentence
      is read in one piece: ``uanet_tf.tag`` reads a longer one than ``max_tokens`` in windows.

    Reference:
      Gui et al., EMNLP 2020, "Uncertainty-Aware Label Refinement for Sequence Labeling".
    """

    thread_safe = True

    def __init__(
        self,
        lookup: Lookup,
        drafter: Drafter,
        refiner: LabelRefiner | None = None,
        *,
        config: Config,
        vocabulary: Vocabulary,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.settings = config
        self.vocabulary = vocabulary
        self.lookup = lookup
        self.drafter = drafter
        self.refiner = refiner
        self.gate = None
        if refiner is not None:
            self.gate = RefinementGate(config.inference.threshold, name="gate")
        self.calibration = Calibration(vocabulary.labels, name="calibration")
        self.acceptance = Acceptance(len(vocabulary.labels), name="acceptance")
        self.answers = Answers(vocabulary.labels, vocabulary.scheme)
        self._options = config.inference
        self._graphs = TagGraphs(self._tag)
        # All weights exist from here on, so that a saved model can be filled at once.
        features = self.features({"tokens": tf.constant([["a"]]), "lengths": tf.constant([1])})
        draft = drafter.first_draft(features)
        if refiner is not None:
            refiner.refine(features, draft)
        self.built = True
        check_sampling(config.inference, drafter, config)

    @classmethod
    def from_settings(
        cls, config: Config, vocabulary: Vocabulary, *, view: Any = None, **kwargs: Any
    ) -> "Tagger":
        """The tagger that a run's settings describe, with initial weights.

        Args:
          config, vocabulary: of the run.
          view: what the parts read instead of ``config``; see ``config.SettingsRecord``.
          **kwargs: of the constructor.
        """
        view = config if view is None else view
        with layer_precision(config.training.mixed_bfloat16):
            is_refined = view.decoder.decoder in REFINED_DECODERS
            keep = is_refined and view.decoder.refiner_states
            drafter = Drafter.from_settings(view, vocabulary, keep_states=keep, name="drafter")
            refiner = None
            if is_refined:
                check_logits(drafter.decoder)
                refiner = LabelRefiner.from_settings(view, vocabulary, name="refiner")
            lookup = make_lookup(config.data, vocabulary)
            return cls(lookup, drafter, refiner, config=config, vocabulary=vocabulary, **kwargs)

    # ------------------------------------------------------------------ draft, refine, gate

    def features(self, inputs: Tensors) -> Features:
        """Tokens to features, see ``look_up``; what is computed once per batch included (BERT).

        Features instead of tokens, see ``data.batching.BatchBuilder``, are returned unchanged.
        """
        if "form_index" not in inputs:
            inputs = look_up_inputs(self.lookup, inputs, max(ONE_PIECE_TOKENS, self.max_tokens))
        return self.drafter.read(inputs)

    def draft(self, features: Features) -> Draft:
        """Draft labels and their uncertainty (Eq. 4, 5)."""
        return self.drafter.draft(features, self._options)

    def refine(
        self, features: Features, draft: Draft, wanted: tf.Tensor | None = None
    ) -> tf.Tensor:
        """Refined distribution p_hat [B, T, C] (Eq. 6 to 8); see ``LabelRefiner.refine``.

        Raises:
          InputError: this tagger has no refiner.
        """
        if self.refiner is None:
            raise InputError(f"--decoder={self.settings.decoder.decoder} has no refiner.")
        return self.refiner.refine(features, draft, wanted)

    def decide(self, features: Features, threshold: tf.Tensor | None = None) -> Decision:
        """Draft, refine, gate: the refined label where u > Gamma, the draft's elsewhere.

        Args:
          features: of the batch.
          threshold: Gamma in nats, a scalar or one per sentence [B]; None: the gate's.
        """
        if self.gate is None:
            draft = self.draft(features)
            return self._calibrated(Decision(draft.label_ids, draft.probabilities, draft))
        # Valid sequences of all labels are sought at once: a search is a loop over time.
        draft = self.drafter.draft(features, self._options.replace(valid_labels=False))
        wanted = None
        if not self._options.refine_all:
            wanted = self.gate.passes(draft.uncertainty, threshold)
        p_hat = self.refine(features, draft, wanted)
        if wanted is None:
            gated = self.gate(
                draft.probabilities, p_hat, draft.uncertainty, draft.mask, threshold=threshold
            )
        else:
            gated = self.gate.passed(p_hat, wanted, draft.mask)
        labels = [draft.label_ids, gated.label_ids]
        sources = [draft.probabilities, gated.probabilities]
        if wanted is None:
            labels.append(gated.refined_label_ids)
            sources.append(p_hat)
        draft_ids, ids, *others = self.drafter.sequences(labels, sources, draft.mask, self._options)
        draft = draft._replace(label_ids=draft_ids)
        refined_ids = others[0] if others else ids
        decision = Decision(ids, gated.probabilities, draft, refined_ids, gated.refined)
        return self._calibrated(decision)

    def _calibrated(self, decision: Decision) -> Decision:
        """With calibrated confidence, and what it is enough for, if the run is calibrated."""
        if not (self._options.calibrated and self.calibration.applies):
            return decision
        confidence = self.calibration.confidence(decision)
        accepted = None
        if self.acceptance.target_precision:
            accepted = self.acceptance(confidence, decision.label_ids)
        return decision._replace(calibrated=confidence, accepted=accepted)

    # As in ``graph_function``, for the graphs that Keras makes.
    @tf.autograph.experimental.do_not_convert
    def call(self, inputs, training=None):
        decision = self.decide(self.features(inputs))
        answers = self.answers.strings(decision, self.graph_options)
        if "tokens" not in inputs:
            return answers
        # As wide as the tokens: features have at least one column.
        width = tf.shape(inputs["tokens"])[1]
        return {name: values[:, :width] for name, values in answers.items()}

    def tag_batch(
        self, tokens: np.ndarray, lengths: np.ndarray, documents: np.ndarray | None = None
    ) -> dict[str, np.ndarray]:
        """Tags one padded batch, on any thread; labels are positions in ``label_names``.

        Args:
          tokens: [B, T] strings.
          lengths: [B] tokens of each sentence.
          documents: [B] the number of each sentence's document; None: each is one by itself.
        """
        return self._graphs(tokens, lengths, documents)

    def _tag(self, inputs: Tensors) -> Tensors:
        decision = self.decide(self.features(inputs))
        return self.answers.positions(decision, self.graph_options)

    # ------------------------------------------------------------------ training

    def loss_terms(
        self,
        features: Features,
        labels: tf.Tensor,
        dropout_seed: tf.Tensor,
        exchange: Callable[[Features, tf.Tensor], tf.Tensor] | None = None,
    ) -> Losses:
        """L1 of the draft and L2 of the refined labels, summed over tokens (Eq. 9, 10).

        Args:
          features: of one batch.
          labels: [B, T] class ids.
          dropout_seed: [2] int32 seed of this step's masks.
          exchange: the drafts of the batch to those elsewhere, see ``DraftMemory.exchange``.

        Returns:
          Scalars, by the optimizer that minimizes them.
        """
        features = self.drafter.read(features, dropout_seed)
        losses, states = self.drafter.loss_terms(features, labels, dropout_seed)
        if self.refiner is None:
            return losses
        seed, words = fold_in(dropout_seed, DropoutSeed.REFINER), None
        if self.refiner.representation is None:
            words_seed = fold_in(seed, RefinerSeed.WORDS)
            words = self.drafter.representation(features, dropout_seed=words_seed)
        draft = self.drafter.training_draft(features, states, words)
        if exchange is not None:
            features = features | {DRAFTS_ELSEWHERE: exchange(features, draft.probabilities)}
        return {**losses, "refined": self.refiner.loss(features, draft, labels, seed)}

    def variable_groups(self) -> dict[str, list[tf.Variable]]:
        """Trainable variables by the optimizer that updates them."""
        groups = self.drafter.variable_groups()
        if self.refiner is not None:
            groups["refined"] = list(self.refiner.trainable_variables)
        return groups

    # ------------------------------------------------------------------ names

    @property
    def label_names(self) -> list[str]:
        """Output labels, in the scheme of the training file."""
        return self.answers.label_names

    @property
    def label_scheme(self) -> str | None:
        """Tag scheme of the output; None for labels that are not chunks."""
        return self.vocabulary.scheme

    @property
    def class_names(self) -> list[str]:
        """The classes along the axis C of probabilities; BIOES for chunks."""
        return list(self.vocabulary.labels)

    @property
    def context(self) -> str:
        """The unit that it was trained to read in one piece: "sentence" or "document"."""
        return self.settings.data.context

    @property
    def refiner_context(self) -> str:
        """What its refiner reads: the "sentence", or also drafts of the "document"."""
        return "document" if self.refiner and self.refiner.reads_document else "sentence"

    @property
    def num_passes(self) -> int:
        """How often a sentence is encoded: once for each sample."""
        return self.drafter.num_passes(self._options)

    @property
    def max_tokens(self) -> int:
        """Longest sentence tagged in one piece; longer ones are tagged in windows."""
        return self.settings.data.max_tokens

    @property
    def tokenizer(self) -> Tokenizer:
        """Cuts raw text as the training data were cut."""
        return self.vocabulary.tokenizer

    # ------------------------------------------------------------------ saving

    def get_config(self):
        return {
            "name": self.name,
            "config": self.settings.to_dict(),
            "inference": dataclasses.asdict(self.options),
            "vocabulary": self.vocabulary.to_dict(),
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        tagger = cls.from_settings(
            from_dict(config["config"]),
            Vocabulary.from_dict(config["vocabulary"]),
            name=config["name"],
        )
        if "inference" in config:  # not in files from before
            tagger.restore_options(saved_options(config["inference"]))
        return tagger

    def get_build_config(self):
        return {}

    def build_from_config(self, config):
        """Nothing to build: ``__init__`` made every weight."""
