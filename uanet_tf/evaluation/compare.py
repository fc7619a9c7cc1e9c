"""``python -m uanet_tf.evaluation.compare``: as ``uanet compare``; see ``--help``."""

if __name__ == "__main__":
    from uanet_tf.commands.compare import run

    run()
