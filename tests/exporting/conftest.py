"""A tiny trained run, its export, and processes that know nothing but TensorFlow."""

import shutil

import numpy as np
import pytest
import tensorflow as tf

import uanet_tf
from tests.exporting.fresh_process import FreshProcess
from tests.exporting.trained_run import train
from tests.models.contract_setup import make_sentences, small
from tests.models.model_contract import text
from tests.serving.servers import in_thread
from uanet_tf.commands import serve_command
from uanet_tf.config import Config
from uanet_tf.exporting.sample_inputs import pad
from uanet_tf.exporting.saved_model import export
from uanet_tf.exporting.tflite.tflite_export import export_tflite
from uanet_tf.serving.rest_api.loaded_model import LoadedModel
from uanet_tf.serving.rest_api.model_config import ModelSettings
from uanet_tf.training.fit import fit

ODD = [["Ωmega", "жук", "\U0001f600"], [""], ["", "Oslo", " "], ["x" * 300], ["a\rb", "٣٤", "c\td"]]


@pytest.fixture(scope="session")
def run_dir(tmp_path_factory):
    """A run whose Gamma lets about half of the tokens through, to a refiner that changes labels."""
    folder = tmp_path_factory.mktemp("run")
    path = folder / "data" / "train.conll"
    path.parent.mkdir()
    rows = ("".join(map("{}\t{}\n".format, s.tokens, s.labels)) for s in training_sentences())
    path.write_text("\n".join(rows), encoding="utf-8")
    paths = {"train_path": str(path), "dev_path": str(path)}
    settings = {
        "epochs": 3,
        "min_epochs": 3,
        "batch_size": 10,
        "threshold": 0.1,
        "refine_all": True,
    }
    settings["distill_samples"] = 0
    fit(small(Config()).replace(**paths, **settings), folder)
    model = uanet_tf.load_model(folder)
    random = np.random.default_rng(1)
    for weight in model.refiner.trainable_variables:
        weight.assign_add(random.normal(0.0, 0.3, weight.shape))
    tokens = [list(sentence.tokens) for sentence in training_sentences()]
    u = model(pad(tokens))["uncertainty"].numpy()
    model.threshold = round(float(np.median(u[u > 0])), 3)
    model.save(folder / "model.keras")
    return folder


def training_sentences():
    return make_sentences("IOB2", 60)


@pytest.fixture(scope="session")
def model(run_dir):
    return uanet_tf.load_model(run_dir)


@pytest.fixture(scope="session")
def sentences():
    """Sentences of the training file, and what no file shows; more than a batch of ``predict``."""
    return [list(sentence.tokens) for sentence in training_sentences()[:40]] + ODD


@pytest.fixture(scope="session")
def expected(model, sentences):
    return predict(model, pad(sentences))


@pytest.fixture(scope="session")
def exported(run_dir, tmp_path_factory):
    return export(run_dir, tmp_path_factory.mktemp("export"), name="tiny")


@pytest.fixture(scope="session")
def trained_run(tmp_path_factory):
    """A run whose refiner mends labels; it takes half a minute."""
    return train(tmp_path_factory.mktemp("trained"))


@pytest.fixture(scope="session")
def tflite_files(trained_run, tmp_path_factory):
    """{precision: Written} of the trained run."""
    folder = tmp_path_factory.mktemp("tflite")
    written = export_tflite(trained_run, folder, name="small", quantize=True)
    return {file.precision: file for file in written}


@pytest.fixture(scope="session")
def loaded(exported):
    return tf.saved_model.load(str(exported.path))


@pytest.fixture(scope="session")
def served(exported):
    """{"tiny" or "tiny_text": the model as a server loads it}."""
    paths = {"tiny": exported.path, "tiny_text": exported.text_path}
    return {name: LoadedModel(path) for name, path in paths.items()}


@pytest.fixture(scope="session")
def url(exported, served, served_folder):
    """A server of the run's SavedModels and its TensorFlow Lite file; ``both`` has one of each."""
    folders = {"tiny": exported.path.parent, "tiny_text": exported.text_path.parent}
    folders |= {"both": served_folder / "mine"}
    folders |= dict.fromkeys(("lite", "lite_text"), served_folder / "lite")

    def load(path, name):
        return served.get(name) or serve_command._load(serve_command.Serving(), path, name)

    models = [ModelSettings(name, str(folder)) for name, folder in folders.items()]
    with in_thread(models, load=load) as url:
        yield url


@pytest.fixture(scope="session")
def core(tmp_path_factory):
    process = FreshProcess(tmp_path_factory.mktemp("core"), text=False)
    yield process
    process.close()


@pytest.fixture(scope="session")
def with_text(tmp_path_factory):
    process = FreshProcess(tmp_path_factory.mktemp("text"), text=True)
    yield process
    process.close()


# --------------------------------------------------- TensorFlow Lite files behind a server


@pytest.fixture(scope="session")
def lite_file(run_dir, tmp_path_factory):
    """The run's TensorFlow Lite file."""
    folder = tmp_path_factory.mktemp("lite_file")
    (written,) = export_tflite(run_dir, folder, name="tiny", refine_all=True)
    return written.path


@pytest.fixture(scope="session")
def served_folder(exported, lite_file, tmp_path_factory):
    """mine/1 and mine_text/1, SavedModels; mine/2 and lite/7, TensorFlow Lite files."""
    folder = tmp_path_factory.mktemp("served")
    shutil.copytree(exported.path, folder / "mine" / "1")
    shutil.copytree(exported.text_path, folder / "mine_text" / "1")
    for place in ("mine/2", "lite/7"):
        (folder / place).mkdir(parents=True)
        shutil.copy(lite_file, folder / place / "any.tflite")
    return folder


@pytest.fixture(scope="session")
def words(sentences):
    """Sentences without empty tokens, which a TensorFlow Lite file does not take."""
    return [sentence for sentence in sentences if all(sentence)]


@pytest.fixture(scope="session")
def texts():
    """With what a tokenizer can get wrong."""
    return [
        "Riverton's Aldbridge didn't win 2-1.",
        "  Ωmega жук 😀 e\u0301 ",
        "",
        "Kelton lost, 東京.",
    ]


# ------------------------------------------------------------------------------- answers


def predict(model, inputs):
    """By Keras; labels are texts."""
    return {name: text(values) for name, values in model.predict(inputs, verbose=0).items()}
