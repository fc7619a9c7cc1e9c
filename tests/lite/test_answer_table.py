"""The table of answers, and what has to agree with it."""

import copy
import dataclasses
import pickle

import numpy as np

from uanet_lite import answers
from uanet_lite.tagged_sentence import BareSpans, Candidate, Entity, TaggedSentence
from uanet_tf.settings import InferenceOptions

NAMES = [answer.name for answer in answers.TOKEN_ANSWERS]
PLACES = {"source_text", "tokens", "starts", "ends", "scheme"}


def test_sentences_have_a_field_for_each_answer():
    ours = {field.name: field for field in dataclasses.fields(TaggedSentence)}
    assert set(NAMES) | PLACES == set(ours)
    for answer in answers.TOKEN_ANSWERS:
        assert (ours[answer.name].default is None) == bool(answer.needs)


def test_entities_have_a_field_for_each_of_their_answers():
    rows = [*answers.ENTITY_PLACES, *answers.ENTITY_SCORES]
    assert sorted(Entity._fields) == sorted(row.name for row in rows)


def test_an_answer_on_request_has_an_option():
    options = {field.name for field in dataclasses.fields(InferenceOptions)}
    for answer in answers.answers(optional=True):
        assert answer.needs in options | {answers.TARGET_PRECISION}


def test_outputs_and_back():
    columns = {
        name: [[0.25, 0.5]] if len(tensor.axes) > 2 else [0.25]
        for name, tensor in answers.tensors(answers.IN_GRAPHS).items()
    }
    fields = answers.from_tensors(columns)
    sentence = TaggedSentence(["a"], scheme=None, **fields)
    assert answers.to_tensors(sentence) == columns


def test_a_part_has_all_answers_of_its_tokens():
    spans = [Candidate("b", "X", 2, 3, 1, 2, 0.5), Candidate("a b", "X", 0, 3, 0, 2, 0.25)]
    fields = {name: [1, 2, 3] for name in NAMES} | {"labels": ["O", "B-X", "O"]}
    fields["candidates"] = spans
    part = TaggedSentence(["a", "b", "c"], scheme="IOB2", **fields).part(1, 3)
    assert (part.text, part.starts, part.labels) == ("b c", [0, 2], ["B-X", "O"])
    assert all(getattr(part, name) == [2, 3] for name in NAMES[1:-1])
    assert part.candidates == [Candidate("b", "X", 0, 1, 0, 1, 0.5)]
    assert TaggedSentence(["a"], *[["O"]] * 6).part(0, 1).accepted is None


def test_spans_get_their_places_when_they_are_read():
    columns = [np.array(each) for each in ([0, 2, 3, 4], [1, 0, 1, 0], [1, 2, 2, 1], [0.5] * 4)]
    of_chunk = BareSpans(["X", "Y"], columns, [0, 1, 1, 2, 3, 4])
    first, second = (
        TaggedSentence(tokens, *[["O"] * len(tokens)] * 6, candidates=of_chunk[start:end])
        for tokens, start, end in ((["a", "b"], 0, 2), (["cc", "d", "e"], 2, 5))
    )
    for kept in (copy.copy(second), pickle.loads(pickle.dumps(second)), second):
        assert kept.candidates == [
            Candidate("cc d", "X", 0, 4, 0, 2, 0.5),
            Candidate("d e", "Y", 3, 6, 1, 3, 0.5),
            Candidate("e", "X", 5, 6, 2, 3, 0.5),
        ]
    assert [each.text for each in first.candidates] == ["a"]
    assert first.candidates is first.candidates
    assert TaggedSentence(["b"], *[["O"]] * 6, candidates=of_chunk[3:4]).candidates == []
