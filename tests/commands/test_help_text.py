"""What --help says at the width of a terminal."""

import inspect

import pytest

from tests.commands.test_uanet import EVERY, function_of
from uanet_tf.commands.command_flags import WIDTH, fill_paragraphs

LONG = "word " * 20 + "end"


@pytest.mark.parametrize("name", EVERY)
def test_the_text_of_each_command_fits(name):
    text = inspect.getdoc(function_of(EVERY[name]))
    lines = fill_paragraphs(text).split("\n")
    assert [line for line in lines if len(line) > WIDTH] == []
    # Nothing but blanks and line ends was changed.
    assert " ".join(lines).split() == text.split()


def test_examples_and_lists_stay():
    text = f"Does it.\n\n    example {LONG}\n\nFormats:\n  a  one\n  b  {LONG}\nAfter.\n{LONG}\n"
    lines = fill_paragraphs(text).split("\n")
    assert lines[:7] == text.split("\n")[:7]
    assert lines[7].startswith("After. word word")
    assert len(lines[7]) <= WIDTH < len(lines[7]) + 5
    assert lines[-1] == ""


def test_help_is_shown_so(capsys):
    from uanet_tf.commands import runner
    from uanet_tf.commands.check_command import check

    assert runner.exit_code(check, ["uanet check", "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "--train_path" in " ".join(lines)
    assert [line for line in lines if len(line) > WIDTH] == []
