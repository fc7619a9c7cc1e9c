"""Reading text whose labels, if it has any, are not looked at."""

from collections.abc import Iterator

from uanet_lite.columns_file import Column, read_sentences
from uanet_lite.input_format import format_of_look, format_of_name, refuse_columns
from uanet_lite.sentence import Sentence, check_tokens
from uanet_lite.text_lines import read_lines
from uanet_lite.tokenizer import Tokenizer
from uanet_tf.errors import InputError


def read_unlabelled(path: str, *, token_column: Column) -> list[Sentence]:
    """The sentences of a file, which may be gzipped, without labels.

    The format follows from the name (.txt, .conll, ...), else from the first line: columns, with a
    blank line after each sentence, or a sentence per line, whose tokens are separated by blanks.

    Raises:
      InputError: naming file and line: the file cannot be read, holds no sentence, a token is too
        long; or it holds JSON, or columns where its name says text.
    """
    lines: Iterator[tuple[int, str]] = read_lines(path)
    kind = format_of_name(path)
    if kind is None:
        kind, lines = format_of_look(lines)
    elif kind == "text":
        lines = refuse_columns(path, lines, "give it another name, such as one with .conll")
    if kind == "jsonl":
        raise InputError(f"{path}: JSON, where columns or one sentence per line are read.")
    if kind == "conll":
        return list(read_sentences(path, token_column=token_column, label_column=None, lines=lines))
    found, tokenizer = [], Tokenizer("whitespace")
    for number, line in lines:
        tokens = tokenizer.tokenize(line)
        check_tokens(tokens, f"{path}:{number}: token ")
        if tokens:
            found.append(Sentence(tuple(tokens), (), number, new_document=True))
    if not found:
        raise InputError(f"{path}: no sentence found, the file is empty.")
    return found
