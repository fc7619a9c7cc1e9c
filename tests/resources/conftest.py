"""A server to download from, and a BERT of keras_nlp."""

import http.server
import threading

import numpy as np
import pytest

from tests.resources.served_file import CONTENT, Handler
from tests.tiny_bert import SUBWORDS


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.asked, server.plan, server.status, server.resumes = [], [], 200, True
        server.asked_if, server.marks, server.content = [], {}, CONTENT
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        server.url = f"http://127.0.0.1:{server.server_port}/file.conll"
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def backbone():
    import keras_nlp

    backbone = keras_nlp.models.BertBackbone(
        vocabulary_size=len(SUBWORDS),
        num_layers=2,
        num_heads=2,
        hidden_dim=16,
        intermediate_dim=24,
        dropout=0.2,
        max_sequence_length=64,
    )
    rng = np.random.default_rng(1)
    backbone.set_weights([w + 0.3 * rng.standard_normal(w.shape) for w in backbone.get_weights()])
    return backbone
