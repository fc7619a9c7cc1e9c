"""uanet data: corpora to begin with."""

from uanet_tf.commands.command_group import Command, run_group

COMMANDS = {
    "sample": Command("data_sample", "write the sample corpus, invented newswire with names"),
}


def run() -> None:
    """Runs the program's arguments, and exits."""
    run_group("uanet data", __doc__, COMMANDS)
