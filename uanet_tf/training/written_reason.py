"""Why TensorFlow could not write."""

import re

from uanet_tf.errors import one_line


def written_reason(error: Exception) -> str:
    """The reason without the operation that failed and the names of temporary files.

    ``{{function_node ...}} /run/a.tempstate123; No space left on device [Op:SaveV2]`` becomes
    ``No space left on device``.
    """
    text = one_line(error, 1_000)
    text = re.sub(r"^\{\{.*?\}\} ?", "", text)
    text = re.sub(r" ?\[Op:\w+\].*$", "", text)
    return text.rpartition("; ")[2]
