"""uanet: sequence labelling that knows when it is unsure."""

import platform
import sys

from uanet_tf.commands.command_group import Command, run_group
from uanet_tf.commands.runner import say

COMMANDS = {
    "demo": Command("demo", "train on a sample corpus, score and tag, in two minutes"),
    "data": Command("data", "fetch, convert or make corpora"),
    "check": Command("check", "check labelled files before training on them"),
    "recipes": Command("recipes", "list the settings to train with, and when to use which"),
    "train": Command("train", "train a tagger"),
    "evaluate": Command("evaluate", "score a trained tagger on a labelled file"),
    "report": Command("report", "write a page of pictures on a tagger and a labelled file"),
    "calibrate": Command("calibrate", "fit a tagger's confidence to a labelled file, again"),
    "tag": Command("tag", "tag sentences with a trained tagger"),
    "rank": Command("rank", "find the sentences that are most worth annotating"),
    "spark_tag": Command("spark_tag", "tag large files with Apache Spark"),
    "find_label_errors": Command(
        "find_label_errors", "find labels of a file that are probably wrong"
    ),
    "compare": Command("compare", "train and score several systems, with several seeds"),
    "export": Command("export", "write a tagger for TensorFlow Serving or TensorFlow Lite"),
    "serve": Command("serve", "serve exported taggers on this machine, for development"),
    "client": Command("client", "tag sentences on a server"),
}


def version() -> str:
    """One line: the package's version and those of what its answers depend on."""
    from importlib import metadata

    import uanet_tf

    found = []
    for name, package in (("TensorFlow", "tensorflow"), ("NumPy", "numpy")):
        try:
            found.append(f"{name} {metadata.version(package)}")
        except metadata.PackageNotFoundError:  # `serve` and `client` need no TensorFlow
            found.append(f"no {name}")
    packages = ", ".join(found)
    return f"uanet_tf {uanet_tf.__version__} ({packages}, Python {platform.python_version()})"


def run() -> None:
    """Runs the program's arguments, and exits."""
    if sys.argv[1:] in (["--version"], ["version"]):
        say(version())
    run_group("uanet", __doc__, COMMANDS, "uanet --version shows the version.")


if __name__ == "__main__":  # for spark-submit, and processes that a command starts
    run()
