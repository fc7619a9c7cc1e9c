"""A sample corpus: invented, newswire-like English sentences with PER, ORG, LOC and MISC in IOB2.

    uanet data sample DIRECTORY

It is made so that uncertainty has a meaning: many words may be a person, a club or company, or a
place; the word that decides is often far away, sometimes missing; some labels of train are wrong
and a third of the names in dev and test is new. No tagger can label all of it correctly.
"""

import os
import pathlib
import random
from collections.abc import Collection, Sequence

from uanet_lite.atomic_file import atomic_file
from uanet_lite.columns_file import format_columns
from uanet_lite.input_error import InputError
from uanet_lite.sentence import Sentence
from uanet_lite.tag_schemes import IOB2, Span, encode_spans
from uanet_tf.resources.sample_sentences import ENTITY_TYPES, SentenceWriter

LABEL_NOISE = 0.02
UNSEEN_NAMES = 0.27
_MIN_TOKENS, _MAX_TOKENS = 4, 45


def generate_sentences(
    count: int,
    *,
    seed: int = 1,
    stream: str = "train",
    unseen_names: float = 0.0,
    label_noise: float = 0.0,
    avoid: Collection[tuple[str, ...]] = (),
) -> list[Sentence]:
    """Generates sentences of 4 to 45 tokens with IOB2 labels, no two the same.

    The same arguments give the same sentences in every process and on every platform. A count
    below 1 or a probability outside [0, 1] is an InputError.

    Args:
      seed: also determines the names: streams of one seed share them.
      stream: another name, other sentences.
      unseen_names: probability that a name is one that streams at 0 never use.
      label_noise: probability that an entity has a wrong type or boundary.
      avoid: tokens of sentences not to generate.
    """
    _check_count("count", count)
    for name, value in (("unseen_names", unseen_names), ("label_noise", label_noise)):
        if not 0 <= value <= 1:
            raise InputError(f"{name} must be in [0, 1]. Received: {value}.")
    rng = random.Random(f"{seed}/{stream}")
    # Noise has a random generator of its own: with or without it the words are the same.
    noise = random.Random(f"{seed}/{stream}/noise")
    writer = SentenceWriter(seed, rng, unseen_names)
    seen = set(avoid)
    sentences: list[Sentence] = []
    line = 1
    while len(sentences) < count:
        tokens, spans = writer.write()
        if not _MIN_TOKENS <= len(tokens) <= _MAX_TOKENS or tokens in seen:
            continue
        seen.add(tokens)
        labels = encode_spans(_disturb(noise, spans, len(tokens), label_noise), len(tokens), IOB2)
        sentences.append(Sentence(tokens, tuple(labels), line, new_document=line == 1))
        line += len(tokens) + 1
    return sentences


def _check_count(name: str, count: int) -> None:
    if count < 1:
        raise InputError(f"{name} must be at least 1. Received: {count}.")


def _disturb(
    rng: random.Random, spans: Sequence[Span], length: int, probability: float
) -> list[Span]:
    """Gives some spans a wrong type, or a boundary wrong by one token."""
    disturbed: list[Span] = []
    for index, span in enumerate(spans):
        if rng.random() < probability:
            following = spans[index + 1].start if index + 1 < len(spans) else length
            if rng.random() < 0.5:
                others = [name for name in ENTITY_TYPES if name != span.type]
                span = span._replace(type=others[int(rng.random() * len(others))])
            elif span.end - span.start > 1 and rng.random() < 0.5:
                span = span._replace(end=span.end - 1)
            elif span.end - span.start > 1:
                span = span._replace(start=span.start + 1)
            elif span.end < following:
                span = span._replace(end=span.end + 1)
        disturbed.append(span)
    return disturbed


def write_sample_corpus(
    directory: str | os.PathLike[str],
    *,
    seed: int = 1,
    train_sentences: int = 1_500,
    dev_sentences: int = 300,
    test_sentences: int = 300,
) -> dict[str, pathlib.Path]:
    """Writes train.conll, dev.conll and test.conll (token, tab, label), each atomically.

    About 2 % of the entities of train have a wrong label, none of dev and test; about 30 % of the
    names of dev and test do not occur in train; no sentence is in two files. ``directory`` is
    created if missing.

    Returns:
      The paths, by "train", "dev" and "test".

    Raises:
      InputError: a count below 1, a directory that cannot be written, or a file that holds
        something else; then no file is written.
    """
    counts = {"train": train_sentences, "dev": dev_sentences, "test": test_sentences}
    for name, count in counts.items():
        _check_count(f"{name}_sentences", count)
    contents: dict[pathlib.Path, bytes] = {}
    paths: dict[str, pathlib.Path] = {}
    seen: set[tuple[str, ...]] = set()
    for name, count in counts.items():
        sentences = generate_sentences(
            count,
            seed=seed,
            stream=name,
            unseen_names=0.0 if name == "train" else UNSEEN_NAMES,
            label_noise=LABEL_NOISE if name == "train" else 0.0,
            avoid=seen,
        )
        seen.update(tuple(sentence.tokens) for sentence in sentences)
        paths[name] = pathlib.Path(directory, f"{name}.conll")
        contents[paths[name]] = format_columns(sentences).encode("utf-8")
    try:
        # What is there already stays; else never a half-written corpus.
        missing = [path for path, content in contents.items() if not _holds(path, content)]
        for path in missing:
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_file(path) as part:
                pathlib.Path(part).write_bytes(contents[path])
    except OSError as error:
        raise InputError(f"{os.fspath(directory)}: cannot be written ({error.strerror}).") from None
    return paths


def _holds(path: pathlib.Path, content: bytes) -> bool:
    """Whether a file is there; InputError if it holds something else."""
    if not path.exists():
        return False
    if not path.is_file() or path.read_bytes() != content:
        raise InputError(f"{path}: exists and holds something else; it was not changed.")
    return True
