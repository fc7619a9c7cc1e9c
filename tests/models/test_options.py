"""The inference options of a model: set, refused, kept wherever it is saved or copied."""

import copy
import json
import pickle
import zipfile

import pytest
import tensorflow as tf

import uanet_tf
from tests.models.tagger_setup import make_model
from uanet_tf.errors import InputError
from uanet_tf.models.loading import load_model

CHANGES = {"valid_labels": False, "threshold": 0.02, "num_samples": 2}


@pytest.fixture(scope="module")
def model():
    model = make_model()
    model.set_options(**CHANGES)
    return model


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    model.save(folder / "model.keras")
    return folder


WAYS = {
    "load_model of Keras": lambda model, folder: tf.keras.models.load_model(folder / "model.keras"),
    "load_model": lambda model, folder: load_model(folder),
    "pickle": lambda model, folder: pickle.loads(pickle.dumps(model)),
    "deepcopy": lambda model, folder: copy.deepcopy(model),
    "clone_model": lambda model, folder: tf.keras.models.clone_model(model),
}


@pytest.mark.parametrize("way", WAYS)
def test_options_are_kept_beside_those_of_training(model, folder, way):
    other = WAYS[way](model, folder)
    assert (other.valid_labels, other.threshold, other.num_samples) == tuple(CHANGES.values())
    assert other.options == model.options
    assert other.settings == model.settings
    assert other.settings.inference.valid_labels


def test_a_tagger_without_a_gate():
    model = make_model(decoder="crf")
    model.num_samples = 2
    assert tf.keras.models.clone_model(model).options == model.options


def changed_config(source, target, change):
    """A copy of an archive whose model configuration ``change`` edits."""
    with zipfile.ZipFile(source) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    config = json.loads(members["config.json"])
    change(config["config"])
    members["config.json"] = json.dumps(config).encode()
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"num_samples": -1}, "must be at least 0"),
        ({"num_samples": 2.5}, "not int"),
        ({"nothing": 1}, "unknown key 'nothing'"),
        ({"sampling": "x"}, "must be one of exact, distilled"),
    ],
)
def test_impossible_options_in_an_archive_are_refused(folder, tmp_path, values, says):
    def change(config):
        config["inference"] |= values

    changed_config(folder / "model.keras", tmp_path / "model.keras", change)
    with pytest.raises(InputError, match=r"model\.keras cannot be loaded as a model: ") as caught:
        load_model(tmp_path)
    assert says in str(caught.value)


def test_distilled_sampling_is_put_back(tmp_path):
    model = make_model(decoder="softmax")
    model.drafter.distilled.was_trained.assign(True)
    model.sampling = "distilled"
    model.save(tmp_path / "model.keras")
    assert load_model(tmp_path).sampling == "distilled"
    assert load_model(tmp_path, sampling="exact").sampling == "exact"


def test_a_misspelt_option_is_refused(folder):
    model = make_model(decoder="softmax")
    with pytest.raises(InputError, match="no option `num_sample`: did you mean num_samples"):
        model.num_sample = 8
    with pytest.raises(InputError, match="no inference option 'treshold': did you mean threshold"):
        load_model(folder, treshold=0.5)
    with pytest.raises(InputError, match=r"There is no inference option 'x'\."):
        model.set_options(x=1)
    model.notes = "anything else is the user's"
    model.calibration = model.calibration


def test_an_option_that_is_set_back_traces_no_graph_again(monkeypatch):
    model = make_model(decoder="softmax", encoder="none", representation="words")
    traced = []
    decide = type(model).decide

    def counted(self, *args, **more):
        traced.append(self.num_samples)
        return decide(self, *args, **more)

    monkeypatch.setattr(type(model), "decide", counted)
    own, words = model.num_samples, [["Anna", "met", "Bo"]]
    for count in (own, 1, own, 1):
        model.num_samples = count
        uanet_tf.tag(model, words)
        model.predict(uanet_tf.pad(words), verbose=0)
    assert 2 <= len(traced) <= 4  # once for each number, for tag and for predict
    model.num_samples = own


def test_python_speaks_of_arguments_and_commands_of_flags(model, folder, tmp_path, capsys):
    """The same faults, each in the words of the one who made it."""
    from uanet_tf.commands import runner
    from uanet_tf.commands.tag_command import tag
    from uanet_tf.commands.train_command import train

    with pytest.raises(InputError) as error:
        uanet_tf.load_model(folder, sampling="distilled")
    assert "--" not in str(error.value)
    assert "`distill_samples`" in str(error.value)
    (folder / "config.json").write_text(json.dumps(model.settings.to_dict()))
    text = tmp_path / "text.txt"
    text.write_text("Anna met Bo\n")
    arguments = [f"--run_dir={folder}", f"--input={text}", "--sampling=distilled"]
    assert runner.exit_code(tag, ["tag", *arguments]) == 2
    said = capsys.readouterr().err
    assert "`" not in said
    assert "--sampling can be distilled" in said

    run = tmp_path / "run"
    cases = [
        ({"train": "", "dev": "x"}, "`train` is required"),
        ({"train": "a", "dev": "b", "strategy": "x"}, "^`strategy` must be one of"),
        ({"train": "a", "dev": "b", "epochs": 0}, "^`epochs` must be at least 1"),
    ]
    for case, message in cases:
        with pytest.raises(InputError, match=message) as error:
            uanet_tf.train(run_dir=run, **case)
        assert "--" not in str(error.value)
    run.mkdir()
    (run / "other").write_text("")
    with pytest.raises(InputError, match=r"^`run_dir=.*` holds other files"):
        uanet_tf.train("a", "b", run_dir=run)
    arguments = [f"--run_dir={run}", "--train_path=a", "--dev_path=b"]
    assert runner.exit_code(train, ["train", *arguments]) == 2
    assert f"--run_dir={run} holds other files" in capsys.readouterr().err
