"""The answers for sentences: labels, spans and the uncertainty of each token."""

import abc
import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex, overload

from uanet_lite import answers, sentence_html, tag_schemes
from uanet_lite.input_error import InputError
from uanet_lite.sentence import Sentence, joined_offsets

if TYPE_CHECKING:  # what reads no array needs no NumPy
    import numpy as np


class Entity(NamedTuple):
    """A labelled stretch of a text, the same in Python, in JSON and from a server.

    Attributes:
      text: ``sentence.source_text[start:end]``.
      type: such as "ORG".
      start: its first character in the text.
      end: the character after its last.
      token_start: position of its first token in the sentence.
      token_end: position of the token after its last.
      confidence: probability that it is right, in [0, 1]: the lowest of its tokens.
      uncertainty: the highest of its tokens, nats.
      accepted: whether it is sure enough for the run's target precision; None: it has none.
      mutual_information: the highest of its tokens, nats; None: it was not asked for.
    """

    text: str
    type: str
    start: int
    end: int
    token_start: int
    token_end: int
    confidence: float
    uncertainty: float
    accepted: bool | None = None
    mutual_information: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: scores rounded to six decimals; nothing that is None."""
        return answers.entity_to_json(self)


class Candidate(NamedTuple):
    """A span of a text that may be an entity.

    Attributes:
      text, type, start, end, token_start, token_end: as of an ``Entity``.
      probability: that it is an entity of this type, calibrated, in [0, 1].
    """

    text: str
    type: str
    start: int
    end: int
    token_start: int
    token_end: int
    probability: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: the probability rounded to six decimals."""
        return answers.entity_to_json(self)


class _Rows(abc.ABC):
    """Answers as a table.

    pandas' own constructor has a row for each item of a list, so it cannot make this table of
    sentences: ``pandas.DataFrame(answer.to_dicts())`` does, as ``to_dataframe``.
    """

    @abc.abstractmethod
    def _numbered(self) -> "Iterator[tuple[dict[str, int], TaggedSentence]]":
        """Each sentence, and which one it is."""

    @property
    def entities(self) -> list[Entity]:
        """The entities of all sentences."""
        return [entity for _, sentence in self._numbered() for entity in sentence.entities]

    def to_dicts(self, per: str | None = None) -> list[dict[str, Any]]:
        """A dictionary of plain values for each entity or token, as rows of a table.

        Args:
          per: "entity" or "token"; None: entities, where the labels are of entities.

        Raises:
          InputError: ``per`` is something else.
        """
        pairs = list(self._numbered())
        per = _per(per, pairs)
        return [number | row for number, each in pairs for row in _rows(each, per)]

    def to_dataframe(self, per: str | None = None) -> Any:
        """``to_dicts`` as a DataFrame of pandas.

        Raises:
          InputError: see ``to_dicts``; or pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise InputError(
                "to_dataframe needs the package pandas (pip install 'pandas<3'); to_dicts gives "
                "the same rows without it."
            ) from None
        rows = self.to_dicts(per)
        return pandas.DataFrame(rows, columns=None if rows else self._columns())

    def _columns(self) -> list[str]:
        """Those of a table without rows."""
        pairs = list(self._numbered())
        given = ["accepted"] if any(each.accepted is not None for _, each in pairs) else []
        return [*dict.fromkeys(name for number, _ in pairs for name in number), *_COLUMNS, *given]


_COLUMNS = Entity._fields[:8]  # that every entity has


def _per(per: str | None, pairs: "Sequence[tuple[Any, TaggedSentence]]") -> str:
    if per not in (None, "entity", "token"):
        raise InputError(f'per must be "entity" or "token". Received: {per!r:.60}')
    chunks = not pairs or any(sentence.scheme is not None for _, sentence in pairs)
    return per or ("entity" if chunks else "token")


def _rows(sentence: "TaggedSentence", per: str) -> list[dict[str, Any]]:
    if per == "entity":
        return [entity.to_dict() for entity in sentence.entities]
    return answers.token_rows(sentence)


# First token, type, number of tokens, probability.
BareSpan = tuple[int, str, int, float]


class BareSpans(Iterable[BareSpan]):
    """Spans of tokens until somebody asks for their places in a text; a slice is of those tokens.

    Most are never looked at, and to make an object of each would take as long as to find them.

    Args:
      columns: first token, type, number of tokens and probability of each of M spans in the order
        of their first tokens, arrays [M].
      bounds: how many spans begin before each token, and all: [N + 1].
      start, end: the tokens that are meant.
    """

    __slots__ = ("_bounds", "_columns", "_end", "_start", "_types")

    def __init__(
        self,
        types: Sequence[str],
        columns: "Sequence[np.ndarray]",
        bounds: Sequence[int],
        start: int = 0,
        end: int = -1,
    ):
        self._types, self._columns, self._bounds = types, columns, bounds
        self._start, self._end = start, end

    def __getitem__(self, part: slice) -> "BareSpans":
        return BareSpans(self._types, self._columns, self._bounds, part.start, part.stop)

    def __iter__(self) -> Iterator[BareSpan]:
        part = slice(self._bounds[self._start], self._bounds[self._end])
        columns = [each[part].tolist() for each in self._columns]
        for token, kind, length, p in zip(*columns, strict=True):
            yield token - self._start, self._types[kind], length, p


class _MadeWhenRead:
    """The field of candidates: a list, or ``BareSpans`` that become one when it is read."""

    def __get__(self, sentence: Any, owner: Any = None) -> "list[Candidate] | None":
        if sentence is None:
            return None  # the field's default
        found = vars(sentence)["candidates"]
        if isinstance(found, BareSpans):
            found = vars(sentence)["candidates"] = sentence._placed(found)
        return found

    def __set__(self, sentence: Any, found: "list[Candidate] | BareSpans | None") -> None:
        vars(sentence)["candidates"] = found


@dataclasses.dataclass(frozen=True, repr=False)
class TaggedSentence(_Rows):
    """A sentence with its labels, token by token.

    All lists have one entry per token. Labels are in the scheme of the training file and form valid
    sequences: the model's labels are read leniently as spans and rewritten.

    Attributes:
      tokens: the words as given.
      labels: the answer: the refined label where the gate opened, else the draft's.
      draft_labels: the labels of the draft.
      refined_labels: the labels of the refiner; where the model's ``refine_all`` is off, the
        draft's for tokens up to Gamma, but for repairs of an invalid sequence.
      uncertainty: uncertainty of the draft, nats.
      confidence: probability of the label given, in [0, 1].
      refined: whether the gate opened, that is, the uncertainty exceeded the threshold.
      scheme: tag scheme of the labels ("IOB2", ...), None for labels of single tokens.
      source_text: the whole text given, of which the sentence is a part; for a list of words, the
        words joined by single blanks. ``text`` is the sentence's own part of it.
      starts: first character of each token in ``source_text``.
      ends: the character after the last of each.
      accepted: whether the label is sure enough for the run's target precision, O never; None: it
        has none.
      mutual_information: the part of the uncertainty that comes from disagreement of the samples,
        nats; None, unless the model's ``return_mutual_information`` is on.
      probabilities: of each token the distribution that decided its label, {label: probability},
        most probable first, uncalibrated; None, unless the model's ``return_probabilities`` is on.
      alternatives: the most probable labels of each token, [(label, probability), ...], most
        probable first, as many as the model's ``return_alternatives`` asks for; None: it does
        not. The probability of the label given is its confidence. The others share the rest in
        proportion to the model's own probabilities, but none that the model finds less probable
        than the label given gets more than it: so that order stays, and all together are at most 1.
      candidates: spans, from left to right, that are an entity with at least the probability that
        the run's target recall needs; they may overlap, and entities given are mostly among them.
        None, unless the model's ``return_candidates`` is on.
    """

    tokens: list[str]
    labels: list[str]
    draft_labels: list[str]
    refined_labels: list[str]
    uncertainty: list[float]
    confidence: list[float]
    refined: list[bool]
    scheme: str | None = None
    source_text: str | None = None
    starts: list[int] = dataclasses.field(default_factory=list)
    ends: list[int] = dataclasses.field(default_factory=list)
    accepted: list[bool] | None = None
    mutual_information: list[float] | None = None
    probabilities: "LabelProbabilities | None" = dataclasses.field(default=None, compare=False)
    alternatives: list[list[tuple[str, float]]] | None = None
    candidates: _MadeWhenRead = _MadeWhenRead()

    def __post_init__(self) -> None:
        if self.source_text is None:
            names = ("source_text", "starts", "ends")
            for name, value in zip(names, joined_offsets(self.tokens), strict=True):
                object.__setattr__(self, name, value)

    @classmethod
    def of(cls, sentence: Sentence, scheme: str | None, fields: dict[str, Any]) -> "TaggedSentence":
        """The answer for a sentence, at the places of its text.

        ``fields``: the attributes of ``answers.TOKEN_ANSWERS``; candidates as ``BareSpans``.
        """
        tokens = list(sentence.tokens)
        if sentence.text is None:
            return cls(tokens, scheme=scheme, **fields)
        places: dict[str, Any] = {"starts": list(sentence.starts), "ends": list(sentence.ends)}
        return cls(tokens, scheme=scheme, source_text=sentence.text, **places, **fields)

    def _placed(self, spans: Iterable[BareSpan]) -> list[Candidate]:
        """Spans as candidates; what goes beyond the sentence is none of it."""
        found, text = [], self.source_text or ""
        for first, kind, length, p in spans:
            if (last := first + length) <= len(self.tokens):
                start, end = self.starts[first], self.ends[last - 1]
                found.append(Candidate(text[start:end], kind, start, end, first, last, p))
        return found

    def part(self, start: int, end: int) -> "TaggedSentence":
        """The tokens ``start <= i < end`` with their answers, joined by single blanks."""
        kept: dict[str, Any] = {}
        for row in answers.TOKEN_ANSWERS:
            values = getattr(self, row.name)
            kept[row.name] = None if values is None else values[start:end]
        kept["candidates"] = None
        part = TaggedSentence(self.tokens[start:end], scheme=self.scheme, **kept)
        if self.candidates is None:
            return part
        spans = [
            (first - start, kind, last - first, p)
            for _, kind, _, _, first, last, p in self.candidates
            if first >= start
        ]
        return dataclasses.replace(part, candidates=part._placed(spans))

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"candidates": self.candidates}

    @property
    def text(self) -> str:
        """The sentence's own text, from its first token to its last."""
        return (self.source_text or "")[min(self.starts, default=0) : max(self.ends, default=None)]

    @property
    def entities(self) -> list[Entity]:
        """Entities with their places and scores; [] where labels are no chunks."""
        return [self._entity(span) for span in self.spans]

    @property
    def spans(self) -> list[tag_schemes.Span]:
        """Entities as Span(type, start, end), tokens ``start <= i < end``; [] without scheme."""
        if self.scheme is None:
            return []
        return list(tag_schemes.decode_spans(self.labels, self.scheme))

    def is_refused(self, start: int, end: int) -> bool:
        """Whether the tokens ``start <= i < end`` are too unsure for the target precision."""
        return self.accepted is not None and not all(self.accepted[start:end])

    def __len__(self) -> int:
        return len(self.tokens)

    def __str__(self) -> str:
        """``[ORG Chelsea] beat [ORG Real Madrid]``; without scheme ``They/PRP left/VBD``."""
        if self.scheme is None:
            pairs = zip(self.tokens, self.labels, strict=True)
            return " ".join(f"{token}/{label}" for token, label in pairs)
        pieces, position = [], 0
        for span in self.spans:
            pieces += self.tokens[position : span.start]
            pieces.append(f"[{span.type} {' '.join(self.tokens[span.start : span.end])}]")
            position = span.end
        return " ".join(pieces + self.tokens[position:])

    def __repr__(self) -> str:
        return f"<TaggedSentence: {self}>"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: scores rounded to six decimals, offsets in characters.

        ``source_text`` is there where it is more than ``text``; offsets count in it.
        """
        more = {} if self.source_text == self.text else {"source_text": self.source_text}
        return answers.to_json(self) | {"text": self.text} | more

    def _numbered(self) -> "Iterator[tuple[dict[str, int], TaggedSentence]]":
        yield {}, self

    def _entity(self, span: tag_schemes.Span) -> Entity:
        start, end = self.starts[span.start], self.ends[span.end - 1]
        return Entity(
            text=(self.source_text or "")[start:end],
            type=span.type,
            start=start,
            end=end,
            token_start=span.start,
            token_end=span.end,
            **answers.entity_scores(self, span.start, span.end),
        )

    def _repr_html_(self) -> str:
        """HTML for notebooks: uncertain tokens shaded, entities underlined with their type."""
        return sentence_html.sentence_html(self)


class TaggedSentences(_Rows, list[TaggedSentence]):
    """A list of tagged sentences, which is a table too, and shows itself in notebooks."""

    def _numbered(self) -> Iterator[tuple[dict[str, int], TaggedSentence]]:
        for number, sentence in enumerate(self):
            yield {"sentence": number}, sentence

    @overload
    def __getitem__(self, index: SupportsIndex) -> TaggedSentence: ...
    @overload
    def __getitem__(self, index: slice) -> "TaggedSentences": ...
    def __getitem__(self, index):
        chosen = super().__getitem__(index)
        return TaggedSentences(chosen) if isinstance(index, slice) else chosen

    def __add__(self, other):
        return TaggedSentences(super().__add__(other))

    def __radd__(self, other):  # sum([...], [])
        return TaggedSentences([*other, *self]) if isinstance(other, list) else NotImplemented

    def __mul__(self, times: SupportsIndex) -> "TaggedSentences":
        return TaggedSentences(super().__mul__(times))

    __rmul__ = __mul__

    def copy(self) -> "TaggedSentences":
        """A list of its own with the same sentences."""
        return TaggedSentences(self)

    def _repr_html_(self) -> str:
        return sentence_html.sentences_html(self)


class TaggedTexts(_Rows, list[TaggedSentences]):
    """The sentences of each of several texts; a table too, which shows itself in notebooks.

    In rows ``source`` is the number of the text, ``sentence`` that of the sentence in it.
    """

    def _numbered(self) -> Iterator[tuple[dict[str, int], TaggedSentence]]:
        for source, sentences in enumerate(self):
            for number, sentence in enumerate(sentences):
                yield {"source": source, "sentence": number}, sentence

    def _repr_html_(self) -> str:
        return sentence_html.texts_html(self)


def by_item(count: int, pairs: Iterable[tuple[int, TaggedSentence]]) -> TaggedTexts:
    """The sentences of each of ``count`` items, of (number of the item, sentence) in order."""
    found: list[list[TaggedSentence]] = [[] for _ in range(count)]
    for number, sentence in pairs:
        found[number].append(sentence)
    return TaggedTexts(map(TaggedSentences, found))


class LabelProbabilities(Sequence[dict[str, float]]):
    """Distributions of tokens over the labels of the user's files: {label: probability} of each.

    NumPy takes it as the array that it is made of.

    Args:
      of_classes: [T, C] over the model's classes, of which several may be one label.
      labels: [C] the label of each class.
    """

    def __init__(self, of_classes: "np.ndarray", labels: Sequence[str]):
        self._of_classes, self._labels = of_classes, labels

    def __len__(self) -> int:
        return len(self._of_classes)

    @overload
    def __getitem__(self, index: SupportsIndex) -> dict[str, float]: ...
    @overload
    def __getitem__(self, index: slice) -> "LabelProbabilities": ...
    def __getitem__(self, index):
        if isinstance(index, slice):
            return LabelProbabilities(self._of_classes[index], self._labels)
        found: dict[str, float] = {}
        for label, p in zip(self._labels, self._of_classes[index].tolist(), strict=True):
            found[label] = found.get(label, 0.0) + p
        return dict(sorted(found.items(), key=lambda pair: -pair[1]))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> "np.ndarray":
        return self._of_classes if dtype is None else self._of_classes.astype(dtype)

    def __repr__(self) -> str:
        return repr(list(self))
