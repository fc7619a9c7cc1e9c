import numpy as np

from uanet_lite.sentence import Sentence
from uanet_lite.token_ids import FIRST_ID, UNKNOWN_ID
from uanet_tf.data.batching import encode_corpus, internal_labels
from uanet_tf.data.lookup import TokenLookup
from uanet_tf.data.vocabulary import Vocabulary

VOCABULARY = Vocabulary(
    words=("in", "Oslo"),
    word_counts=(2, 2),
    chars=tuple("inOslo0"),
    labels=("O", "B-LOC", "I-LOC", "E-LOC", "S-LOC"),
    scheme="IOB1",
)
LOOKUP = TokenLookup(list(VOCABULARY.words), list(VOCABULARY.chars))
SENTENCES = [
    Sentence(("Oslo", "in", "Oslo"), ("I-LOC", "O", "I-LOC"), 1, True),
    Sentence(("x",), ("I-PER",), 5, False),
    Sentence(("in", "x", "15"), ("I-LOC", "I-LOC", "B-LOC"), 7, False),
]


def test_each_distinct_token_is_looked_up_once():
    corpus = encode_corpus(SENTENCES, VOCABULARY, LOOKUP)
    assert corpus.forms["form_word_ids"].tolist() == [
        FIRST_ID + 1,
        FIRST_ID,
        UNKNOWN_ID,
        UNKNOWN_ID,
    ]
    assert corpus.form_index.tolist() == [0, 1, 0, 2, 1, 2, 3]
    assert corpus.forms["form_char_ids"].shape == (4, 4)
    zero = FIRST_ID + VOCABULARY.chars.index("0")
    assert corpus.forms["form_char_ids"][3].tolist() == [zero, zero, 0, 0]


def test_sentences_can_be_read_back():
    corpus = encode_corpus(SENTENCES, VOCABULARY, LOOKUP)
    assert corpus.lengths.tolist() == [3, 1, 3]
    forms = ["Oslo", "in", "x", "15"]
    for number, sentence in enumerate(SENTENCES):
        index = corpus.form_index[corpus.offsets[number] : corpus.offsets[number + 1]]
        assert tuple(forms[k] for k in index) == sentence.tokens


def test_labels_are_converted_and_unknown_ones_are_minus_one():
    corpus = encode_corpus(SENTENCES, VOCABULARY, LOOKUP)
    names = [None if k < 0 else VOCABULARY.labels[k] for k in corpus.label_ids]
    assert names == ["S-LOC", "O", "S-LOC", None, "B-LOC", "E-LOC", "S-LOC"]
    assert (corpus.label_ids[3], corpus.label_ids.dtype) == (-1, np.int32)


def test_labels_that_are_not_chunks_stay():
    assert internal_labels(["NN", "B-X"], None) == ["NN", "B-X"]
    assert internal_labels(["B", "I"], "IOB2") == ["B", "E"]


def test_no_sentences():
    corpus = encode_corpus([], VOCABULARY, LOOKUP)
    assert corpus.lengths.tolist() == []
    assert corpus.forms["form_word_ids"].shape == (0,)


def test_sentences_joined_are_the_same_tokens_in_fewer_rows():
    """Labels are those of each sentence by itself: no chunk goes over the end of one."""
    corpus = encode_corpus(SENTENCES, VOCABULARY, LOOKUP)
    joined = corpus.joined([2, 1])
    assert joined.lengths.tolist() == [4, 3]
    np.testing.assert_array_equal(joined.form_index, corpus.form_index)
    np.testing.assert_array_equal(joined.label_ids, corpus.label_ids)
    assert corpus.joined([1, 1, 1]).offsets.tolist() == corpus.offsets.tolist()
