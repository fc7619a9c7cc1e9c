"""The plain Keras tagger, and the table of small training files."""

import pytest
import tensorflow as tf

from benchmarks import small_corpora
from benchmarks.keras_tagger import KerasTagger
from tests.training.tiny_run import write_corpus
from uanet_lite.sentence import Sentence


def test_the_keras_tagger_learns_what_it_sees():
    tf.keras.utils.set_random_seed(1)
    place = ["Anna", "sleeps", "in", "New", "York"], ["B-PER", "O", "O", "B-LOC", "I-LOC"]
    rows = [place, (["Rome", "sleeps"], ["B-LOC", "O"])] * 8
    sentences = [Sentence(*row, line=1, new_document=False) for row in rows]
    tagger = KerasTagger(sentences)
    assert tagger.fit(sentences, 80) == tagger.score(sentences) == pytest.approx(100)


def test_rows_are_in_the_order_asked_for(tmp_path, monkeypatch):
    write_corpus(tmp_path)
    asked, settings = [], []

    def in_new_process(work, *arguments):
        asked.append(work.__name__)
        if work is small_corpora.train_recipe:
            settings.append(arguments[-1])
        return 10.0 + len(asked), 20.0

    monkeypatch.setattr(small_corpora, "in_new_process", in_new_process)
    lines = []
    small_corpora.main(tmp_path, [5, 30], [1, 2], ["fast"], 7, 50, lines.append)
    assert asked == 2 * (2 * ["train_keras"] + 2 * ["train_recipe"])
    assert settings == 2 * [{"min_steps": 50, "seed": 1}, {"min_steps": 50, "seed": 2}]
    assert lines[1:] == [
        "| 5 | plain Keras tagger | 11.5 ± 0.7 | 20.0 ± 0.0 |",
        "| 5 | fast | 13.5 ± 0.7 | 20.0 ± 0.0 |",
        "| 30 | plain Keras tagger | 15.5 ± 0.7 | 20.0 ± 0.0 |",
        "| 30 | fast | 17.5 ± 0.7 | 20.0 ± 0.0 |",
    ]
