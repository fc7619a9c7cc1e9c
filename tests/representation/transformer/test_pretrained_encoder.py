import pytest

from tests.tiny_encoder import write_tiny_encoder
from uanet_tf.errors import InputError
from uanet_tf.representation.transformer import pretrained_encoder
from uanet_tf.representation.transformer.pretrained_encoder import (
    read_hugging_face,
    read_pretrained,
)


def test_a_folder_of_hugging_face(tmp_path):
    assert read_pretrained(str(write_tiny_encoder(tmp_path / "bert"))).spec.architecture.width == 16


def test_the_home_directory(tmp_path, monkeypatch):
    write_tiny_encoder(tmp_path / "bert")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read_pretrained("~/bert").spec.architecture.width == 16


@pytest.mark.parametrize(("name", "is_folder"), [("bert_base_en", False), ("preset", True)])
def test_names_and_folders_of_keras_nlp(tmp_path, monkeypatch, name, is_folder):
    """A folder with a metadata.json is keras_nlp's, a name that is no path too."""
    asked: list[str] = []
    tiny = read_hugging_face(write_tiny_encoder(tmp_path / "tiny"))
    monkeypatch.setattr(
        pretrained_encoder, "read_keras_nlp", lambda name: asked.append(name) or tiny
    )
    monkeypatch.chdir(tmp_path)
    if is_folder:
        write_tiny_encoder(tmp_path / name)
        (tmp_path / name / "metadata.json").write_text("{}")
    assert read_pretrained(name) is tiny
    assert asked == [name]


@pytest.mark.parametrize(
    ("preset", "message"),
    [
        ("./nowhere", "`pretrained=./nowhere` is not a directory."),
        ("/nowhere/at/all", "`pretrained=/nowhere/at/all` is not a directory."),
        ("nowhere/at/all", "`pretrained=nowhere/at/all` is not a directory."),
        (
            "bert_of_nobody",
            "`pretrained=bert_of_nobody` is neither a directory nor the name of an encoder of "
            "keras_nlp, such as bert_base_en.",
        ),
    ],
)
def test_what_does_not_exist_is_said(preset, message):
    with pytest.raises(InputError) as told:
        read_pretrained(preset)
    assert str(told.value) == message


def test_a_folder_without_an_encoder(tmp_path):
    with pytest.raises(InputError, match=r"holds no encoder: it has no config\.json\."):
        read_pretrained(str(tmp_path))


def test_a_file_in_place_of_a_folder(tmp_path, monkeypatch):
    (tmp_path / "vocab.txt").write_text("a\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"`pretrained=vocab.txt` is not a directory\."):
        read_pretrained("vocab.txt")


def test_a_vocabulary_that_was_cut_off(tmp_path):
    """Tables have a few rows more than sub-words, but not many."""
    path = write_tiny_encoder(tmp_path / "bert") / "vocab.txt"
    words = path.read_text().splitlines(keepends=True)
    path.write_text("".join(words[:-1]))
    assert len(read_pretrained(str(path.parent)).spec.tokenizer.vocabulary) == len(words) - 1
    path.write_text("".join(words[:-20]))
    message = f"has {len(words) - 20} sub-words, but its embedding table {len(words)} rows: .*cut"
    with pytest.raises(InputError, match=message):
        read_pretrained(str(path.parent))
