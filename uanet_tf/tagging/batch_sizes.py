"""How large the batches are that a chunk is cut into."""

from typing import Any, NamedTuple

# A batch of this many tokens keeps the processor busy with M = 8 samples, and with more; beyond,
# padding costs more than a new batch.
FULL_TOKENS = 1_500
# One pass has an eighth of that work for each token: larger batches spend less of the time on
# starting operations; beyond these, nothing more is gained.
_FULL_SAMPLED_TOKENS, _MOST_FULL_TOKENS = 8 * FULL_TOKENS, 4_000


class Sizes(NamedTuple):
    """How batches are made, see ``tag_stream``.

    Attributes:
      batch_size: most sentences in a batch.
      batch_tokens: most tokens in a batch, padding included.
      fill_rows: whether small batches are filled up with copies.
      full_tokens: a batch that holds as many takes no shorter sentence.
    """

    batch_size: int
    batch_tokens: int
    fill_rows: bool
    full_tokens: int = FULL_TOKENS


def sizes_for(model: Any, sizes: Sizes, tokens: int, threads: int) -> Sizes:
    """The sizes with which a model tags a chunk.

    Args:
      model: has ``num_passes``, how often it encodes a sentence.
      sizes: as asked for.
      tokens: of the chunk.
      threads: batches that run at once.
    """
    full = min(_MOST_FULL_TOKENS, max(FULL_TOKENS, _FULL_SAMPLED_TOKENS // model.num_passes))
    # As many batches as keep all threads busy to the end.
    batches = threads * -(-tokens // (threads * full))
    full = max(FULL_TOKENS, min(full, -(-tokens // batches)))
    # Long sentences: batches that run at once share the memory of one, as far as each stays full.
    most = min(sizes.batch_tokens, max(full, sizes.batch_tokens // threads))
    return sizes._replace(batch_tokens=most, full_tokens=full)
