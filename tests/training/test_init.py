"""``--init``: a run goes on from a model; what it knew stays, and what is new is learnt."""

import functools
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf
from absl import logging

import uanet_tf
from tests.quick_params import quick_params
from tests.tiny_encoder import tiny_encoder
from tests.training.killing import Moment, act_at
from tests.training.tiny_run import LIGHT, TINY, assert_same_weights, metrics
from uanet_lite.token_ids import FIRST_ID, UNKNOWN_ID
from uanet_tf.commands import runner
from uanet_tf.commands.train_command import train
from uanet_tf.config import Config, load_config
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.decoders.softmax import SoftmaxDecoder
from uanet_tf.errors import InputError
from uanet_tf.models.build import make_tagger
from uanet_tf.models.tagger import Tagger
from uanet_tf.training import init_model, saved_state
from uanet_tf.training.development import score_corpus
from uanet_tf.training.init_model import carry_weights, extend
from uanet_tf.training.init_settings import init_config
from uanet_tf.training.replicas import check_possible

OLD = ["O", *(f"{prefix}-{name}" for name in ("PER", "LOC") for prefix in "BIES")]
SENTENCES = [["Anna", "saw", "Rio"], ["it", "rained"], ["Bo", "Anna", "Bo", "zebra", "ß", "Q"]]
SIZES = {name: value for name, value in TINY.items() if "refiner" not in name}
UANET = {"decoder": "uanet", "refiner_layers": 1, "refiner_heads": 2, "refiner_head_width": 4}
TAGGERS = {
    "vectors": UANET | {"word_vectors": "vectors.txt", "refiner_context": "document"},
    "words": UANET | {"refiner_states": True, "refiner_embeddings": "shared"},
    "crf": {"decoder": "crf", "representation": "char_bilstm"},
    "lan": {"decoder": "lan", "lan_heads": 2, "lan_layers": 1},
    "seq2seq": {"decoder": "seq2seq", "representation": "words"},
    "seq2biseq": {"decoder": "seq2biseq", "representation": "words"},
    "transformer": {"decoder": "softmax", "representation": "transformer", "encoder": "none"},
}


def made(vocabulary: Vocabulary, settings: dict) -> Tagger:
    sizes = {k: v for k, v in SIZES.items() if k.endswith("width") or k == "char_filters"}
    if settings.get("representation") == "transformer":
        settings = settings | {"pretrained": tiny_encoder()}
    tf.keras.utils.set_random_seed(len(vocabulary.words))
    return make_tagger(Config().replace(**(sizes | settings)), vocabulary)


def old_and_new(settings: dict) -> tuple[Tagger, Tagger]:
    """A tagger with weights as if trained, and one that goes on from it."""
    old = made(
        Vocabulary(("Anna", "saw", "Rio", "it"), (3, 2), tuple("Answit"), tuple(OLD), "IOB2"),
        settings,
    )
    random = np.random.default_rng(1)
    for part in (old.drafter, old.refiner):
        for weight in part.trainable_weights if part else ():
            weight.assign_add(0.3 * random.normal(size=weight.shape))
    pretrained = getattr(old.drafter.representation, "pretrained", None)
    if pretrained is not None:
        pretrained.rows.assign(random.integers(-63, 63, pretrained.rows.shape))
        pretrained.scales.assign([0, 0, 0.01, 0, 0.01, 0.01])
    counts = {"zebra": 1, "Rio": 1, "Anna": 4, "Bo": 2}
    labels = ("O", "B-PRODUCT", "I-PRODUCT", "E-PRODUCT", "S-PRODUCT", *OLD[1:5])
    data = Vocabulary(("Anna", "Bo", "zebra"), (4, 2, 1), tuple("ßnA"), labels, "BILOU", longest=9)
    vocabulary = extend(data, counts, old)
    new = made(vocabulary, settings)
    carry_weights(old, new)
    return old, new


@pytest.mark.parametrize("name", quick_params(TAGGERS, ["vectors", "crf"]))
def test_before_its_first_step_it_answers_as_the_old_model(name):
    old, new = old_and_new(TAGGERS[name])
    inputs = {
        "tokens": tf.ragged.constant(SENTENCES).to_tensor(),
        "lengths": tf.constant([len(each) for each in SENTENCES]),
        "document": tf.constant([1, 1, 1]),
    }
    found = []
    for model in (old, new):
        model.num_samples = 0
        features = model.features(inputs)
        draft = model.draft(features)
        found.append([draft.probabilities.numpy()])
        if model.refiner is not None:
            found[-1].append(model.refine(features, draft).numpy())
    exact = isinstance(old.drafter.decoder, SoftmaxDecoder)
    tokens = np.arange(6) < inputs["lengths"].numpy()[:, None]
    for pair in zip(*found, strict=True):
        before, after = (p[tokens] for p in pair)
        known, more = after[..., : len(OLD)], after[..., len(OLD) :]
        assert more.shape[-1] == 4
        # Four labels, each e^-5 of O; lan has no bias to lower.
        assert 0 < more.sum(axis=-1).max() < (1 if name == "lan" else 0.03)
        share = known / known.sum(axis=-1, keepdims=True)
        # The refiner reads the draft with its new labels, and sequences are of them too.
        np.testing.assert_allclose(share, before, atol=1e-6 if exact else 0.02)
        assert (after.argmax(axis=-1) == before.argmax(axis=-1)).all()
        exact = False


def test_weights_by_row():
    old, new = old_and_new(TAGGERS["vectors"])
    # Trained words first; "Rio" is rare, but has a pretrained vector.
    assert new.vocabulary.words == ("Anna", "saw", "Bo", "zebra", "Rio", "it")
    assert new.vocabulary.word_counts == (7, 2, 2, 1, 1)
    assert (new.vocabulary.scheme, new.vocabulary.longest) == ("BILOU", 9)
    assert new.vocabulary.labels == (*OLD, *(f"{p}-PRODUCT" for p in "BIES"))

    def vectors(model):
        part = model.drafter.representation
        rows = part.pretrained.rows.numpy() * part.pretrained.scales.numpy()[:, None]
        words = dict(enumerate(model.vocabulary.words, FIRST_ID))
        learnt = part.embeddings.numpy()
        return (
            {word: rows[k] for k, word in words.items()},
            {word: learnt[k] for k, word in words.items() if k < len(learnt)},
            learnt[UNKNOWN_ID],
        )

    (base, learnt, unknown), (new_base, new_learnt, new_unknown) = vectors(old), vectors(new)
    for word, row in base.items():
        np.testing.assert_array_equal(new_base[word], row)
    for word in ("Anna", "saw"):
        np.testing.assert_array_equal(new_learnt[word], learnt[word])
    assert not new_learnt["Rio"].any()  # it has a pretrained vector
    np.testing.assert_array_equal(new_learnt["Bo"], unknown)
    np.testing.assert_array_equal(new_unknown, unknown)
    kernel, new_kernel = (m.drafter.decoder.kernel.numpy() for m in (old, new))
    np.testing.assert_array_equal(new_kernel[:, : len(OLD)], kernel)
    np.testing.assert_array_equal(new_kernel[:, len(OLD)], kernel[:, 0])
    np.testing.assert_array_equal(
        new.drafter.distilled.output_kernel[:, -1], old.drafter.distilled.output_kernel[:, -1]
    )


# ------------------------------------------------------------------------ runs

PLACES, PEOPLE, THINGS = ("Rio", "Oslo", "Lima"), ("Anna", "Bo", "Cleo"), ("radio", "lamp")


def write(path: Path, sentences: list[str], **types: tuple[str, ...]) -> str:
    """A file of sentences whose words are labelled by their types."""
    labels = {word: f"B-{name}" for name, words in types.items() for word in words}
    rows = [[f"{word}\t{labels.get(word, 'O')}" for word in each.split()] for each in sentences]
    path.write_text("\n\n".join("\n".join(each) for each in rows) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("files")
    old = [f"{who} left {place}" for who in PEOPLE for place in PLACES]
    new = [
        f"{place} sells a {thing} to {who}"
        for place in PLACES
        for thing in THINGS
        for who in PEOPLE
    ]
    return {
        "old": write(folder / "old.conll", 4 * old, PER=PEOPLE, LOC=PLACES),
        "train": write(folder / "train.conll", 4 * new, PER=PEOPLE, PRODUCT=THINGS),
        "dev": write(folder / "dev.conll", new[::2], PER=PEOPLE, PRODUCT=THINGS),
    }


SETTINGS = LIGHT | {"word_width": 8, "batch_size": 4, "num_samples": 2, "epochs": 6}
SETTINGS["drafter_learning_rate"] = 0.3


def command(**flags) -> int:
    before = logging.get_verbosity()
    try:
        return runner.exit_code(
            train, ["train", *(f"--{name}={value}" for name, value in flags.items())], logging.INFO
        )
    finally:
        logging.set_verbosity(before)  # of the tests that follow


@pytest.fixture(scope="module")
def old(files, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("old") / "run"
    assert command(train_path=files["old"], dev_path=files["old"], run_dir=folder, **SETTINGS) == 0
    return folder


@pytest.fixture(scope="module")
def flags(files) -> dict:
    return {
        "train_path": files["train"],
        "dev_path": files["dev"],
        "test_path": files["dev"],
        "drafter_learning_rate": 0.3,
        "epochs": 6,
    }


@pytest.fixture(scope="module")
def new(old, flags, tmp_path_factory) -> Path:
    """A run that goes on; beside it, ``killed``, what a kill would have left of it."""
    folder = tmp_path_factory.mktemp("new")
    copy = functools.partial(shutil.copytree, folder / "run", folder / "killed")
    with pytest.MonkeyPatch.context() as patch:
        act_at(patch, Moment(saved_state.StateKeeper, "save", 2, after=True), copy)
        assert command(init=old, run_dir=folder / "run", **flags) == 0
    return folder / "run"


def test_types_that_the_files_do_not_label_are_not_forgotten(files, old, new, flags, tmp_path):
    def score(run):
        model = uanet_tf.load_model(run)
        scores = score_corpus(model, uanet_tf.read(files["old"]), "ner", by_type=True)["types"]
        return {name: scores[name]["f1"] for name in ("PER", "LOC")}

    assert metrics(old)["dev"]["f1"] == 100
    assert score(new) == {"PER": 100, "LOC": 100}
    for name in ("dev", "test"):  # of places nothing is labelled there, so nothing is scored
        assert metrics(new)[name]["f1"] == 100
        assert set(metrics(new)[name]["types"]) == {"PER", "PRODUCT"}
    assert command(init=old, run_dir=tmp_path / "run", keep_types="false", **flags) == 0
    forgotten = score(tmp_path / "run")
    assert forgotten["PER"] == 100
    assert forgotten["LOC"] < 10
    sentence = uanet_tf.tag(uanet_tf.load_model(new), [["Lima", "sells", "a", "lamp"]])[0]
    assert sentence.labels == ["B-LOC", "O", "O", "B-PRODUCT"]


def test_without_new_labels_training_is_slower_and_goes_part_of_the_way(
    files, old, new, tmp_path, monkeypatch
):
    weights, rates = [], []
    for way in (0.0, 0.5, 1.0):
        monkeypatch.setattr(init_model, "WAY", way)
        run = tmp_path / str(way)
        given = {"train_path": files["old"], "dev_path": files["old"], "epochs": 2}
        assert command(init=old, run_dir=run, **given) == 0
        weights.append([w.numpy() for w in uanet_tf.load_model(run).trainable_variables])
        rates.append(metrics(run)["epochs"][-1]["learning_rate_draft"])
    model = uanet_tf.load_model(old)
    for known, start, middle, end in zip(model.trainable_variables, *weights, strict=True):
        np.testing.assert_allclose(start, known, atol=1e-6)
        np.testing.assert_allclose(middle, (start + end) / 2, atol=1e-5)
    assert any(np.abs(a - b).max() > 1e-3 for a, b in zip(weights[0], weights[2], strict=True))
    assert rates[0] == pytest.approx(
        init_model.SHARE * metrics(new)["epochs"][1]["learning_rate_draft"]
    )


def test_settings_are_those_of_the_model(old, new, flags):
    was, now = load_config(str(old)), load_config(str(new))
    assert now == was.replace(init=str(old), **flags)
    recipe = Config().replace(init="en_ner", refiner_context="auto", epochs=3)
    found = init_config(recipe, ["refiner_context", "epochs"])
    assert (found.decoder.refiner_context, found.training.epochs) == ("sentence", 3)


def test_a_new_label_has_ten_epochs_unless_told(old, new, flags, tmp_path):
    assert load_config(str(new)).training.epochs == flags["epochs"]
    unnamed = {name: value for name, value in flags.items() if name != "epochs"}
    for _ in range(2):  # the second time it is complete
        assert command(init=old, run_dir=tmp_path / "run", **unnamed) == 0
        assert len(metrics(tmp_path / "run")["epochs"]) == init_model.EPOCHS


def test_resumed_exactly_without_the_old_model(old, new, flags):
    run, away = new.with_name("killed"), old.with_name("away")
    old.rename(away)
    try:
        assert command(init=old, run_dir=run, **flags) == 0
        assert_same_weights(run, new)
        assert command(init=old, run_dir=run, **flags) == 0  # it is complete
    finally:
        away.rename(old)


def test_python(old, new, files, flags):
    changes = {name: value for name, value in flags.items() if not name.endswith("_path")}
    data = {"train": files["train"], "dev": files["dev"], "verbose": 0}
    model = uanet_tf.load_model(old)
    run = uanet_tf.train(**data, init=model, **changes)
    assert_same_weights(run.run_dir, new)
    assert model.num_samples == 2  # as before
    for init, said in ((7, "init must be a run, the name"), ("none", "`init=none` is no run")):
        with pytest.raises(InputError, match=said):
            uanet_tf.train(**data, init=init)


@pytest.mark.parametrize(
    ("flags_given", "said"),
    [
        (
            {"init": "en_nr"},
            "--init=en_nr is no run, and no model of the package: it has en_ewt_pos, en_ner.",
        ),
        ({"hidden_width": 16}, "--hidden_width=16 does not go with --init="),
        ({"word_vectors": "x.txt"}, "whose weights are made for --word_vectors=: leave it out."),
        (
            {"init": "en_ewt_pos"},
            "The model of --init labels single tokens, and the training file entities",
        ),
        ({"init": ""}, "--keep_types is not read with --init=: leave it out"),
        (
            {"init": "unfinished"},
            "--init=unfinished cannot be gone on from: unfinished holds no model.keras",
        ),
    ],
)
def test_errors(old, flags, tmp_path, monkeypatch, capsys, flags_given, said):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(old, "unfinished", ignore=shutil.ignore_patterns("model.keras"))
    given = {"init": old, "keep_types": "true", **flags, **flags_given}
    assert command(run_dir="run", **given) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1 or "training on" in err
    assert not Path("run").exists()


def test_replicas_are_refused():
    config = Config().replace(init="en_ner", strategy="mirrored")
    with pytest.raises(InputError, match="`strategy=mirrored` does not go with `init`"):
        check_possible(SimpleNamespace(count=2), config)
