import numpy as np
import tensorflow as tf

from tests.models.contract_setup import pad
from tests.models.tagger_setup import SENTENCES, make_model
from uanet_tf.representation.representation import features_of_rows


def test_part_of_a_batch_has_its_own_words_only():
    model = make_model()
    sentences = [sentence.tokens for sentence in SENTENCES]
    batch = model.features(pad(sentences))
    rows = [3, 0]
    part = features_of_rows(batch, tf.constant(rows))
    np.testing.assert_allclose(
        model.drafter.representation(part),
        model.drafter.representation(batch).numpy()[rows],
        atol=1e-6,
    )
    np.testing.assert_array_equal(part["lengths"], batch["lengths"].numpy()[rows])
    distinct = {token for row in rows for token in sentences[row]}
    words = len(np.unique(batch["form_index"].numpy()[rows]))
    assert len(distinct) <= words <= len(part["form_word_ids"])
    assert len(part["form_word_ids"]) < len(batch["form_word_ids"])
    assert part["form_index"].numpy().max() == words - 1
