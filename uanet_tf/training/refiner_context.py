"""What --refiner_context=auto stands for: documents where the files mark them."""

from collections.abc import Mapping, Sequence

from absl import logging

from uanet_lite.sentence import Sentence
from uanet_tf.config import Config
from uanet_tf.data.documents import marks_documents
from uanet_tf.registry import REFINED_DECODERS


def with_refiner_context(config: Config, splits: Mapping[str, Sequence[Sentence]]) -> Config:
    """The settings with "auto" replaced by "document" or "sentence"; else unchanged.

    The refiner reads documents if each file marks them, if the drafter does not read them as one
    sentence (``--context=document``), and if the run is not shared among replicas, which have no
    memory of drafts in common.

    Args:
      config: all settings.
      splits: the sentences of each file.
    """
    if config.decoder.refiner_context != "auto":
        return config
    if config.data.context == "document":
        return config.replace(refiner_context="sentence")
    marked = all(marks_documents(sentences) for sentences in splits.values())
    refined = config.decoder.decoder in REFINED_DECODERS
    if not marked or config.training.strategy != "none":
        if marked and refined:
            logging.info(
                "the files mark documents, but with --strategy=%s the refiner reads sentences",
                config.training.strategy,
            )
        return config.replace(refiner_context="sentence")
    if refined:
        logging.info("the files mark documents: the refiner reads them (--refiner_context)")
    return config.replace(refiner_context="document")
