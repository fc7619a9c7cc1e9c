"""``uanet data get`` and ``uanet data sample``: public corpora and the sample corpus."""

import difflib
import pathlib
import sys
from collections.abc import Callable

from uanet_tf.commands.command_flags import flag
from uanet_tf.errors import InputError
from uanet_tf.resources.public_corpora import ASK_FOR, PUBLIC_DATA, fetch
from uanet_tf.resources.sample_corpus import write_sample_corpus


def get(
    names: list[str],
    *,
    folder: str = flag("data", "Folder to write to: FOLDER/NAME/."),
    progress: bool | None = flag(
        None, "Show a progress bar on stderr. Default: if stderr is a terminal."
    ),
) -> None:
    """Downloads a public corpus, or word vectors.

        uanet data get           # lists them, with licences
        uanet data get wnut17    # writes train, dev and test.conll into data/wnut17
        uanet data get glove_100d

    A connection that is lost is taken up again; files that are there are not downloaded again.
    SOURCES.json in the folder has the addresses of the files, their licence and checksums.
    """
    if not names:
        _list()
        return
    for name in names:
        if name in ASK_FOR:
            raise InputError(ASK_FOR[name])
        if name not in PUBLIC_DATA:
            near = difflib.get_close_matches(name, [*PUBLIC_DATA, *ASK_FOR], 1)
            hint = f"did you mean {near[0]}?" if near else "uanet data get lists them."
            raise InputError(f"There is no data named {name!r}: {hint}")
    shown = sys.stderr.isatty() if progress is None else progress
    for name in names:
        data = PUBLIC_DATA[name]
        print(f"{name}: {data.title}. Licence: {data.licence}. {data.home}", flush=True)
        for path in fetch(data, pathlib.Path(folder, name), _progress(shown)):
            print(path)


def _list() -> None:
    width = max(map(len, [*PUBLIC_DATA, *ASK_FOR]))
    for name, data in PUBLIC_DATA.items():
        print(f"  {name:{width}}  {data.title}; {data.licence}")
    for name in ASK_FOR:
        print(f"  {name:{width}}  says how to get it")


def _progress(shown: bool) -> Callable[[int, int | None], None]:
    """The function that shows how far a file is."""
    if not shown:
        return lambda done, total: None
    import tqdm

    bar = tqdm.tqdm(unit="B", unit_scale=True, file=sys.stderr)

    def advance(done: int, total: int | None) -> None:
        bar.total = total
        if done < bar.n:
            bar.reset(total)
        bar.update(done - bar.n)

    return advance


def sample(
    directory: list[str],
    *,
    seed: int = flag(1, "Seed of the generator of sentences."),
    train_sentences: int = flag(1_500, "Sentences of train.conll."),
    dev_sentences: int = flag(300, "Sentences of dev.conll."),
    test_sentences: int = flag(300, "Sentences of test.conll."),
) -> None:
    """Writes the sample corpus: synthetic newswire with names.

        uanet data sample DIRECTORY

    The files are train.conll, dev.conll and test.conll; the same arguments give the same files
    everywhere. A file that holds something else is not touched.
    """
    if len(directory) != 1:
        raise InputError(
            f"Name one directory: uanet data sample DIRECTORY. Received: {' '.join(directory)!r}"
        )
    paths = write_sample_corpus(
        directory[0],
        seed=seed,
        train_sentences=train_sentences,
        dev_sentences=dev_sentences,
        test_sentences=test_sentences,
    )
    for path in paths.values():
        print(path)
