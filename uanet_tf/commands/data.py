"""uanet data: fetch, convert or make corpora."""

from uanet_tf.commands.command_group import Command, run_group

COMMANDS = {
    "get": Command("data_get", "fetch a public corpus, or word vectors"),
    "convert": Command("data_convert", "convert between columns and the formats of others"),
    "sample": Command("data_sample", "write the sample corpus, invented newswire with names"),
}


def run() -> None:
    """Runs the program's arguments, and exits."""
    run_group("uanet data", __doc__, COMMANDS)
