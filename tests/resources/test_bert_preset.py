import pytest

from tests.tiny_bert import write_tiny_bert
from uanet_tf.errors import InputError
from uanet_tf.resources import bert_preset
from uanet_tf.resources.bert_preset import read_bert_preset, read_hugging_face


def test_a_folder_of_hugging_face(tmp_path):
    assert read_bert_preset(str(write_tiny_bert(tmp_path / "bert"))).spec.width == 16


def test_the_home_directory(tmp_path, monkeypatch):
    write_tiny_bert(tmp_path / "bert")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read_bert_preset("~/bert").spec.width == 16


@pytest.mark.parametrize(("name", "is_folder"), [("bert_base_en", False), ("preset", True)])
def test_names_and_folders_of_keras_nlp(tmp_path, monkeypatch, name, is_folder):
    """A folder with a metadata.json is keras_nlp's, a name that is no path too."""
    asked: list[str] = []
    tiny = read_hugging_face(write_tiny_bert(tmp_path / "tiny"))
    monkeypatch.setattr(bert_preset, "read_keras_nlp", lambda name: asked.append(name) or tiny)
    monkeypatch.chdir(tmp_path)
    if is_folder:
        write_tiny_bert(tmp_path / name)
        (tmp_path / name / "metadata.json").write_text("{}")
    assert read_bert_preset(name) is tiny
    assert asked == [name]


@pytest.mark.parametrize(
    ("preset", "message"),
    [
        ("./nowhere", "--bert_preset=./nowhere is not a directory."),
        ("/nowhere/at/all", "--bert_preset=/nowhere/at/all is not a directory."),
        ("nowhere/at/all", "--bert_preset=nowhere/at/all is not a directory."),
        (
            "bert_of_nobody",
            "--bert_preset=bert_of_nobody is neither a directory nor the name of a BERT of "
            "keras_nlp, such as bert_base_en.",
        ),
    ],
)
def test_what_does_not_exist_is_said(preset, message):
    with pytest.raises(InputError) as told:
        read_bert_preset(preset)
    assert str(told.value) == message


def test_a_folder_without_a_bert(tmp_path):
    with pytest.raises(InputError, match=r"holds no BERT: it has no config\.json\."):
        read_bert_preset(str(tmp_path))


def test_a_file_in_place_of_a_folder(tmp_path, monkeypatch):
    (tmp_path / "vocab.txt").write_text("a\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"--bert_preset=vocab.txt is not a directory\."):
        read_bert_preset("vocab.txt")


def test_a_vocabulary_that_was_cut_off(tmp_path):
    """Tables have a few rows more than sub-words, but not many."""
    path = write_tiny_bert(tmp_path / "bert") / "vocab.txt"
    words = path.read_text().splitlines(keepends=True)
    path.write_text("".join(words[:-1]))
    assert len(read_bert_preset(str(path.parent)).spec.vocabulary) == len(words) - 1
    path.write_text("".join(words[:-20]))
    message = f"has {len(words) - 20} sub-words, but its embedding table {len(words)} rows: .*cut"
    with pytest.raises(InputError, match=message):
        read_bert_preset(str(path.parent))
