"""``python -m uanet_tf.data.check``: as ``uanet check``; see ``--help``."""

if __name__ == "__main__":
    from uanet_tf.commands.check import run

    run()
