"""The contract that every registered model meets, whatever its configuration.

    contract = ModelContract(config, folder)
    for name in CHECKS:
        getattr(contract, name)()

A model of small sizes is trained on 16 generated sentences, saved, loaded again and exported. The
export, a graph for batches of any size, is what most checks ask: Keras' ``predict`` would make a
graph for each width. ``check_reload`` and ``check_export`` show that it stands for the others.
"""

from pathlib import Path

import numpy as np
import tensorflow as tf

from tests.models.contract_setup import (
    STEPS,
    FreshProcess,
    make_sentences,
    make_vocabulary,
    pad,
    small,
    train,
)
from uanet_tf.config import Config
from uanet_tf.exporting.saved_model import save_tokens
from uanet_tf.exporting.signatures import DEFAULT, Signatures
from uanet_tf.exporting.verification import verify_operations
from uanet_tf.models.build import make_tagger

LABELLED = ("labels", "draft_labels", "refined_labels")


class ModelContract:
    """One trained model, the sentences it saw, and the checks.

    Args:
      config: of the system; its sizes are made small.
      folder: where the model is saved.
      scheme: tag scheme of the training labels; None: one label a token.
      steps: of training.
    """

    def __init__(
        self, config: Config, folder: Path, scheme: str | None = "IOB2", steps: int = STEPS
    ):
        tf.keras.utils.set_random_seed(4)
        self.folder = folder
        self.sentences = make_sentences(scheme)
        self.vocabulary = make_vocabulary(self.sentences, scheme)
        self.config = small(config)
        self.tokens = [list(sentence.tokens) for sentence in self.sentences]
        self.inputs = pad(self.tokens)
        self.mask = self.inputs["tokens"] != ""
        self.trained = make_tagger(self.config, self.vocabulary)
        train(self.trained, self.sentences, steps)
        if self.trained.gate is not None:
            self.trained.threshold = 0.0625
        self.trained.save(folder / "model.keras")
        self.model = tf.keras.models.load_model(folder / "model.keras", compile=False)
        save_tokens(Signatures(self.model), folder / "export", only=[DEFAULT])
        self.exported = tf.saved_model.load(str(folder / "export"))

    @property
    def samples_differ(self) -> bool:
        masks = self.model.drafter.encoder.draw_masks(tf.constant([1, 2]), 1, 7)
        return bool(masks)

    def answers(self, inputs=None) -> dict[str, np.ndarray]:
        """Of the trained, saved, loaded and exported model."""
        inputs = {name: tf.constant(x) for name, x in (inputs or self.inputs).items()}
        outputs = self.exported.signatures[DEFAULT](**inputs)
        return {name: text(values.numpy()) for name, values in outputs.items()}

    def predict(self, model=None) -> dict[str, np.ndarray]:
        """By Keras, for the training sentences."""
        outputs = (model or self.model).predict(self.inputs, verbose=0)
        return {name: text(values) for name, values in outputs.items()}

    def check_overfits(self) -> None:
        """Draft, refined and gated labels of the training sentences are right."""
        outputs = self.answers()
        for name in LABELLED:
            for row, sentence in enumerate(self.sentences):
                labels = outputs[name][row, : len(sentence.tokens)]
                assert labels.tolist() == list(sentence.labels), name

    def check_outputs(self) -> None:
        """What stands at padding, the ranges and the dtypes."""
        inputs = pad(self.tokens, extra=2, fill="York")
        outputs = self.answers(inputs)
        mask = np.arange(inputs["tokens"].shape[1]) < inputs["lengths"][:, None]
        assert set(outputs) == {*LABELLED, "uncertainty", "confidence", "refined"}
        for name, values in outputs.items():
            assert values.shape == mask.shape
            assert (values[~mask] == ("" if name in LABELLED else 0)).all(), name
        classes = len(self.model.class_names)
        u, confidence = outputs["uncertainty"][mask], outputs["confidence"][mask]
        assert (u >= 0).all()
        assert (u <= np.log(classes) + 1e-5).all()
        assert (confidence >= 1 / classes - 1e-6).all()
        assert (confidence <= 1 + 1e-6).all()
        assert outputs["refined"].dtype == bool
        names = set(self.model.label_names)
        assert all(set(outputs[name][mask]) <= names for name in LABELLED)

    def check_reload(self) -> None:
        """A saved model comes back by itself: weights, Gamma and answers."""
        for one, other in zip(self.model.weights, self.trained.weights, strict=True):
            np.testing.assert_array_equal(one, other)
        assert self.model.threshold == self.trained.threshold
        assert self.model.threshold == (0.0625 if self.model.refiner else None)
        assert self.model.get_config() == self.trained.get_config()
        few = pad(self.tokens[:4])
        assert_same(call(self.model, few), call(self.trained, few), tolerance=0)

    def check_export(self) -> None:
        """The exported graph answers as a call without a graph does."""
        # Sub-words are tensorflow-text's to find; all else is of TensorFlow's core.
        foreign = verify_operations(self.folder / "export")
        assert bool(foreign) == (self.config.representation.representation == "transformer")
        few = pad(self.tokens[4:8])
        assert_same(self.answers(few), call(self.model, few))

    def check_fresh_process(self, process: FreshProcess) -> None:
        """Another process gives the same answers."""
        outputs = process.predict(self.folder, self.inputs)
        assert outputs.pop("threshold").item() == self.model.threshold
        outputs = {name: text(values) for name, values in outputs.items()}
        assert_same(outputs, self.answers())

    def check_one_token(self) -> None:
        """A sentence of one token, alone and unpadded."""
        expected = {name: values[:1, :1] for name, values in self.answers().items()}
        assert_same(self.answers(pad([self.tokens[0]])), expected)

    def check_batch_row_and_padding(self) -> None:
        """A sentence gets the same alone, in any row and under any padding."""
        expected = self.answers()
        for row in (1, 5, 15):
            length = len(self.tokens[row])
            alone = {name: values[row : row + 1, :length] for name, values in expected.items()}
            assert_same(self.answers(pad([self.tokens[row]])), alone)
            assert_same(self.answers(pad([self.tokens[row]] * 3)), repeat_rows(alone, 3))
        order = np.random.default_rng(2).permutation(16)
        width = self.mask.shape[1]
        for extra, fill in ((0, "York"), (5, "zzz"), (1, "")):
            inputs = pad([self.tokens[k] for k in order], extra, fill)
            moved = {name: values[:, :width] for name, values in self.answers(inputs).items()}
            assert_same(moved, {name: values[order] for name, values in expected.items()})

    def check_batching_of_a_server(self) -> None:
        """TF Serving pads requests with the first element of each: its tokens and its length."""
        short, long = self.tokens[0], max(self.tokens, key=len)
        batch = pad([short, long, short], fill=short[0])
        batch = {name: np.concatenate([x, x[:1], x[:1]]) for name, x in batch.items()}
        outputs = self.answers(batch)
        for row, tokens in enumerate([short, long, short, short, short]):
            found = {name: x[row : row + 1, : len(tokens)] for name, x in outputs.items()}
            assert_same(found, self.answers(pad([tokens])))

    def check_unknown_words(self) -> None:
        """Words and characters that training never showed, and tokens without characters."""
        sentences = [["Ωmega", "жук", "\U0001f600"], [""], ["", "Oslo", " "], ["x" * 5000]]
        for sentence in sentences:
            outputs = self.answers(pad([sentence]))
            assert np.isfinite(outputs["uncertainty"]).all()
            assert set(outputs["labels"].ravel()) <= set(self.model.label_names)
        known = self.answers(pad([["Oslo"]]))
        other = self.answers(pad([["Ωslo"]]))
        assert known["uncertainty"] != other["uncertainty"]

    def check_ways_of_calling(self) -> None:
        """Predict, call and tag_batch agree, for any kind of strings and integers."""
        expected = self.answers()
        assert_same(self.predict(), expected)
        assert_same(call(self.model, self.inputs), expected)
        tagged = self.model.tag_batch(**self.inputs)
        names = np.array(self.model.label_names, object)
        for name in LABELLED:
            tagged[name] = np.where(self.mask, names[tagged[name]], "")
        assert_same(tagged, expected)
        unicode = self.inputs["tokens"].astype("U")
        for tokens in (unicode, np.char.encode(unicode, "utf-8")):
            inputs = {"tokens": tokens, "lengths": self.inputs["lengths"].astype(np.int64)}
            outputs = self.model.predict(inputs, verbose=0)
            assert_same({name: text(values) for name, values in outputs.items()}, expected)

    def check_setters(self) -> None:
        """Settings take effect after predict and tag_batch have been traced."""
        model, first = self.model, self.predict()
        settings = model.num_samples, model.mc_seed
        model.tag_batch(**self.inputs)

        def changed() -> bool:
            difference = self.predict()["uncertainty"] - first["uncertainty"]
            return bool((np.abs(difference) > 1e-6).any())

        try:
            model.num_samples = 0
            assert changed() == self.samples_differ
            tagged = model.tag_batch(**self.inputs)["uncertainty"]
            np.testing.assert_allclose(tagged, self.predict()["uncertainty"], atol=1e-5)
            model.num_samples = settings[0]
            model.mc_seed = 2
            assert changed() == self.samples_differ
            model.mc_seed = -1
            draws = [self.predict()["uncertainty"] for _ in range(2)]
            assert (draws[0] != draws[1]).any() == self.samples_differ
        finally:
            model.num_samples, model.mc_seed = settings
        assert_same(self.predict(), first, tolerance=0)

    def check_probabilities(self) -> None:
        """On request, the distribution behind each label; zeros at padding."""
        expected = self.predict()
        self.model.return_probabilities = True
        outputs = self.predict()
        self.model.return_probabilities = False
        probabilities = outputs.pop("probabilities")
        assert_same(outputs, expected)
        assert probabilities.shape == (*self.mask.shape, len(self.model.class_names))
        np.testing.assert_allclose(probabilities.sum(-1), self.mask, atol=1e-5)
        np.testing.assert_allclose(probabilities.max(-1), outputs["confidence"], atol=1e-6)
        assert set(self.predict()) == set(expected)

    def check_mutual_information(self) -> None:
        """On request, beside the entropy, of which it is a part."""
        expected = self.predict()
        self.model.return_mutual_information = True
        outputs = self.predict()
        self.model.return_mutual_information = False
        found = outputs.pop("mutual_information")
        assert_same(outputs, expected)
        assert (found <= outputs["uncertainty"] + 1e-6).all()
        assert not found[~self.mask].any()
        assert (found > 1e-6).any() == self.samples_differ

    def check_gate(self) -> None:
        """Gamma of 0 takes refined labels, a huge one the draft's; one between, both."""
        model = make_tagger(self.config, self.vocabulary)  # untrained: uncertain of every token
        outputs = self.predict(model)
        u = outputs["uncertainty"]
        assert (u[self.mask] > 0).all()
        if model.gate is None:
            assert not outputs["refined"].any()
            for name in ("draft_labels", "refined_labels"):
                np.testing.assert_array_equal(outputs[name], outputs["labels"])
            return
        model.threshold = 0.0
        everything = self.predict(model)
        np.testing.assert_array_equal(everything["refined"], self.mask)
        np.testing.assert_array_equal(everything["labels"], everything["refined_labels"])
        model.threshold = 1e9
        nothing = self.predict(model)
        assert not nothing["refined"].any()
        np.testing.assert_array_equal(nothing["labels"], nothing["draft_labels"])
        model.threshold = float(np.median(u[self.mask]))
        between = self.predict(model)
        np.testing.assert_array_equal(between["refined"], u > np.float32(model.threshold))
        assert 0 < between["refined"].sum() < self.mask.sum()
        np.testing.assert_array_equal(model.tag_batch(**self.inputs)["refined"], between["refined"])
        assert (everything["labels"] != nothing["labels"]).any()


CHECKS = [name for name in vars(ModelContract) if name.startswith("check_")]


def text(values: np.ndarray) -> np.ndarray:
    """Byte strings as strings; anything else as it is."""
    if values.dtype != object:
        return values
    return np.array(
        [x.decode() if isinstance(x, bytes) else x for x in values.flat], object
    ).reshape(values.shape)


def call(model, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """A model's answers without a graph."""
    outputs = model({name: tf.constant(values) for name, values in inputs.items()})
    return {name: text(values.numpy()) for name, values in outputs.items()}


def repeat_rows(outputs: dict[str, np.ndarray], count: int) -> dict[str, np.ndarray]:
    return {name: np.repeat(values, count, axis=0) for name, values in outputs.items()}


def assert_same(actual, expected, tolerance: float = 1e-5) -> None:
    assert set(actual) == set(expected)
    for name, values in expected.items():
        if name in ("uncertainty", "confidence"):
            np.testing.assert_allclose(actual[name], values, atol=tolerance, rtol=0, err_msg=name)
        else:
            np.testing.assert_array_equal(actual[name], values, err_msg=name)
