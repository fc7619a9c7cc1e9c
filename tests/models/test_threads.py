import threading

import numpy as np

from tests.models.model_contract import make_sentences, make_vocabulary, small
from uanet_tf.config import Config
from uanet_tf.models.build import make_tagger
from uanet_tf.tagging.streams import tag


def test_answers_and_numbers_do_not_depend_on_threads(monkeypatch):
    sentences = make_sentences("IOB2", 12)
    config = small(Config()).replace(representation="words", refiner_layers=1)
    model = make_tagger(config, make_vocabulary(sentences, "IOB2"))
    seen, tag_batch = set(), model.tag_batch

    def spied(*tensors):
        seen.add(threading.current_thread().name)
        return tag_batch(*tensors)

    words = [list(sentence.tokens) for sentence in sentences] * 4
    monkeypatch.setattr(model, "tag_batch", spied)
    monkeypatch.setenv("TF_NUM_INTEROP_THREADS", "1")
    expected = tag(model, words, batch_size=2)
    assert seen == {threading.current_thread().name}
    monkeypatch.setenv("TF_NUM_INTEROP_THREADS", "4")
    answers = tag(model, words, batch_size=2)
    assert len(seen) > 2
    for one, other in zip(expected, answers, strict=True):
        assert one.labels == other.labels
        np.testing.assert_array_equal(one.uncertainty, other.uncertainty)
        np.testing.assert_array_equal(one.confidence, other.confidence)
