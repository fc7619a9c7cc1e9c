"""A model that reads documents answers for sentences."""

import numpy as np
import pytest

import uanet_tf
from tests.tagging.fake_model import FakeModel
from uanet_lite.sentence import Sentence
from uanet_tf.errors import InputError
from uanet_tf.tagging.streams import tag, tag_in_context


class Document(FakeModel):
    def __init__(self, **options):
        super().__init__(**options)
        self.context = "document"


def corpus(*texts, starts=(0,)):
    return [
        Sentence(tuple(text.split()), (), number, number in starts)
        for number, text in enumerate(texts)
    ]


SENTENCES = corpus("p1 q2", "q3 o4 P5", "l6", "Q7 p8", "p9", starts=(0, 3))
PASSAGES = [["p1", "q2", "q3", "o4", "P5", "l6"], ["Q7", "p8", "p9"]]


def test_sentences_are_read_with_their_document():
    model = Document()
    pairs = list(tag_in_context(model, SENTENCES))
    assert sorted(row for batch in model.batches for row in batch) == [PASSAGES[1], PASSAGES[0]]
    assert [sentence for sentence, _ in pairs] == SENTENCES
    assert [tuple(answer.tokens) for _, answer in pairs] == [s.tokens for s in SENTENCES]


def test_answers_are_those_of_the_passage_cut_at_sentence_ends():
    """An entity across the end of a sentence becomes one on either side; all else is kept."""
    found = [answer for _, answer in tag_in_context(Document(), SENTENCES)]
    (whole, rest) = tag(FakeModel(), PASSAGES)
    assert whole.labels[:3] == ["B-PER", "I-PER", "I-PER"]
    assert [answer.labels for answer in found[:2]] == [["B-PER", "I-PER"], ["B-PER", "O", "B-LOC"]]
    for name in ("uncertainty", "confidence", "refined"):
        joined = [value for answer in found for value in getattr(answer, name)]
        assert joined == getattr(whole, name) + getattr(rest, name)
    assert all(answer.scheme == "IOB2" for answer in found)


def test_labels_without_a_scheme_are_only_cut():
    found = [a.labels for _, a in tag_in_context(Document(label_scheme=None), SENTENCES)]
    (whole, rest) = tag(FakeModel(label_scheme=None), PASSAGES)
    assert [label for labels in found for label in labels] == whole.labels + rest.labels


@pytest.mark.parametrize("options", [{}, {"alone": True}])
def test_else_each_sentence_is_read_by_itself(options):
    model = Document() if options else FakeModel()
    pairs = list(tag_in_context(model, SENTENCES, **options))
    assert [answer for _, answer in pairs] == tag(FakeModel(), [s.tokens for s in SENTENCES])


def test_passages_are_no_longer_than_the_model_reads():
    model = Document(max_tokens=8)
    sentences = corpus(*["o1 o2 o3"] * 5, " ".join(["o1"] * 20))
    answers = [answer for _, answer in tag_in_context(model, sentences)]
    assert [len(answer) for answer in answers] == [3] * 5 + [20]
    assert max(len(row) for batch in model.batches for row in batch) == 8
    assert ["o1", "o2", "o3"] * 2 in [row for batch in model.batches for row in batch]


def test_a_stream_is_read_as_it_is_answered():
    """One passage ahead, however long the stream."""

    def endless():
        number = 0
        while True:
            yield Sentence(("o1", "o2"), (), number, number % 3 == 0)
            number += 1

    pairs = tag_in_context(Document(), endless(), window=5)
    lines = [next(pairs)[0].line for _ in range(100)]
    np.testing.assert_array_equal(lines, np.arange(100))


def test_probabilities_are_those_of_each_token():
    class Probable(Document):
        labels_of_classes = ("a", "b")

        def tag_batch(self, tokens, lengths):
            answers = super().tag_batch(tokens, lengths)
            digits = [[int(token[1:] or 0) for token in row] for row in tokens.astype(str)]
            return {**answers, "probabilities": np.stack([digits, digits], -1).astype(np.float32)}

    for model in (Probable(), Probable(max_tokens=2)):
        for sentence, answer in tag_in_context(model, SENTENCES):
            expected = [[int(token[1:])] * 2 for token in sentence.tokens]
            assert np.asarray(answer.probabilities).tolist() == expected
    assert next(tag_in_context(Document(), SENTENCES))[1].probabilities is None


class ReadsDocuments(FakeModel):
    """Remembers which documents its rows are of."""

    def __init__(self, **options):
        super().__init__(**options)
        self.refiner_context = "document"
        self.documents = []

    def tag_batch(self, tokens, lengths, documents=None):
        self.documents.append(documents)
        return super().tag_batch(tokens, lengths)


def rows_by_document(model):
    """The texts of each document of each batch."""
    found = []
    for batch, documents in zip(model.batches, model.documents, strict=True):
        of = {number: [] for number in documents.tolist()}
        for row, number in zip(batch, documents.tolist(), strict=True):
            of[number].append(" ".join(row))
        found += of.values()
    return found


LONGER = corpus(*["p1 q2", "q3", "l4 p5 p6"] * 40, starts=range(0, 120, 4))


@pytest.mark.parametrize("options", [{}, {"batch_size": 3}, {"batch_tokens": 9}, {"window": 1}])
def test_sentences_are_drafted_alone_and_a_document_is_in_one_batch(options):
    model = ReadsDocuments()
    pairs = list(tag_in_context(model, LONGER, **options))
    assert [answer for _, answer in pairs] == tag(FakeModel(), [s.tokens for s in LONGER])
    assert [sentence for sentence, _ in pairs] == LONGER
    expected = [[" ".join(s.tokens) for s in LONGER[k : k + 4]] for k in range(0, 120, 4)]
    assert rows_by_document(model) == expected
    assert len(model.batches) == (30 if options else 1)


def test_documents_are_cut_at_max_tokens_and_long_sentences_in_windows():
    model = ReadsDocuments(max_tokens=8)
    sentences = corpus("o1 o2 o3", "o4 o5 o6", "o7 o8 o9", " ".join(["o1"] * 20))
    answers = [answer for _, answer in tag_in_context(model, sentences)]
    assert [len(answer) for answer in answers] == [3, 3, 3, 20]
    first, second, *windows = rows_by_document(model)
    assert (first, second) == (["o1 o2 o3", "o4 o5 o6"], ["o7 o8 o9"])
    # Each by itself: windows share tokens, which would count as other mentions of their words.
    assert [len(row.split()) for (row,) in windows] == [8, 8, 8, 8]


def test_a_long_sentence_beside_many_short_ones_does_not_fill_the_memory():
    model = ReadsDocuments(max_tokens=64)
    list(tag_in_context(model, corpus(" ".join(["o1"] * 32), *["o2"] * 32)))
    assert list(map(len, rows_by_document(model))) == [32, 1]  # 33 * 32 > 16 * 64


def test_copies_that_fill_a_batch_are_of_no_document():
    model = ReadsDocuments()
    list(tag_in_context(model, SENTENCES, fill_rows=True))
    (batch,), (documents,) = model.batches, model.documents
    assert len(batch) > len(SENTENCES)
    assert documents[:5].tolist() == [0, 0, 0, 1, 1]
    assert len(set(documents[5:].tolist()) - {0, 1}) == len(batch) - 5


def test_alone_no_document_is_read():
    model = ReadsDocuments()
    list(tag_in_context(model, SENTENCES, alone=True))
    assert model.documents == [None] * len(model.batches)


@pytest.mark.parametrize("name", ["batch_size", "batch_tokens", "window"])
@pytest.mark.parametrize("kind", ["context", "refiner_context"])
def test_sizes_are_checked_however_documents_are_read(name, kind):
    model = FakeModel()
    model.context = model.refiner_context = "sentence"
    setattr(model, kind, "document")
    with pytest.raises(InputError, match=f"`{name}` must be at least 1. Received: 0"):
        list(tag_in_context(model, SENTENCES, **{name: 0}))


def test_a_text_is_a_document_and_a_list_of_words_is_one_by_itself():
    model = ReadsDocuments()
    uanet_tf.tag(model, ["p0 met X2. Nobody left!", "l1."], split_sentences=True)
    assert sorted(map(len, rows_by_document(model))) == [1, 2]
    model = ReadsDocuments()
    uanet_tf.tag(model, [["p0", "met"], ["Nobody"]])
    assert model.documents == [None]
