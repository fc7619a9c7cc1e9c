"""Facts about a corpus that are worth knowing before training on it."""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Iterable, Sequence
from typing import Any

from uanet_tf.data.conll import Sentence
from uanet_tf.data.label_doubts import (
    entity_like_labels,
    has_sentences_in_lines,
    looks_like_json,
    stray_labels,
    uneven_sentences,
)
from uanet_tf.data.tag_schemes import decode_spans, detect_scheme, repair

# Short sentences ("Thanks !") are in every file; only longer ones suggest a leak.
LONG_SENTENCE_TOKENS = 5
_EXAMPLES = 5
_DIGIT = re.compile(r"\d")


@dataclasses.dataclass(frozen=True, slots=True)
class TrainComparison:
    """What a file holds that train does not, and what both hold.

    Attributes:
        train_scheme: the scheme of train, None if its labels are not chunk labels.
        word_types: different words, in the form in which they are compared with train.
        unknown_tokens, unknown_types: words (occurrences, different ones) that are not in train.
        unknown_examples: the most frequent of them, with counts.
        unseen_labels: labels that are not in train, with counts.
        shared_sentences: sentences whose words are in train too; `shared_long_sentences` those of
            at least `LONG_SENTENCE_TOKENS` tokens.
        shared_lines: (line here, line in train) of the first shared ones, the long ones first.
    """

    train_scheme: str | None
    word_types: int
    unknown_tokens: int
    unknown_types: int
    unknown_examples: dict[str, int]
    unseen_labels: dict[str, int]
    shared_sentences: int
    shared_long_sentences: int
    shared_lines: list[tuple[int, int]]


@dataclasses.dataclass(frozen=True, slots=True)
class CorpusReport:
    """Counts of one file; lines are 1-based and those of the sentence's first token.

    `scheme` is None for labels that are not chunk labels; then `entities` is empty and nothing is
    repaired. `stray_labels` are those that keep an otherwise chunked corpus from having a scheme;
    `entity_like_labels` (see `label_doubts`) look like those of entities, but in no known scheme.
    `looks_like_json` tells of JSON lines that were read as columns, `has_sentences_in_lines` of
    lines with a sentence and its labels. `uneven_sentences` have rows of different numbers of
    columns, `first_uneven_line` is the first such row. `line_ends` counts LF, CRLF and CR (only a
    carriage return).
    """

    role: str
    path: str
    sentences: int
    tokens: int
    documents: int
    word_types: int
    longest_sentence_tokens: int
    longest_sentence_line: int
    sentences_over_max_tokens: int
    longest_word_characters: int
    longest_word_line: int
    labels: dict[str, int]
    scheme: str | None
    stray_labels: dict[str, int]
    entity_like_labels: dict[str, int]
    looks_like_json: bool
    has_sentences_in_lines: bool
    uneven_sentences: int
    first_uneven_line: int | None
    repaired_labels: int
    repaired_sentences: int
    first_repaired_line: int | None
    entities: dict[str, int]
    repeated_sentences: int
    line_ends: dict[str, int]
    against_train: TrainComparison | None = None

    @property
    def mean_sentence_tokens(self) -> float:
        """Tokens in a sentence, on average."""
        return self.tokens / self.sentences


@dataclasses.dataclass(frozen=True, slots=True)
class Corpus:
    """The sentences of one file and the part it plays: train, dev, test, ..."""

    role: str
    path: str
    sentences: Sequence[Sentence]
    line_ends: dict[str, int] = dataclasses.field(default_factory=dict)


def normalize_word(word: str, *, digits: bool, lowercase: bool) -> str:
    """The form under which training looks a word up: digits of any script as 0, lower case."""
    word = _DIGIT.sub("0", word) if digits else word
    return word.lower() if lowercase else word


def report_corpora(
    corpora: Sequence[Corpus],
    *,
    normalize_digits: bool = True,
    lowercase_words: bool = False,
    max_tokens: int = 512,
) -> list[CorpusReport]:
    """One report for each corpus; the first is train, with which the others are compared.

    Args:
        corpora: none of them empty.
        normalize_digits, lowercase_words: as in training; they decide which words are unknown.
        max_tokens: sentences with more tokens are counted.
    """

    def normalize(word: str) -> str:
        return normalize_word(word, digits=normalize_digits, lowercase=lowercase_words)

    train, *others = corpora
    first = _report(train, None, max_tokens)
    words = {normalize(word) for sentence in train.sentences for word in sentence.tokens}
    lines = {sentence.tokens: sentence.line for sentence in reversed(train.sentences)}
    reports = [first]
    for corpus in others:
        found = collections.Counter(
            normalize(word) for sentence in corpus.sentences for word in sentence.tokens
        )
        report = _report(corpus, first.scheme, max_tokens)
        comparison = TrainComparison(
            train_scheme=first.scheme,
            **_word_comparison(found, words),
            unseen_labels={k: n for k, n in report.labels.items() if k not in first.labels},
            **_overlap(corpus.sentences, lines),
        )
        reports.append(dataclasses.replace(report, against_train=comparison))
    return reports


def _report(corpus: Corpus, train_scheme: str | None, max_tokens: int) -> CorpusReport:
    sentences = corpus.sentences
    longest = max(sentences, key=lambda sentence: len(sentence.tokens))
    wordiest = max(sentences, key=lambda sentence: max(map(len, sentence.tokens)))
    labels = _by_count(label for sentence in sentences for label in sentence.labels)
    scheme = detect_scheme(sentence.labels for sentence in sentences)
    if scheme and train_scheme and not _repairs(sentences, train_scheme):
        # A small file may be valid in several schemes; then train decides.
        scheme = train_scheme
    stray = {} if scheme else stray_labels(labels)
    entity_like = [] if scheme or stray else entity_like_labels(labels)
    repaired = _repairs(sentences, scheme) if scheme else []
    uneven = uneven_sentences(sentences)
    return CorpusReport(
        role=corpus.role,
        path=corpus.path,
        sentences=len(sentences),
        tokens=sum(len(sentence.tokens) for sentence in sentences),
        documents=sum(sentence.new_document for sentence in sentences),
        word_types=len({word for sentence in sentences for word in sentence.tokens}),
        longest_sentence_tokens=len(longest.tokens),
        longest_sentence_line=longest.line,
        sentences_over_max_tokens=sum(len(sentence.tokens) > max_tokens for sentence in sentences),
        longest_word_characters=max(map(len, wordiest.tokens)),
        longest_word_line=wordiest.line,
        labels=labels,
        scheme=scheme,
        stray_labels=stray,
        entity_like_labels={label: labels[label] for label in entity_like},
        looks_like_json=looks_like_json(
            token for sentence in sentences for token in sentence.tokens
        ),
        has_sentences_in_lines=has_sentences_in_lines(s for s in sentences if s.labels),
        uneven_sentences=len(uneven),
        first_uneven_line=uneven[0].uneven_line if uneven else None,
        repaired_labels=sum(count for count, _ in repaired),
        repaired_sentences=len(repaired),
        first_repaired_line=repaired[0][1] if repaired else None,
        entities=_entities(sentences, scheme) if scheme else {},
        repeated_sentences=len(sentences) - len({sentence.tokens for sentence in sentences}),
        line_ends={name: count for name, count in corpus.line_ends.items() if name},
    )


def _repairs(sentences: Sequence[Sentence], scheme: str) -> list[tuple[int, int]]:
    """(labels changed, line) of each sentence that breaks the scheme."""
    changes = ((repair(sentence.labels, scheme)[1], sentence.line) for sentence in sentences)
    return [(count, line) for count, line in changes if count]


def _entities(sentences: Sequence[Sentence], scheme: str) -> dict[str, int]:
    return _by_count(
        span.type for sentence in sentences for span in decode_spans(sentence.labels, scheme)
    )


def _word_comparison(found: collections.Counter[str], words: set[str]) -> dict[str, Any]:
    unknown = {word: count for word, count in found.items() if word not in words}
    examples = sorted(unknown.items(), key=lambda item: (-item[1], item[0]))[:_EXAMPLES]
    return {
        "word_types": len(found),
        "unknown_tokens": sum(unknown.values()),
        "unknown_types": len(unknown),
        "unknown_examples": dict(examples),
    }


def _overlap(
    sentences: Sequence[Sentence], train_lines: dict[tuple[str, ...], int]
) -> dict[str, Any]:
    shared = [sentence for sentence in sentences if sentence.tokens in train_lines]
    long = [sentence for sentence in shared if len(sentence.tokens) >= LONG_SENTENCE_TOKENS]
    short = [sentence for sentence in shared if len(sentence.tokens) < LONG_SENTENCE_TOKENS]
    return {
        "shared_sentences": len(shared),
        "shared_long_sentences": len(long),
        "shared_lines": [(s.line, train_lines[s.tokens]) for s in (long + short)[:_EXAMPLES]],
    }


def _by_count(items: Iterable[str]) -> dict[str, int]:
    """Counts, the most frequent first, equals in alphabetical order."""
    counts = collections.Counter(items)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
