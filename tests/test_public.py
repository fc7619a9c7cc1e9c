"""The public functions: data in, answers and files out, nothing of the package's inside needed."""

import ast
import json
import pkgutil
import types
from pathlib import Path

import pytest

import uanet_tf
from tests.models.tagger_setup import make_model
from uanet_tf.errors import InputError

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOK = ROOT / "notebooks" / "quickstart.ipynb"


def test_no_module_can_take_the_place_of_a_function():
    """``import uanet_tf.tag`` would put a module of that name there."""
    modules = {module.name for module in pkgutil.iter_modules(uanet_tf.__path__)}
    assert not modules & set(uanet_tf.__all__)
    assert {"evaluate", "report", "export", "read", "InferenceOptions"} <= set(uanet_tf.__all__)
    for name in uanet_tf.__all__[:-1]:
        if callable(value := getattr(uanet_tf, name)):
            assert value.__name__ == name  # as help() shows it


def test_the_notebook_imports_public_names_only():
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    used = set()
    for cell in cells:
        if cell["cell_type"] != "code":
            continue
        for node in ast.walk(ast.parse("".join(cell["source"]))):
            if isinstance(node, ast.ImportFrom):
                assert not str(node.module).startswith("uanet_")
            if isinstance(node, ast.Import):
                assert not [a.name for a in node.names if a.name.startswith("uanet_tf.")]
            if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "uanet_tf":
                used.add(node.attr)
    assert {"load_model", "tag", "pad", "read", "export"} <= used <= set(uanet_tf.__all__)


SENTENCES = [
    (["Anna", "Berg", "met", "Bo", "."], ["B-PER", "I-PER", "O", "B-PER", "O"]),
    (["Oslo", "is", "far", "."], ["B-LOC", "O", "O", "O"]),
]
TEXT = "".join(
    "".join(f"{token}\t{label}\n" for token, label in zip(*each, strict=True)) + "\n"
    for each in SENTENCES
)


@pytest.fixture(scope="module")
def model():
    return make_model(num_samples=2)


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "data.conll"
    file.write_text(TEXT, encoding="utf-8")
    return file


def test_read_evaluate_tag(model, path, capsys):
    sentences = uanet_tf.read(path)
    assert [(list(tokens), list(labels)) for tokens, labels in sentences] == SENTENCES
    assert uanet_tf.tag(model, sentences) == uanet_tf.tag(model, [each[0] for each in SENTENCES])
    found = [uanet_tf.evaluate(model, data).to_dict() for data in (path, sentences, SENTENCES)]
    for scores in found:
        assert scores.pop("sentences_per_second") > 0
    assert found[0] == found[1] == found[2]
    assert found[0]["tokens"] == 9
    assert "precision" in str(uanet_tf.evaluate(model, path))
    assert capsys.readouterr().out == ""
    table = path.with_name("table.tsv")
    table.write_text("word\tpos\tner\nBo\tN\tB-PER\n")
    with pytest.raises(InputError, match=r"table\.tsv"):
        uanet_tf.read(table, data_format="csv", token_column="form")
    (row,) = uanet_tf.read(table, data_format="csv", token_column="word", label_column="pos")
    assert row.labels == ("N",)


def test_report_and_export(model, path, tmp_path):
    page = uanet_tf.report(model, path, tmp_path / "report.html")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    exported = uanet_tf.export(model, tmp_path / "exports", text=False)
    assert (exported.path / "saved_model.pb").exists()
    assert exported.path == tmp_path / "exports" / "uanet" / "1"
    run = types.SimpleNamespace(model=model)  # as of uanet_tf.train
    for given in (model, run):
        with pytest.raises(InputError, match=r"are set on it \(model\.num_samples = "):
            uanet_tf.export(given, tmp_path / "exports", num_samples=2)
    with pytest.raises(InputError, match="Its model is its attribute `model`"):
        uanet_tf.evaluate(run, path)


@pytest.mark.parametrize("wrong", ["runs/mine", None, 3])
def test_no_model(wrong, path, tmp_path):
    for function in (uanet_tf.evaluate, uanet_tf.report):
        with pytest.raises(InputError, match="model must be a loaded model"):
            function(wrong, path)
    assert not (tmp_path / "report.html").exists()


def test_wrong_data(model, tmp_path):
    with pytest.raises(InputError, match=r"^data must be a path, a list of \(tokens, labels\)"):
        uanet_tf.evaluate(model, 3)
    with pytest.raises(InputError, match=r"^data: in sentence 1: not a chunk label .*'DT'"):
        uanet_tf.evaluate(model, [(["a", "b"], ["DT", "VBZ"])])
    with pytest.raises(InputError, match="must be the path of a run"):
        uanet_tf.export(3, tmp_path / "exports")
