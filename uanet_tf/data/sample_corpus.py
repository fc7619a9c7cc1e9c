"""``python -m uanet_tf.data.sample_corpus``: writes the sample corpus; see ``--help``."""

import sys

if __name__ == "__main__":
    from uanet_tf.samples.sample_corpus import main

    sys.exit(main())
