"""Tags text, texts, or lists of words, from Python."""

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from uanet_lite.raw_text import LANGUAGE, text_sentences
from uanet_lite.rows import Row
from uanet_lite.sentence import check_unicode
from uanet_lite.tagged_sentence import TaggedSentences
from uanet_tf.errors import InputError
from uanet_tf.tagging import sentence_stream
from uanet_tf.tagging.argument_checks import check_count, check_language, check_list, check_model
from uanet_tf.tagging.row_tagging import tag_rows
from uanet_tf.tagging.sentence_stream import BATCH_SIZE, BATCH_TOKENS


def tag(
    model: Any,
    sentences: str | Iterable[Any],
    *,
    split: bool = True,
    language: str = LANGUAGE,
    batch_size: int = BATCH_SIZE,
    batch_tokens: int = BATCH_TOKENS,
) -> TaggedSentences | list[TaggedSentences]:
    """Tags a text, a list of texts, or a list of sentences given as lists of words.

    A model that reads documents reads each text as one, and each list of words by itself.

    Args:
      model: a loaded model.
      sentences: a text of any number of sentences; or a list of texts; or lists of words, one per
        sentence. Text is cut into tokens like the model's training data.
      split: split texts into sentences; False: each text is one sentence.
      language: code of the language of texts, for splitting ("en", "de", ...).
      batch_size: most sentences in a batch.
      batch_tokens: most tokens in a batch, padding included; bounds memory.

    Returns:
      A TaggedSentence for each sentence, in the order given; for a list of texts a list of them
      for each text. Offsets of a text's entities count from its beginning. A text without words
      has no sentences.

    Raises:
      InputError: no model; neither a text nor a list; a sentence is empty, texts and lists of words
        are mixed, or a word is not a string, or empty; names the position.

    Example:
      >>> uanet_tf.tag(model, "Chelsea beat Real Madrid. Nobody was surprised.")
      [<TaggedSentence: [ORG Chelsea] beat [ORG Real Madrid] .>, <TaggedSentence: Nobody was ...>]
      >>> uanet_tf.tag(model, [["Chelsea", "beat", "Real", "Madrid"]])
      [<TaggedSentence: [ORG Chelsea] beat [ORG Real Madrid]>]
    """
    options: dict[str, Any] = {"batch_size": batch_size, "batch_tokens": batch_tokens}
    check_model(model)
    check_language(language)
    check_count("batch_size", batch_size)
    check_count("batch_tokens", batch_tokens)
    if isinstance(sentences, str):
        check_unicode(sentences, "sentences")
        return _tag_texts(model, [sentences], split, language, options)[0]
    check_list(sentences)
    iterator = iter(sentences)
    begin = list(itertools.islice(iterator, 1))
    given = itertools.chain(begin, iterator)
    if begin and isinstance(begin[0], str):
        return _tag_texts(model, given, split, language, options)
    return sentence_stream.tag(model, given, **options)


def _tag_texts(
    model: Any, texts: Iterable[str], split: bool, language: str, options: dict[str, Any]
) -> list[TaggedSentences]:
    tokenizer = model.tokenizer

    def rows() -> Iterator[Row]:
        for index, text in enumerate(texts):
            if not isinstance(text, str):
                raise InputError(
                    f"sentences[{index}] must be a text, as sentences[0] is. Received: {text!r:.60}"
                )
            check_unicode(text, f"sentences[{index}]")
            found = text_sentences(text, tokenizer, split=split, language=language)
            yield Row(index, tuple(found), text=text)

    return [TaggedSentences(answers) for _, answers in tag_rows(model, rows(), **options)]
