"""Ids of words and characters; ``tests/lite/test_token_ids.py`` compares them with plain Python."""

import json
import os
import subprocess
import sys

import pytest
import tensorflow as tf

from uanet_lite.token_ids import FIRST_ID, PADDING_ID, UNKNOWN_ID
from uanet_tf.data.lookup import TokenLookup, normalize_words

WORDS = ["the", "0000", "Paris", "naïve", "東京", "🙂", "paris"]
CHARS = [*"abcdefghijklmnopqrstuvwxyzPï東京🙂0-\ufffd"]
MAX_CHARS = 7


def make_lookup(**options):
    return TokenLookup(WORDS, CHARS, **{"max_chars": MAX_CHARS, **options})


def look_up(tokens, **options):
    word_ids, char_ids = make_lookup(**options)(tf.constant(tokens, tf.string))
    return word_ids.numpy(), char_ids.numpy()


def find(symbols, symbol):
    return symbols.index(symbol) + FIRST_ID if symbol in symbols else UNKNOWN_ID


@pytest.mark.parametrize("digits", ["1984", "٤٥٦٧", "४५६७", "1٢३4", "𝟏𝟐𝟑𝟒"])
def test_digits_of_every_script_read_as_zero(digits):
    word_ids, char_ids = look_up([digits])
    assert word_ids.tolist() == [find(WORDS, "0000")]
    assert char_ids.tolist() == [[find(CHARS, "0")] * 4]
    assert look_up([digits], normalize_digits=False)[0].tolist() == [UNKNOWN_ID]


def test_lower_case_is_for_words_only():
    words, chars = look_up(["THE", "PARIS", "Paris"], lowercase_words=True)
    assert words.tolist() == [find(WORDS, "the"), find(WORDS, "paris"), find(WORDS, "paris")]
    assert chars[1, 0] == find(CHARS, "P")
    assert chars[1, 1] == UNKNOWN_ID  # "A"
    assert look_up(["THE"])[0].tolist() == [UNKNOWN_ID]
    lowered = normalize_words(tf.constant(["ÀÉÎ ΔΣ ЖЯ"]), digits=False, lowercase=True)
    assert lowered.numpy()[0].decode() == "àéî δς жя"


LOWERED = """
import os, sys
import tensorflow as tf
from uanet_tf.data.lookup import normalize_words
for name in sys.argv[1:]:
    # Each in a process of its own, since what reads the locale does so once.
    if os.fork() == 0:
        os.environ.update(LC_ALL=name, LANG=name)
        words = tf.constant(["TITLE", "İZMIR", "ÌÍĨ", "I\\u0300J\\u0301Į\\u0303"])
        lowered = normalize_words(words, digits=False, lowercase=True).numpy()
        print(ascii([word.decode() for word in lowered]), flush=True)
        os._exit(0)
    os.wait()
"""


def test_the_locale_of_the_process_does_not_matter():
    """Turkish has a dotless i, Lithuanian keeps dots under accents."""
    locales = ("tr_TR.UTF-8", "lt_LT.UTF-8")
    done = subprocess.run(
        [sys.executable, "-c", LOWERED, *locales],
        env={**os.environ, "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    expected = ["title", "i\u0307zmir", "ìíĩ", "i\u0300j\u0301į\u0303"]
    assert done.stdout.splitlines() == [ascii(expected)] * len(locales), done.stderr


@pytest.mark.parametrize("length", [MAX_CHARS - 1, MAX_CHARS, MAX_CHARS + 1, 5000])
@pytest.mark.parametrize("max_chars", [2, MAX_CHARS])
def test_a_long_word_keeps_its_two_ends(length, max_chars):
    word = ("abcdefghij" * 500)[:length]
    _, char_ids = look_up([word], max_chars=max_chars)
    head, tail = max_chars // 2, max_chars - max_chars // 2
    kept = word if length <= max_chars else word[:head] + word[-tail:]
    assert char_ids.tolist() == [[find(CHARS, char) for char in kept]]
    assert char_ids.shape[1] == min(length, max_chars)


def test_no_tokens():
    word_ids, char_ids = look_up([])
    assert word_ids.shape == (0,)
    assert char_ids.shape == (0, 1)


def test_bytes_that_are_not_utf8_read_as_the_replacement_character():
    word_ids, char_ids = look_up([b"a\xffb", b"\xc3", "\ufffd".encode()])
    replaced = find(CHARS, "\ufffd")
    assert word_ids.tolist() == [UNKNOWN_ID] * 3
    assert char_ids.tolist() == [
        [find(CHARS, "a"), replaced, find(CHARS, "b")],
        [replaced, PADDING_ID, PADDING_ID],
        [replaced, PADDING_ID, PADDING_ID],
    ]
    for lowercase in (False, True):
        look_up([b"\xff\xfe\x80" * 30], lowercase_words=lowercase)


def test_config():
    lookup = make_lookup(lowercase_words=True, normalize_digits=False, name="words")
    config = json.loads(json.dumps(lookup.get_config()))
    copy = TokenLookup.from_config(config)
    assert copy.get_config() == lookup.get_config()
    assert (copy.name, copy.words, copy.chars) == ("words", WORDS, CHARS)
    assert not copy.trainable
    with pytest.raises(ValueError, match=r"`max_chars` must be at least 2. Received: max_chars=1"):
        make_lookup(max_chars=1)


def test_nothing_is_known():
    lookup = TokenLookup([], [])
    word_ids, char_ids = lookup(tf.constant(["the", ""]))
    assert word_ids.numpy().tolist() == [UNKNOWN_ID] * 2
    assert char_ids.numpy().tolist() == [[UNKNOWN_ID] * 3, [PADDING_ID] * 3]
