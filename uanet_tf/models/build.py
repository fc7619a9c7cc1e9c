"""From a configuration to a model."""

import dataclasses
from collections.abc import Collection

import tensorflow as tf

from uanet_tf.arguments import ArgumentError
from uanet_tf.config import Config, SettingsRecord, iter_options
from uanet_tf.data.lookup import KEYS
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.errors import InputError
from uanet_tf.models.parts import part_classes
from uanet_tf.models.tagger import Tagger
from uanet_tf.ops.drafts_elsewhere import elsewhere_width
from uanet_tf.ops.dropout import make_seed
from uanet_tf.representation.representation import DRAFTS_ELSEWHERE
from uanet_tf.representation.transformer.pretrained_encoder import read_pretrained
from uanet_tf.settings import OF_THE_GATE

# Groups of settings that only the parts of a model read.
_OF_PARTS = ("representation", "encoder", "decoder")


def make_tagger(config: Config, vocabulary: Vocabulary, given: Collection[str] = ()) -> Tagger:
    """The model of the settings, with initial weights; a pretrained encoder has its own.

    A ``vocabulary`` of the training data that has a pretrained encoder is of a model that is there,
    whose weights its maker fills in. Raises InputError where the encoder that ``--pretrained``
    names cannot be read, the parts do not fit together, or the chosen parts do not read a setting
    of ``given``, the names of those that the user gave.
    """
    check_parts(config)
    _check_targets(config, vocabulary)
    if config.inference.sampling == "distilled" and not config.training.distill_samples:
        raise InputError(
            "`sampling=distilled` needs a trained head: leave `distill_samples` out. "
            "Received: `distill_samples=0`"
        )
    record = SettingsRecord(config)
    preset = None
    if config.representation.representation == "transformer":
        folder = record.representation.pretrained
        if vocabulary.pretrained is None:
            preset = read_pretrained(folder)
            vocabulary = dataclasses.replace(vocabulary, pretrained=preset.spec)
    try:
        mixed = config.training.mixed_bfloat16
        tagger = Tagger.from_settings(
            config, vocabulary, view=record, mixed_bfloat16=mixed, name="tagger"
        )
        _check_training(tagger)
    except ArgumentError as error:
        # Keras adds the arguments of a call, in lines of their own.
        told = error.__context__ if isinstance(error.__context__, ArgumentError) else error
        raise InputError(f"The settings do not fit together: {told}") from error
    _check_given(config, given, record.read, tagger)
    if preset is not None:
        tagger.drafter.representation.transformer.fill(preset.weights)
    return tagger


def _check_targets(config: Config, vocabulary: Vocabulary) -> None:
    """Raises InputError for a target that cannot be."""
    training = config.training
    targets = {name: getattr(training, name) for name in ("target_precision", "target_recall")}
    for name, target in targets.items():
        if target and not config.inference.calibrated:
            raise InputError(
                f"`{name}` is of the calibrated confidence: leave `calibrated=False` out. "
                f"Received: `{name}={target}`"
            )
    if training.target_recall and vocabulary.scheme is None:
        raise InputError(
            "`target_recall` is of entities, and the labels are of single tokens: leave it out. "
            f"Received: {training.target_recall}"
        )
    if training.target_by_type and not any(targets.values()):
        raise InputError(
            "`target_by_type` is for a target: give `target_precision` or `target_recall`."
        )


def _check_training(tagger: Tagger) -> None:
    """Computes the losses of one token: a part that cannot is found before a run has begun."""
    features = tagger.features({"tokens": tf.constant([["a"]]), "lengths": tf.constant([1])})
    if tagger.refiner_context == "document":
        width = elsewhere_width(len(tagger.class_names), len(KEYS))
        features = {**features, DRAFTS_ELSEWHERE: tf.zeros([1, 1, width])}
    tagger.loss_terms(features, tf.zeros([1, 1], tf.int32), make_seed(0))


def check_parts(config: Config) -> None:
    """Raises InputError where a part refuses its settings, before anything slow is done."""
    for part in part_classes(config):
        part.check_settings(config)
    refined = config.decoder.is_refined
    if refined and config.data.context == config.decoder.refiner_context == "document":
        raise InputError(
            "`refiner_context=document` reads the other sentences of a passage, and "
            "`context=document` reads a passage as one sentence: leave one of them out."
        )


def _check_given(config: Config, given: Collection[str], read: set[str], tagger: Tagger) -> None:
    """Refuses settings that were given, and that nothing reads."""
    optimizers = {*tagger.variable_groups(), None}
    if config.representation.representation == "transformer":
        optimizers.add("pretrained")  # also where a rate of 0 freezes it
    settings = {field.name: value for _, field, value in iter_options(config)}
    for group, field, value in iter_options(config):
        if field.name not in given:
            continue
        unread = group in _OF_PARTS and field.name not in read
        unread |= field.metadata["optimizer"] not in optimizers
        unread |= tagger.gate is None and field.name in (*OF_THE_GATE, "tune_threshold")
        unread |= tagger.drafter.distilled is None and field.name == "distill_samples" and value > 0
        if unread:
            parts = ", ".join(f"`{name}={settings[name]}`" for name in _OF_PARTS)
            raise InputError(
                f"`{field.name}` is not read by {parts}: leave it out. Received: {value}"
            )
        for name, values in field.metadata["needs"].items():
            if not (settings[name] in values if values else settings[name]):
                raise InputError(
                    f"`{field.name}` is not read with `{name}={settings[name]}`: leave it out. "
                    f"Received: {value}"
                )
