import numpy as np
import pytest

import uanet_tf
from benchmarks import refined_together
from uanet_lite.columns_file import read_corpus
from uanet_tf.tagging.parallel_batches import BatchThreads


@pytest.mark.parametrize("most", [1, 60, 10_000])
def test_both_ways_answer_the_same(runs, monkeypatch, most):
    monkeypatch.setattr(refined_together, "TOKENS", most)
    model = uanet_tf.load_model(runs.uanet, sampling="distilled", refine_all=False)
    sentences = [list(sentence.tokens) for sentence in read_corpus(runs.data)]
    batches = [
        batch
        for part in (sentences[:9], sentences[9:20], sentences[20:21])
        for batch in refined_together.batched(model, part, threads=1)
    ]
    with BatchThreads(2) as threads:
        found = refined_together.Together(model).tag(batches, threads)
    refined = 0
    for batch, together in zip(batches, found, strict=True):
        alone = model.tag_batch(*batch)
        assert together.keys() == alone.keys()
        for name, values in alone.items():
            np.testing.assert_allclose(together[name], values, atol=1e-5, err_msg=name)
        refined += np.count_nonzero(alone["refined"])
    assert refined


def test_table(runs):
    lines = refined_together.table(runs.uanet, runs.data, repeats=2).splitlines()
    assert [line.split("|")[1].strip() for line in lines[2:4]] == ["as it is", "together"]
    assert "100.00 % of the labels are equal" in lines[-1]
