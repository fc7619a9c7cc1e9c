"""The table of answers: every value that a tagger gives, stated once.

Graphs, signatures, streams, sentences, JSON lines, Spark, TensorFlow Lite files, servers, their
client and the documents read it. A new answer is a row of ``TOKEN_ANSWERS``, the option that asks
for it, a field of ``TaggedSentence``, and the graph that computes it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple


class Kind(NamedTuple):
    """The values of an answer: their type in NumPy and TensorFlow, Python and JSON, and Spark.

    A label is its position among all labels, in models and TensorFlow Lite files, else its name.
    """

    array: str
    plain: type
    spark: str


LABEL = Kind("int32", str, "string")
TEXT = Kind("object", str, "string")
NUMBER = Kind("float32", Real, "double")
BOOLEAN = Kind("bool", Real, "boolean")
POSITION = Kind("int32", int, "int")
# Of a token: labels with their probabilities, [(label, probability), ...].
RANKED = Kind("", list, "array<struct<label: string, probability: double>>")
# Of a sentence, not of a token: spans with their probability. Graphs give them for the token that
# they begin at, [B, T, S], and only within this process and for the signature of entities.
SPANS = Kind(
    "float32",
    list,
    "struct<text: string, type: string, start: int, end: int, token_start: int, token_end: int, "
    "probability: double>",
)

# How far an answer goes, each also where those before it go:
IN_PYTHON = 0  # models and streams of this process, SavedModels
IN_GRAPHS = 1  # TensorFlow Lite files, servers and their client
IN_TEXT = 2  # JSON lines, Spark

# How an entity's value follows from those of its tokens.
_OF_TOKENS: dict[str, Callable[[Iterable[Any]], Any]] = {"lowest": min, "highest": max, "all": all}

TARGET_PRECISION = "target_precision"  # of the run, no option


class Tensor(NamedTuple):
    """An output of graphs and signatures, by its name in SavedModels; its first axis is "batch"."""

    name: str
    kind: Kind
    axes: tuple[str, ...]
    about: str

    @property
    def lite_name(self) -> str:
        """The output of a TensorFlow Lite file, whose labels are positions."""
        return self.name.replace("labels", "label_ids")


class Answer(NamedTuple):
    """A row of the table.

    Attributes:
      name: in Python, JSON, Spark and, but for ``RANKED``, of the output of graphs.
      reach: IN_PYTHON, IN_GRAPHS or IN_TEXT.
      needs: the inference option that asks for it, or ``TARGET_PRECISION``; "": always given.
      of_entity: an entity's value is the "lowest" of its tokens' or the "highest", or whether
        "all" hold; "": entities have none.
      of_draft: whether a draft has it too, without the refiner.
      last_axis: of an answer with several values for each token.
    """

    name: str
    kind: Kind
    about: str
    reach: int = IN_TEXT
    needs: str = ""
    of_entity: str = ""
    of_draft: bool = False
    last_axis: str = ""

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The outputs that hold it, [B, T] or [B, T, ``last_axis``]."""
        axes = ("batch", "token", *([self.last_axis] if self.last_axis else []))
        if self.kind is not RANKED:
            return (Tensor(self.name, self.kind, axes, self.about),)
        stem = self.name.removesuffix("s")
        return (
            Tensor(f"{stem}_labels", LABEL, axes, f"{self.about} The labels."),
            Tensor(f"{stem}_probabilities", NUMBER, axes, f"{self.about} The probabilities."),
        )


TOKEN_ANSWERS = (
    Answer(
        "labels",
        LABEL,
        "The label: the refined one where the gate opened, else the draft's.",
        of_draft=True,
    ),
    Answer("draft_labels", LABEL, "The label of the draft."),
    Answer(
        "refined_labels",
        LABEL,
        "The label of the refiner; where it did not run, the draft's.",
        reach=IN_GRAPHS,
    ),
    Answer("refined", BOOLEAN, "Whether the gate opened: the uncertainty exceeded Gamma."),
    Answer(
        "uncertainty", NUMBER, "Uncertainty of the draft, nats.", of_entity="highest", of_draft=True
    ),
    Answer("confidence", NUMBER, "Probability that the label is right.", of_entity="lowest"),
    Answer(
        "accepted",
        BOOLEAN,
        "Whether the label is sure enough for the run's target precision; never O.",
        needs=TARGET_PRECISION,
        of_entity="all",
    ),
    Answer(
        "mutual_information",
        NUMBER,
        "The part of the uncertainty that comes from disagreement of the samples, nats.",
        needs="return_mutual_information",
        of_entity="highest",
        of_draft=True,
    ),
    Answer(
        "probabilities",
        NUMBER,
        "The distribution that the label comes from, not calibrated.",
        reach=IN_PYTHON,
        needs="return_probabilities",
        last_axis="class",
    ),
    Answer(
        "alternatives",
        RANKED,
        "The most probable labels with their calibrated probabilities, most probable first.",
        needs="return_alternatives",
        last_axis="alternative",
    ),
    Answer(
        "candidates",
        SPANS,
        "Spans that are an entity with at least the probability that the target recall needs.",
        needs="return_candidates",
        last_axis="span",
    ),
)

# Of each token of a text: itself and its place, in characters of the text.
TOKEN_PLACES = (
    Answer("tokens", TEXT, "The token."),
    Answer("starts", POSITION, "Its first character in the text."),
    Answer("ends", POSITION, "The character after its last."),
)
ENTITY_PLACES = (
    Answer("text", TEXT, "The entity's part of the text."),
    Answer("type", TEXT, 'Its type, such as "ORG".'),
    Answer("start", POSITION, "Its first character in the text."),
    Answer("end", POSITION, "The character after its last."),
    Answer("token_start", POSITION, "Position of its first token."),
    Answer("token_end", POSITION, "Position of the token after its last."),
)
ENTITY_SCORES = tuple(answer for answer in TOKEN_ANSWERS if answer.of_entity)


def answers(reach: int = IN_PYTHON, *, optional: bool | None = None) -> list[Answer]:
    """The answers for tokens that go as far as ``reach``.

    ``optional``: True: only those that not every tagger gives; False: only the others; None: both.
    """
    found = [answer for answer in TOKEN_ANSWERS if answer.reach >= reach]
    return found if optional is None else [each for each in found if bool(each.needs) == optional]


def tensors(reach: int = IN_PYTHON, *, optional: bool | None = None) -> dict[str, Tensor]:
    """The outputs that hold ``answers(...)``, by name."""
    chosen = answers(reach, optional=optional)
    if reach != IN_PYTHON:
        chosen = [answer for answer in chosen if answer.kind is not SPANS]
    return {tensor.name: tensor for answer in chosen for tensor in answer.tensors}


def given(is_given: Callable[[str], bool], reach: int = IN_TEXT) -> tuple[str, ...]:
    """Names of the optional answers whose ``needs`` are met."""
    return tuple(each.name for each in answers(reach, optional=True) if is_given(each.needs))


def from_tensors(values: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a TaggedSentence from outputs, those that are there, by token; labels are names."""
    fields: dict[str, Any] = {}
    for answer in TOKEN_ANSWERS:
        parts = [values[tensor.name] for tensor in answer.tensors if tensor.name in values]
        if answer.kind is RANKED and parts:
            labels, scores = parts
            pairs = zip(labels, scores, strict=True)
            fields[answer.name] = [list(zip(*pair, strict=True)) for pair in pairs]
        elif parts:
            (fields[answer.name],) = parts
    return fields


def to_tensors(sentence: Any) -> dict[str, list[Any]]:
    """The outputs of a TaggedSentence, those that it has: the reverse of ``from_tensors``."""
    values: dict[str, list[Any]] = {}
    for answer in answers(IN_GRAPHS):
        field = getattr(sentence, answer.name)
        if field is None or answer.kind is SPANS:
            continue
        if answer.kind is RANKED:
            columns = [[list(part) for part in zip(*pairs, strict=True)] for pairs in field]
            parts = [[column[number] for column in columns] for number in range(2)]
        else:
            parts = [field]
        for tensor, part in zip(answer.tensors, parts, strict=True):
            values[tensor.name] = part
    return values


def entity_scores(sentence: Any, start: int, end: int) -> dict[str, Any]:
    """The scores of an entity of the tokens ``start <= i < end``; None of what is not given."""
    scores = {}
    for answer in ENTITY_SCORES:
        values = getattr(sentence, answer.name)
        score = None if values is None else _OF_TOKENS[answer.of_entity](values[start:end])
        scores[answer.name] = score
    return scores


def to_json(sentence: Any) -> dict[str, Any]:
    """A TaggedSentence for JSON: the whole text, where offsets count; numbers of six decimals."""
    values: dict[str, Any] = {"text": sentence.source_text, "tokens": list(sentence.tokens)}
    for answer in _ALWAYS_IN_TEXT:
        values[answer.name] = _plain(answer.kind, getattr(sentence, answer.name))
    values["starts"], values["ends"] = list(sentence.starts), list(sentence.ends)
    values["entities"] = [entity.to_dict() for entity in sentence.entities]
    for answer in _SOMETIMES_IN_TEXT:
        if (field := getattr(sentence, answer.name)) is not None:
            values[answer.name] = _plain(answer.kind, field)
    return values


def token_rows(sentence: Any) -> list[dict[str, Any]]:
    """A TaggedSentence as a row of plain values for each token, without lists in them."""
    values = to_json(sentence)
    columns = [*TOKEN_PLACES, *(each for each in answers() if each.kind is not SPANS)]
    names = [each.name for each in columns if each.name in values]
    names.insert(1, names.pop(names.index("labels")))
    return [_row(names, cells) for cells in zip(*map(values.get, names), strict=True)]


def _row(names: Sequence[str], cells: Sequence[Any]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, cell in zip(names, cells, strict=True):
        stem = _OF_ONE_TOKEN.get(name, name)
        if isinstance(cell, dict):
            row |= {f"{stem} {label}": score for label, score in cell.items()}
        elif isinstance(cell, list):
            for rank, (label, score) in enumerate(cell, 1):
                row |= {f"{stem} {rank}": label, f"{stem} {rank} probability": score}
        else:
            row[stem] = cell
    return row


# Names of columns that hold one value for each row.
_OF_ONE_TOKEN = {
    "tokens": "token", "labels": "label", "draft_labels": "draft_label", "starts": "start",
    "ends": "end", "probabilities": "probability", "alternatives": "alternative",
}  # fmt: skip


def entity_to_json(entity: Any) -> dict[str, Any]:
    """The same for an Entity or a Candidate; nothing that is None."""
    return {
        name: round(value, 6) if isinstance(value, float) else value
        for name, value in entity._asdict().items()
        if value is not None
    }


_ALWAYS_IN_TEXT = answers(IN_TEXT, optional=False)
_SOMETIMES_IN_TEXT = answers(optional=True)  # who asks for one in Python gets it too


def _plain(kind: Kind, values: Sequence[Any]) -> list[Any]:
    if kind is NUMBER:
        return [
            {label: round(score, 6) for label, score in value.items()}
            if isinstance(value, Mapping)
            else round(value, 6)
            for value in values
        ]
    if kind is SPANS:
        return [span.to_dict() for span in values]
    if kind is RANKED:
        return [[[label, round(score, 6)] for label, score in pairs] for pairs in values]
    return list(values)


def spark_type() -> str:
    """A tagged sentence as a type of Spark, a struct of the fields of ``to_json``."""
    entity = [*ENTITY_PLACES, *ENTITY_SCORES]
    entities = ", ".join(f"{answer.name}: {answer.kind.spark}" for answer in entity)
    tokens = [*TOKEN_PLACES, *answers(IN_TEXT)]
    columns = ", ".join(f"{answer.name}: array<{answer.kind.spark}>" for answer in tokens)
    return f"struct<text: string, {columns}, entities: array<struct<{entities}>>>"
