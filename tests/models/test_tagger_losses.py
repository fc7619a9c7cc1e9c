"""The two losses, the variables that learn from each, and dropout in training."""

import numpy as np
import pytest

from tests.models.tagger_setup import SEED, SENTENCES, gradients, make_batch, make_model, size
from uanet_tf.ops.dropout import make_seed

SYSTEMS = [
    {},
    {"refiner_embeddings": "shared"},
    {"label_input": "argmax", "label_layers": "last"},
    {"label_input": "none", "representation": "words"},
    {"refiner_states": True, "refiner_embeddings": "shared"},
    {"refiner_states": True, "encoder": "id_cnn"},
    {"encoder": "none", "output_dropout": 0.2},
]


@pytest.mark.parametrize("settings", SYSTEMS)
def test_each_part_learns_from_its_own_loss_only(settings):
    model = make_model(**settings)
    from_draft, from_refined = gradients(model, "draft"), gradients(model, "refined")
    for name, gradient in from_draft["draft"].items():
        assert size(gradient) > 0, f"{name} has no gradient from the draft's loss"
    for name, gradient in from_refined["refined"].items():
        assert size(gradient) > 0, f"{name} has no gradient from the refiner's loss"
    for name, gradient in from_refined["draft"].items():
        assert size(gradient) == 0, f"the refiner's loss reaches {name}"
    for name, gradient in from_draft["refined"].items():
        assert size(gradient) == 0, f"the draft's loss reaches {name}"


@pytest.mark.parametrize("settings", [*SYSTEMS, {"decoder": "softmax"}])
def test_groups_share_nothing_and_leave_nothing_out(settings):
    model = make_model(**settings)
    groups = model.variable_groups()
    assert set(groups) == ({"draft"} if settings.get("decoder") else {"draft", "refined"})
    grouped = [v.ref() for variables in groups.values() for v in variables]
    assert len(set(grouped)) == len(grouped)
    assert set(grouped) == {v.ref() for v in model.trainable_variables}
    # The head of distilled sampling, calibration, targets, and Gamma where there is a gate.
    others = len(model.drafter.distilled.weights) if model.drafter.distilled else 0
    others += len(model.calibration.weights) + len(model.acceptance.weights)
    others += 0 if model.gate is None else 1
    others += len(model.candidates.weights) if model.candidates else 0
    assert len(model.variables) == len(grouped) + others


def test_losses_are_summed_cross_entropies_of_one_sample():
    """Without dropout: of what `decide` gives for the same features."""
    rates = ["variational_dropout", "recurrent_dropout", "embedding_dropout"]
    rates += ["refiner_dropout", "attention_dropout"]
    model = make_model(**dict.fromkeys(rates, 0.0))
    features, labels = make_batch(model)
    losses = model.loss_terms(features, labels, SEED)
    drafted = model.draft(features)
    p, mask = drafted.probabilities, drafted.mask
    refined = model.refine(features, drafted)
    for name, probabilities in (("draft", p), ("refined", refined)):
        expected = 0.0
        for row, step in np.argwhere(mask.numpy()):
            expected -= np.log(probabilities[row, step, labels[row, step]].numpy())
        np.testing.assert_allclose(losses[name], expected, rtol=1e-4)


def test_the_seed_decides_the_dropout_of_training():
    model = make_model()
    features, labels = make_batch(model)
    one, same, other = (model.loss_terms(features, labels, make_seed(1, k)) for k in (0, 0, 1))
    for name in ("draft", "refined"):
        assert float(one[name]) == float(same[name]) != float(other[name])


# {setting: the loss whose part it acts on first}
RATES = {
    "variational_dropout": "draft",
    "recurrent_dropout": "draft",
    "output_dropout": "draft",
    "embedding_dropout": "draft",
    "refiner_dropout": "refined",
    "attention_dropout": "refined",
}


@pytest.mark.parametrize("rate", RATES)
def test_each_rate_is_read(rate):
    """Alone above 0, it makes two seeds differ; of which loss tells where it acts."""
    model = make_model(**{**dict.fromkeys(RATES, 0.0), rate: 0.5})
    features, labels = make_batch(model)
    one, other = (model.loss_terms(features, labels, make_seed(1, k)) for k in (0, 1))
    assert (float(one["draft"]) != float(other["draft"])) == (RATES[rate] == "draft")
    assert float(one["refined"]) != float(other["refined"])


def test_training_masks_differ_from_sentence_to_sentence():
    model = make_model(embedding_dropout=0.0, variational_dropout=0.5)
    twins = [SENTENCES[1]] * 2
    _, states = model.drafter.loss_terms(*make_batch(model, twins), SEED)
    logits = model.drafter.decoder.logits(states)
    assert np.abs(logits[0] - logits[1]).max() > 1e-4
