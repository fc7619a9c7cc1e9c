"""Which task the labels of a file are for, and whether they fit it."""

import collections
from collections.abc import Mapping, Sequence

from absl import logging

from uanet_lite.sentence import Sentence
from uanet_lite.tag_schemes import detect_scheme
from uanet_tf.config import DataConfig
from uanet_tf.data.label_doubts import (
    entity_like_labels,
    has_sentences_in_lines,
    said_of_uneven,
    stray_labels,
    uneven_sentences,
    without_entities,
)
from uanet_tf.errors import InputError


def find_task(config: DataConfig, train: Sequence[Sentence]) -> tuple[str, str | None]:
    """Returns the task ("ner" or "pos") and the tag scheme (None for pos)."""
    if config.task == "pos":
        return "pos", None
    scheme = detect_scheme([sentence.labels for sentence in train])
    if scheme is None:
        _refuse_text(config.train_path, train)
        _refuse_strays(config.train_path, train)
    if scheme is None and config.task == "ner":
        raise InputError(
            f"--task=ner, but the labels of {config.train_path} are not chunk labels such as "
            "B-PER, I-PER, O: is --label_column right?"
        )
    if scheme is None:
        warn_entity_like(train)
        return "pos", None
    return "ner", scheme


def _refuse_text(path: str, train: Sequence[Sentence]) -> None:
    """Raises InputError if the lines of most sentences are as uneven as those of text."""
    if has_sentences_in_lines(train):
        raise InputError(
            f"{path}:{train[0].line}: has a sentence and its labels in one line: the file needs a "
            "line for each token, and an empty line between sentences."
        )
    uneven = uneven_sentences(train)
    if 2 * len(uneven) > len(train):
        raise InputError(
            f"{path}:{uneven[0].uneven_line}: has another number of columns than the lines before, "
            "and so it is in most sentences: the file needs a line for each token, with its label "
            "as last column, and an empty line between sentences; or name --label_column."
        )


def warn_uneven(splits: Mapping[str, Sequence[Sentence]]) -> None:
    """Warns of lines that have more or fewer columns than those before them in a sentence."""
    for name, sentences in splits.items():
        if uneven := uneven_sentences(sentences):
            logging.warning("%s: %s", name, said_of_uneven(len(uneven), uneven[0].uneven_line))


def _refuse_strays(path: str, train: Sequence[Sentence]) -> None:
    """Raises InputError if a few labels keep a file of chunk labels from being one."""
    counts = collections.Counter(label for sentence in train for label in sentence.labels)
    if strays := stray_labels(counts):
        label = min(strays, key=lambda label: (strays[label], label))
        line = next(sentence.line for sentence in train if label in sentence.labels)
        times = f", {strays[label]:,} times" if strays[label] > 1 else ""
        others = f", and so are {len(strays) - 1} others" if len(strays) > 1 else ""
        raise InputError(
            f"{path}:{line}: the label {label!r} in the sentence that begins here{times} is no "
            f"label of entities (B-PER, I-PER, O, ...){others}, while most labels are: correct "
            "it, or name --task=pos if each label is of a single token."
        )


def warn_without_entities(splits: Mapping[str, Sequence[Sentence]]) -> None:
    """Warns of a training or development file in which there is no entity."""
    told = {
        "train": "no entity can be learnt from it",
        "dev": "no epoch is better than another there, and the last one is kept",
    }
    for name, said in told.items():
        if without_entities(splits[name]):
            logging.warning("%s: the file has no entity: %s", name, said)


def warn_shared(splits: Mapping[str, Sequence[Sentence]]) -> None:
    """Warns of a file whose sentences are mostly in the training file too."""
    train = {sentence.tokens for sentence in splits["train"]}
    told = {
        "dev": "scores, calibrated confidence and what else is chosen on dev are too good",
        "test": "its scores are too good",
    }
    for name, said in told.items():
        sentences = splits.get(name, ())
        shared = sum(sentence.tokens in train for sentence in sentences)
        if 2 * shared > len(sentences):
            logging.warning(
                "%s: %d of %d sentences are in the training file too: %s",
                name,
                shared,
                len(sentences),
                said,
            )


def warn_entity_like(train: Sequence[Sentence]) -> None:
    """Warns of labels that look like those of entities in no scheme, as B_PER does."""
    counts = collections.Counter(label for sentence in train for label in sentence.labels)
    if labels := entity_like_labels(counts):
        logging.warning(
            "train: labels such as %s look like those of entities, but are in no known scheme "
            "(B-PER, I-PER, O, ...): each is a label of single tokens; --task=pos says that "
            "this is meant",
            ", ".join(map(repr, labels[:3])),
        )
