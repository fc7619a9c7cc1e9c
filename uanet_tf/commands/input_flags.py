"""Flags of the text that is read: what the commands that tag share."""

from absl import flags

from uanet_lite.input_format import FORMATS
from uanet_lite.raw_text import LANGUAGE
from uanet_lite.text_lines import STDIN


def define_input_flags(flag_values: flags.FlagValues) -> None:
    """Defines the file to tag, its format, and the flags of ``define_text_flags``."""
    flags.DEFINE_string(
        "input", STDIN, "File to tag; '-': standard input.", flag_values=flag_values
    )
    flags.DEFINE_enum(
        "format",
        None,
        FORMATS,
        "Format of the input. Default: by its extension (.conll, .jsonl, .txt), else by its first "
        "line, which is then reported on stderr.",
        flag_values=flag_values,
    )
    define_text_flags(flag_values)


def define_text_flags(flag_values: flags.FlagValues) -> None:
    """Defines how raw text is split into sentences."""
    flags.DEFINE_boolean(
        "split_sentences",
        True,
        "Text: a line may hold several sentences. --nosplit_sentences: each line is one.",
        flag_values=flag_values,
    )
    flags.DEFINE_string(
        "language",
        LANGUAGE,
        "Text: code of its language, for splitting sentences (de, pt, ...).",
        flag_values=flag_values,
    )
