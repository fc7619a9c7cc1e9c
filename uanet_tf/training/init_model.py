"""``--init``: vocabulary, weights and missing labels of a run that goes on from a model.

Before its first step the new model answers as the old one. Words, characters and labels of the old
one keep their weights. A new character has those of the unknown one, a new word too, unless the old
model has a pretrained vector of it, and a new label is improbable.
"""

import collections
import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from absl import logging

from uanet_lite.sentence import Sentence
from uanet_lite.tag_schemes import OUTSIDE, decode_spans, encode_spans, split_label
from uanet_lite.token_ids import FIRST_ID, UNKNOWN_ID
from uanet_tf.config import Config, TrainingConfig
from uanet_tf.data.lookup import KEYS
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.errors import InputError
from uanet_tf.models.loading import load_model
from uanet_tf.models.tagger import Tagger
from uanet_tf.ops.drafts_elsewhere import elsewhere_width
from uanet_tf.representation.char_layer import CharLayer
from uanet_tf.tagging.streams import tag_in_context
from uanet_tf.training.fill_vectors import word_representations
from uanet_tf.training.run_directory import RunDirectory

# A new label begins so far below the old ones that it begins like, in nats.
_BELOW = 5.0
# Without a new label: the learning rate, of that of the settings, and how far the weights of the
# best epoch count against the old ones. At all of both, 100 sentences are learnt by heart, and the
# rest is forgotten; a new label needs them.
SHARE = 0.3
WAY = 0.5
# With a new label at least so many epochs: a model of a large file has read it less often.
EPOCHS = 10


def init_model(init: str, run: RunDirectory, model: Tagger | None = None) -> Tagger:
    """The model of --init, ``model`` if it is loaded; the run's own copy, once there is one.

    Raises InputError if it cannot be loaded.
    """
    if run.init.exists():
        return load_model(run.init.parent)
    try:
        return model or load_model(init)
    except InputError as error:
        raise InputError(f"`init={init}` cannot be gone on from: {error}") from error


def extend(new: Vocabulary, counts: Mapping[str, int], model: Tagger) -> Vocabulary:
    """The vocabulary of a model with what new training data have beyond it, which stands behind it.

    Args:
      counts: of all words of the data; one too rare for ``new``, their vocabulary, joins it if the
        model has a pretrained vector of it, as in ``add_pretrained``.

    Raises:
      InputError: one is for entities, the other for labels of single tokens.
    """
    old = model.vocabulary
    if (old.scheme is None) != (new.scheme is None):
        kinds = ["single tokens" if each.scheme is None else "entities" for each in (old, new)]
        raise InputError(
            f"The model of `init` labels {kinds[0]}, and the training file {kinds[1]}: it cannot "
            "go on with it."
        )
    trained = dict(zip(old.words, old.word_counts, strict=False))  # the others have no counts
    has_vector = {word for word, row in zip(old.words, _vectors(model), strict=False) if row}
    rare = (w for w in counts if w in has_vector or w.lower() in has_vector)
    added = [w for w in dict.fromkeys((*new.words, *sorted(rare))) if w not in trained]
    total = collections.Counter(counts)
    total.update(trained)
    words = dict.fromkeys((*trained, *added, *old.words))
    return dataclasses.replace(
        new,
        words=tuple(words),
        word_counts=tuple(total[word] for word in (*trained, *added)),
        chars=tuple(dict.fromkeys((*old.chars, *new.chars))),
        labels=tuple(dict.fromkeys((*old.labels, *new.labels))),
        pretrained=old.pretrained,
        longest=max(old.longest, new.longest),
    )


def _vectors(model: Tagger) -> np.ndarray:
    """[V] of each word of a model, from id 2 on, whether it has a pretrained vector."""
    for part in word_representations(model):
        if part.pretrained is not None:
            return part.pretrained.scales.numpy()[FIRST_ID:] > 0
    return np.zeros(len(model.vocabulary.words), bool)


def carry_weights(old: Tagger, new: Tagger) -> list[np.ndarray]:
    """Gives a new tagger, of a vocabulary that ``extend`` made, the weights of the old one.

    What is fitted to a development file, after training, is not carried. Returns what
    ``trainable_variables`` begin with; [] where there is a new label.

    Raises:
      InputError: the settings give the new one other weights.
    """
    pairs = [(old.drafter, new.drafter), (old.refiner, new.refiner)]
    weights = [(part.weights, other.weights) for part, other in pairs if part and other]
    carried, likeness = _carry_tables(old, new), _likeness(old.vocabulary, new.vocabulary)
    for mine, others in weights:
        if len(mine) != len(others):
            raise InputError(
                "The settings that were given take weights away, or ask for more, than the model "
                "of `init` has: a rate of dropout that was or is 0?"
            )
        for before, after in zip(mine, others, strict=True):
            if after.ref() not in carried:
                after.assign(_with_labels(before, after.shape, likeness))
    return [] if len(likeness) else [variable.numpy() for variable in new.trainable_variables]


def long_enough(config: Config, given: Collection[str]) -> Config:
    """The settings of a run with a new label: with ``EPOCHS``, unless they are given or more."""
    epochs = config.training.epochs
    return config if "epochs" in given else config.replace(epochs=max(epochs, EPOCHS))


def slower(training: TrainingConfig) -> TrainingConfig:
    """With ``SHARE`` of each learning rate."""
    names = [name for name in vars(training) if name.endswith("_learning_rate")]
    return dataclasses.replace(training, **{n: SHARE * getattr(training, n) for n in names})


def go_back(tagger: Tagger, begun: Sequence[np.ndarray]) -> None:
    """Sets trainable weights between ``begun``, those before training, and those after it.

    Reference: Wortsman et al., 2022, "Robust fine-tuning of zero-shot models".
    """
    for variable, first in zip(tagger.trainable_variables, begun, strict=True):
        variable.assign(first + WAY * (variable.numpy() - first))


def _carry_tables(old: Tagger, new: Tagger) -> set[Any]:
    """Carries the tables of words and characters; references to them."""
    ids = {word: number for number, word in enumerate(old.vocabulary.words, FIRST_ID)}
    words = new.vocabulary.words
    same = np.array([0, UNKNOWN_ID, *(ids.get(word, UNKNOWN_ID) for word in words)])
    like = np.array([0, UNKNOWN_ID, *(ids.get(w, ids.get(w.lower(), UNKNOWN_ID)) for w in words)])
    tables: list[tuple[tf.Variable, np.ndarray]] = []
    for before, after in zip(word_representations(old), word_representations(new), strict=True):
        rows, size = before.embeddings.numpy(), after.embeddings.shape[0]
        trained = np.where(same < len(rows), same, UNKNOWN_ID)[:size]
        values = rows[trained]
        if before.pretrained is not None:
            scales = before.pretrained.scales.numpy()
            like = np.where(scales[like] > 0, like, same)
            begun = (scales[like] > 0)[:size] & (trained == UNKNOWN_ID)
            values = np.where(begun[:, None], 0, values)
            tables.append((after.pretrained.rows, before.pretrained.rows.numpy()[like]))
            tables.append((after.pretrained.scales, scales[like]))
        tables.append((after.embeddings, values))
        if isinstance(before.char_layer, CharLayer):
            chars = before.char_layer.embeddings.numpy()
            rows = np.arange(after.char_layer.embeddings.shape[0])
            rows[len(chars) :] = UNKNOWN_ID
            tables.append((after.char_layer.embeddings, chars[rows]))
    for variable, values in tables:
        variable.assign(values)
    return {variable.ref() for variable, _ in tables}


def _likeness(old: Vocabulary, new: Vocabulary) -> np.ndarray:
    """[N, C], for each new label the shares of the old ones that it begins like.

    Like O, as which the old model labels most of what is of a new type; of single tokens, like all.
    """
    row = np.array([float(old.scheme is None or label == OUTSIDE) for label in old.labels])
    return np.tile(row / row.sum(), [len(new.labels) - len(old.labels), 1])


def _with_labels(before: tf.Variable, shape: Sequence[int], likeness: np.ndarray) -> np.ndarray:
    """A weight with entries for new labels, each the mean of those of the old ones like it."""
    values, (more, count) = before.numpy(), likeness.shape
    for axis, size in enumerate(shape):
        length = values.shape[axis]
        if size == length:
            continue
        if size == length + more:  # the labels; and one behind them; or something before them
            starts = [0 if length <= count + 1 else length - count]
        elif size == length + len(KEYS) * more:  # the refiner's words, and drafts elsewhere
            first = length - elsewhere_width(count, len(KEYS))
            starts = [first + key * (count + 1) for key in range(len(KEYS))]
        else:
            raise InputError(
                f"`init` cannot go on with the weight {before.name}: it has the shape "
                f"{before.shape.as_list()}, and with the new labels {list(shape)}."
            )
        for start in reversed(starts):
            part = values.take(range(start, start + count), axis)
            added = np.moveaxis(np.tensordot(likeness, part, axes=(1, axis)), 0, axis)
            if values.ndim == 1 and before.trainable:
                added = added - _BELOW
            parts = np.split(values, [start + count], axis)
            values = np.concatenate([parts[0], added, parts[1]], axis)
    return values


def keep_types(
    splits: Mapping[str, Sequence[Sentence]], model: Tagger, scheme: str
) -> tuple[dict[str, list[Sentence]], dict[str, set[str]]]:
    """Labels training and development files with types that the model knows and they do not label.

    Training would unlearn them otherwise. What is chosen and fitted on the development file would
    count answers of these types as wrong; it is scored without them, as the test file is. Returns
    the sentences; and of each file the types that it does not label.
    """
    types = {name: _types_of(s.labels for s in part) for name, part in splits.items()}
    known = _types_of([model.vocabulary.labels])
    kept = {name: known - types["train"] - own for name, own in types.items()}
    labelled = {name: list(part) for name, part in splits.items()}
    for name in labelled:
        if kept[name] and name != "test":
            labelled[name] = _with_answers(labelled[name], kept[name], model, scheme, name)
    return labelled, kept


def _types_of(labels: Iterable[Sequence[str]]) -> set[str]:
    """The types of the entities in sentences with these labels."""
    found = {label for row in labels for label in row if label != OUTSIDE}
    return {split_label(label)[1] for label in found}


def _with_answers(
    sentences: Sequence[Sentence], types: Collection[str], model: Tagger, scheme: str, name: str
) -> list[Sentence]:
    """Sentences with the model's entities of these types that overlap none that is labelled."""
    samples = model.num_samples
    if model.sampling != "distilled":
        model.num_samples = 0  # one pass
    try:
        answers = [answer.labels for _, answer in tag_in_context(model, sentences)]
    finally:
        model.num_samples = samples
    labelled, counts = [], collections.Counter[str]()
    for sentence, answer in zip(sentences, answers, strict=True):
        spans = decode_spans(sentence.labels, scheme)
        taken = {token for span in spans for token in range(span.start, span.end)}
        more = [
            span
            for span in decode_spans(answer, scheme)
            if span.type in types and taken.isdisjoint(range(span.start, span.end))
        ]
        counts.update(span.type for span in more)
        labels = encode_spans([*spans, *more], len(sentence.tokens), scheme)
        labelled.append(dataclasses.replace(sentence, labels=tuple(labels)))
    told = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    logging.info("%s: what `init` answers stands in for labels: %s", name, told or "none")
    return labelled
