"""Public corpora and word vectors: their addresses and licences, and how they are fetched."""

import dataclasses
import hashlib
import json
import os
import pathlib
import shutil
import zipfile
from collections.abc import Callable, Mapping, Sequence

from uanet_lite.atomic_file import atomic_file
from uanet_lite.columns_file import format_columns, read_corpus
from uanet_lite.input_error import InputError

# Called with bytes that are there, and bytes in all (None: unknown).
Advance = Callable[[int, int | None], object]
_GITHUB = "https://raw.githubusercontent.com"


@dataclasses.dataclass(frozen=True)
class PublicData:
    """A corpus, or vectors.

    Attributes:
      home: where to read about it; ``licence``: as stated there.
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


def _universal(repository: str, stem: str, title: str) -> PublicData:
    """A treebank of Universal Dependencies, or its entities of Universal NER."""
    ending, label_column = ("conllu", 4) if "Dependencies" in repository else ("iob2", 2)
    base = f"{_GITHUB}/{repository}/master/{stem}-ud-"
    return PublicData(
        title,
        "CC BY-SA 4.0",
        f"https://github.com/{repository}",
        {f"{part}.conll": (f"{base}{part}.{ending}",) for part in ("train", "dev", "test")},
        token_column=1,
        label_column=label_column,
    )


_BTC = f"{_GITHUB}/GateNLP/broad_twitter_corpus/master/"
_WNUT = f"{_GITHUB}/leondz/emerging_entities_17/master/"
_FASTTEXT = "https://dl.fbaipublicfiles.com/fasttext/vectors-crawl"

PUBLIC_DATA = {
    "en_ewt_pos": _universal(
        "UniversalDependencies/UD_English-EWT", "en_ewt", "English web text, 49 part-of-speech tags"
    ),
    **{
        name: _universal(f"UniversalNER/UNER_{tree}", name[:-4], f"{about}, PER LOC ORG")
        for name, tree, about in (
            ("en_ewt_ner", "English-EWT", "English web text"),
            ("pt_bosque_ner", "Portuguese-Bosque", "Portuguese newswire"),
            ("sr_set_ner", "Serbian-SET", "Serbian newswire"),
        )
    },
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
        {"cc.pt.300.vec.gz": (f"{_FASTTEXT}/cc.pt.300.vec.gz",)},
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
            if (folder / name).exists() and url in known and not part.exists():
                sums[url] = known[url]
                continue
            sums[url] = download(url, part, sha256=known.get(url), advance=advance)
            parts.append(part)
        if parts:
            _write(data, parts, folder / name)
        written.append(folder / name)
    values = {"title": data.title, "licence": data.licence, "home": data.home, "sha256": sums}
    text = json.dumps(values, ensure_ascii=False, indent=2) + "\n"
    (folder / SOURCES).write_text(text, encoding="utf-8")
    shutil.rmtree(folder / _FETCHED, ignore_errors=True)
    return written


def _write(data: PublicData, parts: Sequence[pathlib.Path], path: pathlib.Path) -> None:
    try:
        with atomic_file(path) as pending:
            if data.member is not None:
                with zipfile.ZipFile(parts[0]) as file, open(pending, "wb") as target:
                    shutil.copyfileobj(file.open(data.member), target)
            elif data.token_column is None:
                shutil.copyfile(parts[0], pending)
            else:
                columns = {"token_column": data.token_column, "label_column": data.label_column}
                sentences = [each for part in parts for each in read_corpus(part, **columns)]
                pathlib.Path(pending).write_text(format_columns(sentences), encoding="utf-8")
    except (zipfile.BadZipFile, KeyError) as error:
        raise InputError(f"{parts[0]}: does not hold {data.member} ({error}).") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error}).") from None


def _known_sums(folder: pathlib.Path) -> dict[str, str]:
    try:
        return dict(json.loads((folder / SOURCES).read_text(encoding="utf-8"))["sha256"])
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{folder / SOURCES}: cannot be read ({error}).") from None


CHUNK_BYTES = 1 << 16
ATTEMPTS = 4
TIMEOUT_SECONDS = 30


def download(
    url: str,
    path: pathlib.Path,
    *,
    sha256: str | None = None,
    advance: Advance = lambda done, total: None,
) -> str:
    """Fetches ``url`` into ``path``, or checks the file that is there; returns its SHA-256.

    Args:
      sha256: checksum that the file must have; None: unknown.

    Raises:
      InputError: the server cannot be reached or refuses, the checksum is wrong, or the disk is
        full; one sentence.
    """
    if path.exists():
        return _checked(path, sha256, str(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(path) as part:
            _fetch(url, pathlib.Path(part), advance)
            return _checked(pathlib.Path(part), sha256, url)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({os.strerror(error.errno or 0)}).") from None


def _checked(path: pathlib.Path, expected: str | None, name: str) -> str:
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if expected is not None and found != expected:
        raise InputError(
            f"{name}: has the SHA-256 {found}, not {expected}: damaged, or changed at its home."
        )
    return found


def _fetch(url: str, part: pathlib.Path, advance: Advance) -> None:
    """Goes on where a connection was lost, if the server can, and has the same file still."""
    import requests  # beside the package's other work it takes a while to import

    done, validator, reason = 0, "", ""
    for _ in range(ATTEMPTS):
        headers = {"Accept-Encoding": "identity"}
        if done and validator:
            headers |= {"Range": f"bytes={done}-", "If-Range": validator}
        try:
            with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT_SECONDS) as answer:
                answer.raise_for_status()
                if answer.status_code != requests.codes.partial_content:
                    done, validator = 0, _validator(answer.headers)
                total = _total(answer.headers, done)
                # Else the last bytes before a cut are lost with the error that reports it.
                answer.raw.enforce_content_length = False
                with part.open("ab" if done else "wb") as stream:
                    for block in answer.iter_content(CHUNK_BYTES):
                        stream.write(block)
                        done += len(block)
                        advance(done, total)
            if total is None or done >= total:
                return
            reason = f"cut off after {done:,} of {total:,} bytes"
        except requests.HTTPError as error:
            said = str(error).partition(" for url")[0]
            raise InputError(f"{url}: the server answers {said}.") from None
        except requests.RequestException as error:
            reason = type(error).__name__
    raise InputError(f"{url}: the connection failed ({reason}).")


def _validator(headers: Mapping[str, str]) -> str:
    """What names the file's version to its server (RFC 9110, If-Range); "" if nothing does."""
    tag = headers.get("ETag", "")
    return tag if tag.startswith('"') else headers.get("Last-Modified", "")


def _total(headers: Mapping[str, str], done: int) -> int | None:
    length = headers.get("Content-Length")
    # A packed answer's length is not that of its content.
    if length is None or not length.isdecimal() or headers.get("Content-Encoding"):
        return None
    return done + int(length)
