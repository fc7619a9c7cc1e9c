"""Settings that the chosen parts do not read, or cannot work with."""

import pytest

from tests.models.contract_setup import make_sentences, make_vocabulary, small
from tests.tiny_encoder import tiny_encoder
from uanet_tf.config import Config, iter_options
from uanet_tf.errors import InputError
from uanet_tf.models.build import check_parts, make_tagger

VOCABULARY = make_vocabulary(make_sentences("IOB2"), "IOB2")


def build(given=(), **settings):
    return make_tagger(small(Config()).replace(**settings), VOCABULARY, given)


UNREAD = [
    ("refiner_layers", {"decoder": "crf", "refiner_layers": 3}),
    ("lan_heads", {"decoder": "softmax"}),
    ("decoder_optimizers", {"decoder": "crf", "decoder_optimizers": 2}),
    ("recurrent_dropout", {"encoder": "bilstm"}),
    ("cnn_iterations", {"encoder": "bilstm"}),
    ("intnet_layers", {"representation": "char_gru"}),
    ("pretrained", {}),
    ("pretrained_learning_rate", {}),
    ("refiner_learning_rate", {"decoder": "softmax"}),
    ("threshold", {"decoder": "crf"}),
    ("tune_threshold", {"decoder": "crf", "tune_threshold": True}),
    ("distill_samples", {"decoder": "crf", "distill_samples": 16}),
]


@pytest.mark.parametrize(("name", "settings"), UNREAD, ids=[name for name, _ in UNREAD])
def test_a_setting_that_nothing_reads_is_refused(name, settings):
    with pytest.raises(InputError, match=f"`{name}` is not read by `representation=.*leave it"):
        build([name], **settings)


TRANSFORMER = {"representation": "transformer", "pretrained": tiny_encoder(), "decoder": "crf"}
NEEDS = [
    ("drafter_momentum", {"drafter_optimizer": "adam"}, "drafter_optimizer=adam"),
    ("drafter_decay", {"drafter_schedule": "linear"}, "drafter_schedule=linear"),
    ("label_layers", {"label_input": "none"}, "label_input=none"),
    ("label_residual", {"label_input": "none"}, "label_input=none"),
    ("vector_limit", {"vector_limit": 5}, "word_vectors="),
    ("keep_types", {}, "init="),
    ("normalize_digits", {"normalize_digits": True, **TRANSFORMER}, "representation=transformer"),
    ("lowercase_words", {"lowercase_words": True, **TRANSFORMER}, "representation=transformer"),
]


@pytest.mark.parametrize(("name", "settings", "other"), NEEDS, ids=[case[0] for case in NEEDS])
def test_a_setting_that_another_makes_superfluous_is_refused(name, settings, other):
    with pytest.raises(InputError, match=f"`{name}` is not read with `{other}`: leave it out"):
        build([name], **settings)
    check_parts(small(Config()).replace(**settings))


def test_every_condition_names_settings_and_their_values():
    settings = {field.name: field for _, field, _ in iter_options(Config())}
    conditions = [field.metadata["needs"] for field in settings.values()]
    assert sum(map(bool, conditions)) == len(NEEDS)
    for name, values in (pair for needs in conditions for pair in needs.items()):
        assert set(values) <= set(settings[name].metadata["choices"] or ())


def test_one_pass_by_a_head_that_is_not_trained_is_refused():
    with pytest.raises(InputError, match="`sampling=distilled` needs a trained head"):
        build(sampling="distilled", distill_samples=0)


def test_what_is_read_is_taken_and_what_was_not_typed_is_not_asked_about():
    read = ["word_width", "refiner_layers", "recurrent_dropout", "decoder", "threshold", "epochs"]
    read += ["num_samples", "refiner_learning_rate", "drafter_learning_rate", "l2", "train_path"]
    build(read)
    build(["decoder"], decoder="crf", refiner_layers=3)
    build(["distill_samples"], decoder="crf", distill_samples=0)
    read = {"drafter_optimizer": "sgd", "drafter_schedule": "inverse_time"}
    build(["drafter_momentum", "drafter_decay", "label_layers"], **read)


TRANSFORMER = {"representation": "transformer", "pretrained": "a_folder"}
REFUSED = [
    ({"hidden_width": 7}, "`hidden_width` must be even"),
    ({"encoder": "bigru_transformer", "hidden_width": 7}, "`hidden_width` must be even"),
    ({"representation": "char_gru", "char_hidden_width": 7}, "`char_hidden_width` must be even"),
    ({"representation": "intnet", "intnet_layers": 4}, "`intnet_layers` must be odd"),
    (
        {"encoder": "relative_transformer", "hidden_width": 16, "encoder_heads": 3},
        "`encoder_heads` must divide `hidden_width=16`. Received: 3",
    ),
    (
        {"representation": "transformer"},
        "`pretrained` is required with `representation=transformer`",
    ),
    (
        {**TRANSFORMER, "refiner_embeddings": "own"},
        "`representation=transformer` needs `refiner_embeddings=s",
    ),
    ({**TRANSFORMER, "word_vectors": "x"}, "`word_vectors` does not apply to"),
]


@pytest.mark.parametrize(("settings", "message"), REFUSED)
def test_parts_check_themselves(settings, message):
    with pytest.raises(InputError, match=message):
        check_parts(Config().replace(**settings))


def test_a_part_that_is_not_chosen_does_not_object():
    check_parts(Config().replace(encoder="id_cnn", hidden_width=7, intnet_layers=4))
