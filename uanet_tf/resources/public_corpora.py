"""Public corpora and word vectors: their addresses and licences."""

import dataclasses
import json
import pathlib
import shutil
import zipfile
from collections.abc import Sequence

from uanet_lite.atomic_file import atomic_file
from uanet_lite.columns_file import format_columns, read_corpus
from uanet_tf.errors import InputError
from uanet_tf.resources.download import Advance, download

_GITHUB = "https://raw.githubusercontent.com"
_PARTS = ("train", "dev", "test")


@dataclasses.dataclass(frozen=True)
class PublicData:
    """A corpus, or vectors.

    Attributes:
      title: what it is, in one line.
      licence: as its home states it.
      home: where to read about it.
      files: {name of the file written: addresses, joined in order}.
      token_column, label_column: of the files as fetched; None: they are not labelled files.
      member: of a zip archive, the file that is taken out.
    """

    title: str
    licence: str
    home: str
    files: dict[str, tuple[str, ...]]
    token_column: int | None = 0
    label_column: int | None = -1
    member: str | None = None


def _ud(repository: str, stem: str, title: str) -> PublicData:
    base = f"{_GITHUB}/UniversalDependencies/{repository}/master/{stem}-ud-"
    return PublicData(
        title,
        "CC BY-SA 4.0",
        f"https://github.com/UniversalDependencies/{repository}",
        {f"{part}.conll": (f"{base}{part}.conllu",) for part in _PARTS},
        token_column=1,
        label_column=4,
    )


def _uner(repository: str, stem: str, title: str) -> PublicData:
    base = f"{_GITHUB}/UniversalNER/{repository}/master/{stem}-ud-"
    return PublicData(
        title,
        "CC BY-SA 4.0",
        f"https://github.com/UniversalNER/{repository}",
        {f"{part}.conll": (f"{base}{part}.iob2",) for part in _PARTS},
        token_column=1,
        label_column=2,
    )


_BTC = f"{_GITHUB}/GateNLP/broad_twitter_corpus/master/"
_WNUT = f"{_GITHUB}/leondz/emerging_entities_17/master/"

PUBLIC_DATA = {
    "en_ewt_pos": _ud("UD_English-EWT", "en_ewt", "English web text, 49 part-of-speech tags"),
    "en_ewt_ner": _uner("UNER_English-EWT", "en_ewt", "English web text, PER LOC ORG"),
    "pt_bosque_ner": _uner(
        "UNER_Portuguese-Bosque", "pt_bosque", "Portuguese newswire, PER LOC ORG"
    ),
    "sr_set_ner": _uner("UNER_Serbian-SET", "sr_set", "Serbian newswire, PER LOC ORG"),
    "btc": PublicData(
        "English tweets, PER LOC ORG (Broad Twitter Corpus)",
        "CC BY 4.0",
        "https://github.com/GateNLP/broad_twitter_corpus",
        {
            "train.conll": tuple(f"{_BTC}{section}.conll" for section in "abeg"),
            "dev.conll": (f"{_BTC}h.conll",),
            "test.conll": (f"{_BTC}f.conll",),
        },
    ),
    "wnut17": PublicData(
        "English social media, six types of new entities (WNUT-17)",
        "CC BY 4.0",
        "https://github.com/leondz/emerging_entities_17",
        {
            "train.conll": (f"{_WNUT}wnut17train.conll",),
            "dev.conll": (f"{_WNUT}emerging.dev.conll",),
            "test.conll": (f"{_WNUT}emerging.test.annotated",),
        },
    ),
    "glove_100d": PublicData(
        "English word vectors, 400,000 words, 100 numbers each (GloVe 6B); 862 MB to fetch",
        "PDDL 1.0",
        "https://nlp.stanford.edu/projects/glove/",
        {"glove.6B.100d.txt": ("https://nlp.stanford.edu/data/glove.6B.zip",)},
        token_column=None,
        label_column=None,
        member="glove.6B.100d.txt",
    ),
    "fasttext_pt": PublicData(
        "Portuguese word vectors, 2,000,000 words, 300 numbers each (fastText); 1.3 GB to fetch",
        "CC BY-SA 3.0",
        "https://fasttext.cc/docs/en/crawl-vectors.html",
        {
            "cc.pt.300.vec.gz": (
                "https://dl.fbaipublicfiles.com/fasttext/vectors-crawl/cc.pt.300.vec.gz",
            )
        },
        token_column=None,
        label_column=None,
    ),
}

# Data that may not be redistributed.
ASK_FOR = {
    "conll2003": (
        "CoNLL-2003 is Reuters' text: ask NIST for the Reuters Corpus "
        "(https://trec.nist.gov/data/reuters/reuters.html), build it with the annotations of "
        "https://www.clips.uantwerpen.be/conll2003/ner/, then train on eng.train, eng.testa and "
        "eng.testb as they are: columns, -DOCSTART- lines and lone carriage returns are read."
    )
}


SOURCES = "SOURCES.json"
_FETCHED = ".fetched"


def fetch(
    data: PublicData, folder: pathlib.Path, advance: Advance = lambda done, total: None
) -> list[pathlib.Path]:
    """Fetches a corpus, or vectors, into ``folder``; what is there already is not fetched again.

    Labelled files are written as token, tab, label, with their document marks. ``SOURCES.json``
    has their addresses, licence and checksums: a later call compares.

    Raises:
      InputError: see ``download``; or a file that is not what it should be.
    """
    known = _known_sums(folder)
    sums: dict[str, str] = {}
    written = []
    for name, urls in data.files.items():
        parts = []
        for url in urls:
            part = folder / _FETCHED / url.rpartition("/")[2]
            target = folder / name
            if target.exists() and url in known and not part.exists():
                sums[url] = known[url]
                continue
            sums[url] = download(url, part, sha256=known.get(url), advance=advance)
            parts.append(part)
        if parts:
            _write(data, parts, folder / name)
        written.append(folder / name)
    _note(data, folder, sums)
    shutil.rmtree(folder / _FETCHED, ignore_errors=True)
    return written


def _write(data: PublicData, parts: Sequence[pathlib.Path], path: pathlib.Path) -> None:
    try:
        with atomic_file(path) as pending:
            if data.member is not None:
                _take_out(parts[0], data.member, pathlib.Path(pending))
            elif data.token_column is None:
                shutil.copyfile(parts[0], pending)
            else:
                columns = {"token_column": data.token_column, "label_column": data.label_column}
                sentences = [each for part in parts for each in read_corpus(part, **columns)]
                pathlib.Path(pending).write_text(format_columns(sentences), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error}).") from None


def _take_out(archive: pathlib.Path, member: str, path: pathlib.Path) -> None:
    try:
        with zipfile.ZipFile(archive) as file, path.open("wb") as target:
            shutil.copyfileobj(file.open(member), target)
    except (zipfile.BadZipFile, KeyError) as error:
        raise InputError(f"{archive}: does not hold {member} ({error}).") from None


def _known_sums(folder: pathlib.Path) -> dict[str, str]:
    try:
        return dict(json.loads((folder / SOURCES).read_text(encoding="utf-8"))["sha256"])
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{folder / SOURCES}: cannot be read ({error}).") from None


def _note(data: PublicData, folder: pathlib.Path, sums: dict[str, str]) -> None:
    values = {"title": data.title, "licence": data.licence, "home": data.home, "sha256": sums}
    text = json.dumps(values, ensure_ascii=False, indent=2) + "\n"
    (folder / SOURCES).write_text(text, encoding="utf-8")
