"""What the model contract starts from: small settings, sentences, training, another process."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf

from tests.tiny_encoder import tiny_encoder
from uanet_lite.sentence import Sentence
from uanet_lite.tag_schemes import convert
from uanet_tf.config import Config
from uanet_tf.data.batching import BatchBuilder, encode_corpus
from uanet_tf.data.vocabulary import Vocabulary, class_labels, count_chars, count_symbols
from uanet_tf.models.tagger import Tagger
from uanet_tf.ops.graphs import graph_function
from uanet_tf.training.trainer import Trainer

STEPS = 100
WORDS = ["the", "of", "saw", "near", "2", "1,5", "met", "A", "-", "東京", ";", "yesterday"]
CHUNKS = (["Ann/PER"], ["Oslo/LOC"], ["New/LOC", "York/LOC"], ["Bo/PER", "van/PER", "Beck/PER"])


def small(config: Config) -> Config:
    """The same system in small, with settings under which a few steps are enough."""
    rates = {
        name: min(rate, 0.1)
        for part in (config.representation, config.encoder, config.decoder)
        for name, rate in vars(part).items()
        if name.endswith("dropout")
    }
    transformer = {}
    if config.representation.representation == "transformer":
        transformer["pretrained"] = tiny_encoder()
    if config.training.pretrained_learning_rate:  # 0: frozen
        transformer["pretrained_learning_rate"] = 0.003
    return config.replace(
        **rates,
        **transformer,
        word_width=12,
        char_width=6,
        char_filters=8,
        char_hidden_width=8,
        intnet_layers=3,
        hidden_width=16,
        encoder_heads=2,
        cnn_iterations=2,
        lan_layers=1,
        lan_heads=2,
        label_width=8,
        label_hidden_width=8,
        # Two have the refiner of tests/refiner and the trained run of tests/exporting.
        refiner_layers=1,
        projection_width=min(8, config.encoder.projection_width),
        refiner_heads=2,
        refiner_head_width=8,
        num_samples=3,
        unknown_word_rate=0.0,
        drafter_optimizer="adam",
        drafter_learning_rate=0.03,
        drafter_schedule="inverse_time",
        refiner_learning_rate=0.02,
        warmup=0.0,
        loss_reduction="mean",
        l2=0.0,
    )


def make_sentences(scheme: str | None, count: int = 16) -> list[Sentence]:
    """Sentences whose words tell their labels, with adjacent chunks; the first has one token."""
    rng = np.random.default_rng(1)
    sentences = [Sentence(("Oslo",), tuple(_labels(["Oslo/LOC"], scheme)), 1, True)]
    while len(sentences) < count:
        parts = []
        for _ in range(rng.integers(1, 5)):
            parts += [WORDS[rng.integers(len(WORDS))]] * int(rng.random() < 0.8)
            parts += CHUNKS[rng.integers(len(CHUNKS))]
        tokens = tuple(part.split("/")[0] for part in parts)
        sentences.append(Sentence(tokens, tuple(_labels(parts, scheme)), 1, False))
    return sentences


def _labels(parts: list[str], scheme: str | None) -> list[str]:
    kinds = [part.partition("/")[2] for part in parts]
    if scheme is None:
        return [kind or "X" for kind in kinds]
    starts = {chunk[0] for chunk in CHUNKS}
    labels = [
        f"{'B' if part in starts else 'I'}-{kind}" if kind else "O"
        for part, kind in zip(parts, kinds, strict=True)
    ]
    return convert(labels, "IOB2", scheme)


def make_vocabulary(sentences: list[Sentence], scheme: str | None) -> Vocabulary:
    forms = {}
    for sentence in sentences:
        for token in sentence.tokens:
            token = "".join("0" if char.isdigit() else char for char in token)
            forms[token] = forms.get(token, 0) + 1
    words, counts = count_symbols(forms)
    labels = class_labels([sentence.labels for sentence in sentences], scheme)
    return Vocabulary(tuple(words), tuple(counts), tuple(count_chars(forms)), tuple(labels), scheme)


def pad(sentences: list[list[str]], extra: int = 0, fill: str = "") -> dict[str, np.ndarray]:
    """Inputs of a batch, with ``extra`` columns of padding, filled with ``fill``."""
    lengths = [len(tokens) for tokens in sentences]
    width = max(lengths) + extra
    rows = [[*tokens, *[fill] * (width - len(tokens))] for tokens in sentences]
    return {"tokens": np.array(rows, object), "lengths": np.array(lengths, np.int32)}


def train(tagger: Tagger, sentences: list[Sentence], steps: int = STEPS) -> None:
    """Trains on all sentences as one batch."""
    corpus = encode_corpus(sentences, tagger.vocabulary, tagger.lookup)
    batch = BatchBuilder(corpus)(tf.range(len(sentences), dtype=tf.int64))
    trainer = Trainer(
        tagger,
        tagger.settings.training,
        steps_per_epoch=1000,
        num_tokens=len(corpus.form_index),
        dropout_rate=0.1,
    )
    step = graph_function()(lambda: trainer.step(*batch))
    # TensorFlow's optimizer of graphs takes longer than it saves in so few steps; tests/training
    # has it.
    options = tf.config.optimizer.get_experimental_options()
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    try:
        for _ in range(steps):
            step()
    finally:
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False, **options})


class FreshProcess:
    """A process that has seen nothing but the files that it is given."""

    SCRIPT = """
import sys
import numpy as np
import uanet_tf
for line in sys.stdin:
    folder, inputs, outputs = line.rstrip("\\n").split("\\t")
    model = uanet_tf.load_model(folder)
    arrays = dict(np.load(inputs, allow_pickle=True))
    np.savez(outputs, **model.predict(arrays, verbose=0), threshold=model.threshold)
    print("ready", flush=True)
"""

    def __init__(self):
        self._process = subprocess.Popen(
            [sys.executable, "-c", self.SCRIPT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def predict(self, folder: Path, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        np.savez(folder / "inputs.npz", **inputs)
        paths = (folder, folder / "inputs.npz", folder / "outputs.npz")
        self._process.stdin.write("\t".join(map(str, paths)) + "\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline().strip() == "ready"
        return dict(np.load(paths[-1], allow_pickle=True))

    def close(self):
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._process.stdout.close()
