"""``python -m uanet_tf.data.check``: looks at CoNLL files before training; see ``--help``."""

import sys

if __name__ == "__main__":
    from uanet_tf.corpora.check import main

    sys.exit(main())
