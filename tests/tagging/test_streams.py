import itertools
import random

import numpy as np
import pytest

from tests.lite.made_sentence import make_sentence
from tests.tagging.fake_model import FakeModel, InstantModel
from uanet_lite.row_multiple import ROW_MULTIPLE
from uanet_lite.tag_schemes import Span
from uanet_tf.errors import InputError
from uanet_tf.tagging import streams
from uanet_tf.tagging.streams import tag, tag_stream


def random_sentences(count, longest=30):
    numbers = random.Random(7)
    return [
        [numbers.choice("pqlxPX") + str(i) for i in range(numbers.randint(1, longest))]
        for _ in range(count)
    ]


def test_one_sentence_by_hand():
    (sentence,) = tag(FakeModel(), [["p0", "q1", "x2", "P3", "q4"]])
    assert sentence.tokens == ["p0", "q1", "x2", "P3", "q4"]
    assert sentence.draft_labels == ["B-PER", "I-PER", "O", "B-PER", "I-PER"]
    assert sentence.refined_labels == ["B-PER", "I-PER", "O", "B-LOC", "I-PER"]
    assert sentence.labels == ["B-PER", "I-PER", "O", "B-LOC", "I-PER"]
    assert sentence.refined == [False, False, False, True, False]
    assert sentence.uncertainty == pytest.approx([0.1, 0.1, 0.1, 1.0, 0.1])
    assert sentence.confidence == [0.75] * 5
    assert all(type(value) is float for value in sentence.uncertainty)
    assert all(type(value) is bool for value in sentence.refined)


@pytest.mark.parametrize("window", [1, 7, 1000])
@pytest.mark.parametrize(("batch_size", "batch_tokens"), [(1, 1), (4, 40), (64, 4096)])
def test_order_and_answers_do_not_depend_on_batching(window, batch_size, batch_tokens):
    sentences = random_sentences(60)
    alone = [tag(FakeModel(), [sentence])[0] for sentence in sentences]
    model = FakeModel()
    sizes = {"batch_size": batch_size, "batch_tokens": batch_tokens}
    assert list(tag_stream(model, iter(sentences), window=window, **sizes)) == alone
    for batch in model.batches:
        assert len(batch) <= batch_size
        assert len(batch) == 1 or len(batch) * max(map(len, batch)) <= batch_tokens


@pytest.mark.parametrize("batch_size", [1, 20, 256])
def test_batches_filled_up_give_the_same_answers(batch_size):
    sentences = random_sentences(150)
    model = FakeModel()
    filled = list(tag_stream(model, sentences, batch_size=batch_size, fill_rows=True))
    assert filled == tag(FakeModel(), sentences)
    for batch in model.batches:
        assert len(batch) % ROW_MULTIPLE == 0
        assert len(batch) <= max(batch_size, ROW_MULTIPLE)


def test_long_rows_are_filled_up_to_a_multiple_of_cells():
    shapes = []

    class Wide(InstantModel):
        def tag_batch(self, tokens, lengths):
            shapes.append(tokens.shape)
            return super().tag_batch(tokens, lengths)

    for length in (3, 128, 129, 255, 257, 511):
        (answer,) = tag_stream(Wide(), [["p0"] * length], fill_rows=True)
        assert len(answer.labels) == length
    assert shapes == [(16, 3), (16, 128), (8, 130), (8, 256), (4, 260), (4, 512)]


def test_batches_are_of_like_length():
    model = FakeModel()
    tag(model, random_sentences(200), batch_size=10)
    widths = [[len(row) for row in batch] for batch in model.batches]
    assert list(itertools.chain(*widths)) == sorted(itertools.chain(*widths), reverse=True)
    assert len(model.batches) == 20


def test_a_batch_that_is_large_enough_takes_no_shorter_sentence():
    model = FakeModel()
    lengths = [30] * 70 + [20] * 80 + [10] * 5
    tag(model, [["p"] * length for length in lengths])
    # 50 sentences of 30 tokens are enough, but the other 20 need no padding either.
    assert [[len(row) for row in batch] for batch in model.batches] == [
        [30] * 70,
        [20] * 80,
        [10] * 5,
    ]
    tag(few := FakeModel(), [["p"] * length for length in [30] * 40 + [20] * 20])
    assert [[len(row) for row in batch] for batch in few.batches] == [
        [30] * 40 + [20] * 10,
        [20] * 10,
    ]


def test_stream_reads_no_further_than_its_window():
    read = 0

    def endless():
        nonlocal read
        while True:
            read += 1
            yield ["p0"] * (read % 5 + 1)

    answers = tag_stream(FakeModel(), endless(), window=10)
    assert [len(next(answers)) for _ in range(25)] == [i % 5 + 1 for i in range(1, 26)]
    assert read == 30


def test_few_very_long_sentences_end_a_chunk_early(monkeypatch):
    monkeypatch.setattr(streams, "_WINDOW_TOKENS", 5_000)
    read = 0

    def long_sentences():
        nonlocal read
        for _ in range(9):
            read += 1
            yield ["x"] * 2_000

    next(tag_stream(InstantModel(), long_sentences()))
    assert read == 4  # two chunks of two


def test_long_sentence_is_stitched_from_windows():
    class Positions(FakeModel):
        """Gives the distance to the nearest edge of the piece as uncertainty."""

        def tag_batch(self, tokens, lengths):
            answer = super().tag_batch(tokens, lengths)
            column = np.arange(tokens.shape[1])
            edge = np.minimum(column, lengths[:, None] - 1 - column)
            return answer | {"uncertainty": edge.astype(np.float32)}

    numbers = random.Random(3)
    long = [numbers.choice("plxPX") + str(i) for i in range(101)]
    short = ["p0", "q1"]
    model = Positions(max_tokens=16)
    first, second, third = tag(model, [short, long, short], batch_size=3)
    assert first.tokens == third.tokens == short
    assert second.tokens == long
    assert max(len(row) for batch in model.batches for row in batch) == 16
    assert second.labels == tag(FakeModel(), [long])[0].labels
    # 16 // 4 = 4 tokens of context at each cut.
    assert min(second.uncertainty[4:-4]) == 4.0
    assert second.uncertainty[:4] == [0.0, 1.0, 2.0, 3.0]


def test_windows_that_disagree_give_a_valid_sequence():
    class Disagreeing(FakeModel):
        """B-PER at the start of a piece, then I-PER in the first, I-LOC in the others."""

        def tag_batch(self, tokens, lengths):
            answer = super().tag_batch(tokens, lengths)
            inside = np.where(tokens[:, :1] == "x0", 2, 4)
            labels = np.repeat(inside, tokens.shape[1], axis=1)
            labels[:, 0] -= 1
            return answer | {"labels": labels}

    (sentence,) = tag(Disagreeing(max_tokens=8), [[f"x{i}" for i in range(12)]])
    assert sentence.labels == ["B-PER"] + ["I-PER"] * 5 + ["B-LOC"] + ["I-LOC"] * 5
    assert sentence.spans == [Span("PER", 0, 6), Span("LOC", 6, 12)]


@pytest.mark.parametrize("name", ["batch_size", "batch_tokens", "window"])
def test_bad_sizes_are_told_at_once(name):
    with pytest.raises(InputError, match=f"`{name}` must be at least 1. Received: 0"):
        tag_stream(FakeModel(), [["a"]], **{name: 0})


def test_tagged_sentence_as_text_and_json():
    sentence = make_sentence()
    assert str(sentence) == "<b> [LOC Paris Lyon]"
    assert repr(sentence) == "<TaggedSentence: <b> [LOC Paris Lyon]>"
    assert len(sentence) == 3
    assert sentence.to_dict() == {
        "text": "<b> Paris Lyon",
        "tokens": ["<b>", "Paris", "Lyon"],
        "labels": ["O", "B-LOC", "I-LOC"],
        "draft_labels": ["O", "B-PER", "I-LOC"],
        "refined": [False, True, False],
        "uncertainty": [0.0, 1.234568, 0.2],
        "confidence": [1.0, 0.5, 0.9],
        "starts": [0, 4, 10],
        "ends": [3, 9, 14],
        "entities": [
            {
                "text": "Paris Lyon",
                "type": "LOC",
                "start": 4,
                "end": 14,
                "token_start": 1,
                "token_end": 3,
                "confidence": 0.5,
                "uncertainty": 1.234568,
            }
        ],
    }
    single = make_sentence(labels=["SYM", "NNP", "NNP"], scheme=None)
    assert single.spans == []
    assert str(single) == "<b>/SYM Paris/NNP Lyon/NNP"
