"""What ``import uanet_tf`` offers: documented, silent, of the names it says."""

import inspect
import os
import subprocess
import sys

import numpy as np
import pytest

import uanet_tf
from tests.training.tiny_run import TINY, metrics, write_corpus
from tools import make_api_page
from uanet_tf.data.lookup import pad
from uanet_tf.errors import InputError


def test_the_page_is_current():
    """Else: python -m tools.make_api_page."""
    assert make_api_page.PAGE.read_text(encoding="utf-8") == make_api_page.page()


@pytest.mark.parametrize("name", sorted(set(uanet_tf.__all__) - {"__version__"}))
def test_every_name_is_there_and_documented(name):
    value = getattr(uanet_tf, name)
    assert len(inspect.getdoc(value)) > 40
    if inspect.isfunction(value):
        parameters = inspect.signature(value).parameters.values()
        assert all(each.annotation is not inspect.Parameter.empty for each in parameters)
        assert inspect.signature(value).return_annotation is not inspect.Signature.empty
        for each in parameters:
            assert f"{each.name}:" in value.__doc__, each.name
    assert name in dir(uanet_tf)


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        uanet_tf.nothing  # noqa: B018 - looked up, not used


def test_import_is_silent_and_quick():
    program = "import uanet_tf, sys; assert 'tensorflow' not in sys.modules; uanet_tf.load_model"
    environment = {k: v for k, v in os.environ.items() if k != "TF_CPP_MIN_LOG_LEVEL"}
    done = subprocess.run(
        [sys.executable, "-W", "default", "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    said = [line for line in done.stderr.splitlines() if "site-packages" not in line]
    assert done.stdout == ""
    assert not [line for line in said if "tensorflow" in line.lower()], done.stderr


@pytest.mark.parametrize(("given", "taken"), [(None, "1"), ("0", "0")])
def test_products_are_those_of_onednn_unless_the_user_says(given, taken):
    name = "TF_ENABLE_ONEDNN_OPTS"
    environment = {key: value for key, value in os.environ.items() if key != name}
    program = f"import os, uanet_tf; print(os.environ[{name!r}])"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment | ({} if given is None else {name: given}),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == taken


def test_pad():
    padded = pad([["a", "b"], [], ("ç",)])
    assert padded["tokens"].tolist() == [["a", "b"], ["", ""], ["ç", ""]]
    assert padded["lengths"].tolist() == [2, 0, 1]
    assert padded["lengths"].dtype == np.int32
    assert pad([])["tokens"].shape == (0, 1)
    for wrong in ("text", [["a"], "b"], [[1]], [None]):
        with pytest.raises(InputError, match="list"):
            pad(wrong)


def test_labels_of():
    """Bytes as Keras gives them, texts of a signature in NumPy; without padding."""
    padded = np.array([[b"O", "B-Größe".encode(), b""], [b"O", b"", b""]], object)
    assert uanet_tf.labels_of({"labels": padded}) == [["O", "B-Größe"], ["O"]]
    texts = {"draft_labels": np.array([["O", ""], ["", ""]])}
    assert uanet_tf.labels_of(texts, "draft_labels") == [["O"], []]
    for wrong in (padded, {"tokens": padded}, None):
        with pytest.raises(InputError, match=r"must be what model\.predict gives, with 'labels'"):
            uanet_tf.labels_of(wrong)


def test_train_tag_predict(tmp_path):
    """The first lines of the docstring, on a tiny corpus."""
    corpus = write_corpus(tmp_path)
    settings = TINY | {"epochs": 1, "min_epochs": 1}
    files = {"train": str(corpus.train), "dev": corpus.dev}
    options = {"run_dir": tmp_path / "run", "recipe": "quickstart"} | settings
    model = uanet_tf.train(**files, **options, verbose=0).model
    assert metrics(tmp_path / "run")["best_epoch"] == 1
    assert model.settings.training.drafter_optimizer == "adam"  # the recipe's
    again = uanet_tf.train(**files, **options).model
    text = "Anna met Bo."
    (sentence,) = uanet_tf.tag(again, text)
    assert sentence.text == text
    answers = model.predict(uanet_tf.pad([sentence.tokens]), verbose=0)
    assert uanet_tf.labels_of(answers) == [sentence.labels]
    for wrong in ([["Anna"]], "Anna", (["Anna"],), {"tokens": [["Anna"]], "lengths": [1]}):
        with pytest.raises(InputError, match=r"model.predict\(uanet_tf.pad\(sentences\)\)"):
            model.predict(wrong)
    with pytest.raises(InputError, match="Did you mean drafter_learning_rate, refiner_learning"):
        uanet_tf.train(run_dir=tmp_path / "other", **files, learning_rate=1.0)
    with pytest.raises(InputError, match="There is no recipe 'fsat'"):
        uanet_tf.train(run_dir=tmp_path / "other", **files, recipe="fsat")
    assert not (tmp_path / "other").exists()
