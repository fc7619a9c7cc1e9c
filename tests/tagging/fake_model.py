"""A model of a few lines with the interface that tagging needs."""

import types

import numpy as np

from uanet_lite.tokenizer import Tokenizer
from uanet_tf.config import Config
from uanet_tf.models.candidates import Candidates

LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
_CLASSES = ["O", *(f"{letter}-{name}" for name in ("PER", "LOC") for letter in "BIES")]


class FakeWeight:
    """A number that is assigned like a variable, and the gate that owns it."""

    def __init__(self, value):
        self.value = value

    @property
    def gamma(self):
        return self

    def numpy(self):
        return self.value

    def assign(self, value):
        self.value = value


class FakeModel:
    """Labels a token by its first character and last digit; remembers the batches it saw.

    "p3" is draft B-PER, "q3" draft I-PER, "l3" draft B-LOC, all else O; upper case has the
    uncertainty 1.0 (else 0.1), half of it mutual information, and B-LOC as refined label. A
    candidate of two tokens, PER, begins at each "c".
    """

    thread_safe = False

    def __init__(self, *, max_tokens=512, label_scheme="IOB2", threshold=0.35):
        self.label_names = list(LABELS)
        self.label_scheme = label_scheme
        self.internal_scheme = label_scheme and "BIOES"
        self.max_tokens = max_tokens
        self.context = self.refiner_context = "sentence"
        self.gate = FakeWeight(threshold)
        self.tokenizer = Tokenizer()
        self.num_samples = self.num_passes = 8
        self.sampling = "exact"
        self.return_mutual_information = False
        self.return_candidates = False
        self.candidates = Candidates(_CLASSES, 2)
        self.targets = {}
        self.calibrated, self.refine_all = True, False
        self.vocabulary = types.SimpleNamespace(words=("p0", "x"), num_trained=2, pretrained=None)
        self.lookup = types.SimpleNamespace(normalize_digits=True, lowercase_words=True)
        self.drafter = types.SimpleNamespace(distilled=None, samples_differ=True)
        self.acceptance = types.SimpleNamespace(target_value=0.0)
        self.settings = Config()
        self.mc_seed = 1
        self.batches = []

    def broken_promise(self, options):
        return None

    @property
    def threshold(self):
        return float(self.gate.value)

    @threshold.setter
    def threshold(self, value):
        self.gate.assign(value)

    @property
    def optional_answers(self):
        has = {
            "accepted": self.acceptance.target_value,
            "mutual_information": self.return_mutual_information,
            "candidates": self.return_candidates,
        }
        return tuple(name for name, given in has.items() if given)

    def tag_batch(self, tokens, lengths):
        assert tokens.shape[0] == lengths.shape[0]
        assert tokens.shape[1] == lengths.max()
        assert lengths.dtype == np.int32
        self.batches.append([list(row[:n]) for row, n in zip(tokens, lengths, strict=True)])
        real = np.arange(tokens.shape[1]) < lengths[:, None]
        assert (tokens[~real] == "").all()
        draft = np.full(tokens.shape, 4, np.int32)  # what stands at padding must not matter
        refined = draft.copy()
        uncertainty = np.full(tokens.shape, 9.0, np.float32)
        for place in zip(*np.nonzero(real), strict=True):
            token = tokens[place]
            draft[place] = {"p": 1, "q": 2, "l": 3}.get(token[0].lower(), 0)
            refined[place] = 3 if token[0].isupper() else draft[place]
            uncertainty[place] = 1.0 if token[0].isupper() else 0.1
        gate = uncertainty > self.threshold
        asked = {"mutual_information": uncertainty / 2} if self.return_mutual_information else {}
        if self.acceptance.target_value:
            asked["accepted"] = uncertainty < 0.5
        if self.return_candidates:
            found = np.zeros([*tokens.shape, 4], np.float32)
            found[..., 2] = np.where(tokens == "c", 0.25, 0.0)
            asked["candidates"] = found
        return {
            **asked,
            "labels": np.where(gate, refined, draft),
            "draft_labels": draft,
            "refined_labels": refined,
            "uncertainty": uncertainty,
            "confidence": np.full(tokens.shape, 0.75, np.float32),
            "refined": gate,
        }


class InstantModel(FakeModel):
    """Answers O at once, without looking."""

    def tag_batch(self, tokens, lengths):
        zeros = np.zeros(tokens.shape, np.int32)
        floats = np.zeros(tokens.shape, np.float32)
        names = ("labels", "draft_labels", "refined_labels")
        return {
            **dict.fromkeys(names, zeros),
            "uncertainty": floats,
            "confidence": floats,
            "refined": zeros.astype(bool),
        }
