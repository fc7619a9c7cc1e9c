"""A tagger: draft, refine, gate; the model of every system."""

import dataclasses
import pathlib
import sys
import threading
import zipfile
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, NoReturn

import numpy as np
import tensorflow as tf

from uanet_lite.answers import TARGET_PRECISION, given
from uanet_lite.tokenizer import Tokenizer
from uanet_tf.config import Config, from_dict, saved_options
from uanet_tf.data.lookup import (
    ONE_PIECE_TOKENS,
    Lookup,
    check_predict_input,
    look_up_inputs,
    make_lookup,
)
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.errors import InputError
from uanet_tf.files.weight_file import compress_archive
from uanet_tf.models.candidates import Candidates
from uanet_tf.models.confidence import Acceptance, Calibration
from uanet_tf.models.drafter import Drafter, Losses
from uanet_tf.models.gate import RefinementGate
from uanet_tf.models.label_refiner import LabelRefiner
from uanet_tf.models.outputs import Answers, Tensors
from uanet_tf.models.parts import check_logits, layer_precision
from uanet_tf.models.results import Decision, Draft
from uanet_tf.models.sampling import DropoutSeed, RefinerSeed
from uanet_tf.ops.devices import lacks_memory
from uanet_tf.ops.dropout import fold_in
from uanet_tf.ops.graphs import LiteGraph, graph_function
from uanet_tf.representation.representation import DOCUMENT, DRAFTS_ELSEWHERE, Features
from uanet_tf.settings import OF_THE_GATE, InferenceOptions, option_hint

_SPECS = {
    "tokens": tf.TensorSpec([None, None], tf.string),
    "lengths": tf.TensorSpec([None], tf.int32),
    DOCUMENT: tf.TensorSpec([None], tf.int32),
}
# Options that change the confidence.
_OF_CONFIDENCE = ("num_samples", "mc_seed", "sampling", "threshold", "valid_labels")
_MOST_GRAPHS = 16

_NOT_TRAINED = (
    "cannot train a tagger, whose draft and refiner have losses and optimizers of their own: train "
    "with uanet_tf.train, or uanet train."
)
_NOT_SCORED = (
    "cannot score a tagger, which answers with strings: score it with uanet_tf.evaluate, or uanet "
    "evaluate."
)


def _refused(name: str, reason: str) -> Callable[..., NoReturn]:
    """A method of Keras' that a tagger cannot have."""

    def method(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise InputError(f"model.{name} {reason}")

    return method


class _Option:
    """An inference option as an attribute of a tagger: read, and set by ``set_options``.

    None, and not to be set, where it is one of the gate's and there is no gate.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, tagger: Any, owner: type | None = None) -> Any:
        if tagger is None:
            return self
        if self._name in OF_THE_GATE and tagger.gate is None:
            return None
        if self._name == "threshold":
            return tagger.gate.threshold
        # Not through ``options``: graphs read it too, where Gamma has no value.
        return getattr(tagger.graph_options, self._name)

    def __set__(self, tagger: Any, value: Any) -> None:
        tagger.set_options(**{self._name: value})


def _middle(documents: np.ndarray | None, rows: int) -> int:
    """The row that begins the second half of a batch; 0 where all rows are read together."""
    if documents is None:
        return rows // 2
    starts = np.flatnonzero(np.diff(documents)) + 1
    return int(min(starts, key=lambda start: abs(start - rows / 2), default=0))


class _Graphs:
    """Graphs kept by what they follow, so that an option that is set back traces none again.

    Nothing that a graph made now follows, ``followed()``, may change but under ``lock``, which is
    held while a graph is made. The least recently used of many are forgotten.
    """

    def __init__(self, followed: Callable[[], Hashable]):
        self.lock = threading.RLock()
        self._followed = followed
        self._made: dict[Hashable, Any] = {}

    def get(self, kind: Hashable, make: Callable[[], Any]) -> Any:
        """The graph of a kind; may be called from several threads."""
        with self.lock:
            key = kind, self._followed()
            graph = self._made.pop(key, None)
            self._made[key] = make() if graph is None else graph
            if len(self._made) > _MOST_GRAPHS:
                del self._made[next(iter(self._made))]
            return self._made[key]

    def forget(self) -> None:
        """The next calls make the graphs anew."""
        self._made.clear()


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class Tagger(tf.keras.Model):
    """Tags sentences: strings in, labels with uncertainty and confidence out.

    The options of inference (``threshold``, ``num_samples``, ...; see ``InferenceOptions``) are
    attributes of the model, which can be set: ``model.num_samples = 16``; ``options`` has all of
    them. A tagger without a refiner has no gate: ``threshold`` and ``refine_all`` are None and
    cannot be set. A saved model keeps its options, beside those of its training
    (``settings.inference``).

    Of Keras' methods ``predict``, ``predict_on_batch``, ``save``, ``summary`` and those of weights
    and layers work, and so do copies (``copy``, ``pickle``, ``clone_model``); ``fit`` and
    ``evaluate`` are refused: ``uanet_tf.train`` trains, ``uanet_tf.evaluate`` scores.

    Args:
      refiner: gives the labels of uncertain tokens; None: there is no gate either.
      config: the settings of the run, with its inference options.
      options: inference options in force; None: the run's.

    Call arguments:
      inputs: a dictionary with ``tokens`` [B, T] strings and ``lengths`` [B] int32, which ends
        each row; or features (see ``data.batching.BatchBuilder``). A refiner of documents also
        takes ``document`` [B] int32: equal numbers in sentences of one document, which must be in
        one batch (``predict`` makes batches of 32 rows). A sentence is read in one piece:
        ``uanet_tf.tag`` reads a longer one than ``max_tokens`` in windows.

    Returns:
      A dictionary: labels, draft_labels, refined_labels [B, T] strings in the scheme of the
      training file; uncertainty [B, T] in nats; confidence [B, T], probability of the given label
      (calibrated, if the run is); refined [B, T] boolean: the refined label was used. With a target
      precision also accepted [B, T] boolean; with ``return_mutual_information`` that, in nats,
      [B, T]; with ``return_alternatives`` also alternative_labels [B, T, K] strings and
      alternative_probabilities [B, T, K]; with ``return_candidates`` also candidates [B, T, S], see
      ``Candidates``; with ``return_probabilities`` also probabilities [B, T, C] over
      ``class_names``. "" and 0 at padding. Strings are bytes, as Keras gives them;
      ``uanet_tf.labels_of`` makes lists of texts of them.

    Reference:
      Gui et al., EMNLP 2020, "Uncertainty-Aware Label Refinement for Sequence Labeling".
    """

    thread_safe = True

    num_samples = _Option()
    mc_seed = _Option()
    sampling = _Option()
    threshold = _Option()
    refine_all = _Option()
    calibrated = _Option()
    valid_labels = _Option()
    return_mutual_information = _Option()
    return_alternatives = _Option()
    return_candidates = _Option()
    return_probabilities = _Option()

    def __init__(
        self,
        lookup: Lookup,
        drafter: Drafter,
        refiner: LabelRefiner | None = None,
        *,
        config: Config,
        vocabulary: Vocabulary,
        options: InferenceOptions | None = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.settings = config
        self.vocabulary = vocabulary
        self.lookup = lookup
        self.drafter = drafter
        self.refiner = refiner
        self.run_dir: pathlib.Path | None = None  # that it was loaded from
        self._options = options or config.inference
        self._graphs = _Graphs(self._followed)
        self._most_cells = sys.maxsize  # of a batch to tag: for more there was no memory
        self.gate = None
        if refiner is not None:
            self.gate = RefinementGate(self._options.threshold, name="gate")
        self.calibration = Calibration(vocabulary.labels, name="calibration")
        self.acceptance = Acceptance(len(vocabulary.labels), name="acceptance")
        self.candidates = None
        if vocabulary.scheme is not None:
            self.candidates = Candidates(vocabulary.labels, vocabulary.longest, name="candidates")
        self.answers = Answers(vocabulary.labels, vocabulary.scheme)
        # All weights exist from here on, so that a saved model can be filled at once.
        features = self.features({"tokens": tf.constant([["a"]]), "lengths": tf.constant([1])})
        draft = drafter.first_draft(features)
        if refiner is not None:
            refiner.refine(features, draft)
        self.built = True
        self._check_distilled(self._options)

    @classmethod
    def from_settings(
        cls,
        config: Config,
        vocabulary: Vocabulary,
        *,
        view: Any = None,
        mixed_bfloat16: bool = False,
        **kwargs: Any,
    ) -> "Tagger":
        """The tagger that a run's settings describe, with initial weights.

        The parts read ``view`` instead of ``config``, where it is given, see
        ``config.SettingsRecord``; with ``mixed_bfloat16`` they multiply in bfloat16, for training.
        InputError, if they cannot be sampled as the options want.
        """
        view = config if view is None else view
        with layer_precision(mixed_bfloat16):
            keep = view.decoder.is_refined and view.decoder.refiner_states
            drafter = Drafter.from_settings(view, vocabulary, keep_states=keep, name="drafter")
            refiner = None
            if view.decoder.is_refined:
                check_logits(drafter.decoder)
                refiner = LabelRefiner.from_settings(view, vocabulary, name="refiner")
                if refiner.representation is not None:
                    refiner.representation.share_pretrained(drafter.representation)
            lookup = make_lookup(config.data, vocabulary)
            return cls(lookup, drafter, refiner, config=config, vocabulary=vocabulary, **kwargs)

    # ------------------------------------------------------------------ draft, refine, gate

    def features(self, inputs: Tensors) -> Features:
        """Tokens to features, see ``look_up``; what is computed once per batch included.

        Features instead of tokens, see ``data.batching.BatchBuilder``, are returned unchanged.
        """
        if "form_index" not in inputs:
            inputs = look_up_inputs(self.lookup, inputs, max(ONE_PIECE_TOKENS, self.max_tokens))
        return self.drafter.read(inputs)

    def draft(self, features: Features, lite: LiteGraph | None = None) -> Draft:
        """Draft labels and their uncertainty (Eq. 4, 5)."""
        return self.drafter.draft(features, self._options, lite)

    def refine(
        self,
        features: Features,
        draft: Draft,
        wanted: tf.Tensor | None = None,
        lite: LiteGraph | None = None,
    ) -> tf.Tensor:
        """Refined distribution p_hat [B, T, C] (Eq. 6 to 8); InputError without a refiner.

        See ``LabelRefiner.refine``.
        """
        if self.refiner is None:
            raise InputError(f"`decoder={self.settings.decoder.decoder}` has no refiner.")
        return self.refiner.refine(features, draft, wanted, lite)

    def decide(
        self, features: Features, threshold: tf.Tensor | None = None, lite: LiteGraph | None = None
    ) -> Decision:
        """Draft, refine, gate: the refined label where u > Gamma, the draft's elsewhere.

        ``threshold`` is Gamma in nats, a scalar or one per sentence [B]; None: the gate's.
        """
        if self.gate is None:
            draft = self.draft(features, lite)
            decision = Decision(draft.label_ids, draft.probabilities, draft)
            return self._with_candidates(self._calibrated(decision), lite)
        # Valid sequences of all labels are sought at once: a search is a loop over time.
        draft = self.drafter.draft(features, self._options.replace(valid_labels=False), lite)
        wanted = None
        if not self._options.refine_all:
            wanted = self.gate.passes(draft.uncertainty, threshold)
        p_hat = self.refine(features, draft, wanted, lite)
        p, mask = draft.probabilities, draft.mask
        if wanted is None:
            gated = self.gate(p, p_hat, draft.uncertainty, mask, threshold=threshold)
            labels = [draft.label_ids, gated.label_ids, gated.refined_label_ids]
            sources = [p, gated.probabilities, p_hat]
        else:
            gated = self.gate.passed(p_hat, wanted, mask)
            labels, sources = [draft.label_ids, gated.label_ids], [p, gated.probabilities]
        # The refined ids are the last: those of the gate, where no others are sought.
        found = self.drafter.sequences(labels, sources, mask, self._options, lite)
        draft, ids = draft._replace(label_ids=found[0]), found[1]
        decision = Decision(ids, gated.probabilities, draft, found[-1], gated.refined)
        return self._with_candidates(self._calibrated(decision), lite)

    def _calibrated(self, decision: Decision) -> Decision:
        """With calibrated confidence, and what it is enough for, if the run is calibrated."""
        if not (self._options.calibrated and self.calibration.applies):
            return decision
        confidence = self.calibration.confidence(decision)
        accepted = None
        if self.acceptance.target_value:
            accepted = self.acceptance(confidence, decision.label_ids)
        return decision._replace(calibrated=confidence, accepted=accepted)

    def _with_candidates(self, decision: Decision, lite: LiteGraph | None) -> Decision:
        """With candidates, if they are asked for; a TensorFlow Lite file gives none."""
        if self.candidates is None or not self._options.return_candidates or lite is not None:
            return decision
        return decision._replace(candidates=self.candidates(decision.draft))

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

        Tokens are [B, T] strings, ``lengths`` [B] tokens of each sentence; ``documents`` [B]
        numbers the sentences' documents, None: each is one by itself. Where there is no memory for
        the batch, its halves are tagged one after the other.

        InputError, if there is no memory for a single sentence (or document).
        """
        rows, width = tokens.shape
        parts = [tokens, lengths] if documents is None else [tokens, lengths, documents]
        middle = _middle(documents, rows)
        if middle == 0 or rows * width <= self._most_cells:
            try:
                return self._tag_whole(*parts)
            except tf.errors.OpError as error:
                if not lacks_memory(error):
                    raise
                if middle == 0:
                    raise InputError(
                        f"There is no memory to tag {rows:,} x {width:,} tokens, which are read "
                        "together: free some, or split the text."
                    ) from error
                self._most_cells = min(self._most_cells, rows * width // 2)
        halves = [
            self.tag_batch(*(part[rows_of] for part in parts))
            for rows_of in (slice(middle), slice(middle, None))
        ]
        return {name: np.concatenate([half[name] for half in halves]) for name in halves[0]}

    def _tag_whole(
        self, tokens: np.ndarray, lengths: np.ndarray, documents: np.ndarray | None = None
    ) -> dict[str, np.ndarray]:
        """The batch of ``tag_batch`` at once."""
        batch = {"tokens": tokens, "lengths": lengths}
        if documents is not None:
            batch[DOCUMENT] = documents
        inputs = {name: tf.constant(part, _SPECS[name].dtype) for name, part in batch.items()}
        graph = self._graphs.get(tuple(batch), lambda: self._tag_graph(batch))
        return {name: values.numpy() for name, values in graph(**inputs).items()}

    def _tag_graph(self, names: Iterable[str]) -> Any:
        """The graph from the inputs of these names to answers.

        A concrete function: TensorFlow counts how often others are traced again, and warns who
        loads several models or tries several M.
        """

        def answer(**inputs: tf.Tensor) -> Tensors:
            decision = self.decide(self.features(inputs))
            return self.answers.positions(decision, self.graph_options)

        specs = {name: _SPECS[name] for name in names}
        return graph_function()(answer).get_concrete_function(**specs)

    # ------------------------------------------------------------------ training

    def loss_terms(
        self,
        features: Features,
        labels: tf.Tensor,
        dropout_seed: tf.Tensor,
        exchange: Callable[[Features, tf.Tensor], tf.Tensor] | None = None,
    ) -> Losses:
        """L1 of the draft and L2 of the refined labels, summed over tokens (Eq. 9, 10).

        Scalars, by the optimizer that minimizes them, of class ids [B, T] and the seed [2] int32 of
        this step's masks. ``exchange`` makes of the drafts of the batch those elsewhere, see
        ``DraftMemory.exchange``.
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

    # ------------------------------------------------------------------ options

    @property
    def options(self) -> InferenceOptions:
        """The inference options in force; Gamma is the gate's, where there is one."""
        if self.gate is None:
            return self._options
        return dataclasses.replace(self._options, threshold=self.gate.threshold)

    @property
    def graph_options(self) -> InferenceOptions:
        """What a graph follows that is made now: without Gamma, which is a weight of the gate."""
        return self._options

    def set_options(self, **changes: Any) -> None:
        """Changes inference options; graphs are kept by their options.

        InputError, if a value is outside its limits, or this tagger cannot follow it.
        """
        with self._graphs.lock:
            changed = self.options.replace(**changes)
            if self.gate is None:
                for name in sorted(set(changes) & set(OF_THE_GATE)):
                    raise InputError(
                        f"`{name}` is an option of the gate, and `decoder="
                        f"{self.settings.decoder.decoder}` has none. Received: {changes[name]}"
                    )
            if "sampling" in changes:
                self._check_distilled(changed)
                self._check_trained(changed)
            if changed.return_candidates and self.candidates is None:
                raise InputError(
                    "`return_candidates` is for entities, and this tagger labels single tokens. "
                    "Received: return_candidates=True"
                )
            if "threshold" in changes and self.gate is not None:
                self.gate.threshold = changed.threshold
            # Gamma is the gate's: no graph follows the number that stands here.
            self._options = dataclasses.replace(changed, threshold=self._options.threshold)

    def __setattr__(self, name: str, value: Any) -> None:
        """As Keras'; InputError for a name nearly of an option, and of nothing of the model."""
        known = name.startswith("_") or name in self.__dict__ or hasattr(type(self), name)
        if not known and self.__dict__.get("built") and (hint := option_hint(name)):
            raise InputError(f"A tagger has no option `{name}`{hint}")
        super().__setattr__(name, value)

    def _check_distilled(self, options: InferenceOptions) -> None:
        """Raises InputError where the drafter's parts cannot be sampled as ``options`` want."""
        if options.sampling == "distilled" and self.drafter.distilled is None:
            config = self.settings
            raise InputError(
                "`sampling` can be distilled where a softmax drafts from samples of an encoder "
                "with tied dropout masks. Received: sampling='distilled' for "
                f"`encoder={config.encoder.encoder}`, `decoder={config.decoder.decoder}`"
            )

    def _check_trained(self, options: InferenceOptions) -> None:
        """Raises InputError where ``options`` need a head that was not trained."""
        head = self.drafter.distilled
        if options.sampling == "distilled" and not (head and head.was_trained.numpy()):
            raise InputError(
                "`sampling` can be distilled where a head was trained: train with "
                "`distill_samples` above 0. Received: sampling='distilled'"
            )

    @property
    def targets(self) -> dict[str, float]:
        """What is promised: "precision" of what is accepted, "recall" with candidates; or nothing.

        They were found with calibrated confidence.
        """
        if not self.calibrated:
            return {}
        recall = 0.0 if self.candidates is None else self.candidates.target_value
        found = {"precision": self.acceptance.target_value, "recall": recall}
        return {name: target for name, target in found.items() if target}

    def broken_promise(self, options: Mapping[str, Any]) -> str | None:
        """What to tell where targets were found with other options than those given; or None."""
        own = self.settings.inference
        changed = [
            f"`{name}={options[name]}`"
            for name in _OF_CONFIDENCE
            if name in options and options[name] != getattr(own, name)
        ]
        targets = " and ".join(f"{name} of {target:g}" for name, target in self.targets.items())
        if not (targets and changed):
            return None
        return (
            f"The run's target {targets} was found with its own options, not with "
            f"{', '.join(changed)}: answers may fall short of it."
        )

    @property
    def optional_answers(self) -> tuple[str, ...]:
        """The optional ones of ``uanet_lite.answers`` that it gives now."""
        accepts = self.calibrated and self.calibration.applies and self.acceptance.target_value

        def is_given(needs: str) -> bool:
            return bool(accepts if needs == TARGET_PRECISION else getattr(self.options, needs))

        return given(is_given)

    def _followed(self) -> Hashable:
        """What a graph follows that is made now."""
        return self._options, self.calibration.changes, self.acceptance.changes

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
    def labels_of_classes(self) -> list[str]:
        """[C] the output label of each class."""
        return self.answers.labels_of_classes

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
        return cls.from_settings(
            from_dict(config["config"]),
            Vocabulary.from_dict(config["vocabulary"]),
            options=saved_options(config["inference"]),
            name=config["name"],
        )

    def get_build_config(self):
        return {}

    def build_from_config(self, config):
        """Nothing to build: ``__init__`` made every weight."""

    # ------------------------------------------------------------------ methods of Keras'

    def make_predict_function(self, force: bool = False) -> Any:
        """As Keras'; kept by the options."""

        def make() -> Any:
            return super(Tagger, self).make_predict_function(force=True)

        self.predict_function = make() if force else self._graphs.get("predict", make)
        return self.predict_function

    def compile(self, *args: Any, jit_compile: bool | None = None, **kwargs: Any) -> None:
        """As Keras'; it need not be called. InputError, if ``jit_compile`` is true."""
        if jit_compile:
            raise InputError(
                "model.compile cannot take jit_compile=True: a tagger looks up strings, which XLA "
                "cannot compile."
            )
        super().compile(*args, jit_compile=jit_compile, **kwargs)
        self._graphs.forget()

    def get_compile_config(self) -> None:
        """None: a tagger need not be compiled, and its file says nothing of it."""

    def predict(self, x: Any = None, *args: Any, **kwargs: Any) -> Any:
        """As Keras', for arrays of tokens and lengths, such as ``uanet_tf.pad`` gives.

        ``x`` is a dictionary of them, or a dataset of such; InputError, if it is something else.
        """
        check_predict_input(x)
        return super().predict(x, *args, **kwargs)

    def save(self, filepath: Any, *args: Any, **kwargs: Any) -> None:
        """As of ``tf.keras.Model``; a ``.keras`` file is compressed."""
        super().save(filepath, *args, **kwargs)
        if zipfile.is_zipfile(filepath):
            compress_archive(filepath)

    fit, train_on_batch = (_refused(name, _NOT_TRAINED) for name in ("fit", "train_on_batch"))
    evaluate, test_on_batch = (
        _refused(name, _NOT_SCORED) for name in ("evaluate", "test_on_batch")
    )
