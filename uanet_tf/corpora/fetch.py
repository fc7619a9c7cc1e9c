"""From the home of a public corpus to files that ``uanet train`` reads."""

import json
import os
import pathlib
import shutil
import zipfile
from collections.abc import Callable, Sequence

from uanet_tf.corpora.download import Advance, download
from uanet_tf.corpora.public_data import PublicData
from uanet_tf.data.conll import Sentence, read_corpus
from uanet_tf.errors import InputError

SOURCES = "SOURCES.json"
_FETCHED = ".fetched"
_ROW_ENDS = frozenset("\t\n\r")


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
    pending = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        if data.member is not None:
            _take_out(parts[0], data.member, pending)
        elif data.token_column is None:
            shutil.copyfile(parts[0], pending)
        else:
            sentences = [sentence for part in parts for sentence in _read(data, part)]
            pending.write_text(format_sentences(sentences), encoding="utf-8")
        pending.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error}).") from None
    finally:
        pending.unlink(missing_ok=True)


def _read(data: PublicData, path: pathlib.Path) -> list[Sentence]:
    return read_corpus(path, token_column=data.token_column or 0, label_column=data.label_column)


def format_sentences(
    sentences: Sequence[Sentence], where: Callable[[Sentence], str] = lambda sentence: ""
) -> str:
    """Token, tab, label; a blank line after each sentence; -DOCSTART- where documents begin.

    Args:
      sentences: labelled.
      where: file and line of a sentence, for messages.

    Raises:
      InputError: a token or label that would end its column or row, or be none.
    """
    marked = sum(sentence.new_document for sentence in sentences) > 1
    blocks = []
    for sentence in sentences:
        if marked and sentence.new_document:
            blocks.append("-DOCSTART-\tO\n\n")
        for text in (*sentence.tokens, *sentence.labels):
            if not _ROW_ENDS.isdisjoint(text) or not text.strip(" "):
                reason = "holds a tab or a line end" if text.strip(" ") else "is blank"
                before = where(sentence)
                raise InputError(
                    f"{before}{': ' if before else ''}{text!r:.60} cannot be written in columns: "
                    f"it {reason}."
                )
        rows = zip(sentence.tokens, sentence.labels, strict=True)
        blocks.append("".join(f"{token}\t{label}\n" for token, label in rows) + "\n")
    return "".join(blocks)


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
