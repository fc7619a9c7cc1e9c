import logging

import numpy as np
import pytest

from tests.training.tiny_run import LIGHT, TINY
from uanet_lite.sentence import Sentence
from uanet_tf.config import Config
from uanet_tf.errors import InputError
from uanet_tf.training.prepare import (
    align_scheme,
    build_vocabulary,
    cut_long,
    find_task,
    find_tokenizer,
    prepare,
    warn_shared,
)

NER = "Anna\tB-PER\nmet\tO\nBob1\tB-PER\nLee\tI-PER\n\nin\tO\nRio\tB-LOC\n"
POS = "We\tPRON\nsee\tVERB\n\nus\tPRON\n"


@pytest.fixture
def configure(tmp_path):
    def configure(train=NER, dev=NER, test=None, **settings):
        paths = {}
        for name, text in (("train", train), ("dev", dev), ("test", test)):
            if text is not None:
                (tmp_path / name).write_text(text)
                paths[f"{name}_path"] = str(tmp_path / name)
        return Config().replace(**(TINY | LIGHT | paths | settings))

    return configure


def test_ner(configure):
    prepared = prepare(configure(test=NER))
    assert prepared.task == "ner"
    assert list(prepared.splits) == ["train", "dev", "test"]
    vocabulary = prepared.tagger.vocabulary
    assert vocabulary.scheme == "IOB2"
    assert "Bob0" in vocabulary.words
    assert {"O", "S-PER", "B-PER", "E-PER", "S-LOC"} <= set(vocabulary.labels)
    assert prepared.corpus.lengths.tolist() == [4, 2]
    assert np.all(prepared.corpus.label_ids >= 0)


@pytest.mark.parametrize(
    ("train", "task", "found"), [(POS, "auto", "pos"), (NER, "pos", "pos"), (NER, "ner", "ner")]
)
def test_task(configure, train, task, found):
    prepared = prepare(configure(train=train, dev=train, task=task))
    assert prepared.task == found
    assert (prepared.tagger.label_scheme is None) == (found == "pos")


def test_task_ner_needs_chunk_labels(configure):
    with pytest.raises(InputError, match=r"`task=ner`, but the labels of .*train are not chunk"):
        prepare(configure(train=POS, dev=POS, task="ner"))


@pytest.mark.parametrize("missing", ["train", "dev"])
def test_train_and_dev_are_required(configure, missing):
    with pytest.raises(InputError, match=f"`{missing}` is required"):
        prepare(configure(**{missing: None}))


def test_vocabulary_is_of_train_alone(configure):
    prepared = prepare(configure(dev=NER.replace("Rio", "Žilina"), min_word_count=1))
    assert not any("Ž" in text for text in prepared.tagger.vocabulary.words)
    assert "Ž" not in prepared.tagger.vocabulary.chars


def test_the_tokenizer_is_that_of_the_training_tokens(configure, caplog):
    caplog.set_level(logging.INFO, logger="absl")
    train = "Bob B-PER\n's O\nhat O\n\nI O\ndo O\nn't O\n\n"
    assert prepare(configure(train)).tagger.vocabulary.tokenizer.kind == "ptb"
    assert "tokenizer of raw text: ptb (F1 of the training tokens: unicode" in caplog.text
    named = prepare(configure(train, tokenizer="whitespace"))
    assert named.tagger.vocabulary.tokenizer.kind == "whitespace"


def test_the_tokenizer_that_cut_the_training_text_is_kept(configure, tmp_path):
    """Whatever else would fit the tokens."""
    path = tmp_path / "text.jsonl"
    path.write_text('{"text": "Bob\'s hat", "entities": [[0, 3, "PER"]]}\n' * 3)
    for kind, tokens in {"auto": ["Bob", "'s", "hat"], "unicode": ["Bob", "'s", "hat"]}.items():
        config = configure(tokenizer=kind).replace(train_path=str(path))
        prepared = prepare(config)
        assert list(prepared.splits["train"][0].tokens) == tokens
        kept = prepared.tagger.vocabulary.tokenizer
        assert kept.kind == ("ptb" if kind == "auto" else kind)
        assert kept.tokenize("She didn't") == (
            ["She", "did", "n't"] if kind == "auto" else ["She", "didn't"]
        )


def test_rare_words_and_case():
    sentences = [Sentence(("The", "the", "cat9", "cat8"), ("A", "A", "B", "B"), 1, True)]
    data = Config().replace(lowercase_words=True, min_word_count=2).data
    vocabulary = build_vocabulary(data, sentences, None)
    assert sorted(zip(vocabulary.words, vocabulary.word_counts, strict=True)) == [
        ("cat0", 2),
        ("the", 2),
    ]
    assert "T" in vocabulary.chars


def test_unknown_labels_are_counted_in_a_warning(configure, caplog):
    dev = NER.replace("LOC", "GPE")
    with caplog.at_level(logging.WARNING, logger="absl"):
        prepared = prepare(configure(dev=dev, test=NER))
    told = [message for message in caplog.messages if "are in the training file" not in message]
    assert told == ["dev: labels that the training file does not have count as errors: B-GPE (1)"]
    assert prepared.splits["dev"][1].labels == ("O", "B-GPE")


def test_repairs_are_counted_in_a_warning(configure, caplog):
    broken = NER.replace("in\tO", "in\tI-LOC")
    with caplog.at_level(logging.WARNING, logger="absl"):
        prepare(configure(train=NER * 20 + "\n" + broken))
    assert any("repaired" in message for message in caplog.messages)


def test_long_sentences_are_cut_not_dropped(caplog):
    words = tuple(map(str, range(50)))
    sentences = [Sentence(words, words, 1, True), Sentence(("a",), ("O",), 52, False)]
    with caplog.at_level(logging.INFO, logger="absl"):
        pieces = cut_long(sentences, 16)
    assert [token for piece in pieces for token in piece.tokens] == [*words, "a"]
    assert all(piece.tokens == piece.labels for piece in pieces[:-1])
    assert max(len(piece.tokens) for piece in pieces) <= 16
    assert "1 sentence was cut, as of over 16 tokens" in caplog.text


def test_a_file_in_another_scheme_is_converted():
    bioes = [Sentence(("a", "b", "c"), ("B-X", "E-X", "S-Y"), 1, True)]
    (converted,) = align_scheme(bioes, "IOB2", "dev")
    assert converted.labels == ("B-X", "I-X", "B-Y")
    iob1 = [Sentence(("a", "b"), ("I-X", "I-X"), 1, True)]
    assert align_scheme(iob1, "IOB2", "dev") == iob1
    assert align_scheme(iob1, None, "dev") == iob1


MARK = "-DOCSTART- O\n\n"


def test_documents_are_read_in_one_piece(configure):
    """Up to --max_tokens; the scored sentences stay sentences."""
    train = MARK + NER + "\n" + MARK + NER + "\n" + NER
    config = configure(train=train, dev=train, context="document", max_tokens=10)
    prepared = prepare(config)
    assert prepared.corpus.lengths.tolist() == [6, 10, 2]
    assert [len(s.tokens) for s in prepared.splits["dev"]] == [4, 2] * 3
    alone = prepare(config.replace(context="sentence"))
    assert alone.corpus.lengths.tolist() == [4, 2] * 3
    np.testing.assert_array_equal(alone.corpus.label_ids, prepared.corpus.label_ids)


@pytest.mark.parametrize("name", ["train", "dev", "test"])
def test_documents_must_be_marked(configure, name):
    marked = MARK + NER + "\n" + MARK + NER
    files = {"train": marked, "dev": marked, "test": marked, name: MARK + NER}
    with pytest.raises(InputError, match=f"`context=document`, but .*{name} does not mark docum"):
        prepare(configure(**files, context="document"))


def test_pieces_of_a_long_sentence_start_one_document():
    pieces = cut_long([Sentence(("a",) * 30, ("O",) * 30, 1, True)], 12)
    assert [piece.new_document for piece in pieces] == [True] + [False] * (len(pieces) - 1)


@pytest.mark.parametrize("task", ["auto", "ner"])
def test_a_label_by_mistake_is_named(configure, task):
    config = configure(task=task, train=NER + "\nat\t0\nRio\tB-LOC\n")
    with pytest.raises(InputError) as caught:
        prepare(config)
    assert str(caught.value) == (
        f"{config.data.train_path}:9: the label '0' in the sentence that begins here is no label "
        "of entities (B-PER, I-PER, O, ...), while most labels are: correct it, or name `task=pos` "
        "if each label is of a single token."
    )
    assert find_task(configure(task="pos").data, [Sentence(("a",), ("0",), 1, True)])[0] == "pos"


@pytest.mark.parametrize("name", ["dev", "test"])
def test_a_label_of_no_scheme_in_another_file_is_named(configure, name):
    files = {"dev": NER, "test": NER, name: NER + "\nwe\tO\nsee\tVERB\n"}
    with pytest.raises(InputError, match=f"{name}:9: in the sentence that begins here: .*'VERB'"):
        prepare(configure(**files))


@pytest.mark.parametrize(
    ("name", "said"),
    [("train", "no entity can be learnt from it"), ("dev", "the last one is kept")],
)
def test_a_file_without_entities_is_told(configure, caplog, name, said):
    files = {"train": NER, "dev": NER, name: "in\tO\n"}
    with caplog.at_level(logging.WARNING):
        prepare(configure(task="ner", **files))
    assert f"{name}: the file has no entity: " in caplog.text
    assert said in caplog.text


def test_labels_in_no_scheme_are_told(configure, caplog):
    config = configure(task="auto").data
    sentence = Sentence(("a", "b", "c"), ("B_PER", "I_PER", "O"), 1, True)
    with caplog.at_level(logging.WARNING):
        assert find_task(config, [sentence]) == ("pos", None)
    assert "train: labels such as 'B_PER', 'I_PER' look like those of entities" in caplog.text
    caplog.clear()
    parts_of_speech = Sentence(("a", "b"), ("NOUN", "VERB"), 1, True)
    with caplog.at_level(logging.WARNING):
        assert find_task(config, [parts_of_speech]) == ("pos", None)
    assert caplog.text == ""


def test_sentences_that_are_in_the_training_file_too_are_told(caplog):
    first, second, third = (Sentence((word,), ("O",), 1, True) for word in ("a", "b", "c"))
    with caplog.at_level(logging.WARNING):
        warn_shared({"train": [first, second], "dev": [first, third], "test": [third]})
        assert caplog.messages == []
        warn_shared({"train": [first, second], "dev": [first, second, third]})
    (message,) = caplog.messages
    assert message.startswith("dev: 2 of 3 sentences are in the training file too: scores, calib")


def test_text_that_no_tokenizer_cuts_is_told(configure, caplog):
    sentence = Sentence(("\u6211", "\u5728", "\u5317", "\u4eac"), ("O", "O", "B-X", "I-X"), 1, True)
    with caplog.at_level(logging.WARNING):
        find_tokenizer(configure().data, [sentence])
    assert "text without blanks between words is not cut into such tokens" in caplog.text
