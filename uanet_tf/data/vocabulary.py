"""The symbols a model knows: words, characters and labels, all from the training data."""

import collections
import dataclasses
import json
import math
from collections.abc import Iterable, Mapping, Sequence

from uanet_lite.strict_json import Kinds, all_strings, check_fields, shown
from uanet_lite.tag_schemes import SCHEMES, decode_spans
from uanet_lite.tokenizer import Tokenizer
from uanet_tf.data.encoder_spec import EncoderSpec
from uanet_tf.errors import InputError

INTERNAL_SCHEME = "BIOES"
MAX_LABELS = 65_536
MAX_LONGEST = 64  # tokens of a candidate
_COVERED = 0.999


@dataclasses.dataclass(frozen=True)
class Vocabulary:
    """Words, characters and labels with their ids.

    Attributes:
      words: normalised words; ``words[k]`` has id k + 2.
      word_counts: how often each of the first ones occurs in the training data; the others are
        known from pretrained vectors only.
      chars: single characters; ``chars[k]`` has id k + 2.
      labels: the classes to predict, id = position; of chunks in BIOES, all four prefixes of each.
      scheme: tag scheme of the user's files and of answers; None for labels that are not chunks.
      pretrained: of its pretrained encoder, sub-words included; None without one.
      tokenizer: cuts raw text as the training data is cut.
      longest: tokens of the longest candidate for an entity, see ``longest_entity``; of chunks.
    """

    words: tuple[str, ...]
    word_counts: tuple[int, ...]
    chars: tuple[str, ...]
    labels: tuple[str, ...]
    scheme: str | None
    pretrained: EncoderSpec | None = None
    tokenizer: Tokenizer = dataclasses.field(default_factory=Tokenizer)
    longest: int = 1

    @property
    def num_trained(self) -> int:
        """Words of the training data, the first ones."""
        return len(self.word_counts)

    @property
    def internal_scheme(self) -> str | None:
        """Tag scheme of ``labels``; None for labels that are not chunks."""
        return None if self.scheme is None else INTERNAL_SCHEME

    def to_dict(self) -> dict:
        """Plain lists, for JSON and for Keras configurations."""
        values = {
            "words": list(self.words),
            "word_counts": list(self.word_counts),
            "chars": list(self.chars),
            "labels": list(self.labels),
            "scheme": self.scheme,
            "tokenizer": self.tokenizer.to_dict(),
        }
        if self.scheme is not None:
            values["longest"] = self.longest
        if self.pretrained is not None:
            values["pretrained"] = self.pretrained.to_dict()
        return values

    @classmethod
    def from_dict(cls, values: Mapping) -> "Vocabulary":
        """Inverse of ``to_dict``; raises InputError for a missing, unknown or impossible value."""
        lists = ("words", "word_counts", "chars", "labels")
        required: dict[str, Kinds] = {**dict.fromkeys(lists, list), "scheme": (str, type(None))}
        required["tokenizer"] = dict
        if values.get("scheme") is not None:
            required["longest"] = int
        check_fields(values, required, {"pretrained": dict}, where="the vocabulary")
        encoder = values.get("pretrained")
        vocabulary = cls(
            **{name: tuple(values[name]) for name in lists},
            scheme=values["scheme"],
            pretrained=None if encoder is None else EncoderSpec.from_dict(encoder),
            tokenizer=Tokenizer.from_dict(values["tokenizer"]),
            longest=values.get("longest", 1),
        )
        vocabulary._check()
        return vocabulary

    def _check(self) -> None:
        """Raises InputError if the lists are not those of a vocabulary."""
        wrong = None
        if not all_strings((*self.words, *self.chars, *self.labels)):
            wrong = "a word, character or label that is not text"
        elif not all(type(n) is int and 0 <= n < 2**63 for n in self.word_counts):
            wrong = "a count that is not a number of words"
        elif len(self.words) < len(self.word_counts):
            wrong = f"{len(self.words)} words with {len(self.word_counts)} counts"
        elif not all(len(char) == 1 for char in self.chars):
            wrong = "a character that is several"
        elif any(len(set(part)) < len(part) for part in (self.words, self.chars, self.labels)):
            wrong = "the same word, character or label twice"
        elif not 0 < len(self.labels) <= MAX_LABELS:
            wrong = f"{len(self.labels)} labels"
        elif self.scheme is not None and self.scheme not in SCHEMES:
            wrong = f"the tag scheme {shown(self.scheme)}"
        elif not 0 < self.longest <= MAX_LONGEST:
            wrong = f"entities of {self.longest} tokens"
        if wrong:
            raise InputError(f"the vocabulary has {wrong}")

    def to_json(self) -> str:
        """The vocabulary as JSON, one word per line."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=0)


def count_symbols(
    word_counts: Mapping[str, int], *, min_count: int = 1
) -> tuple[list[str], list[int]]:
    """The normalised words of at least ``min_count``, most frequent first, and their counts."""
    kept = [(word, n) for word, n in word_counts.items() if n >= min_count]
    kept.sort(key=lambda pair: (-pair[1], pair[0]))
    return [word for word, _ in kept], [n for _, n in kept]


def count_chars(form_counts: Mapping[str, int]) -> list[str]:
    """The characters of the forms, most frequent first."""
    counts: collections.Counter[str] = collections.Counter()
    for form, n in form_counts.items():
        for char in form:
            counts[char] += n
    return sorted(counts, key=lambda char: (-counts[char], char))


def class_labels(label_sequences: Iterable[Sequence[str]], scheme: str | None) -> list[str]:
    """The classes to predict: labels, most frequent first; of chunks O and BIOES of each type.

    So a prefix that a type does not have in training can still be predicted.
    """
    counts: collections.Counter[str] = collections.Counter()
    for labels in label_sequences:
        counts.update(labels if scheme is None else [s.type for s in decode_spans(labels, scheme)])
    names = sorted(counts, key=lambda name: (-counts[name], name))
    if scheme is None:
        return names
    # Chunks without a type are labelled by the prefix only.
    suffixes = [f"-{name}" if name else "" for name in names]
    return ["O"] + [prefix + suffix for suffix in suffixes for prefix in "BIES"]


def longest_entity(label_sequences: Iterable[Sequence[str]], scheme: str | None) -> int:
    """The fewest tokens that 999 in 1,000 entities of the training data do not exceed.

    1 where there are none; at most ``MAX_LONGEST``. One wrong label can make an entity of a whole
    sentence, and the cost of candidates grows with this.
    """
    if scheme is None:
        return 1
    lengths = sorted(
        span.end - span.start for labels in label_sequences for span in decode_spans(labels, scheme)
    )
    longest = lengths[math.ceil(_COVERED * len(lengths)) - 1] if lengths else 1
    return min(longest, MAX_LONGEST)
