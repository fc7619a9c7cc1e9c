"""``python -m uanet_tf.report``: pictures of a run on a labelled file; see ``--help``."""

if __name__ == "__main__":
    from uanet_tf.commands.report import run

    run()
