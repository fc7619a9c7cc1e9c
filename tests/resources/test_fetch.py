"""Corpora from a server on this machine, converted to our columns."""

import io
import json
import zipfile

import pytest

from uanet_lite.columns_file import read_corpus
from uanet_tf.commands import runner
from uanet_tf.commands.data_command import get
from uanet_tf.errors import InputError
from uanet_tf.resources import public_corpora
from uanet_tf.resources.public_corpora import PUBLIC_DATA, PublicData, fetch

IOB2 = "# sent_id = 1\n1\tEm\tO\t-\n2\tLisboa\tB-LOC\t-\n\n#begin document (b)\n1\tSim\tO\t-\n\n"


@pytest.fixture
def serve(server):
    """Gives the address of a file with this content."""

    def serve(content):
        server.content = content
        return server.url

    return serve


def corpus(url, **changes):
    values = {"token_column": 1, "label_column": 2, "files": {"train.conll": (url,)}}
    return PublicData("A title", "CC BY 4.0", "https://home", **(values | changes))


def test_a_corpus_in_our_columns(serve, tmp_path):
    data = corpus(serve(IOB2.encode()))
    (path,) = fetch(data, tmp_path)
    assert path.read_text().splitlines()[:4] == ["-DOCSTART-\tO", "", "Em\tO", "Lisboa\tB-LOC"]
    first, second = read_corpus(path)
    assert (first.tokens, second.labels) == (("Em", "Lisboa"), ("O",))
    assert first.new_document
    assert second.new_document
    sources = json.loads((tmp_path / "SOURCES.json").read_text())
    assert (sources["licence"], len(sources["sha256"])) == ("CC BY 4.0", 1)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["SOURCES.json", "train.conll"]


def test_it_is_fetched_once_and_watched(serve, server, tmp_path):
    data = corpus(serve(IOB2.encode()))
    fetch(data, tmp_path)
    fetch(data, tmp_path)
    assert len(server.asked) == 1
    (tmp_path / "train.conll").unlink()
    serve(IOB2.replace("Sim", "Nao").encode())
    with pytest.raises(InputError, match="damaged, or changed at its home"):
        fetch(data, tmp_path)
    assert not (tmp_path / "train.conll").exists()


def test_vectors_out_of_an_archive(serve, tmp_path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("v.txt", "a 1 2\n")
    url = serve(packed.getvalue())
    columns = {"token_column": None, "label_column": None, "files": {"v.txt": (url,)}}
    (path,) = fetch(corpus(url, member="v.txt", **columns), tmp_path)
    assert path.read_text() == "a 1 2\n"
    with pytest.raises(InputError, match=r"does not hold w\.txt"):
        fetch(corpus(url, member="w.txt", **columns), tmp_path / "other")


def test_the_command(serve, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(public_corpora.PUBLIC_DATA, "toy", corpus(serve(IOB2.encode())))

    def call(*arguments):
        argv = ["get", *arguments, f"--folder={tmp_path}"]
        code = runner.exit_code(get, argv)
        return code, *capsys.readouterr()

    code, out, err = call("toy", "--progress")
    assert code == 0
    assert out.splitlines() == [
        "toy: A title. Licence: CC BY 4.0. https://home",
        f"{tmp_path}/toy/train.conll",
    ]
    assert "B/s" in err
    code, out, _ = call()
    assert code == 0
    assert all(f"  {name} " in out for name in PUBLIC_DATA)
    assert call("conll2003")[0] == 2
    code, _, err = call("wnut71")
    assert (code, err) == (2, "There is no data named 'wnut71': did you mean wnut17?\n")


@pytest.mark.parametrize("name", PUBLIC_DATA)
def test_every_entry_says_whose_it_is(name):
    data = PUBLIC_DATA[name]
    assert data.licence
    assert data.home.startswith("https://")
    addresses = [url for urls in data.files.values() for url in urls]
    assert all(url.startswith("https://") for url in addresses)
    assert len(set(addresses)) == len(addresses)
    assert len(data.title) < 100
