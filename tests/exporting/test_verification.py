"""An export that answers otherwise than its run is noticed and not published."""

import json

import numpy as np
import pytest

from tests.models.contract_setup import make_sentences, make_vocabulary, small
from tests.quick_params import quick_params
from uanet_tf.config import Config
from uanet_tf.exporting import saved_model
from uanet_tf.exporting.sample_inputs import pad
from uanet_tf.exporting.saved_model import export
from uanet_tf.exporting.verification import ExportMismatchError, compare
from uanet_tf.models.build import make_tagger

ANSWERS = {
    "labels": np.array([["O", "B-X"]], object),
    "uncertainty": np.array([[0.5, 0.25]], np.float32),
    "refined": np.array([[True, False]]),
}


@pytest.mark.parametrize(
    ("name", "change", "same"),
    [("uncertainty", 5e-6, True), ("uncertainty", 2e-5, False), ("uncertainty", np.nan, False)],
)
def test_uncertainty_within_1e_5(name, change, same):
    actual = {**ANSWERS, name: ANSWERS[name] + np.array([[0, change]], np.float32)}
    if same:
        compare(actual, ANSWERS, "draft")
        return
    with pytest.raises(ExportMismatchError, match=f"draft gives other {name} .* for 1 tokens"):
        compare(actual, ANSWERS, "draft")


@pytest.mark.parametrize(
    ("actual", "said"),
    [
        ({"labels": np.array([["O", "O"]], object)}, "other labels"),
        ({"labels": np.array([["O"]], object)}, "other labels"),
        ({"refined": np.array([[True, True]])}, "other refined"),
        ({"more": np.zeros([1, 2])}, "returns .*more"),
    ],
)
def test_everything_else_must_be_equal(actual, said):
    compare(dict(ANSWERS), ANSWERS, "ids")
    with pytest.raises(ExportMismatchError, match=said):
        compare({**ANSWERS, **actual}, ANSWERS, "ids")


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory):
    """A run, untrained and without an encoder: its graphs are soon made."""
    folder = tmp_path_factory.mktemp("light")
    sentences = make_sentences("IOB2")
    config = small(Config()).replace(representation="words", encoder="none")
    model = make_tagger(config, make_vocabulary(sentences, "IOB2"))
    u = model(pad([list(sentence.tokens) for sentence in sentences]))["uncertainty"].numpy()
    model.threshold = round(float(np.median(u[u > 0])), 3)
    model.save(folder / "model.keras")
    (folder / "config.json").write_text(json.dumps(config.to_dict()))
    return folder


@pytest.mark.parametrize("broken", quick_params(["gamma", "words", "killed"], ["gamma"]))
def test_a_wrong_export_is_not_published(run_dir, tmp_path, monkeypatch, broken):
    save = saved_model.save_signatures

    def save_wrongly(signatures, path, *, owner, assets):
        gamma = owner.gate.gamma.numpy()
        if broken == "gamma":
            owner.gate.gamma.assign(gamma + 0.5)
        save(signatures, path, owner=owner, assets=assets)
        owner.gate.gamma.assign(gamma)
        if broken == "words":
            file = path / "assets" / "words.txt"
            file.write_text("".join(reversed(file.read_text().splitlines(keepends=True))))
        if broken == "killed":
            raise KeyboardInterrupt

    monkeypatch.setattr(saved_model, "save_signatures", save_wrongly)
    (tmp_path / "tiny" / "4").mkdir(parents=True)
    with pytest.raises(KeyboardInterrupt if broken == "killed" else ExportMismatchError):
        export(run_dir, tmp_path, name="tiny", text=False)
    assert [path.name for path in tmp_path.rglob("*")] == ["tiny", "4"]
