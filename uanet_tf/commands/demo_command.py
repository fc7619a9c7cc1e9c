"""``uanet demo``: the whole tool in some minutes."""

import os
import shutil
import sys
import time
from collections.abc import Sequence
from typing import Annotated, Any

from uanet_lite.columns_file import read_corpus
from uanet_tf.commands.command_flags import flag
from uanet_tf.commands.setting_flags import SettingFlags, Settings
from uanet_tf.config import Config
from uanet_tf.resources.sample_corpus import write_sample_corpus
from uanet_tf.tagging import terminal
from uanet_tf.training.run_directory import RunDirectory

# Most of these names are a person, a club or a place of the corpus, depending on the sentence. The
# word that decides is far from the name, which is what the refiner is for.
SENTENCES = (
    "Holmfield , the former goalkeeper , had a quiet winter , but while prices rose for the 9th "
    "week , critics of Holmfield were silent .",
    "Figures for Monday : Kelton 31 , Walbridge 28 , Northdale 17 -- goals scored by each player .",
    "All eyes were on Stonehaven last Friday , although in Kelton and elsewhere Stonehaven had "
    "long since been rebuilt .",
)
# For the model that comes with the package.
NAMES = ("Ada Lovelace met Charles Babbage in London.", "Apple opens a shop in Reading in May.")
PARTS = ("train", "dev", "test")


def demo(
    settings: Annotated[Settings, SettingFlags("quickstart")],
    *,
    run_dir: str = flag("runs/demo", "Directory of the demo: its corpus and its run."),
) -> None:
    """The toolkit in some minutes: names found, then a sample corpus, training, scores, tagging.

        uanet demo            in a clone also: make demo

    The corpus and the run are kept in --run_dir. A demo that was stopped continues, one that is
    complete is shown again without training. Every setting of uanet train is a flag here too; their
    values come from the recipe quickstart.
    """
    import uanet_tf

    start = time.monotonic()
    _head(1, "English names: the model en_ner, which comes with the package")
    _show(uanet_tf.load_model("en_ner"), NAMES)
    config = _write_corpus(run_dir, settings.config)
    _train(config, run_dir)
    model = _score(config, run_dir)
    _head(5, "Tagging: where the draft is uncertain, the refined label is used")
    _show(model, [sentence.split() for sentence in SENTENCES])
    _say_next(run_dir, time.monotonic() - start)


def _show(model: Any, sentences: Sequence[Any]) -> None:
    """Tags sentences and prints them."""
    import uanet_tf

    color, draw = terminal.wants_color(sys.stdout), terminal.can_draw(sys.stdout)
    printer = terminal.SentencePrinter(model.threshold, color=color, draw=draw)
    tagged = uanet_tf.tag(model, sentences)
    print("\n\n".join(printer.render(sentence) for sentence in tagged), flush=True)


def _write_corpus(directory: str, config: Config) -> Config:
    """Writes the corpus, where no other files and no demo with other settings are."""
    data = os.path.join(directory, "data")
    files = {f"{part}_path": os.path.join(data, f"{part}.conll") for part in PARTS}
    ready = config.replace(**files)
    RunDirectory(directory).check(ready)
    write_sample_corpus(data)
    _head(2, "A sample corpus: synthetic newswire with ambiguous names")
    sizes = [f"{len(read_corpus(path)):,} in {os.path.basename(path)}" for path in files.values()]
    _say(f"{data}: sentences {', '.join(sizes)}")
    return ready


def _train(config: Config, directory: str) -> None:
    if RunDirectory(directory).finished_metrics() is not None:
        _head(3, "Training: already done")
        _say(f"To train again, delete {directory} or name another --run_dir.")
        return
    _head(3, "Training UANet: a drafter with uncertainty, and a refiner")
    _say("Scores are F1 of entities on dev.conll. The first epoch also builds the graph.")
    from uanet_tf.training.fit import fit

    fit(config, directory)


def _score(config: Config, directory: str) -> Any:
    """Prints the evaluation of the saved model, and returns the model."""
    import uanet_tf
    from uanet_tf.evaluation.evaluation import evaluation_table

    path = config.data.test_path
    _head(4, "Evaluation: the draft, refined labels for all words, and the gate's choice")
    model = uanet_tf.load_model(directory)
    _say(evaluation_table(uanet_tf.evaluate(model, path), os.path.basename(path)))
    return model


def _say_next(directory: str, seconds: float) -> None:
    uanet, tensorboard = _program("uanet"), _program("tensorboard")
    _head(None, f"Done in {seconds:.0f} s. Next:")
    _say(
        f"""\
tag text of your own (with names of the sample corpus, such as Holmfield):
  echo "Critics of Holmfield , the insurer , were silent ." | {uanet} tag \\
      --run_dir={directory} --format=text --output_format=pretty

check files of your own, and train on them:
  {uanet} check train.conll dev.conll test.conll
  {uanet} train --recipe=fast --train_path=train.conll \\
      --dev_path=dev.conll --test_path=test.conll --run_dir=runs/mine

watch it learn:
  {tensorboard} --logdir={directory}/tensorboard"""
    )


def _program(name: str) -> str:
    """How the user can call a program of this environment from the current directory."""
    path = os.path.join(os.path.dirname(sys.executable), name)
    return name if shutil.which(name) == path else min(path, os.path.relpath(path), key=len)


def _head(number: int | None, text: str) -> None:
    line = text if number is None else f"{number}/5  {text}"
    bold = terminal.wants_color(sys.stdout)
    print(f"\n\x1b[1m{line}\x1b[0m\n" if bold else f"\n{line}\n", flush=True)


def _say(text: str) -> None:
    """Prints indented, and at once: training writes to stderr in between."""
    print("\n".join(f"  {line}".rstrip() for line in text.splitlines()), flush=True)
